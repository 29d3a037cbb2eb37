// Products with ggml's block types by VNNI's byte products.
#pragma once

#include "backend/cpu/kernels.h"

namespace mynah::cpu {

#if defined(__x86_64__)
// Rows that meet codes as they are packed, in one pass; of more, unpacking them once is faster.
inline constexpr int64_t kPackedRowsVnni = 8;

// Kernels::block_products; needs AVX-512 with VNNI.
void block_products_vnni(const BlockRows& x, int64_t row, int64_t m, const BlockChunk& chunk,
                         float* tile);
#endif

}  // namespace mynah::cpu
