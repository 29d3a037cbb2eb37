// Attention's probabilities themselves, for word times.
#include "backend/cuda/kernels/attention_warp.h"

namespace mynah::simt {

namespace {

constexpr int kWarps = kSplitWarps;
constexpr int kThreads = kWarps * kWarp;

// A block takes kFewLines queries of a head; the scores of its keys pass through `out`, where each
// thread reads what it wrote. Dynamic shared memory: each warp's slice, then the queries.
template <class T>
MYNAH_INLINE void probabilities(const ProbabilitiesArgs& args) {
  using Slice = WarpSlice<T>;
  MYNAH_SHARED(float, scratch, kWarps);
  MYNAH_DYNAMIC_SHARED(T, slices);
  MYNAH_DYNAMIC_SHARED(float, floats);
  const Shared<float> queries = floats.from(kWarps * split_slice_bytes(kLevel) / 4);
  const int64_t first_query = static_cast<int64_t>(block_index_x()) * kFewLines;
  const int64_t head = block_index_y();
  const int left = args.queries - static_cast<int>(first_query);
  const int lines = left < kFewLines ? left : kFewLines;
  const int slice_count = (args.width + Slice::kColumns - 1) / Slice::kColumns;
  const int pitch = slice_count * Slice::kColumns;
  const Global<const float> q(args.q);
  for (int i = thread_index(); i < kFewLines * pitch; i += kThreads) {
    const int line = i / pitch;
    const int column = i % pitch;
    float value = 0.0F;
    if (line < lines && column < args.head_dim) {
      value = q[(first_query + line) * args.q_stride + head * args.head_dim + column] * args.scale;
    }
    queries[i] = value;
  }
  barrier();

  const Global<const T> own(static_cast<const T*>(args.keys) +
                            head / args.group * args.head_stride);
  const KeyRows<T> keys{own, own, args.width, args.positions, args.positions, args.width, {}};
  const Shared<T> own_slice = slices.from(warp() * Slice::kElements);
  const Global<float> out(args.out + head * args.out_head_stride +
                          first_query * args.out_query_stride);
  float highest[kFewLines];
  MYNAH_UNROLLED
  for (int l = 0; l < kFewLines; ++l) {
    highest[l] = -kInfinity;
  }
  for (int first = warp() * kTileKeys; first < args.positions; first += kThreads) {
    float scores[kFewLines] = {};
    Slice slice;
    for (int s = 0; s < slice_count; ++s) {
      slice.read(keys, first, s * Slice::kColumns);
      slice.put(own_slice);
      add_row_scores<T, kFewLines>(own_slice, queries.from(s * Slice::kColumns), pitch, lines,
                                   scores);
    }
    MYNAH_UNROLLED
    for (int l = 0; l < kFewLines; ++l) {
      if (l < lines && first + lane() < args.positions) {
        highest[l] = maximum(highest[l], scores[l]);
        out[l * args.out_query_stride + first + lane()] = scores[l];
      }
    }
  }
  MYNAH_UNROLLED
  for (int l = 0; l < kFewLines; ++l) {
    const float peak = block_max(highest[l], scratch);
    float sum = 0.0F;
    if (l < lines) {
      for (int n = thread_index(); n < args.positions; n += kThreads) {
        const float weight = exp2_fast(out[l * args.out_query_stride + n] - peak);
        out[l * args.out_query_stride + n] = weight;
        sum += weight;
      }
    }
    sum = block_sum(sum, scratch);
    if (l < lines) {
      for (int n = thread_index(); n < args.positions; n += kThreads) {
        out[l * args.out_query_stride + n] = out[l * args.out_query_stride + n] / sum;
      }
    }
  }
}

}  // namespace

MYNAH_KERNEL(attention_probabilities_f32, ProbabilitiesArgs, kThreads) {
  probabilities<float>(args);
}

MYNAH_KERNEL(attention_probabilities_f16, ProbabilitiesArgs, kThreads) {
  probabilities<F16>(args);
}

}  // namespace mynah::simt
