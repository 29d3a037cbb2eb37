// Rotary positions.
#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

}  // namespace

MYNAH_KERNEL(rope, RopeArgs, kThreads) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * kThreads + thread_index();
  const int32_t threads = (args.columns + 1) / 2;  // of a head
  const int64_t row = number / (static_cast<int64_t>(args.heads) * threads);
  if (row >= args.rows) {
    return;
  }
  const auto place = static_cast<int32_t>(number % (static_cast<int64_t>(args.heads) * threads));
  const int32_t pair = place % threads;
  const int64_t head = static_cast<int64_t>(place / threads) * args.columns;
  const Global<const float> x(args.x.data + row * args.x.stride + head);
  const Global<float> out(args.out.data + row * args.out.stride + head);
  if (pair >= args.pairs) {
    out[2 * pair] = x[2 * pair];
    if (2 * pair + 1 < args.columns) {
      out[2 * pair + 1] = x[2 * pair + 1];
    }
    return;
  }
  const Global<const float> turns(args.turns.data + row * args.turns.stride);
  const float cosine = turns[pair];
  const float sine = turns[args.pairs + pair];
  const int32_t first = args.neighbours != 0 ? 2 * pair : pair;
  const int32_t second = args.neighbours != 0 ? first + 1 : first + args.pairs;
  const float a = x[first];
  const float b = x[second];
  out[first] = a * cosine - b * sine;
  out[second] = b * cosine + a * sine;
}

}  // namespace mynah::simt
