// What the kernels of instance_norm.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// Rows of an utterance that a block sums up, from its first on; the last piece may be shorter.
inline constexpr int kNormPiece = 128;

// Blocks: pieces of the longest utterance, utterances, groups of 32 channels. An utterance's
// moments are two rows a piece: the mean of each channel, and the sum of squares of differences
// from it. Pieces of utterance u begin at rows 2 * u * pieces.
struct InstanceNormArgs {
  Rows x;
  const RowSpan* utterances;
  float* moments;
  Rows gamma;  // one row an utterance
  Rows beta;
  OutRows out;  // (utterances, 2 channels)
  int64_t channels;
  int64_t pieces;
  float epsilon;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_INSTANCE_NORM_KERNELS(X)                 \
  X(instance_norm, instance_moments, InstanceNormArgs) \
  X(instance_norm, instance_factors, InstanceNormArgs)
