// ReadAt: bytes of a file from any place in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace mynah {

// Fills its span from an offset of the file and returns how many bytes there were.
using ReadAt = std::function<size_t(int64_t offset, std::span<std::byte> out)>;

}  // namespace mynah
