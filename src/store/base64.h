// Base64 (RFC 4648, section 4): bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mynah {

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace mynah
