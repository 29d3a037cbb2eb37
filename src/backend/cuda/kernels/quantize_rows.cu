// Rows and windows as int8, for products of many rows: a warp takes one.
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/quantize.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;

constexpr int kWordsOfHalf = kHalfWords;
constexpr int kWordsOfChunk = 2 * kWordsOfHalf;

// Four codes, and their sum.
struct CodedWord {
  uint32_t word;
  int sum;
};

inline CodedWord coded(const Vector<float, 4>& values, float inverse) {
  CodedWord result{};
  MYNAH_UNROLLED for (int i = 0; i < 4; ++i) {
    const int code = code_of(values[i], inverse);
    result.word |= (static_cast<uint32_t>(code) & 255U) << (i * 8);
    result.sum += code;
  }
  return result;
}

// `four_at(k)`: elements k to k + 3, k a multiple of four, zeros from args.in on. Every lane of the
// warp comes here. Neighbouring lanes read and write neighbours.
template <class FourAt>
inline void quantize(const QuantizeArgs& args, int64_t row, const FourAt& four_at) {
  int bits = 0;
  if (!args.by_chunk) {
    for (int64_t k = lane() * 4; k < args.in; k += 4 * kWarp) {
      const int of_four = largest_bits(four_at(k));
      bits = of_four > bits ? of_four : bits;
    }
    bits = warp_max_bits(bits);
  }
  const int64_t words = (args.in + kChunk - 1) / kChunk * kWordsOfChunk;
  const int64_t halves = words / kWordsOfHalf;
  const Global<uint32_t> codes(reinterpret_cast<uint32_t*>(args.coded.codes));
  const Global<float> sums(args.coded.sums);
  const Global<float> scales(args.coded.scales);
  for (int64_t first = 0; first < words; first += kWarp) {
    const int64_t w = first + lane();
    const Vector<float, 4> values = w < words ? four_at(w * 4) : Vector<float, 4>{};
    if (args.by_chunk) {
      bits = chunk_max_bits(largest_bits(values));
    }
    const CodedWord four = coded(values, inverse_scale(peak_of(bits)));
    int sum = four.sum;
    for (int distance = 1; distance < kWordsOfHalf; distance *= 2) {
      sum += shuffle_xor(sum, distance);
    }
    if (w < words) {
      const int64_t h = w / kWordsOfHalf;
      const int64_t unit =
          args.in_panels ? (row / kPanel * halves + h) * kPanel + row % kPanel : row * halves + h;
      codes[unit * kWordsOfHalf + w % kWordsOfHalf] = four.word;
      if (w % kWordsOfHalf == 0) {
        sums[row * halves + h] = static_cast<float>(sum);
      }
      if (args.by_chunk && w % kWordsOfChunk == 0) {
        scales[(row * words + w) / kWordsOfChunk] = peak_of(bits) / 127.0F;
      }
    }
  }
  if (!args.by_chunk && lane() == 0) {
    scales[row] = peak_of(bits) / 127.0F;
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
    quantize(args, row, [&](int64_t k) {
      if (args.aligned && k + 4 <= args.in) {
        return x.load<4>(k);
      }
      Vector<float, 4> values{};
      MYNAH_UNROLLED for (int i = 0; i < 4; ++i) {
        if (k + i < args.in) {
          values[i] = x[k + i];
        }
      }
      return values;
    });
  }
}

MYNAH_KERNEL(quantize_windows, QuantizeArgs, kThreads) {
  const int64_t row = row_of_warp();
  if (row < args.rows) {
    const Windows& windows = args.windows;
    const Global<const float> x(windows.x.data);
    const WindowPlace place = window_place(windows, row);
    quantize(args, row, [&](int64_t k) {
      int tap = static_cast<int>(k) / windows.channels;
      int channel = static_cast<int>(k) - tap * windows.channels;
      Vector<float, 4> values{};
      if (windows.aligned) {  // all four are of one tap
        const int64_t from = row_of(windows, place, tap);
        return from < 0 ? values : x.load<4>(from * windows.x.stride + channel);
      }
      MYNAH_UNROLLED for (int i = 0; i < 4; ++i) {
        const int64_t from = row_of(windows, place, tap);  // -1 past the last tap
        if (from >= 0) {
          values[i] = x[from * windows.x.stride + channel];
        }
        if (++channel == windows.channels) {
          channel = 0;
          ++tap;
        }
      }
      return values;
    });
  }
}

}  // namespace mynah::simt
