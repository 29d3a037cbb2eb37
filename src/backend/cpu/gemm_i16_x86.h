// Products with int16 weights by VNNI's dot products of pairs.
#pragma once

#include "backend/cpu/kernels.h"

namespace mynah::cpu {

#if defined(__x86_64__)
// Kernels::gemm_i16; needs AVX-512 with VNNI.
void gemm_i16_vnni(const Int16Run& run, int64_t m, float* tile);
#endif

}  // namespace mynah::cpu
