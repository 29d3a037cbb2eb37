// Register-blocked products of a few rows with one panel of 32 columns: 12 rows by 2 vectors keep
// 24 of the 32 vector registers as sums, so that each cycle's dot product depends on none of the
// last few.
#include "backend/cpu/gemm_x86.h"

#if defined(__x86_64__)

#include <algorithm>
#include <cstring>

#include <immintrin.h>

namespace mynah::cpu {
namespace {

#define MYNAH_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,bmi2"), always_inline)) inline
#define MYNAH_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,bmi2"), always_inline)) inline

int32_t load_i32(const void* p) {
  int32_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// Meanwhile kLines lines of 64 bytes from `fetch` on are asked for at every step.
template <int kRows, int kLines>
MYNAH_VNNI void rows_i8(const uint8_t* a, int64_t a_stride, int64_t k4, const int8_t* panel,
                        const int8_t* fetch, int32_t* out, int64_t out_stride) {
  __m512i sums[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = _mm512_setzero_si512();
    sums[r][1] = _mm512_setzero_si512();
  }
  const uint8_t* triples[(kRows + 2) / 3];
#pragma GCC unroll 4
  for (int i = 0; i < (kRows + 2) / 3; ++i) {
    triples[i] = a + 3 * i * a_stride;
  }
  for (int64_t k = 0; k < k4; ++k) {
    const __m512i b0 = _mm512_loadu_si512(panel);
    const __m512i b1 = _mm512_loadu_si512(panel + 64);
#pragma GCC unroll 2
    for (int i = 0; i < kLines; ++i) {
      _mm_prefetch(fetch, _MM_HINT_T0);
      fetch += 64;
    }
    panel += 128;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_set1_epi32(load_i32(triples[r / 3] + r % 3 * a_stride));
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], x, b0);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], x, b1);
    }
#pragma GCC unroll 4
    for (int i = 0; i < (kRows + 2) / 3; ++i) {
      triples[i] += 4;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_si512(out + r * out_stride, sums[r][0]);
    _mm512_storeu_si512(out + r * out_stride + 16, sums[r][1]);
  }
}

// One row has only two sums to keep; four steps of k at a time give the pipeline eight. Integer
// sums may be reordered.
MYNAH_VNNI void one_row_i8(const uint8_t* a, int64_t k4, const int8_t* panel, int32_t* out) {
  __m512i sums[4][2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    sums[i][0] = _mm512_setzero_si512();
    sums[i][1] = _mm512_setzero_si512();
  }
  int64_t k = 0;
  for (; k + 4 <= k4; k += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i x = _mm512_set1_epi32(load_i32(a + (k + i) * 4));
      const int8_t* b = panel + (k + i) * 128;
      sums[i][0] = _mm512_dpbusd_epi32(sums[i][0], x, _mm512_loadu_si512(b));
      sums[i][1] = _mm512_dpbusd_epi32(sums[i][1], x, _mm512_loadu_si512(b + 64));
    }
  }
  for (; k < k4; ++k) {
    const __m512i x = _mm512_set1_epi32(load_i32(a + k * 4));
    sums[0][0] = _mm512_dpbusd_epi32(sums[0][0], x, _mm512_loadu_si512(panel + k * 128));
    sums[0][1] = _mm512_dpbusd_epi32(sums[0][1], x, _mm512_loadu_si512(panel + k * 128 + 64));
  }
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    const __m512i low = _mm512_add_epi32(sums[0][v], sums[1][v]);
    const __m512i high = _mm512_add_epi32(sums[2][v], sums[3][v]);
    _mm512_storeu_si512(out + v * 16, _mm512_add_epi32(low, high));
  }
}

// As rows_i8, for any number of rows up to 12.
template <int kLines>
MYNAH_VNNI void some_rows_i8(int64_t rows, const uint8_t* a, int64_t a_stride, int64_t k4,
                             const int8_t* panel, const int8_t* fetch, int32_t* out,
                             int64_t out_stride) {
  switch (rows) {
    case 1:
      return one_row_i8(a, k4, panel, out);
    case 2:
      return rows_i8<2, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 3:
      return rows_i8<3, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 4:
      return rows_i8<4, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 5:
      return rows_i8<5, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 6:
      return rows_i8<6, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 7:
      return rows_i8<7, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 8:
      return rows_i8<8, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 9:
      return rows_i8<9, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 10:
      return rows_i8<10, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    case 11:
      return rows_i8<11, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
    default:
      return rows_i8<12, kLines>(a, a_stride, k4, panel, fetch, out, out_stride);
  }
}

// kPanels panels side by side: a few rows alone would leave each sum waiting for its last product.
template <int kRows, int kPanels>
MYNAH_BF16 void rows_bf16(const uint16_t* a, int64_t a_stride, int64_t k2, const uint16_t* panels,
                          int64_t panel_stride, float* out, int64_t out_stride) {
  __m512 sums[kRows][2 * kPanels];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 2 * kPanels; ++v) {
      sums[r][v] = _mm512_setzero_ps();
    }
  }
  const uint16_t* triples[(kRows + 2) / 3];
#pragma GCC unroll 4
  for (int i = 0; i < (kRows + 2) / 3; ++i) {
    triples[i] = a + 3 * i * a_stride;
  }
  for (int64_t k = 0; k < k2; ++k) {
    __m512bh b[2 * kPanels];
#pragma GCC unroll 8
    for (int v = 0; v < 2 * kPanels; ++v) {
      b[v] = (__m512bh)_mm512_loadu_si512(panels + v / 2 * panel_stride + v % 2 * 32);
    }
    panels += 64;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto x = (__m512bh)_mm512_set1_epi32(load_i32(triples[r / 3] + r % 3 * a_stride));
#pragma GCC unroll 8
      for (int v = 0; v < 2 * kPanels; ++v) {
        sums[r][v] = _mm512_dpbf16_ps(sums[r][v], x, b[v]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < (kRows + 2) / 3; ++i) {
      triples[i] += 2;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 2 * kPanels; ++v) {
      _mm512_storeu_ps(out + r * out_stride + v * 16, sums[r][v]);
    }
  }
}

// All panels for kRows rows, kPanels at a time.
template <int kRows, int kPanels>
MYNAH_BF16 void panels_bf16(const uint16_t* a, int64_t a_stride, int64_t k2, const uint16_t* panels,
                            int64_t count, int64_t panel_stride, float* out, int64_t out_stride) {
  int64_t p = 0;
  for (; p + kPanels <= count; p += kPanels) {
    rows_bf16<kRows, kPanels>(a, a_stride, k2, panels + p * panel_stride, panel_stride,
                              out + p * 32, out_stride);
  }
  for (; p < count; ++p) {
    rows_bf16<kRows, 1>(a, a_stride, k2, panels + p * panel_stride, panel_stride, out + p * 32,
                        out_stride);
  }
}

}  // namespace

__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,bmi2"))) void gemm_i8_vnni(
    const uint8_t* a, int64_t a_stride, int64_t m, int64_t k4, const int8_t* panel, int32_t* out,
    int64_t out_stride) {
  // Few rows would be done with a panel before the next one has come from memory: it is asked for
  // meanwhile, evenly, because a core waits for some twenty lines at most.
  constexpr int64_t kMostRows = 12;
  constexpr int64_t kFewRows = 48;
  const int8_t* const next = panel + k4 * 128;
  const int64_t passes = (m + kMostRows - 1) / kMostRows;
  int64_t row = 0;
  for (int64_t pass = 0; row < m; ++pass) {
    const int64_t rows = m <= kFewRows ? (m - row + passes - pass - 1) / (passes - pass)
                                       : std::min(kMostRows, m - row);
    const uint8_t* const from = a + row * a_stride;
    int32_t* const to = out + row * out_stride;
    if (m < kMostRows || m > kFewRows || pass > 1) {
      some_rows_i8<0>(rows, from, a_stride, k4, panel, next, to, out_stride);
    } else if (passes > 1) {  // half of the panel in each of two passes
      some_rows_i8<1>(rows, from, a_stride, k4, panel, next + pass * k4 * 64, to, out_stride);
    } else {
      some_rows_i8<2>(rows, from, a_stride, k4, panel, next, to, out_stride);
    }
    row += rows;
  }
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,bmi2"))) void gemm_bf16_avx512(
    const uint16_t* a, int64_t a_stride, int64_t m, int64_t k2, const uint16_t* panels,
    int64_t count, int64_t panel_stride, float* out, int64_t out_stride) {
  // Many rows panel by panel, so that a panel is read from memory once.
  const int64_t whole = m / 4 * 4;
  for (int64_t p = 0; p < count; ++p) {
    const uint16_t* panel = panels + p * panel_stride;
    float* to = out + p * 32;
    int64_t row = 0;
    for (; row + 12 <= whole; row += 12) {
      rows_bf16<12, 1>(a + row * a_stride, a_stride, k2, panel, 0, to + row * out_stride,
                       out_stride);
    }
    for (; row + 8 <= whole; row += 8) {
      rows_bf16<8, 1>(a + row * a_stride, a_stride, k2, panel, 0, to + row * out_stride,
                      out_stride);
    }
    for (; row < whole; row += 4) {
      rows_bf16<4, 1>(a + row * a_stride, a_stride, k2, panel, 0, to + row * out_stride,
                      out_stride);
    }
  }
  const uint16_t* rest = a + whole * a_stride;
  float* to = out + whole * out_stride;
  if (m - whole == 3) {
    panels_bf16<3, 2>(rest, a_stride, k2, panels, count, panel_stride, to, out_stride);
  } else if (m - whole == 2) {
    panels_bf16<2, 4>(rest, a_stride, k2, panels, count, panel_stride, to, out_stride);
  } else if (m - whole == 1) {
    panels_bf16<1, 4>(rest, a_stride, k2, panels, count, panel_stride, to, out_stride);
  }
}

}  // namespace mynah::cpu

#endif
