// Attention of many queries on matrix units, a .cu file for each type of keys (Dao 2023,
// "FlashAttention-2", arXiv 2307.08691): scores, weights and mixes stay in registers, and of the
// keys two tiles are in the block's memory, one on its way while the other is read.
//
// Queries and weights are rounded to the type of the keys; sums are f32. A row's result does not
// depend on the rows beside it, nor on where in a tile it stands: keys that it does not see have
// the weight zero, and peaks are whole numbers, so that what came before is scaled by powers of
// two.
#pragma once

#include "backend/cuda/kernels/attention_parts.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

namespace units {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kUnitRows = 16;  // of the first operand
constexpr int kGroup = 8;      // columns of the second one; elements of a row of a matrix loaded
constexpr int kStepKeys = 32;  // that a warp's scores are of
constexpr int kStepGroups = kStepKeys / kGroup;
// Weights are at most 2^7, not 1, so that half precision reaches 2^-21 of the largest before it
// loses digits. (2^8 where scores are so large that f32 has no odd numbers.)
constexpr float kHeadroom = 7.0F;

// How a block shares out its work, of heads of up to `Columns` columns.
template <int Columns>
struct Shape {
  static constexpr int kRowTiles = units_lines(Columns) / kWarps / kUnitRows;  // of a warp
  static constexpr int kWarpLines = kRowTiles * kUnitRows;
  static constexpr int kRows = 2 * kRowTiles;  // of a thread
  static constexpr int kDepth = Columns / kUnitRows;
  static constexpr int kChunks = Columns / kGroup;     // of 16 bytes, of a row of keys
  static constexpr int kTileKeys = 64 * 64 / Columns;  // 8 KiB
  static constexpr int kTileElements = kTileKeys * Columns;
};

inline int minimum(int a, int b) {
  return a < b ? a : b;
}

// Where in a tile a chunk of a row stands: eight neighbouring rows' meet all banks.
template <int Columns>
inline int place(int row, int chunk) {
  return row * Columns + (chunk ^ (row % kGroup)) * kGroup;
}

// Where keys from `first` on stand, of one tile; the tile's values stand behind its keys. Two tiles
// take turns.
template <int Columns>
inline int turn_of(int first) {
  constexpr int kTileKeys = Shape<Columns>::kTileKeys;
  return first / kTileKeys % 2 * 2 * Shape<Columns>::kTileElements + first % kTileKeys * Columns;
}

// The row that a lane gives for four matrices loaded: of 16 rows from `row` on 16 columns. The
// words are of the first eight columns of either eight rows, then of the others.
template <class T, int Columns>
MYNAH_INLINE Shared<T> matrix_row(const Shared<T>& rows, int row, int columns) {
  return rows.from(row * Columns +
                   place<Columns>(lane() % kUnitRows, columns / kGroup + lane() / kUnitRows));
}

// A tile of keys and values, whose first row is row `first` of all: all threads together.
template <class T, int Columns>
MYNAH_INLINE void stage(const KeyRows<T>& keys, const KeyRows<T>& values, int first,
                        const Shared<T>& to) {
  constexpr int kChunks = Shape<Columns>::kChunks;
  MYNAH_ROLLED
  for (int number = thread_index(); number < Shape<Columns>::kTileKeys * kChunks;
       number += kThreads) {
    const int row = number / kChunks;
    const int chunk = number % kChunks;
    const Shared<T> at = to.from(place<Columns>(row, chunk));
    keys.copy(first + row, chunk * kGroup, at);
    values.copy(first + row, chunk * kGroup, at.from(Shape<Columns>::kTileElements));
  }
  commit_copies();
}

// What is finite stays so.
template <class T>
inline float fitting(float value) {
  return value;
}

template <>
inline float fitting<F16>(float value) {
  constexpr float kLargest = 65504.0F;
  const bool finite = value - value == 0.0F;
  return finite ? mynah::simt::minimum(maximum(value, -kLargest), kLargest) : value;
}

// Line `number`, or the tile's last one where it has no such.
MYNAH_INLINE Line nearest_line(const AttentionArgs& args, const AttentionTile& tile, int number) {
  return line_of(args, tile, Global<const int32_t>(args.rows), minimum(number, tile.lines - 1));
}

// The queries of a warp's `lines` lines, scaled and rounded, by way of the block's memory to first
// operands; zeros where there is none. Lane n has the place in q of line n.
template <class T, int Columns>
MYNAH_INLINE void load_queries(
    const AttentionArgs& args, int lines, int row, int head, const Shared<T>& staged,
    uint32_t (&queries)[Shape<Columns>::kRowTiles][Shape<Columns>::kDepth][4]) {
  using Of = Shape<Columns>;
  constexpr int kAtOnce = 8;
  const Global<const float> q(args.q);
  MYNAH_ROLLED
  for (int first = 0; first < Of::kWarpLines; first += kAtOnce) {
    MYNAH_UNROLLED
    for (int number = first; number < first + kAtOnce; ++number) {
      const int64_t at = int64_t{shuffle(row, number)} * args.q_stride +
                         int64_t{shuffle(head, number)} * args.head_dim;
      MYNAH_UNROLLED
      for (int column = lane(); column < Columns; column += kWarp) {
        float value = 0.0F;
        if (number < lines && column < args.head_dim) {
          value = q[at + column] * args.scale;
        }
        staged[place<Columns>(number, column / kGroup) + column % kGroup] =
            from_float<T>(fitting<T>(value));
      }
    }
  }
  warp_barrier();
  MYNAH_UNROLLED
  for (int m = 0; m < Of::kRowTiles; ++m) {
    MYNAH_UNROLLED
    for (int k = 0; k < Of::kDepth; ++k) {
      load_matrices(matrix_row<T, Columns>(staged, m * kUnitRows, k * kUnitRows), queries[m][k]);
    }
  }
}

// The warp's scores of kStepKeys keys.
template <class T, int Columns>
MYNAH_INLINE void multiply_keys(
    const uint32_t (&queries)[Shape<Columns>::kRowTiles][Shape<Columns>::kDepth][4],
    const Shared<T>& keys, float (&scores)[Shape<Columns>::kRowTiles][kStepGroups][4]) {
  MYNAH_UNROLLED
  for (int k = 0; k < Shape<Columns>::kDepth; ++k) {
    MYNAH_UNROLLED
    for (int group = 0; group < kStepGroups; group += 2) {
      uint32_t words[4];
      load_matrices(matrix_row<T, Columns>(keys, group * kGroup, k * kUnitRows), words);
      const uint32_t low[2] = {words[0], words[2]};
      const uint32_t high[2] = {words[1], words[3]};
      MYNAH_UNROLLED
      for (int m = 0; m < Shape<Columns>::kRowTiles; ++m) {
        multiply_matrices<T>(queries[m][k], low, scores[m][group]);
        multiply_matrices<T>(queries[m][k], high, scores[m][group + 1]);
      }
    }
  }
}

// Adds the warp's weights times the values of the same keys.
template <class T, int Columns>
MYNAH_INLINE void multiply_values(
    const uint32_t (&weights)[Shape<Columns>::kRowTiles][kStepGroups / 2][4],
    const Shared<T>& values,
    float (&mixes)[Shape<Columns>::kRowTiles][Shape<Columns>::kChunks][4]) {
  MYNAH_UNROLLED
  for (int k = 0; k < kStepGroups / 2; ++k) {
    MYNAH_UNROLLED
    for (int group = 0; group < Shape<Columns>::kChunks; group += 2) {
      uint32_t words[4];
      load_matrices_transposed(matrix_row<T, Columns>(values, k * kUnitRows, group * kGroup),
                               words);
      const uint32_t low[2] = {words[0], words[1]};
      const uint32_t high[2] = {words[2], words[3]};
      MYNAH_UNROLLED
      for (int m = 0; m < Shape<Columns>::kRowTiles; ++m) {
        multiply_matrices<T>(weights[m][k], low, mixes[m][group]);
        multiply_matrices<T>(weights[m][k], high, mixes[m][group + 1]);
      }
    }
  }
}

// What the product with keys from `first` on does not say: what the tail's count, and who sees
// them. Lane n's `seen` is of the warp's line n; all see `least_seen` keys, and none more than
// `most_seen`.
template <int RowTiles>
MYNAH_INLINE void mask(const AttentionArgs& args, int own, int first, int seen, int least_seen,
                       int most_seen, float (&scores)[RowTiles][kStepGroups][4]) {
  const int key = first + lane() % 4 * 2;  // of the thread's first score
  if (first + kStepKeys > own) {
    MYNAH_UNROLLED
    for (int m = 0; m < RowTiles; ++m) {
      MYNAH_UNROLLED
      for (int group = 0; group < kStepGroups; ++group) {
        MYNAH_UNROLLED
        for (int i = 0; i < 4; ++i) {
          scores[m][group][i] += key + group * kGroup + i % 2 < own ? 0.0F : args.tail_score;
        }
      }
    }
  }
  if (first + kStepKeys > least_seen || first < most_seen - args.window) {
    MYNAH_UNROLLED
    for (int r = 0; r < 2 * RowTiles; ++r) {
      const int line_sees = shuffle(seen, r * kGroup + lane() / 4);
      MYNAH_UNROLLED
      for (int group = 0; group < kStepGroups; ++group) {
        MYNAH_UNROLLED
        for (int i = r % 2 * 2; i < r % 2 * 2 + 2; ++i) {
          float& score = scores[r / 2][group][i];
          const int number = key + group * kGroup + i % 2;
          const bool sees = number < line_sees && number >= line_sees - args.window;
          score = sees ? score : -kInfinity;
        }
      }
    }
  }
}

// A thread's scores to weights, and to its lines' masses, whose sums are of the thread's own keys
// until the end; what earlier mixes are multiplied with.
template <int RowTiles>
MYNAH_INLINE void weigh(Mass (&masses)[2 * RowTiles], float (&scores)[RowTiles][kStepGroups][4],
                        float (&factors)[2 * RowTiles]) {
  MYNAH_UNROLLED
  for (int r = 0; r < 2 * RowTiles; ++r) {
    float(&row)[kStepGroups][4] = scores[r / 2];
    const int at = r % 2 * 2;
    float highest = maximum(row[0][at], row[0][at + 1]);
    MYNAH_UNROLLED
    for (int group = 1; group < kStepGroups; ++group) {
      highest = maximum(highest, maximum(row[group][at], row[group][at + 1]));
    }
    // The four lanes that share the row.
    highest = maximum(highest, shuffle_xor(highest, 1));
    highest = maximum(highest, shuffle_xor(highest, 2));
    Mass& mass = masses[r];
    const float peak = maximum(mass.peak, round_up(highest) - kHeadroom);
    factors[r] = power_of_two(mass.peak - peak);
    mass.peak = peak;
    mass.sum *= factors[r];
    const float base = peak == -kInfinity ? 0.0F : peak;
    MYNAH_UNROLLED
    for (int group = 0; group < kStepGroups; ++group) {
      MYNAH_UNROLLED
      for (int i = at; i < at + 2; ++i) {
        row[group][i] = exp2_fast(row[group][i] - base);
        mass.sum += row[group][i];
      }
    }
  }
}

// What came before to the new peaks.
template <int RowTiles, int Groups>
MYNAH_INLINE void scale_mixes(const float (&factors)[2 * RowTiles],
                              float (&mixes)[RowTiles][Groups][4]) {
  MYNAH_UNROLLED
  for (int m = 0; m < RowTiles; ++m) {
    // Peaks seldom change.
    if (factors[2 * m] == 1.0F && factors[2 * m + 1] == 1.0F) {
      continue;
    }
    MYNAH_UNROLLED
    for (int group = 0; group < Groups; ++group) {
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        mixes[m][group][i] *= factors[2 * m + i / 2];
      }
    }
  }
}

// Scores' registers are where the next product wants its first operand.
template <class T, int RowTiles>
MYNAH_INLINE void round_weights(const float (&weights)[RowTiles][kStepGroups][4],
                                uint32_t (&words)[RowTiles][kStepGroups / 2][4]) {
  MYNAH_UNROLLED
  for (int m = 0; m < RowTiles; ++m) {
    MYNAH_UNROLLED
    for (int k = 0; k < kStepGroups / 2; ++k) {
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        const float(&of_group)[4] = weights[m][2 * k + i / 2];
        words[m][k][i] = nearest_pair<T>(of_group[i % 2 * 2], of_group[i % 2 * 2 + 1]);
      }
    }
  }
}

// Lane n has the place in the result of line n.
template <int Columns>
MYNAH_INLINE void write_results(
    const AttentionArgs& args, int lines, int row, int head,
    const Mass (&masses)[Shape<Columns>::kRows],
    const float (&mixes)[Shape<Columns>::kRowTiles][Shape<Columns>::kChunks][4]) {
  const Global<float> out(args.out);
  MYNAH_UNROLLED
  for (int r = 0; r < Shape<Columns>::kRows; ++r) {
    float sum = masses[r].sum;
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    const int number = r * kGroup + lane() / 4;
    const int64_t own_row = shuffle(row, number);
    const int64_t own_head = shuffle(head, number);
    sum += sink_weight(args, own_head, masses[r].peak);
    // Zeros where no key was seen.
    const float inverse = masses[r].peak == -kInfinity ? 0.0F : 1.0F / sum;
    const int column = lane() % 4 * 2;
    const Global<float> own =
        out.from(own_row * args.out_stride + own_head * args.head_dim + column);
    MYNAH_UNROLLED
    for (int group = 0; group < Shape<Columns>::kChunks; ++group) {
      MYNAH_UNROLLED
      for (int i = 0; i < 2; ++i) {
        if (number < lines && column + group * kGroup + i < args.head_dim) {
          own[group * kGroup + i] = mixes[r / 2][group][r % 2 * 2 + i] * inverse;
        }
      }
    }
  }
}

template <class T, int Columns>
MYNAH_INLINE void attend(const AttentionArgs& args) {
  using Of = Shape<Columns>;
  MYNAH_SHARED(T, staged, 4 * Of::kTileElements);
  const Global<const AttentionTile> tiles(args.tiles);
  const AttentionTile tile = tiles[block_index_x()];
  const KeyRows<T> keys = key_rows<T>(args, tile, tile.keys, args.tail_keys, args.key_stride);
  const KeyRows<T> values =
      key_rows<T>(args, tile, tile.values, args.tail_values, args.value_stride);
  const auto stage_tile = [&](int first) {
    stage<T, Columns>(keys, values, first, staged.from(turn_of<Columns>(first)));
  };
  const int block_seen = nearest_line(args, tile, tile.lines).seen;
  if (block_seen > 0) {
    stage_tile(0);
  }

  const int first_line = warp() * Of::kWarpLines;
  const int lines = minimum(tile.lines - first_line, Of::kWarpLines);  // of the warp
  // Lane n's is the warp's line n; later lines see as much or more.
  const Line own = nearest_line(args, tile, first_line + lane() % Of::kWarpLines);
  const int least_seen = shuffle(own.seen, 0);
  const int most_seen = lines > 0 ? shuffle(own.seen, Of::kWarpLines - 1) : 0;
  uint32_t queries[Of::kRowTiles][Of::kDepth][4];
  load_queries<T, Columns>(args, lines, static_cast<int>(own.row), own.head,
                           staged.from(turn_of<Columns>(Of::kTileKeys) + first_line * Columns),
                           queries);

  Mass masses[Of::kRows];
  float mixes[Of::kRowTiles][Of::kChunks][4] = {};
  MYNAH_ROLLED
  for (int first = 0; first < block_seen; first += kStepKeys) {
    if (first % Of::kTileKeys == 0) {
      wait_for_copies<0>();
      barrier();  // all have what they copied, and nobody reads the tile before
      if (first + Of::kTileKeys < block_seen) {
        stage_tile(first + Of::kTileKeys);
      }
    }
    if (first >= most_seen) {
      continue;
    }
    const Shared<T> here = staged.from(turn_of<Columns>(first));
    float scores[Of::kRowTiles][kStepGroups][4] = {};
    multiply_keys<T, Columns>(queries, here, scores);
    mask(args, tile.own, first, own.seen, least_seen, most_seen, scores);
    float factors[Of::kRows];
    weigh(masses, scores, factors);
    scale_mixes(factors, mixes);
    uint32_t weights[Of::kRowTiles][kStepGroups / 2][4];
    round_weights<T>(scores, weights);
    multiply_values<T, Columns>(weights, here.from(Of::kTileElements), mixes);
  }
  write_results<Columns>(args, lines, static_cast<int>(own.row), own.head, masses, mixes);
}

}  // namespace units

}  // namespace MYNAH_OF_LEVEL

// For heads of up to so many columns.
#define MYNAH_DEFINE_UNITS_ATTENTION(kernel_name, T, columns) \
  MYNAH_KERNEL(kernel_name, AttentionArgs, units::kThreads) { \
    units::attend<T, columns>(args);                          \
  }

}  // namespace mynah::simt
