// Rotary positions.
#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

struct SineCosine {
  float sine;
  float cosine;
};

// Of an angle as a part of a whole turn, in units of 2^-64: reduced to an eighth of a turn either
// side of a quarter's in whole numbers, so that no position is too far. The polynomials of Cephes'
// sinf.c (S. Moshier), within 1e-7.
inline SineCosine sine_cosine(uint64_t turn) {
  constexpr uint64_t kEighth = uint64_t{1} << 61;
  constexpr float kRadians = 3.40612158e-19F;  // 2 pi / 2^64
  const uint64_t quarter = (turn + kEighth) >> 62;
  const auto rest = static_cast<int64_t>(turn - (quarter << 62));
  const float x = static_cast<float>(rest) * kRadians;
  const float z = x * x;
  float s = -1.9515295891e-4F;
  s = multiply_add(s, z, 8.3321608736e-3F);
  s = multiply_add(s, z, -1.6666654611e-1F);
  s = multiply_add(s * z, x, x);
  float c = 2.443315711809948e-5F;
  c = multiply_add(c, z, -1.388731625493765e-3F);
  c = multiply_add(c, z, 4.166664568298827e-2F);
  c = multiply_add(c * z, z, multiply_add(-0.5F, z, 1.0F));
  const bool crossed = (quarter & 1U) != 0;
  const float sine = crossed ? c : s;
  const float cosine = crossed ? -s : c;
  const bool opposite = (quarter & 2U) != 0;
  return {opposite ? -sine : sine, opposite ? -cosine : cosine};
}

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
