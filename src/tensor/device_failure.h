// Which errors are a device's, wherever they come out.
#pragma once

#include "base/result.h"

namespace mynah {

// A device failed or is full: another one may do the same work.
[[nodiscard]] constexpr bool is_of_device(ErrorCode code) {
  return code == ErrorCode::Device || code == ErrorCode::OutOfMemory;
}

}  // namespace mynah
