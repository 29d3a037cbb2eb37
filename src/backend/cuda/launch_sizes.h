// What launches are sized by.
#pragma once

#include <cstdint>

namespace mynah::cuda {

// Blocks that keep a large card busy (an H200 has 132 processors): beyond them, a block may do
// more.
inline constexpr int64_t kManyBlocks = 160;

}  // namespace mynah::cuda
