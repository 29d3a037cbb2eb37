// The last step of attention whose keys were split over blocks.
#include "backend/cuda/kernels/attention_parts.h"

namespace mynah::simt {

namespace {

constexpr int kMergeThreads = 64;
// Segments whose results are read together: of a step's few lines, reading takes the time.
constexpr int kAtOnce = 8;

// Folds the segments of each line that has several. A block takes a tile's line (x) and a head of
// keys (y).
template <int Lines>
MYNAH_INLINE void merge(const AttentionArgs& args) {
  const Global<const AttentionTile> tiles(args.tiles);
  const AttentionTile tile = tiles[block_index_x() / Lines];
  const int number = block_index_x() % Lines;
  const int keys_seen = tile.own + tile.tail;
  if (number >= tile.lines || keys_seen <= kSegmentKeys) {
    return;
  }
  const int segments = (keys_seen + kSegmentKeys - 1) / kSegmentKeys;
  const int64_t first = partial_at(args, block_index_x() / Lines, 0, number, Lines);
  const Global<const float> partials(args.partials);
  const Global<const float> masses(args.masses);
  const Global<float> out(args.out);
  const Line line = line_of(args, tile, Global<const int32_t>(args.rows), number);
  for (int column = thread_index(); column < args.head_dim; column += kMergeThreads) {
    Mass total;
    float mix = 0.0F;
    MYNAH_ROLLED
    for (int begin = 0; begin < segments; begin += kAtOnce) {
      float parts[kAtOnce] = {};
      Mass part_masses[kAtOnce];
      MYNAH_UNROLLED
      for (int i = 0; i < kAtOnce; ++i) {
        if (begin + i < segments) {
          const int64_t at = first + static_cast<int64_t>(begin + i) * Lines;
          const Vector<float, 2> stored = masses.load<2>(2 * at);
          part_masses[i] = {stored[0], stored[1]};
          parts[i] = partials[at * args.head_dim + column];
        }
      }
      MYNAH_UNROLLED
      for (int i = 0; i < kAtOnce; ++i) {
        if (part_masses[i].peak != -kInfinity) {
          const Factors factors = fold(total, part_masses[i]);
          mix = fold(mix, parts[i], factors);
        }
      }
    }
    out[line.row * args.out_stride + line.head * args.head_dim + column] =
        normalised(args, line.head, mix, total);
  }
}

}  // namespace

MYNAH_KERNEL(attention_merge_one, AttentionArgs, kMergeThreads) {
  merge<1>(args);
}

MYNAH_KERNEL(attention_merge_few, AttentionArgs, kMergeThreads) {
  merge<kFewLines>(args);
}

}  // namespace mynah::simt
