// What a toolkit's stub of libcuda is: every function is there, and none does anything.
#include "gpu/driver_api.h"

namespace mynah::gpu {

#define MYNAH_STUB(name, symbol, since, parameters)                      \
  extern "C" [[gnu::visibility("default")]] CUresult symbol parameters { \
    return CUDA_ERROR_STUB_LIBRARY;                                      \
  }
#pragma GCC diagnostic ignored "-Wunused-parameter"
// NOLINTBEGIN(readability-identifier-naming,misc-unused-parameters): the driver's own names
MYNAH_DRIVER_FUNCTIONS(MYNAH_STUB)
// NOLINTEND(readability-identifier-naming,misc-unused-parameters)
#undef MYNAH_STUB

}  // namespace mynah::gpu
