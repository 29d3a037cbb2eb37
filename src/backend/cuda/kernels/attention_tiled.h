// Attention of many queries, a .cu file for each type of keys: a block takes 32 lines, which read
// each key from shared memory.
#pragma once

#include "backend/cuda/kernels/attention_parts.h"

namespace mynah::simt {

namespace tiled {

constexpr int kThreads = 128;
constexpr int kLines = kTiledLines;
constexpr int kSlice = 64;          // columns that are in shared memory at a time
constexpr int kPitch = kSlice + 4;  // of its rows: eight neighbouring ones meet all banks
constexpr int kWeightPitch = kLines + 4;
// A thread has four lines, and of a tile two keys, of a slice four columns.
constexpr int kOwn = 4;
constexpr int kOwnKeys = 2;
constexpr int kRow = 16;  // threads that share four lines

// Of four lines and four columns.
using Mix = float[kOwn][kOwn];

inline int minimum(int a, int b) {
  return a < b ? a : b;
}

// 32 rows of a slice, all threads together.
template <class T>
MYNAH_INLINE void stage(const KeyRows<T>& from, int first, int column, const Shared<float>& to) {
  constexpr int kChunk = KeyRows<T>::kChunk;
  constexpr int kChunks = kSlice / kChunk;  // of a row
  MYNAH_UNROLLED
  for (int step = 0; step < kTileKeys * kChunks / kThreads; ++step) {
    const int number = step * kThreads + thread_index();
    const int row = number / kChunks;
    const int at = number % kChunks * kChunk;
    const Vector<T, kChunk> chunk = from.chunk(first + row, column + at);
    MYNAH_UNROLLED
    for (int i = 0; i < kChunk; i += 4) {
      Vector<float, 4> values;
      for (int k = 0; k < 4; ++k) {
        values[k] = to_float(chunk[i + k]);
      }
      to.template store<4>(row * kPitch + at + i, values);
    }
  }
}

// Adds a tile's masses to those of a thread's four lines; what its mixes are to be multiplied with.
MYNAH_INLINE void fold_masses(Mass (&totals)[kOwn], const Mass (&parts)[kOwn],
                              Factors (&factors)[kOwn]) {
  MYNAH_UNROLLED
  for (int i = 0; i < kOwn; ++i) {
    factors[i] = {};
    if (parts[i].peak != -kInfinity) {
      factors[i] = fold(totals[i], parts[i]);
    }
  }
}

MYNAH_INLINE void fold_mixes(Mix& total, const Mix& part, const Factors (&factors)[kOwn],
                             const Mass (&parts)[kOwn]) {
  MYNAH_UNROLLED
  for (int i = 0; i < kOwn; ++i) {
    if (parts[i].peak != -kInfinity) {
      MYNAH_UNROLLED
      for (int j = 0; j < kOwn; ++j) {
        total[i][j] = fold(total[i][j], part[i][j], factors[i]);
      }
    }
  }
}

// Adds the products of a slice of `columns` columns to a thread's scores.
MYNAH_INLINE void add_scores(const Shared<float>& queries, int query_pitch,
                             const Shared<float>& keys, int columns,
                             float (&scores)[kOwn][kOwnKeys]) {
  MYNAH_ROLLED
  for (int column = 0; column < columns; column += 4) {
    Vector<float, 4> key[kOwnKeys];
    MYNAH_UNROLLED
    for (int n = 0; n < kOwnKeys; ++n) {
      key[n] = keys.load<4>(n * kRow * kPitch + column);
    }
    MYNAH_UNROLLED
    for (int i = 0; i < kOwn; ++i) {
      const Vector<float, 4> query = queries.load<4>(i * query_pitch + column);
      MYNAH_UNROLLED
      for (int k = 0; k < 4; ++k) {
        MYNAH_UNROLLED
        for (int n = 0; n < kOwnKeys; ++n) {
          scores[i][n] = multiply_add(query[k], key[n][k], scores[i][n]);
        }
      }
    }
  }
}

// A thread's scores of a tile to the lines' masses, and to weights in shared memory, for its warp.
MYNAH_INLINE void weigh(const AttentionArgs& args, const AttentionTile& tile, int first, int key,
                        const int (&seen)[kOwn], float (&scores)[kOwn][kOwnKeys],
                        Mass (&masses)[kOwn], const Shared<float>& weights) {
  MYNAH_UNROLLED
  for (int i = 0; i < kOwn; ++i) {
    float highest = -kInfinity;
    MYNAH_UNROLLED
    for (int n = 0; n < kOwnKeys; ++n) {
      const int number = first + key + n * kRow;
      scores[i][n] = capped(args, scores[i][n]) + (number < tile.own ? 0.0F : args.tail_score);
      const bool sees = number < seen[i] && number >= seen[i] - args.window;
      scores[i][n] = sees ? scores[i][n] : -kInfinity;
      highest = maximum(highest, scores[i][n]);
    }
    for (int distance = kRow / 2; distance > 0; distance /= 2) {
      highest = maximum(highest, shuffle_xor(highest, distance));
    }
    masses[i] = {round_up(highest), 0.0F};
    MYNAH_UNROLLED
    for (int n = 0; n < kOwnKeys; ++n) {
      const bool none = scores[i][n] == -kInfinity;
      scores[i][n] = none ? 0.0F : exp2_fast(scores[i][n] - masses[i].peak);
    }
    // By halves, as warp_sum does with a key a lane.
    float sum = scores[i][0] + scores[i][1];
    for (int distance = kRow / 2; distance > 0; distance /= 2) {
      sum += shuffle_xor(sum, distance);
    }
    masses[i].sum = sum;
  }
  warp_barrier();  // whoever still reads the last tile's
  MYNAH_UNROLLED
  for (int n = 0; n < kOwnKeys; ++n) {
    Vector<float, 4> column;
    for (int i = 0; i < kOwn; ++i) {
      column[i] = scores[i][n];
    }
    weights.store<4>((key + n * kRow) * kWeightPitch, column);
  }
  warp_barrier();
}

// A tile's weights times a slice of its values.
MYNAH_INLINE void mix_values(const Shared<float>& weights, const Shared<float>& values, Mix& mix) {
  constexpr int kStep = 2;
  MYNAH_ROLLED
  for (int n = 0; n < kTileKeys; n += kStep) {
    MYNAH_UNROLLED
    for (int k = n; k < n + kStep; ++k) {
      const Vector<float, 4> weight = weights.load<4>(k * kWeightPitch);
      const Vector<float, 4> value = values.load<4>(k * kPitch);
      MYNAH_UNROLLED
      for (int i = 0; i < kOwn; ++i) {
        MYNAH_UNROLLED
        for (int j = 0; j < kOwn; ++j) {
          mix[i][j] = multiply_add(weight[i], value[j], mix[i][j]);
        }
      }
    }
  }
}

// Folds a segment into what came before it, which lies where the result will: registers are dearer.
// `total` is the mass of that; the last segment leaves the result itself.
template <int Slices>
MYNAH_INLINE void finish_segment(const AttentionArgs& args, const AttentionTile& tile,
                                 const Global<const int32_t>& rows, int first_line, bool last,
                                 const Mix (&mixes)[Slices], const Mass (&masses)[kOwn],
                                 Mass (&totals)[kOwn]) {
  const Global<float> out(args.out);
  MYNAH_UNROLLED
  for (int i = 0; i < kOwn; ++i) {
    const bool fresh = totals[i].peak == -kInfinity;
    const bool none = masses[i].peak == -kInfinity;
    Factors factors;
    if (!none) {
      factors = fold(totals[i], masses[i]);
    }
    if (first_line + i >= tile.lines || (none && !last)) {
      continue;
    }
    const Line line = line_of(args, tile, rows, first_line + i);
    const int64_t at = line.row * args.out_stride + line.head * args.head_dim;
    MYNAH_UNROLLED
    for (int slice = 0; slice < Slices; ++slice) {
      MYNAH_UNROLLED
      for (int j = 0; j < kOwn; ++j) {
        const int column = slice * kSlice + lane() % kRow * kOwn + j;
        if (column < args.head_dim) {
          float total = 0.0F;
          if (!fresh) {
            total = out[at + column];
          }
          if (!none) {
            total = fold(total, mixes[slice][i][j], factors);
          }
          out[at + column] = last ? normalised(args, line.head, total, totals[i]) : total;
        }
      }
    }
  }
}

template <class T, int Slices>
MYNAH_INLINE void attend(const AttentionArgs& args) {
  constexpr int kQueryPitch = Slices * kSlice + 4;
  MYNAH_SHARED(float, queries, kLines* kQueryPitch);
  MYNAH_SHARED(float, staged, kTileKeys* kPitch);
  MYNAH_SHARED(float, weights, kTileKeys* kWeightPitch);
  const Global<const AttentionTile> tiles(args.tiles);
  const AttentionTile tile = tiles[block_index_x()];
  const Global<const int32_t> rows(args.rows);
  stage_queries(args, tile, rows, kLines, Slices * kSlice, kQueryPitch, queries);

  const KeyRows<T> keys = key_rows<T>(args, tile, tile.keys, args.tail_keys, args.key_stride);
  const KeyRows<T> values =
      key_rows<T>(args, tile, tile.values, args.tail_values, args.value_stride);
  const int key = lane() % kRow;
  const int warp_line = warp() * (2 * kOwn);
  const int first_line = warp_line + lane() / kRow * kOwn;
  int seen[kOwn];
  MYNAH_UNROLLED
  for (int i = 0; i < kOwn; ++i) {
    seen[i] = first_line + i < tile.lines ? line_of(args, tile, rows, first_line + i).seen : 0;
  }
  // Later lines see as much or more.
  int warp_seen = 0;
  if (warp_line < tile.lines) {
    warp_seen = line_of(args, tile, rows, minimum(tile.lines, warp_line + 2 * kOwn) - 1).seen;
  }
  const int block_seen = line_of(args, tile, rows, tile.lines - 1).seen;
  const Shared<float> own_queries = queries.from(first_line * kQueryPitch);
  const Shared<float> own_weights = weights.from(first_line);

  Mass totals[kOwn];
  int first = 0;
  do {
    Mix mixes[Slices] = {};
    Mass masses[kOwn];
    const int end = minimum(first + kSegmentKeys, block_seen);
    for (; first < end; first += kTileKeys) {
      const bool busy = first < warp_seen;
      float scores[kOwn][kOwnKeys] = {};
      MYNAH_UNROLLED
      for (int slice = 0; slice < Slices; ++slice) {
        barrier();  // the queries are there, and nobody reads the last slice
        stage(keys, first, slice * kSlice, staged);
        barrier();
        if (busy) {
          add_scores(own_queries.from(slice * kSlice), kQueryPitch, staged.from(key * kPitch),
                     minimum(kSlice, args.width - slice * kSlice), scores);
        }
      }
      Mass parts[kOwn];
      Factors factors[kOwn];
      if (busy) {
        weigh(args, tile, first, key, seen, scores, parts, own_weights);
        fold_masses(masses, parts, factors);
      }
      MYNAH_UNROLLED
      for (int slice = 0; slice < Slices; ++slice) {
        barrier();
        stage(values, first, slice * kSlice, staged);
        barrier();
        if (busy) {
          Mix mix = {};
          mix_values(own_weights, staged.from(key * kOwn), mix);
          fold_mixes(mixes[slice], mix, factors, parts);
        }
      }
    }
    finish_segment(args, tile, rows, first_line, first >= block_seen, mixes, masses, totals);
  } while (first < block_seen);
}

}  // namespace tiled

// For heads of up to so many columns.
#define MYNAH_DEFINE_TILED(kernel_name, T, columns)           \
  MYNAH_KERNEL(kernel_name, AttentionArgs, tiled::kThreads) { \
    tiled::attend<T, (columns) / tiled::kSlice>(args);        \
  }

}  // namespace mynah::simt
