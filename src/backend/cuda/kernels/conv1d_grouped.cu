// Convolutions of groups too narrow for tiles, as depthwise ones: a thread an element of the
// result.
#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/weights.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;

// Column `row` of the result is a row of weights.
template <Storage kStorage>
inline void convolve(const Conv1dArgs& args) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * kThreads + thread_index();
  const int64_t row = number / args.finish.columns;
  const int64_t column = number - row * args.finish.columns;
  if (row >= args.finish.rows) {
    return;
  }
  const Windows& windows = args.windows;
  const WindowPlace place = window_place(windows, row);
  const WeightRow<kStorage> weights(args.weights, column);
  const Global<const float> x(windows.x.data);
  const int64_t first_channel = column / args.group_columns * windows.channels;
  float sum = 0.0F;
  int tap = 0;
  int channel = 0;
  MYNAH_ROLLED for (int half = 0; tap < windows.kernel; ++half) {
    float w[kHalf];
    WeightRow<kStorage>::widen(weights.load(half / 2, half % 2), half % 2, w);
    MYNAH_UNROLLED for (int i = 0; i < kHalf; ++i) {
      const int64_t from = row_of(windows, place, tap);
      if (from >= 0) {
        sum = multiply_add(x[from * windows.x.stride + first_channel + channel], w[i], sum);
      }
      ++channel;
      if (channel == windows.channels) {
        channel = 0;
        ++tap;
      }
    }
  }
  Finisher(args.finish, args.weights.scales).put(row, column, sum);
}

}  // namespace

MYNAH_KERNEL(conv1d_grouped, Conv1dArgs, kThreads) {
  switch (args.storage) {
    case Storage::F32:
      return convolve<Storage::F32>(args);
    case Storage::F16:
      return convolve<Storage::F16>(args);
    case Storage::BF16:
      return convolve<Storage::BF16>(args);
    default:
      return convolve<Storage::I8>(args);
  }
}

}  // namespace mynah::simt
