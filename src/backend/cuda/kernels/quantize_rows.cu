// Rows and windows as int8, for products of many rows: a warp takes one.
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/quantize.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;

// `value_at(k)` for k below args.in; every lane of the warp comes here.
template <class ValueAt>
inline void quantize(const QuantizeArgs& args, int64_t row, const ValueAt& value_at) {
  int bits = 0;
  for (int64_t k = lane(); k < args.in; k += kWarp) {
    const int of_value = magnitude_bits(value_at(k));
    bits = of_value > bits ? of_value : bits;
  }
  const float peak = float_of(static_cast<uint32_t>(warp_max_bits(bits)));
  const float inverse = inverse_scale(peak);
  const int64_t halves = (args.in + kChunk - 1) / kChunk * 2;
  const Global<uint32_t> codes(reinterpret_cast<uint32_t*>(args.coded.codes));
  const Global<float> sums(args.coded.sums);
  for (int64_t h = lane(); h < halves; h += kWarp) {
    const auto value_of = [&](int i) {
      const int64_t k = h * kHalf + i;
      return k < args.in ? value_at(k) : 0.0F;
    };
    const CodedHalf half = coded_half(value_of, inverse);
    const int64_t unit =
        args.in_panels ? (row / kPanel * halves + h) * kPanel + row % kPanel : row * halves + h;
    codes.store<kHalfWords>(unit * kHalfWords, half.words);
    sums[row * halves + h] = static_cast<float>(half.sum);
  }
  if (lane() == 0) {
    const Global<float> scales(args.coded.scales);
    scales[row] = peak / 127.0F;
  }
}

inline int64_t row_of_warp() {
  return static_cast<int64_t>(block_index_x()) * warp_count() + warp();
}

}  // namespace

MYNAH_KERNEL(quantize_rows, QuantizeArgs, kThreads) {
  const int64_t row = row_of_warp();
  if (row < args.rows) {
    const Global<const float> x(args.x.data + row * args.x.stride);
    quantize(args, row, [&](int64_t k) -> float { return x[k]; });
  }
}

MYNAH_KERNEL(quantize_windows, QuantizeArgs, kThreads) {
  const int64_t row = row_of_warp();
  if (row < args.rows) {
    const Windows& windows = args.windows;
    const Global<const float> x(windows.x.data);
    const WindowPlace place = window_place(windows, row);
    quantize(args, row, [&](int64_t k) -> float {
      const int tap = static_cast<int>(k) / windows.channels;
      const int64_t from = row_of(windows, place, tap);
      return from < 0 ? 0.0F : x[from * windows.x.stride + k - tap * windows.channels];
    });
  }
}

}  // namespace mynah::simt
