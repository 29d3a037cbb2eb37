// Rotary positions.
#include "backend/cuda/kernels/angles.h"
#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

}  // namespace

MYNAH_KERNEL(rope, RopeArgs, kThreads) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * kThreads + thread_index();
  const int64_t pairs = static_cast<int64_t>(args.heads) * args.half;
  if (number >= args.rows * pairs) {
    return;
  }
  const int64_t row = number / pairs;
  const int64_t pair = number % pairs % args.half;
  const int64_t first = number % pairs / args.half * 2 * args.half + pair;
  const Global<const float> x(args.x.data + row * args.x.stride + first);
  const Global<float> out(args.out.data + row * args.out.stride + first);
  const Global<const int32_t> positions(args.positions);
  const Global<const uint64_t> turns(args.turns);
  const int64_t position = positions[row];
  const SineCosine by = sine_cosine(static_cast<uint64_t>(position) * turns[pair]);
  const float a = x[0];
  const float b = x[args.half];
  out[0] = a * by.cosine - b * by.sine;
  out[args.half] = b * by.cosine + a * by.sine;
}

}  // namespace mynah::simt
