// What the kernels of spectrum.cu and log_mel.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// Bytes of shared memory that a transform of n real points takes: two buffers of n / 2 complex
// numbers.
inline constexpr int64_t kTransformBytes = 8;

// A block a few rows of x, `each` of them; the last block may have fewer.
struct SpectrumArgs {
  Rows x;
  const float* window;
  const float* table;  // CudaBackend::transform_table
  OutRows out;
  int64_t rows;
  int32_t points;
  int32_t each;
};

// First and one past the last bin that a mel weighs.
struct BinRange {
  int32_t begin;
  int32_t end;
};

// A warp a mel.
struct MelRangesArgs {
  Rows filters;
  BinRange* ranges;
  int32_t bins;
};

// Blocks: groups of `each` frames of the longest utterance, utterances. log_mel leaves logarithms,
// and the largest of each block in `largest`; log_mel_floor makes the result of them.
struct LogMelArgs {
  const float* waveform;
  const RowSpan* samples;
  const RowSpan* frames;
  const float* table;
  Rows filters;
  const BinRange* ranges;
  OutRows out;
  float* largest;
  int64_t groups;  // of the longest utterance
  int64_t hop;
  int32_t points;
  int32_t mels;
  int32_t each;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_SPECTRUM_KERNELS(X)               \
  X(spectrum, magnitude_spectrum, SpectrumArgs) \
  X(log_mel, mel_ranges, MelRangesArgs)         \
  X(log_mel, log_mel, LogMelArgs)               \
  X(log_mel, log_mel_floor, LogMelArgs)
