// short_conv and delta_rule: a state is read once, kept near while the rows of its utterance pass,
// and written once.
#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/recurrent_args.h"

namespace mynah::simt {

namespace {

constexpr int kConvThreads = 128;
constexpr int kDeltaThreads = kDeltaParts * kWarp;

// The sum over the warps of a block, lane by lane, in every warp; all threads call it.
inline float sum_of_parts(float value, const Shared<float>& scratch) {
  barrier();
  scratch[thread_index()] = value;
  barrier();
  float sum = 0.0F;
  for (int part = 0; part < kDeltaParts; ++part) {
    sum += scratch[part * kWarp + lane()];
  }
  return sum;
}

}  // namespace

// Blocks: groups of channels, utterances.
MYNAH_KERNEL(short_conv, ShortConvArgs, kConvThreads) {
  const int64_t channel = static_cast<int64_t>(block_index_x()) * kConvThreads + thread_index();
  if (channel >= args.columns) {
    return;
  }
  const RowSpan span = Global<const RowSpan>(args.spans)[block_index_y()];
  const int32_t slot = Global<const int32_t>(args.slots)[block_index_y()];
  const Global<const float> weights(args.weights);
  const Global<float> state(args.states.data + slot * args.states.stride);
  // Behind zeros where there are fewer taps.
  const int unused = kConvTaps - args.taps;
  float window[kConvTaps];
  float factors[kConvTaps];
  MYNAH_UNROLLED
  for (int j = 0; j < kConvTaps; ++j) {
    window[j] = 0.0F;
    factors[j] = 0.0F;
    if (j >= unused) {
      factors[j] = weights[(j - unused) * args.columns + channel];
      if (j > unused) {
        window[j] = state[(j - unused - 1) * args.columns + channel];
      }
    }
  }
  const Global<const float> x(args.x.data);
  const Global<float> out(args.out.data);
  for (int64_t i = span.begin; i < span.begin + span.length; ++i) {
    MYNAH_UNROLLED
    for (int j = 0; j + 1 < kConvTaps; ++j) {
      window[j] = window[j + 1];
    }
    window[kConvTaps - 1] = x[i * args.x.stride + channel];
    float sum = 0.0F;
    MYNAH_UNROLLED
    for (int j = 0; j < kConvTaps; ++j) {
      sum = multiply_add(factors[j], window[j], sum);
    }
    out[i * args.out.stride + channel] = activate(args.activation, sum);
  }
  MYNAH_UNROLLED
  for (int j = 1; j < kConvTaps; ++j) {
    if (j > unused) {
      state[(j - unused - 1) * args.columns + channel] = window[j];
    }
  }
}

// Blocks: groups of a head's columns, heads, utterances. A lane has a column, a warp a part of its
// rows.
MYNAH_KERNEL(delta_rule, DeltaRuleArgs, kDeltaThreads) {
  MYNAH_SHARED(float, scratch, kDeltaThreads);
  MYNAH_DYNAMIC_SHARED(float, state);
  const RowSpan span = Global<const RowSpan>(args.spans)[block_index_z()];
  const int32_t slot = Global<const int32_t>(args.slots)[block_index_z()];
  const int64_t head = block_index_y();
  const int64_t column = static_cast<int64_t>(block_index_x()) * kDeltaColumns + lane();
  const bool there = column < args.value_columns;
  const int64_t value = head * args.value_columns + (there ? column : 0);
  const int64_t key = head % args.key_heads * args.key_columns;
  const Global<float> kept(args.states.data + slot * args.states.stride +
                           head * args.key_columns * args.value_columns + (there ? column : 0));
  for (int j = warp(); j < args.key_columns; j += kDeltaParts) {
    float own = 0.0F;
    if (there) {
      own = kept[static_cast<int64_t>(j) * args.value_columns];
    }
    state[j * kDeltaColumns + lane()] = own;
  }
  const Global<float> out(args.out.data);
  for (int64_t i = span.begin; i < span.begin + span.length; ++i) {
    const Global<const float> k(args.k.data + i * args.k.stride + key);
    const Global<const float> q(args.q.data + i * args.q.stride + key);
    const Global<const float> v(args.v.data + i * args.v.stride);
    const float decay = exp(Global<const float>(args.gates.data)[i * args.gates.stride + head]);
    const float beta = Global<const float>(args.betas.data)[i * args.betas.stride + head];
    float known = 0.0F;
    for (int j = warp(); j < args.key_columns; j += kDeltaParts) {
      known = multiply_add(k[j], state[j * kDeltaColumns + lane()], known);
    }
    known = sum_of_parts(known, scratch);
    const float more = beta * (v[value] - decay * known);
    float result = 0.0F;
    for (int j = warp(); j < args.key_columns; j += kDeltaParts) {
      const float next = multiply_add(k[j], more, decay * state[j * kDeltaColumns + lane()]);
      state[j * kDeltaColumns + lane()] = next;
      result = multiply_add(q[j], next, result);
    }
    result = sum_of_parts(result, scratch);
    if (warp() == 0 && there) {
      out[i * args.out.stride + value] = result;
    }
  }
  for (int j = warp(); j < args.key_columns && there; j += kDeltaParts) {
    kept[static_cast<int64_t>(j) * args.value_columns] =
        static_cast<float>(state[j * kDeltaColumns + lane()]);
  }
}

}  // namespace mynah::simt
