// What vocoders are made of: a source of sines, short-time Fourier transforms and their inverse.
// Transforms are sums as they stand: vocoders' have some twenty points.
#include "backend/cuda/kernels/angles.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/vocoder_args.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;
constexpr float kTwoPi = 6.28318530717958647692F;

inline int64_t number_of_thread() {
  return static_cast<int64_t>(block_index_x()) * kThreads + thread_index();
}

inline float floor_of(float x) {
  const auto whole = static_cast<float>(static_cast<int64_t>(x));
  return whole > x ? whole - 1.0F : whole;
}

// Columns of a table's row.
constexpr int kColumns = 3;

struct Wave {
  float cosine;
  float sine;
};

inline Wave wave_of(const Global<const float>& table, int64_t turns, int points) {
  const int64_t at = turns % points * kColumns;
  return {table[at + 1], table[at + 2]};
}

}  // namespace

// Each step in f32 and in this order, as the definition has it.
MYNAH_KERNEL(sine_phases, SineSourceArgs, kThreads) {
  const int64_t number = number_of_thread();
  if (number >= args.count * args.harmonics) {
    return;
  }
  const RowSpan utterance = Global<const RowSpan>(args.utterances)[number / args.harmonics];
  const int64_t harmonic = number % args.harmonics;
  const Global<const float> pitch(args.pitch.data);
  const Global<float> phases(args.phases);
  float turns = 0.0F;
  for (int64_t i = utterance.begin; i < utterance.begin + utterance.length; ++i) {
    const float step = pitch[i * args.pitch.stride] * static_cast<float>(harmonic + 1) / args.rate;
    turns += step - floor_of(step);
    phases[i * args.harmonics + harmonic] =
        turns * 2.0F * (kTwoPi / 2.0F) * static_cast<float>(args.samples);
  }
}

MYNAH_KERNEL(sine_source, SineSourceArgs, kThreads) {
  const int64_t number = number_of_thread();
  if (number >= args.rows * args.samples) {
    return;
  }
  const int64_t row = number / args.samples;
  const int32_t owner = Global<const int32_t>(args.utterance_of_row)[row];
  const RowSpan utterance = Global<const RowSpan>(args.utterances)[owner];
  const Global<const float> pitch(args.pitch.data);
  const Global<const float> weights(args.weights);
  const Global<const float> phases(args.phases + utterance.begin * args.harmonics);
  float sum = 0.0F;
  if (pitch[row * args.pitch.stride] > args.voiced) {
    // Linear between the middles of the values' samples.
    const auto sample = static_cast<float>(number - utterance.begin * args.samples);
    float at = (sample + 0.5F) / static_cast<float>(args.samples) - 0.5F;
    at = minimum(maximum(at, 0.0F), static_cast<float>(utterance.length - 1));
    const auto before = static_cast<int64_t>(at);
    const int64_t after = before + 1 < utterance.length ? before + 1 : before;
    const float part = at - static_cast<float>(before);
    for (int32_t h = 0; h < args.harmonics; ++h) {
      const float first = phases[before * args.harmonics + h];
      const float second = phases[after * args.harmonics + h];
      const float phase = first * (1.0F - part) + second * part;
      sum += args.amplitude * weights[h] * sine_cosine(turn_of(phase)).sine;
    }
  }
  const Global<float> out(args.out.data + row * args.out.stride);
  out[number - row * args.samples] = tanh(sum + args.bias);
}

MYNAH_KERNEL(stft, StftArgs, kThreads) {
  const StftSpan utterance = Global<const StftSpan>(args.utterances)[block_index_y()];
  const int64_t number = number_of_thread();
  const int64_t frame = number / args.bins;
  if (frame >= utterance.frames) {
    return;
  }
  const int64_t bin = number - frame * args.bins;
  const Global<const float> samples(args.samples + utterance.samples_begin);
  const Global<const float> table(args.table);
  float real = 0.0F;
  float imaginary = 0.0F;
  for (int32_t i = 0; i < args.points; ++i) {
    int64_t at = frame * args.hop + i - args.points / 2;
    at = at < 0 ? -at : at;
    at = at < utterance.samples ? at : 2 * (utterance.samples - 1) - at;
    const float value = table[i * kColumns] * samples[at];
    const Wave wave = wave_of(table, bin * i, args.points);
    real = multiply_add(value, wave.cosine, real);
    imaginary = multiply_add(-value, wave.sine, imaginary);
  }
  const Global<float> out(args.out_frames.data +
                          (utterance.frames_begin + frame) * args.out_frames.stride);
  out[bin] = square_root(multiply_add(real, real, imaginary * imaginary));
  out[args.bins + bin] = angle(imaginary, real);
}

MYNAH_KERNEL(polar_parts, StftArgs, kThreads) {
  const StftSpan utterance = Global<const StftSpan>(args.utterances)[block_index_y()];
  const int64_t number = number_of_thread();
  const int64_t frame = number / args.bins;
  if (frame >= utterance.frames) {
    return;
  }
  const int64_t bin = number - frame * args.bins;
  const int64_t row = utterance.frames_begin + frame;
  const Global<const float> from(args.frames.data + row * args.frames.stride);
  const Global<float> to(args.out_frames.data + row * args.out_frames.stride);
  const float magnitude = exp(from[bin]);
  const float phase = sine_cosine(turn_of(from[args.bins + bin])).sine;
  const SineCosine direction = sine_cosine(turn_of(phase));
  to[bin] = magnitude * direction.cosine;
  to[args.bins + bin] = magnitude * direction.sine;
}

MYNAH_KERNEL(overlap_add, StftArgs, kThreads) {
  const StftSpan utterance = Global<const StftSpan>(args.utterances)[block_index_y()];
  const int64_t number = number_of_thread();
  if (number >= utterance.samples) {
    return;
  }
  const Global<const float> table(args.table);
  const int64_t place = number + args.points / 2;
  const int64_t first = place < args.points ? 0 : (place - args.points) / args.hop + 1;
  const int64_t last =
      place / args.hop < utterance.frames ? place / args.hop : utterance.frames - 1;
  float sum = 0.0F;
  float squares = 0.0F;
  for (int64_t frame = first; frame <= last; ++frame) {
    const int64_t at = place - frame * args.hop;
    const Global<const float> parts(args.frames.data +
                                    (utterance.frames_begin + frame) * args.frames.stride);
    float value = 0.0F;
    for (int32_t bin = 0; bin < args.bins; ++bin) {
      // Bins between the first and the last stand for two: the spectrum of a real signal.
      const float twice = bin == 0 || 2 * bin == args.points ? 1.0F : 2.0F;
      const Wave wave = wave_of(table, bin * at, args.points);
      value = multiply_add(twice * parts[bin], wave.cosine, value);
      value = multiply_add(-twice * parts[args.bins + bin], wave.sine, value);
    }
    const float window = table[at * kColumns];
    sum = multiply_add(value, window, sum);
    squares = multiply_add(window, window, squares);
  }
  sum = sum / static_cast<float>(args.points);
  const Global<float> out(args.out_samples + utterance.samples_begin);
  out[number] = squares > 0.0F ? sum / squares : sum;
}

}  // namespace mynah::simt
