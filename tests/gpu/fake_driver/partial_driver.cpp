// A library that says it is a driver but has next to nothing of one.
#include "gpu/driver_types.h"

namespace mynah::gpu {

extern "C" [[gnu::visibility("default")]] CUresult cuDriverGetVersion(int* version) {
  *version = 12040;
  return CUDA_SUCCESS;
}

}  // namespace mynah::gpu
