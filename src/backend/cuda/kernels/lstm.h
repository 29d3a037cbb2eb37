// LSTM over the state, once the inputs' products are known: each step multiplies the last state
// with the weights, which the card's second cache holds, and a block's barrier keeps the steps
// apart.
#pragma once

#include "backend/cuda/kernels/lstm_args.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/weights.h"

namespace mynah::simt {

namespace lstm {

constexpr int kStatePitch = kHalf + 4;
constexpr int kGates = 4;               // input, forget, cell, output
constexpr int kParts = kWarp / kPanel;  // of a row's sum: a lane each

// What is known of a block.
struct Place {
  RowSpan span;
  int64_t utterance;
  int first_unit;
  int units;
};

inline Place place_of(const LstmArgs& args) {
  const int groups = (args.hidden + args.units - 1) / args.units;
  const int64_t utterance = block_index_x() / groups;
  const int first = block_index_x() % groups * args.units;
  const int left = args.hidden - first;
  const RowSpan span = Global<const RowSpan>(args.spans)[utterance];
  return {span, utterance, first, left < args.units ? left : args.units};
}

inline int64_t row_of(const LstmArgs& args, const RowSpan& span, int64_t step) {
  return args.reverse != 0 ? span.begin + span.length - 1 - step : span.begin + step;
}

// Element i of the state in shared memory.
inline int state_at(int i) {
  return i / kHalf * kStatePitch + i % kHalf;
}

// A lane's part of the product of a row and the state: every fourth half of a chunk.
template <Storage kStorage>
inline float part_of(const WeightRow<kStorage>& weights, int64_t chunks,
                     const Shared<float>& state) {
  float sum = 0.0F;
  const int halves = static_cast<int>(chunks) * 2;
  int at = lane() / kPanel;
  HalfChunk<kStorage> next{};
  if (at < halves) {
    next = weights.load(at / 2, at % 2);
  }
  for (; at < halves; at += kParts) {
    const HalfChunk<kStorage> stored = next;
    if (at + kParts < halves) {  // on its way while this one is computed with
      next = weights.load((at + kParts) / 2, (at + kParts) % 2);
    }
    float values[kHalf];
    WeightRow<kStorage>::widen(stored, at % 2, values);
    MYNAH_UNROLLED
    for (int i = 0; i < kHalf; i += 4) {
      const Vector<float, 4> run = state.load<4>(at * kStatePitch + i);
      MYNAH_UNROLLED
      for (int k = 0; k < 4; ++k) {
        sum = multiply_add(values[i + k], run[k], sum);
      }
    }
  }
  return sum;
}

// The gates of the block's units before their functions, to shared memory: gate by gate.
template <Storage kStorage>
inline void multiply_state(const LstmArgs& args, const Place& place, int64_t row,
                           const Shared<float>& state, const Shared<float>& gates) {
  const Global<const float> inputs(args.inputs + row * kGates * args.hidden);
  const Global<const float> scales(args.weights.scales);
  const int panels = (place.units + kLstmUnits - 1) / kLstmUnits;
  for (int item = warp(); item < panels * kGates; item += warp_count()) {
    const int gate = item % kGates;
    const int unit = item / kGates * kLstmUnits + lane() % kPanel;
    const bool there = unit < place.units;
    // A lane past the last unit reads that one's weights again.
    const int64_t number = static_cast<int64_t>(gate) * args.hidden + place.first_unit +
                           (there ? unit : place.units - 1);
    const WeightRow<kStorage> weights(args.weights, number);
    float sum = part_of<kStorage>(weights, args.weights.chunks, state);
    sum += shuffle_xor(sum, kPanel);
    sum += shuffle_xor(sum, 2 * kPanel);
    if (lane() < kPanel && there) {
      if constexpr (kStorage == Storage::I8) {
        sum *= scales[number];
      }
      gates[gate * args.units + unit] = sum + inputs[number];
    }
  }
}

// Dynamic shared memory: the state, then four gates and the cell of the block's units.
template <Storage kStorage>
inline void run(const LstmArgs& args) {
  MYNAH_DYNAMIC_SHARED(float, state);
  const Place place = place_of(args);
  const int64_t left = place.span.length - args.first_step;
  const int steps = left < args.steps ? static_cast<int>(left) : args.steps;
  if (steps <= 0) {
    return;
  }
  const Shared<float> gates = state.from(lstm_state_floats(args.weights.chunks));
  const Shared<float> cells = gates.from(kGates * args.units);
  const Global<float> out(args.out.data);
  const Global<float> h(args.h.data + place.utterance * args.h.stride + place.first_unit);
  const Global<float> c(args.c.data + place.utterance * args.c.stride + place.first_unit);
  const Global<const float> before(
      args.first_step == 0
          ? args.first_h + place.utterance * args.first_h_stride
          : args.out.data + row_of(args, place.span, args.first_step - 1) * args.out.stride);
  for (int i = thread_index(); i < args.weights.chunks * kChunk; i += thread_count()) {
    float value = 0.0F;
    if (i < args.hidden) {
      value = before[i];
    }
    state[state_at(i)] = value;
  }
  for (int i = thread_index(); i < place.units; i += thread_count()) {
    cells[i] = static_cast<float>(c[i]);
  }
  for (int step = 0; step < steps; ++step) {
    const int64_t row = row_of(args, place.span, args.first_step + step);
    barrier();
    multiply_state<kStorage>(args, place, row, state, gates);
    barrier();
    for (int i = thread_index(); i < place.units; i += thread_count()) {
      const float input = sigmoid(gates[i]);
      const float forget = sigmoid(gates[args.units + i]);
      const float cell = tanh(gates[2 * args.units + i]);
      const float output = sigmoid(gates[3 * args.units + i]);
      const float next = multiply_add(forget, cells[i], input * cell);
      const float value = output * tanh(next);
      cells[i] = next;
      state[state_at(place.first_unit + i)] = value;
      out[row * args.out.stride + place.first_unit + i] = value;
      if (args.first_step + step + 1 == place.span.length) {
        h[i] = value;
      }
    }
  }
  for (int i = thread_index(); i < place.units; i += thread_count()) {
    c[i] = static_cast<float>(cells[i]);
  }
}

}  // namespace lstm

#define MYNAH_DEFINE_LSTM(type, storage)              \
  MYNAH_KERNEL(lstm_##type, LstmArgs, kLstmThreads) { \
    lstm::run<storage>(args);                         \
  }

}  // namespace mynah::simt
