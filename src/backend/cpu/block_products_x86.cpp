// Rows by 32 columns of a block type: the sums of a group in int32 and, of few rows, the sums of
// groups in f32 are in registers, so that a group's scales cost a conversion and two products a
// vector and no memory.
#include "backend/cpu/block_products_x86.h"

#if defined(__x86_64__)

#include <cstring>

#include <immintrin.h>

// g++ 12 takes the undefined registers inside its own headers for uninitialised variables.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace mynah::cpu {
namespace {

#define MYNAH_VNNI_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,bmi2")))
#define MYNAH_VNNI MYNAH_VNNI_TARGET __attribute__((always_inline)) inline

// Six rows by two vectors are 12 sums of either kind; two vectors of weights and one of activations
// leave 5 registers of 32.
constexpr int kMostRows = 6;

// The same over packed codes, which take registers until they are bytes.
constexpr int kMostPackedRows = 4;

// Rows of a pass whose sums of groups lie in the first-level cache, 16 sums in int32: weights are
// read and unpacked once for all rows of a step of few texts, and asked for all along.
constexpr int kFewRows = 8;

constexpr int64_t kStepBytes = 4 * kPanel;  // of four elements

MYNAH_VNNI int32_t load_i32(const void* p) {
  int32_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// The bits of each 16, moved left, or right where kBy is negative.
template <int kBy>
MYNAH_VNNI __m512i moved(__m512i bits) {
  if constexpr (kBy >= 0) {
    return _mm512_slli_epi16(bits, kBy);
  } else {
    return _mm512_srli_epi16(bits, -kBy);
  }
}

// `low` and a step's bits above the fourth.
template <CodeBits kBits, int kStep>
MYNAH_VNNI __m512i with_upper_bits(__m512i low, const uint8_t* high) {
  constexpr int kLowOrOthersAnded = 0xF8;
  if constexpr (kBits == CodeBits::Five) {
    const __m512i bits = moved<4 - kStep>(_mm512_loadu_si512(high));
    return _mm512_ternarylogic_epi32(low, bits, _mm512_set1_epi8(0x10), kLowOrOthersAnded);
  } else if constexpr (kBits == CodeBits::Six) {
    const __m512i both = _mm512_loadu_si512(high + kStep / 4 * kStepBytes);
    const __m512i bits = moved<4 - kStep % 4 * 2>(both);
    return _mm512_ternarylogic_epi32(low, bits, _mm512_set1_epi8(0x30), kLowOrOthersAnded);
  } else {
    return low;
  }
}

// Bytes of the steps 2 kPair and 2 kPair + 1 of a block, 64 of them from `column` on.
template <CodeBits kBits, int kPair>
MYNAH_VNNI void load_pair(const uint8_t* block, int64_t column, __m512i table, __m512i& first,
                          __m512i& second) {
  if constexpr (kBits == CodeBits::Eight) {
    first = _mm512_loadu_si512(block + 2 * kPair * kStepBytes + column);
    second = _mm512_loadu_si512(block + (2 * kPair + 1) * kStepBytes + column);
  } else {
    const __m512i mask = _mm512_set1_epi8(0x0F);
    const __m512i both = _mm512_loadu_si512(block + kPair * kStepBytes + column);
    first = _mm512_and_si512(both, mask);
    second = _mm512_and_si512(moved<-4>(both), mask);
    if constexpr (kBits == CodeBits::Table) {
      first = _mm512_shuffle_epi8(table, first);
      second = _mm512_shuffle_epi8(table, second);
    }
    const uint8_t* const high = block + 4 * kStepBytes + column;
    first = with_upper_bits<kBits, 2 * kPair>(first, high);
    second = with_upper_bits<kBits, 2 * kPair + 1>(second, high);
  }
}

// Adds two steps of kRows rows, `stride` apart.
template <int kRows, CodeBits kBits, int kPair>
MYNAH_VNNI void add_pair(const int8_t* a, int64_t stride, const uint8_t* block, __m512i table,
                         __m512i (&sums)[kRows][2]) {
  __m512i w[2][2];
  load_pair<kBits, kPair>(block, 0, table, w[0][0], w[1][0]);
  load_pair<kBits, kPair>(block, 64, table, w[0][1], w[1][1]);
#pragma GCC unroll 2
  for (int step = 0; step < 2; ++step) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i four = _mm512_set1_epi32(load_i32(a + r * stride + (2 * kPair + step) * 4));
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], w[step][0], four);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], w[step][1], four);
    }
  }
}

// Rows whose sums of groups are kept in registers.
constexpr int most_kept(CodeBits bits) {
  return bits == CodeBits::Eight ? kMostRows : kMostPackedRows;
}

constexpr int64_t block_bytes_of(CodeBits bits) {
  constexpr int64_t kCodes = kBlockRows * kPanel;
  return bits == CodeBits::Eight  ? kCodes
         : bits == CodeBits::Six  ? kCodes * 6 / 8
         : bits == CodeBits::Five ? kCodes * 5 / 8
                                  : kCodes / 2;
}

// The sums of groups of kRows rows by two vectors: in registers, or where they lie in the tile.
template <int kRows, bool kInRegisters>
class GroupSums;

template <int kRows>
class GroupSums<kRows, true> {
 public:
  MYNAH_VNNI GroupSums(float* tile, bool begins) : tile_(tile) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = begins ? _mm512_setzero_ps() : _mm512_loadu_ps(tile + r * kPanel);
      sums_[r][1] = begins ? _mm512_setzero_ps() : _mm512_loadu_ps(tile + r * kPanel + 16);
    }
  }

  MYNAH_VNNI __m512 get(int row, int vector) const { return sums_[row][vector]; }

  MYNAH_VNNI void set(int row, int vector, __m512 sum) { sums_[row][vector] = sum; }

  static MYNAH_VNNI void end_group() {}

  MYNAH_VNNI void finish() const {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      _mm512_storeu_ps(tile_ + r * kPanel, sums_[r][0]);
      _mm512_storeu_ps(tile_ + r * kPanel + 16, sums_[r][1]);
    }
  }

 private:
  float* tile_;
  __m512 sums_[kRows][2];
};

template <int kRows>
class GroupSums<kRows, false> {
 public:
  MYNAH_VNNI GroupSums(float* tile, bool begins) : tile_(tile) {
    for (int i = 0; begins && i < kRows * kPanel; i += 16) {
      _mm512_storeu_ps(tile + i, _mm512_setzero_ps());
    }
  }

  MYNAH_VNNI __m512 get(int row, int vector) const {
    return _mm512_loadu_ps(tile_ + row * kPanel + vector * 16);
  }

  MYNAH_VNNI void set(int row, int vector, __m512 sum) {
    _mm512_storeu_ps(tile_ + row * kPanel + vector * 16, sum);
  }

  // Compilers would keep as many as they can in the registers that the sums in int32 are in.
  static MYNAH_VNNI void end_group() { asm volatile("" : : : "memory"); }

  MYNAH_VNNI void finish() const {}

 private:
  float* tile_;
};

// kGroups: of a block.
template <int kRows, CodeBits kBits, int kGroups, bool kMinima>
MYNAH_VNNI void rows_products(const BlockRows& x, int64_t row, const BlockChunk& chunk,
                              float* tile) {
  const int64_t stride = x.blocks * kBlockRows;
  const int8_t* a = x.codes + row * stride + chunk.first * kBlockRows;
  const float* row_scales = x.scales + row * x.blocks + chunk.first;
  const int64_t groups = x.blocks * kGroups;
  const int32_t* starts = x.starts + row * groups + chunk.first * kGroups;
  const float* row_sums = kMinima ? x.sums + row * groups + chunk.first * kGroups : nullptr;
  const uint8_t* codes = chunk.codes;
  const float* scales = chunk.scales;
  const float* minima = chunk.minima;
  const std::byte* fetch = chunk.fetch;
  __m512i table = _mm512_setzero_si512();
  if constexpr (kBits == CodeBits::Table) {
    table = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(chunk.table)));
  }
  GroupSums<kRows, (kRows <= most_kept(kBits))> y(tile, chunk.first == 0);
  for (int64_t b = 0; b < chunk.blocks; ++b) {
    for (int64_t i = 0; i < chunk.fetch_bytes; i += 64) {
      _mm_prefetch(fetch + i, _MM_HINT_T0);
    }
    fetch += chunk.fetch_bytes;
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
      __m512i sums[kRows][2];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        sums[r][0] = sums[r][1] = _mm512_set1_epi32(starts[r * groups]);
      }
      ++starts;
      if (g == 0) {
        add_pair<kRows, kBits, 0>(a, stride, codes, table, sums);
        add_pair<kRows, kBits, 1>(a, stride, codes, table, sums);
      }
      if (g == kGroups - 1) {
        add_pair<kRows, kBits, 2>(a, stride, codes, table, sums);
        add_pair<kRows, kBits, 3>(a, stride, codes, table, sums);
      }
      const __m512 s[2] = {_mm512_loadu_ps(scales), _mm512_loadu_ps(scales + 16)};
      scales += kPanel;
      __m512 least[2];
      if constexpr (kMinima) {
        least[0] = _mm512_loadu_ps(minima);
        least[1] = _mm512_loadu_ps(minima + 16);
        minima += kPanel;
      }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const __m512 scale = _mm512_set1_ps(row_scales[r * x.blocks]);
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v) {
          __m512 sum = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[r][v]), s[v]), scale,
                                       y.get(r, v));
          if constexpr (kMinima) {
            sum = _mm512_fmadd_ps(least[v], _mm512_set1_ps(row_sums[r * groups]), sum);
          }
          y.set(r, v, sum);
        }
      }
      y.end_group();
      if constexpr (kMinima) {
        ++row_sums;
      }
    }
    a += kBlockRows;
    codes += block_bytes_of(kBits);
    ++row_scales;
  }
  y.finish();
}

// As rows_products, for any number of rows up to kMost.
template <int kMost, CodeBits kBits, int kGroups, bool kMinima>
MYNAH_VNNI void some_rows_products(int64_t rows, const BlockRows& x, int64_t row,
                                   const BlockChunk& chunk, float* tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) {
      some_rows_products<kMost - 1, kBits, kGroups, kMinima>(rows, x, row, chunk, tile);
      return;
    }
  }
  rows_products<kMost, kBits, kGroups, kMinima>(x, row, chunk, tile);
}

template <CodeBits kBits, int kGroups, bool kMinima>
MYNAH_VNNI_TARGET void products(const BlockRows& x, int64_t row, int64_t m, const BlockChunk& chunk,
                                float* tile) {
  if (m <= kFewRows) {
    some_rows_products<kFewRows, kBits, kGroups, kMinima>(m, x, row, chunk, tile);
    return;
  }
  constexpr int kMost = most_kept(kBits);
  // As many rows in each pass: a last one of few would wait for its sums.
  const int64_t passes = (m + kMost - 1) / kMost;
  int64_t at = 0;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t rows = (m - at + passes - pass - 1) / (passes - pass);
    some_rows_products<kMost, kBits, kGroups, kMinima>(rows, x, row + at, chunk,
                                                       tile + at * kPanel);
    at += rows;
  }
}

template <CodeBits kBits>
MYNAH_VNNI_TARGET void any_products(const BlockRows& x, int64_t row, int64_t m,
                                    const BlockChunk& chunk, float* tile) {
  const bool minima = chunk.minima != nullptr;
  if (x.groups == 1) {
    minima ? products<kBits, 1, true>(x, row, m, chunk, tile)
           : products<kBits, 1, false>(x, row, m, chunk, tile);
  } else {
    minima ? products<kBits, 2, true>(x, row, m, chunk, tile)
           : products<kBits, 2, false>(x, row, m, chunk, tile);
  }
}

}  // namespace

MYNAH_VNNI_TARGET void block_products_vnni(const BlockRows& x, int64_t row, int64_t m,
                                           const BlockChunk& chunk, float* tile) {
  switch (chunk.bits) {
    case CodeBits::Four:
      return any_products<CodeBits::Four>(x, row, m, chunk, tile);
    case CodeBits::Five:
      return any_products<CodeBits::Five>(x, row, m, chunk, tile);
    case CodeBits::Six:
      return any_products<CodeBits::Six>(x, row, m, chunk, tile);
    case CodeBits::Table:
      return any_products<CodeBits::Table>(x, row, m, chunk, tile);
    default:
      return any_products<CodeBits::Eight>(x, row, m, chunk, tile);
  }
}

}  // namespace mynah::cpu

#endif
