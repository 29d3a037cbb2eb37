// The fake driver's exported functions, declared from the table that mynah loads by: a definition
// with other parameters does not compile.
#pragma once

#include "gpu/driver_api.h"

extern "C" {
// The parameters name their types without a namespace, as NVIDIA's header does.
using namespace mynah::gpu;  // NOLINT(google-build-using-namespace)

#define MYNAH_FAKE_DECLARATION(name, symbol, since, parameters) \
  [[gnu::visibility("default")]] CUresult symbol parameters;
MYNAH_DRIVER_FUNCTIONS(MYNAH_FAKE_DECLARATION)
#undef MYNAH_FAKE_DECLARATION

// Which driver the library is, as cuDriverGetVersion counts.
int mynah_fake_cuda_version();
}
