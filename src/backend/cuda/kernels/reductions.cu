// Along the last dimension: reductions, running sums, the median filter.
#include "backend/cuda/kernels/best.h"
#include "backend/cuda/kernels/reduction_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;
constexpr int kMostWarps = kThreads / kWarp;

}  // namespace

MYNAH_KERNEL(reduce_sum, ReduceArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  float sum = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    sum += x[i];
  }
  sum = block_sum(sum, scratch);
  if (thread_index() == 0) {
    Global<float>(args.out)[block_index_x()] = sum * args.scale;
  }
}

MYNAH_KERNEL(reduce_max, ReduceArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  float highest = -kInfinity;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    highest = maximum(highest, x[i]);
  }
  highest = block_max(highest, scratch);
  if (thread_index() == 0) {
    Global<float>(args.out)[block_index_x()] = highest;
  }
}

// 0 where every element is NaN.
MYNAH_KERNEL(argmax, ArgmaxArgs, kThreads) {
  MYNAH_SHARED(float, values, kMostWarps);
  MYNAH_SHARED(int, indices, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  Best best;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    best.offer(x[i], static_cast<int>(i));
  }
  best = block_best(best, values, indices);
  if (thread_index() == 0) {
    Global<int32_t>(args.out)[block_index_x()] = best.index == Best::kNowhere ? 0 : best.index;
  }
}

// A run of a row at a time, an element a thread: the sum of a warp's lanes up to each by doubling
// distances, then what the warps before it and the runs before it came to.
MYNAH_KERNEL(cumsum, CumsumArgs, kThreads) {
  MYNAH_SHARED(float, warp_sums, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  float before = 0.0F;
  for (int64_t begin = 0; begin < args.columns; begin += thread_count()) {
    const int64_t i = begin + thread_index();
    float sum = 0.0F;
    if (i < args.columns) {
      sum = x[i];
    }
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const float lower = shuffle_up(sum, distance);
      sum += lane() >= distance ? lower : 0.0F;
    }
    barrier();  // whoever still reads the last run's sums
    if (lane() == kWarp - 1) {
      warp_sums[warp()] = sum;
    }
    barrier();
    float run = 0.0F;
    for (int w = 0; w < warp_count(); ++w) {
      if (w == warp()) {
        sum += before + run;
      }
      run += warp_sums[w];
    }
    before += run;
    if (i < args.columns) {
      out[i] = sum;
    }
  }
}

namespace {

// Index j of n mirrored at both ends without repeating them.
inline int64_t mirrored(int64_t j, int64_t n) {
  return j < 0 ? -j : j >= n ? 2 * n - 2 - j : j;
}

// Sorted in registers: odd and even neighbours exchanged in turn, kWidth times.
template <int kWidth>
inline float sorted_median(const Global<const float>& x, int64_t at, int64_t n) {
  float window[kWidth];
  for (int k = 0; k < kWidth; ++k) {
    window[k] = x[mirrored(at + k - kWidth / 2, n)];
  }
  for (int turn = 0; turn < kWidth; ++turn) {
    for (int k = turn % 2; k + 1 < kWidth; k += 2) {
      const float low = minimum(window[k], window[k + 1]);
      window[k + 1] = maximum(window[k], window[k + 1]);
      window[k] = low;
    }
  }
  return window[kWidth / 2];
}

// Of any width: the element that at most half are below and more than half not above.
inline float counted_median(const Global<const float>& x, int64_t at, int64_t n, int64_t width) {
  const int64_t reach = width / 2;
  float median = x[at];
  for (int64_t k = -reach; k <= reach; ++k) {
    const float candidate = x[mirrored(at + k, n)];
    int64_t below = 0;
    int64_t not_above = 0;
    for (int64_t j = -reach; j <= reach; ++j) {
      const float value = x[mirrored(at + j, n)];
      below += value < candidate ? 1 : 0;
      not_above += value <= candidate ? 1 : 0;
    }
    if (below <= reach && not_above > reach) {
      median = candidate;
    }
  }
  return median;
}

}  // namespace

MYNAH_KERNEL(median_filter, MedianArgs, kThreads) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  const int64_t row = number / args.columns;
  if (row >= args.rows) {
    return;
  }
  const int64_t at = number - row * args.columns;
  const Global<const float> x(args.x.data + row * args.x.stride);
  const Global<float> out(args.out.data + row * args.out.stride);
  const int64_t n = args.columns;
  if (args.width == 1 || n <= args.width / 2) {
    out[at] = static_cast<float>(x[at]);
  } else if (args.width == 3) {
    out[at] = sorted_median<3>(x, at, n);
  } else if (args.width == 5) {
    out[at] = sorted_median<5>(x, at, n);
  } else if (args.width == 7) {
    out[at] = sorted_median<7>(x, at, n);
  } else {
    out[at] = counted_median(x, at, n, args.width);
  }
}

}  // namespace mynah::simt
