// Attention of few queries, of a decoder's step, a .cu file for each type of keys: the keys are
// split over blocks, a segment each, and over a block's warps, a tile each. Where a tile of lines
// has more than one segment, their results are left to attention_merge.
#pragma once

#include "backend/cuda/kernels/attention_warp.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

namespace split {

constexpr int kThreads = kSplitWarps * kWarp;
static_assert(kSplitWarps == kSegmentTiles);
constexpr int kSliceFloats = split_slice_bytes(kLevel) / 4;
constexpr int kSlices = split_slices(kLevel);  // of a warp, in shared memory

// Lines whose numbers stand side by side that a thread takes at once.
template <int Lines>
constexpr int kRunOf = Lines % 4 == 0 ? 4 : 1;

// A block's static shared memory.
template <int Lines>
struct Block {
  Shared<float> weights;  // of each warp, key and line
  Shared<float> peaks;    // of each warp and line
  Shared<float> sums;
};

// A warp's scores of its tile to weights and masses, some lines at a time.
template <int Lines>
MYNAH_INLINE void weigh(const AttentionArgs& args, const AttentionTile& tile,
                        const Shared<int>& seen, int first, const float (&scores)[Lines],
                        const Block<Lines>& block) {
  constexpr int kRun = kRunOf<Lines>;
  const int key = first + lane();
  const Shared<float> own = block.weights.from(thread_index() * Lines);
  MYNAH_UNROLLED
  for (int l = 0; l < Lines; ++l) {
    own[l] = capped(args, scores[l]) + (key < tile.own ? 0.0F : args.tail_score);
  }
  MYNAH_ROLLED
  for (int run = 0; run < Lines; run += kRun) {
    Vector<float, kRun> weights = own.template load<kRun>(run);
    MYNAH_UNROLLED
    for (int i = 0; i < kRun; ++i) {
      const int end = seen[run + i];
      const float score = key < end && key >= end - args.window ? weights[i] : -kInfinity;
      const float peak = round_up(warp_max(score));
      weights[i] = score == -kInfinity ? 0.0F : exp2_fast(score - peak);
      const float sum = warp_sum(weights[i]);
      if (lane() == 0) {
        block.peaks[warp() * Lines + run + i] = peak;
        block.sums[warp() * Lines + run + i] = sum;
      }
    }
    own.template store<kRun>(run, weights);
  }
}

// A warp's weights times a slice of its values, a lane kOwnColumns columns. The lines' mixes are
// left where the values were.
template <class T, int Lines>
MYNAH_INLINE void mix_slice(const Shared<float>& weights, const Shared<T>& values,
                            const Shared<float>& mixes) {
  using Slice = WarpSlice<T>;
  float mix[Lines][Slice::kOwnColumns] = {};
  constexpr int kRun = kRunOf<Lines>;
  constexpr int kStep = 4;
  MYNAH_ROLLED
  for (int first = 0; first < kTileKeys; first += kStep) {
    MYNAH_UNROLLED
    for (int n = first; n < first + kStep; ++n) {
      const Vector<T, Slice::kOwnColumns> stored =
          values.template load<Slice::kOwnColumns>(Slice::place(n, lane() * Slice::kOwnColumns));
      MYNAH_UNROLLED
      for (int l = 0; l < Lines; l += kRun) {
        const Vector<float, kRun> weight = weights.load<kRun>(n * Lines + l);
        MYNAH_UNROLLED
        for (int k = 0; k < kRun; ++k) {
          MYNAH_UNROLLED
          for (int j = 0; j < Slice::kOwnColumns; ++j) {
            mix[l + k][j] = multiply_add(weight[k], to_float(stored[j]), mix[l + k][j]);
          }
        }
      }
    }
  }
  warp_barrier();
  MYNAH_UNROLLED
  for (int l = 0; l < Lines; ++l) {
    Vector<float, Slice::kOwnColumns> own;
    for (int j = 0; j < Slice::kOwnColumns; ++j) {
      own[j] = mix[l][j];
    }
    mixes.store<Slice::kOwnColumns>(l * Slice::kColumns + lane() * Slice::kOwnColumns, own);
  }
}

// The block's warps' mixes, one after the other; `column` of the slice, of each line.
template <class T, int Lines>
MYNAH_INLINE void fold_warps(const AttentionArgs& args, const AttentionTile& tile,
                             const Global<const int32_t>& rows, int slice_column,
                             const Block<Lines>& block, const Shared<float>& mixes) {
  constexpr int kColumns = WarpSlice<T>::kColumns;
  const bool whole = tile.own + tile.tail <= kSegmentKeys;
  for (int i = thread_index(); i < tile.lines * kColumns; i += kThreads) {
    const int line = i / kColumns;
    const int column = slice_column + i % kColumns;
    if (column >= args.head_dim) {
      continue;
    }
    Mass mass;
    float mix = 0.0F;
    MYNAH_UNROLLED
    for (int w = 0; w < kSegmentTiles; ++w) {
      const Mass part{block.peaks[w * Lines + line], block.sums[w * Lines + line]};
      if (part.peak != -kInfinity) {
        const Factors factors = fold(mass, part);
        const float part_mix = mixes[w * kSlices * kSliceFloats + line * kColumns + i % kColumns];
        mix = fold(mix, part_mix, factors);
      }
    }
    if (whole) {
      Mass total;
      const Factors factors = fold(total, mass);
      mix = fold(0.0F, mix, factors);
      const Line to = line_of(args, tile, rows, line);
      const Global<float> out(args.out);
      out[to.row * args.out_stride + to.head * args.head_dim + column] =
          normalised(args, to.head, mix, total);
      continue;
    }
    const int64_t at = partial_at(args, block_index_x(), block_index_z(), line, Lines);
    const Global<float> partials(args.partials);
    partials[at * args.head_dim + column] = mix;
    if (column == 0) {
      const Global<float> masses(args.masses);
      masses[2 * at] = mass.peak;
      masses[2 * at + 1] = mass.sum;
    }
  }
}

// The slices of a warp's tile, of the keys, then of the values, as they come one after the other.
template <class T>
struct Slices {
  using Element = typename KeyRows<T>::Element;
  using Slice = WarpSlice<Element>;

  KeyRows<T> keys;
  KeyRows<T> values;
  int first;            // of the tile's keys
  int count;            // of the keys, and of the values
  Shared<Element> own;  // the warp's
  Slice carried;

  [[nodiscard]] bool has(int step) const { return step < 2 * count; }

  // Column of slice `step`.
  [[nodiscard]] int column(int step) const {
    return (step < count ? step : step - count) * Slice::kColumns;
  }

  // Where slice `step` is, while it is computed with.
  [[nodiscard]] Shared<Element> at(int step) const {
    return own.from(step % kSlices * Slice::kElements);
  }

  // As many as there is room for are on their way.
  void begin() {
    read(0);
    if constexpr (kSlices > 1) {
      read(1);
    }
  }

  // Slice `step` is in shared memory. All lanes call it.
  void take(int step) {
    if constexpr (kSlices > 1) {
      wait_for_copies<1>();
      warp_barrier();
    } else {
      carried.put(own);
      read(step + 1);
    }
  }

  // Nobody reads slice `step` any more. All lanes call it.
  void leave(int step) {
    if constexpr (kSlices > 1) {
      warp_barrier();
      read(step + 2);
    }
  }

 private:
  void read(int step) {
    if (has(step)) {
      const KeyRows<T> from = step < count ? keys : values;
      if constexpr (kSlices > 1) {
        Slice::copy(from, first, column(step), at(step));
      } else {
        carried.read(from, first, column(step));
      }
    }
    if constexpr (kSlices > 1) {
      commit_copies();
    }
  }
};

// The grid's z is the segment. Dynamic shared memory: each warp's slices, then the queries.
// Where Paged the own keys of a tile may be in pages, whose rows take registers to be found.
template <class T, int Lines, bool Paged>
MYNAH_INLINE void attend(const AttentionArgs& args) {
  using Element = typename Slices<T>::Element;
  using Slice = WarpSlice<Element>;
  MYNAH_SHARED(float, weights, kThreads* Lines);
  MYNAH_SHARED(float, peaks, kSegmentTiles* Lines);
  MYNAH_SHARED(float, sums, kSegmentTiles* Lines);
  MYNAH_SHARED(int, seen, Lines);
  MYNAH_DYNAMIC_SHARED(Element, staged);
  MYNAH_DYNAMIC_SHARED(float, floats);
  const Global<const AttentionTile> tiles(args.tiles);
  const AttentionTile tile = tiles[block_index_x()];
  const int keys_seen = tile.own + tile.tail;
  const int segment = block_index_z() * kSegmentKeys;
  if (segment >= keys_seen && segment > 0) {
    return;
  }
  const int first = segment + warp() * kTileKeys;
  const int slice_count = (args.width + Slice::kColumns - 1) / Slice::kColumns;
  const OwnRows apart = Paged ? own_rows(args, tile) : OwnRows{};
  Slices<T> slices{key_rows<T>(args, tile, tile.keys, args.tail_keys, args.key_stride, apart),
                   key_rows<T>(args, tile, tile.values, args.tail_values, args.value_stride, apart),
                   first,
                   slice_count,
                   staged.from(warp() * kSlices * Slice::kElements),
                   {}};
  slices.begin();  // before all else: of a step's few queries it takes the most time

  const Global<const int32_t> rows(args.rows);
  const Shared<float> queries = floats.from(kSegmentTiles * kSlices * kSliceFloats);
  const int pitch = slice_count * Slice::kColumns;
  stage_queries(args, tile, rows, Lines, pitch, pitch, queries);
  if (thread_index() < Lines) {
    const int l = thread_index();
    seen[l] = l < tile.lines ? line_of(args, tile, rows, l).seen : 0;
  }
  barrier();

  const Block<Lines> block{weights, peaks, sums};
  float scores[Lines] = {};
  MYNAH_ROLLED
  for (int step = 0; slices.has(step); ++step) {
    slices.take(step);
    const Shared<Element> own_slice = slices.at(step);
    const int column = slices.column(step);
    if (step < slice_count) {
      add_row_scores<Element, Lines>(own_slice, queries.from(column), pitch, tile.lines, scores);
    } else {
      if (column == 0) {
        weigh<Lines>(args, tile, seen, first, scores, block);
        warp_barrier();
      }
      const Shared<float> mixes = floats.from(step % kSlices * kSliceFloats);
      mix_slice<Element, Lines>(weights.from(warp() * kWarp * Lines), own_slice,
                                mixes.from(warp() * kSlices * kSliceFloats));
      barrier();
      fold_warps<Element, Lines>(args, tile, rows, column, block, mixes);
      barrier();
    }
    slices.leave(step);
  }
  wait_for_copies<0>();
}

}  // namespace split

}  // namespace MYNAH_OF_LEVEL

#define MYNAH_DEFINE_SPLIT(kernel_name, T, lines, paged)      \
  MYNAH_KERNEL(kernel_name, AttentionArgs, split::kThreads) { \
    split::attend<T, lines, paged>(args);                     \
  }

}  // namespace mynah::simt
