// Base64 (RFC 4648, section 4): bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

// The bytes that a text stands for, with its padding. InvalidInput: it is no base64.
[[nodiscard]] Result<std::string> bytes_of_base64(std::string_view text);

}  // namespace mynah
