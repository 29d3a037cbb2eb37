// What kernels leave in the backend's word when they meet the number of a row that is not there.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

namespace mynah::simt {

// The operation that met it. The word is this times 2^32, plus the number; 0 as long as all is
// well.
enum class RowFault : uint32_t { None, GatherRows, ScatterRows, Embedding };

}  // namespace mynah::simt
