// Rows and windows in half of f32's bits, in panels of eight as weights are (weight_layout.h) or
// row after row, for products on matrix units: a warp takes a chunk of eight rows.
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/round.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;
constexpr int kRowsAtOnce = 4;  // by eight lanes each, of four elements

// `four_of(row, k)`: four elements from k on, a multiple of four; zeros outside.
template <Storage kStorage, class FourOf>
inline void pack(const PackArgs& args, const FourOf& four_of) {
  const auto chunks = static_cast<int>((args.in + kChunk - 1) / kChunk);
  const auto panels = static_cast<int>((args.rows + kPanel - 1) / kPanel);
  const int item = block_index_x() * warp_count() + warp();  // 2^31 of them are a terabyte
  const int panel = item / chunks;
  if (panel >= panels) {
    return;
  }
  const int chunk = item - panel * chunks;
  const int k = chunk * kChunk + lane() % 8 * 4;
  // In units, of 16 bytes and four to a chunk: from a row to the next, and along a row.
  const int units = chunks * 4;
  const int row_apart = args.in_panels ? 1 : units;
  const int unit_apart = args.in_panels ? kPanel : 1;
  const int64_t first_unit = static_cast<int64_t>(panel) * (kPanel * units) +
                             (chunk * 4 + lane() % 8 / 2) * unit_apart + lane() / 8 * row_apart;
  // A lane writes half a unit of a row.
  const Global<uint32_t> packed = Global<uint32_t>(reinterpret_cast<uint32_t*>(args.packed))
                                      .from(first_unit * 4 + lane() % 2 * 2);
  MYNAH_UNROLLED
  for (int first = 0; first < kPanel; first += kRowsAtOnce) {
    const Vector<float, 4> values =
        four_of(static_cast<int64_t>(panel) * kPanel + first + lane() / 8, k);
    packed.store<2>(first * row_apart * 4, {rounded_pair<kStorage>(values[0], values[1]),
                                            rounded_pair<kStorage>(values[2], values[3])});
  }
}

template <Storage kStorage>
inline void pack_rows(const PackArgs& args) {
  const Global<const float> x(args.x.data);
  pack<kStorage>(args, [&](int64_t row, int64_t k) {
    Vector<float, 4> values{};
    if (row < args.rows) {
      const Global<const float> run = x.from(row * args.x.stride + k);
      if (args.aligned && k + 4 <= args.in) {
        return run.load<4>(0);
      }
      for (int i = 0; i < 4; ++i) {
        if (k + i < args.in) {
          values[i] = run[i];
        }
      }
    }
    return values;
  });
}

template <Storage kStorage>
inline void pack_windows(const PackArgs& args) {
  const Windows& windows = args.windows;
  const Global<const float> x(windows.x.data);
  pack<kStorage>(args, [&](int64_t row, int64_t k) {
    const WindowPlace place = window_place(windows, row);
    int tap = static_cast<int>(k) / windows.channels;
    int channel = static_cast<int>(k) - tap * windows.channels;
    Vector<float, 4> values{};
    if (windows.aligned) {
      const int64_t from = row_of(windows, place, tap);
      return from < 0 ? values : x.load<4>(from * windows.x.stride + channel);
    }
    for (int i = 0; i < 4; ++i) {
      const int64_t from = row_of(windows, place, tap);
      if (from >= 0) {
        values[i] = x[from * windows.x.stride + channel];
      }
      ++channel;
      if (channel == windows.channels) {
        channel = 0;
        ++tap;
      }
    }
    return values;
  });
}

}  // namespace

MYNAH_KERNEL(pack_rows_f16, PackArgs, kThreads) {
  pack_rows<Storage::F16>(args);
}

MYNAH_KERNEL(pack_rows_bf16, PackArgs, kThreads) {
  pack_rows<Storage::BF16>(args);
}

MYNAH_KERNEL(pack_windows_f16, PackArgs, kThreads) {
  pack_windows<Storage::F16>(args);
}

MYNAH_KERNEL(pack_windows_bf16, PackArgs, kThreads) {
  pack_windows<Storage::BF16>(args);
}

}  // namespace mynah::simt
