// instance_factors: over the time of each utterance, channel by channel. A warp's lanes are
// neighbouring channels, its turns are rows; long utterances are cut into pieces, so that there are
// blocks enough, and then their moments are joined.
#include "backend/cuda/kernels/instance_norm_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

// What a block works on.
struct Piece {
  RowSpan utterance;
  int64_t begin;  // row of x
  int64_t rows;   // 0 beyond the utterance's end
  int64_t channel;
};

inline Piece piece_of_block(const InstanceNormArgs& args) {
  Piece piece;
  piece.utterance = Global<const RowSpan>(args.utterances)[block_index_y()];
  const int64_t first = static_cast<int64_t>(block_index_x()) * kNormPiece;
  const int64_t left = piece.utterance.length - first;
  piece.begin = piece.utterance.begin + first;
  piece.rows = left < 0 ? 0 : left < kNormPiece ? left : kNormPiece;
  piece.channel = static_cast<int64_t>(block_index_z()) * kWarp + lane();
  return piece;
}

// The sum over the warps of a block, lane by lane, in every warp; all threads call it.
inline float sum_of_warps(float value, const Shared<float>& scratch) {
  barrier();
  scratch[thread_index()] = value;
  barrier();
  float sum = 0.0F;
  for (int w = 0; w < warp_count(); ++w) {
    sum += scratch[w * kWarp + lane()];
  }
  return sum;
}

}  // namespace

MYNAH_KERNEL(instance_moments, InstanceNormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kThreads);
  const Piece piece = piece_of_block(args);
  if (piece.rows == 0) {
    return;
  }
  const Global<const float> x(args.x.data);
  const bool there = piece.channel < args.channels;
  float sum = 0.0F;
  for (int64_t i = warp(); i < piece.rows && there; i += warp_count()) {
    sum += x[(piece.begin + i) * args.x.stride + piece.channel];
  }
  const float mean = sum_of_warps(sum, scratch) / static_cast<float>(piece.rows);
  float squares = 0.0F;
  for (int64_t i = warp(); i < piece.rows && there; i += warp_count()) {
    const float difference = x[(piece.begin + i) * args.x.stride + piece.channel] - mean;
    squares = multiply_add(difference, difference, squares);
  }
  squares = sum_of_warps(squares, scratch);
  if (warp() == 0 && there) {
    const Global<float> moments(args.moments);
    const int64_t row = 2 * (block_index_y() * args.pieces + block_index_x());
    moments[row * args.channels + piece.channel] = mean;
    moments[(row + 1) * args.channels + piece.channel] = squares;
  }
}

// Blocks: utterances, groups of 32 channels. The squares of a piece are about its own mean: about
// the whole's, they are more by its rows times the square of the means' distance (Chan, Golub &
// LeVeque 1979).
MYNAH_KERNEL(instance_factors, InstanceNormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kThreads);
  const RowSpan utterance = Global<const RowSpan>(args.utterances)[block_index_x()];
  const int64_t channel = static_cast<int64_t>(block_index_y()) * kWarp + lane();
  const bool there = channel < args.channels;
  const Global<const float> moments(args.moments +
                                    2 * block_index_x() * args.pieces * args.channels);
  const int64_t pieces = (utterance.length + kNormPiece - 1) / kNormPiece;
  const int64_t last_rows = utterance.length - (pieces - 1) * kNormPiece;
  const auto length = static_cast<float>(utterance.length);
  float sum = 0.0F;
  for (int64_t p = warp(); p < pieces && there; p += warp_count()) {
    const auto rows = static_cast<float>(p + 1 < pieces ? kNormPiece : last_rows);
    const float mean = moments[2 * p * args.channels + channel];
    sum = multiply_add(rows, mean, sum);
  }
  const float mean = sum_of_warps(sum, scratch) / length;
  float squares = 0.0F;
  for (int64_t p = warp(); p < pieces && there; p += warp_count()) {
    const auto rows = static_cast<float>(p + 1 < pieces ? kNormPiece : last_rows);
    const float difference = moments[2 * p * args.channels + channel] - mean;
    const float own = moments[(2 * p + 1) * args.channels + channel];
    squares += multiply_add(rows * difference, difference, own);
  }
  const float variance = sum_of_warps(squares, scratch) / length;
  if (warp() != 0 || !there) {
    return;
  }
  const Global<const float> gamma(args.gamma.data + block_index_x() * args.gamma.stride);
  const Global<const float> beta(args.beta.data + block_index_x() * args.beta.stride);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  const float scale = gamma[channel] / square_root(variance + args.epsilon);
  out[channel] = pieces == 0 ? 0.0F : scale;
  out[args.channels + channel] =
      pieces == 0 ? 0.0F : multiply_add(-mean, scale, static_cast<float>(beta[channel]));
}

}  // namespace mynah::simt
