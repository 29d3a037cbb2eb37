// What the kernels of vocoder.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// sine_phases: a thread a harmonic of an utterance, phases (values, harmonics). sine_source: a
// thread a sample, whose row is its value of pitch; `utterance_of_row` says whose that is.
struct SineSourceArgs {
  Rows pitch;
  const RowSpan* utterances;
  const int32_t* utterance_of_row;
  float* phases;
  const float* weights;
  OutRows out;
  int64_t count;  // of utterances
  int64_t rows;
  int64_t samples;  // of a value
  int32_t harmonics;
  float rate;
  float amplitude;
  float voiced;
  float bias;
};

// An utterance: a run of samples, a run of frames.
struct StftSpan {
  int64_t samples_begin;
  int64_t samples;
  int64_t frames_begin;
  int64_t frames;
};

// window and the cosine and sine of each n-th of a turn, table (n, 3); blocks along x, utterances
// along y. stft: a thread a bin of a frame. polar_parts: the same, of (frames, 2 bins) logarithms
// and numbers whose sines are phases, to real and imaginary parts. overlap_add: a thread a sample.
struct StftArgs {
  const float* samples;
  float* out_samples;
  Rows frames;
  OutRows out_frames;
  const StftSpan* utterances;
  const float* table;
  int64_t hop;
  int32_t points;
  int32_t bins;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_VOCODER_KERNELS(X)          \
  X(vocoder, sine_phases, SineSourceArgs) \
  X(vocoder, sine_source, SineSourceArgs) \
  X(vocoder, stft, StftArgs)              \
  X(vocoder, polar_parts, StftArgs)       \
  X(vocoder, overlap_add, StftArgs)
