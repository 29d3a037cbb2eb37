// Products of a few rows with one panel of 32 columns in int16: two products an instruction and
// lane where f32 has one. Rows in blocks of 12, as in gemm_x86.cpp.
#include "backend/cpu/gemm_i16_x86.h"

#if defined(__x86_64__)

#include <algorithm>
#include <cstring>

#include <immintrin.h>

namespace mynah::cpu {
namespace {

#define MYNAH_VNNI_CODE target("avx512f,avx512bw,avx512vl,avx512vnni,bmi2")
#define MYNAH_VNNI __attribute__((MYNAH_VNNI_CODE, always_inline)) inline

constexpr int kMostRows = 12;

int32_t load_pair(const int16_t* p) {
  int32_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// Sums are vectors of int32 by their type, too: g++ 12 keeps those that are read as another type in
// memory.
using Sums = __v16si;

template <bool kAdds>
MYNAH_VNNI void scale_sums(const Sums& sums, __m512 scale, float* tile) {
  const __m512 products = __builtin_convertvector(sums, __m512);
  _mm512_storeu_ps(tile, kAdds ? _mm512_fmadd_ps(products, scale, _mm512_loadu_ps(tile))
                               : _mm512_mul_ps(products, scale));
}

template <int kRows, bool kAdds>
MYNAH_VNNI void rows_i16(const Int16Run& run, int64_t row, float* tile) {
  Sums sums[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = Sums{};
    sums[r][1] = Sums{};
  }
  const int64_t stride = run.row_stride;
  const int16_t* triples[(kRows + 2) / 3];
#pragma GCC unroll 4
  for (int i = 0; i < (kRows + 2) / 3; ++i) {
    triples[i] = run.rows + (row + 3 * i) * stride;
  }
  const int16_t* panel = run.panel;
  for (int64_t k = 0; k < run.steps; ++k) {
    const __m512i b0 = _mm512_loadu_si512(panel);
    const __m512i b1 = _mm512_loadu_si512(panel + 32);
    panel += 64;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(load_pair(triples[r / 3] + r % 3 * stride));
      sums[r][0] =
          reinterpret_cast<Sums>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums[r][0]), x, b0));
      sums[r][1] =
          reinterpret_cast<Sums>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums[r][1]), x, b1));
    }
#pragma GCC unroll 4
    for (int i = 0; i < (kRows + 2) / 3; ++i) {
      triples[i] += 2;
    }
  }
  const __m512 columns0 = _mm512_loadu_ps(run.column_scales);
  const __m512 columns1 = _mm512_loadu_ps(run.column_scales + 16);
  tile += row * kPanel;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const __m512 scale = _mm512_set1_ps(run.row_scales[(row + r) * run.scale_stride]);
    scale_sums<kAdds>(sums[r][0], _mm512_mul_ps(scale, columns0), tile + r * kPanel);
    scale_sums<kAdds>(sums[r][1], _mm512_mul_ps(scale, columns1), tile + r * kPanel + 16);
  }
}

// As rows_i16, for any number of rows up to kMost.
template <int kMost, bool kAdds>
MYNAH_VNNI void some_rows_i16(int64_t rows, const Int16Run& run, int64_t row, float* tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) {
      some_rows_i16<kMost - 1, kAdds>(rows, run, row, tile);
      return;
    }
  }
  rows_i16<kMost, kAdds>(run, row, tile);
}

// As many rows in each pass: a last one of few would wait for its sums.
template <bool kAdds>
MYNAH_VNNI void all_rows_i16(const Int16Run& run, int64_t m, float* tile) {
  const int64_t passes = (m + kMostRows - 1) / kMostRows;
  int64_t row = 0;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t rows = (m - row + passes - pass - 1) / (passes - pass);
    some_rows_i16<kMostRows, kAdds>(rows, run, row, tile);
    row += rows;
  }
}

}  // namespace

__attribute__((MYNAH_VNNI_CODE)) void gemm_i16_vnni(const Int16Run& run, int64_t m, float* tile) {
  if (run.adds) {
    all_rows_i16<true>(run, m, tile);
  } else {
    all_rows_i16<false>(run, m, tile);
  }
}

}  // namespace mynah::cpu

#endif
