// Products with the dot-product instructions that Highway 1.0.3 does not know.
#pragma once

#include <cstdint>

namespace mynah::cpu {

#if defined(__x86_64__)
void gemm_i8_vnni(const uint8_t* a, int64_t a_stride, int64_t m, int64_t k4, const int8_t* panel,
                  int32_t* out, int64_t out_stride);
void gemm_bf16_avx512(const uint16_t* a, int64_t a_stride, int64_t m, int64_t k2,
                      const uint16_t* panels, int64_t count, int64_t panel_stride, float* out,
                      int64_t out_stride);
#endif

}  // namespace mynah::cpu
