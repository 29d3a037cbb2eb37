// The state of a VoiceDetector's session as bytes, so that it can go on elsewhere.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// The values with the name of what they are the state of before them (at most 16 characters), as
// this machine keeps numbers: for another process of it, not for files.
[[nodiscard]] std::vector<std::byte> pack_state(std::string_view name,
                                                std::span<const double> values);

// The values of bytes that may come from anywhere. InvalidInput where they are not pack_state()'s
// of that name, or where one is no number that an f32 can hold.
[[nodiscard]] Result<std::vector<double>> unpack_state(std::string_view name,
                                                       std::span<const std::byte> bytes);

}  // namespace mynah
