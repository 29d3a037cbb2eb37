// What attention needs to round keys and values: means and peaks of their channels, codes in the
// order in which products read them.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/packing_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

// Vectors that 32 columns take at most, so that their sums stay in registers.
constexpr int64_t kMostVectors = kPanel / 4;

// Calls step(column, sums, row) for each vector of columns and each row; sums start at zero and
// are written to `out`.
template <class Step>
HWY_INLINE void reduce_columns(const float* x, int64_t rows, int64_t n, const Step& step,
                               float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t vectors = kPanel / lanes;
  for (int64_t first = 0; first < n; first += kPanel) {
    V sums[kMostVectors];
    for (int64_t v = 0; v < vectors; ++v) {
      sums[v] = hn::Zero(f);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float* const row = x + r * n + first;
      for (int64_t v = 0; v < vectors; ++v) {
        sums[v] = step(first + v * lanes, sums[v], hn::LoadU(f, row + v * lanes));
      }
    }
    for (int64_t v = 0; v < vectors; ++v) {
      hn::StoreU(sums[v], f, out + first + v * lanes);
    }
  }
}

void column_sums(const float* x, int64_t rows, int64_t n, float* out) {
  reduce_columns(
      x, rows, n, [](int64_t, V sum, V value) HWY_ATTR { return hn::Add(sum, value); }, out);
}

void column_peaks(const float* x, int64_t rows, int64_t n, const float* mean, float* out) {
  const F f;
  reduce_columns(
      x, rows, n,
      [&](int64_t column, V peak, V value)
          HWY_ATTR { return hn::Max(peak, hn::Abs(hn::Sub(value, hn::LoadU(f, mean + column)))); },
      out);
}

void value_codes(const float* x, int64_t stride, int64_t rows, const float* mean,
                 const float* inverse, uint8_t* out) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  // Added to a small number, the number to nearest is in the sum's last bits.
  const V rounder = hn::Set(f, 0x1.8p23F);
  const auto byte = hn::Set(u32, 0xFF);
  for (int64_t column = 0; column < kPanel; column += lanes) {
    const V centre = hn::LoadU(f, mean + column);
    const V scale = hn::LoadU(f, inverse + column);
    const auto code = [&](int64_t row) HWY_ATTR {
      const V value = hn::Sub(hn::LoadU(f, x + row * stride + column), centre);
      return hn::And(hn::BitCast(u32, hn::Add(hn::Mul(value, scale), rounder)), byte);
    };
    auto* to = reinterpret_cast<uint32_t*>(out) + column;
    int64_t row = 0;
    for (; row + 4 <= rows; row += 4, to += kPanel) {
      const auto low = hn::Or(code(row), hn::ShiftLeft<8>(code(row + 1)));
      const auto high = hn::Or(code(row + 2), hn::ShiftLeft<8>(code(row + 3)));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), u32, to);
    }
    if (row < rows) {
      auto codes = code(row);
      codes = row + 1 < rows ? hn::Or(codes, hn::ShiftLeft<8>(code(row + 1))) : codes;
      codes = row + 2 < rows ? hn::Or(codes, hn::ShiftLeft<16>(code(row + 2))) : codes;
      hn::StoreU(codes, u32, to);
    }
  }
}

}  // namespace

void fill_packing(Kernels& kernels) {
  kernels.column_sums = column_sums;
  kernels.column_peaks = column_peaks;
  kernels.value_codes = value_codes;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_packing_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_packing, kernels);
}

}  // namespace mynah::cpu
#endif
