// linear of int8 activations with weights of small whole numbers in blocks, on matrix units, many
// rows: a tile of 64 by 64 a block. Chunks have scales, so a chunk's sum of codes leaves the unit,
// is scaled and added: the numbers and the order of linear_int8.h, to the bit.
#pragma once

#include "backend/cuda/kernels/quantize.h"
#include "backend/cuda/kernels/units_linear.h"
#include "backend/cuda/kernels/weights.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

// Chunks of both sides that are in shared memory together: a thread brings one row's chunk of
// either side.
inline constexpr int kCodedChunks = 2;

using CodedTile = UnitsTile64;
static_assert(CodedTile::kThreads == CodedTile::kRows * kCodedChunks);
static_assert(CodedTile::kRows == CodedTile::kColumns);

// A panel's chunk: a lane of a unit takes one word of either half, which stand side by side. Pair
// t of row r stands at (t / 2) * 8 + (r ^ 4 (t / 2)), t % 2: the 16 lanes that are served at once,
// of four rows and four pairs, find theirs in different banks.
inline constexpr int kCodedPanelWords = 2 * kPanel * kUnitWords;

inline int coded_place(int row, int pair) {
  const int two = pair / 2;
  return row / kPanel * kCodedPanelWords + (two * kPanel + (row % kPanel ^ 4 * two)) * kUnitWords +
         pair % 2 * 2;
}

// A chunk of both sides, in shared memory.
struct CodedUnits {
  Shared<uint32_t> w;
  Shared<uint32_t> x;
  Shared<float> scales;  // of w, (half, column)
  Shared<float> minima;
  Shared<float> sums;      // of x's codes, (half, row)
  Shared<float> x_scales;  // (row)
};

inline constexpr int kCodedWords =
    (CodedTile::kColumnPanels + CodedTile::kRowPanels) * kCodedPanelWords;
inline constexpr int kCodedFloats = 7 * CodedTile::kRows;
// Of two stages: one is used, the other is filled.
inline constexpr int kAllCodedWords = 2 * kCodedChunks * kCodedWords;
inline constexpr int kAllCodedFloats = 2 * kCodedChunks * kCodedFloats;
static_assert(CodedTile::kResultWords <= kAllCodedFloats);

inline CodedUnits coded_units(const Shared<uint32_t>& words, const Shared<float>& floats,
                              int chunk) {
  const int which = chunk % (2 * kCodedChunks);
  const Shared<uint32_t> w = words.from(which * kCodedWords);
  const Shared<float> scales = floats.from(which * kCodedFloats);
  return {w,
          w.from(CodedTile::kColumnPanels * kCodedPanelWords),
          scales,
          scales.from(2 * CodedTile::kRows),
          scales.from(4 * CodedTile::kRows),
          scales.from(6 * CodedTile::kRows)};
}

// A thread's part of a stage: a chunk of one row of w and of one row of x.
template <Storage kStorage>
class CodedChunks {
 public:
  CodedChunks(const LinearArgs& args, int64_t row, int64_t column)
      : codes_(reinterpret_cast<const uint32_t*>(args.coded.codes)),
        sums_(args.coded.sums),
        scales_(args.coded.scales),
        chunks_(static_cast<int>(args.weights.chunks)),
        row_(thread_index() % CodedTile::kRows),
        inside_(row + row_ < args.finish.rows),
        first_chunk_((row + row_) * chunks_),
        weights_(args.weights, column + row_) {
    codes_ =
        codes_.from(((row + row_) / kPanel * chunks_ * 2 * kPanel + row_ % kPanel) * kUnitWords);
  }

  // The chunk of a stage that is this thread's.
  static int chunk_of(int stage) {
    return stage * kCodedChunks + thread_index() / CodedTile::kRows;
  }

  void fetch(int stage) {
    const int chunk = chunk_of(stage);
    scale_ = inside_ && chunk < chunks_ ? static_cast<float>(scales_[first_chunk_ + chunk]) : 0.0F;
    stored_[0] = {};
    stored_[1] = {};
    if (chunk < chunks_) {
      weights_.load(chunk, stored_);
    }
    MYNAH_UNROLLED
    for (int half = 0; half < 2; ++half) {
      words_[half] = {};
      sums_of_halves_[half] = 0.0F;
      if (inside_ && chunk < chunks_) {
        words_[half] = codes_.template load<kUnitWords>(static_cast<int64_t>(chunk * 2 + half) *
                                                        (kPanel * kUnitWords));
        if constexpr (kLayout.minima) {
          sums_of_halves_[half] = sums_[(first_chunk_ + chunk) * 2 + half];
        }
      }
    }
  }

  void put(const CodedUnits& chunk) const {
    using Row = WeightRow<kStorage>;
    MYNAH_UNROLLED
    for (int pair = 0; pair < kHalfWords; pair += 2) {
      Unit w{};
      Unit x{};
      MYNAH_UNROLLED
      for (int i = 0; i < kUnitWords; ++i) {
        w[i] = static_cast<uint32_t>(Row::codes(stored_[i % 2], i % 2, pair + i / 2));
        x[i] = words_[i % 2][pair + i / 2];
      }
      chunk.w.template store<kUnitWords>(coded_place(row_, pair), w);
      chunk.x.template store<kUnitWords>(coded_place(row_, pair), x);
    }
    chunk.x_scales[row_] = scale_;
    MYNAH_UNROLLED
    for (int half = 0; half < 2; ++half) {
      const int at = half * CodedTile::kRows + row_;
      chunk.scales[at] = Row::scale(stored_[half], half);
      if constexpr (kLayout.minima) {
        chunk.minima[at] = Row::minimum(stored_[half], half);
        chunk.sums[at] = sums_of_halves_[half];
      }
    }
  }

 private:
  static constexpr ChunkLayout kLayout = layout_of(kStorage);

  Global<const uint32_t> codes_;
  Global<const float> sums_;
  Global<const float> scales_;
  int chunks_;
  int row_;  // of the tile, on either side
  bool inside_;
  int64_t first_chunk_;
  WeightRow<kStorage> weights_;
  Unit words_[2];
  float sums_of_halves_[2];
  float scale_;
  HalfChunk<kStorage> stored_[2];
};

// Sums of codes, which stay below 2^22, start from the bits of 1.5 * 2^23: the float with the bits
// of such a sum is that number plus the sum, and needs no conversion.
inline constexpr int kCodeSumZero = 0x4B400000;

inline float code_sum_of(int bits) {
  return float_of(static_cast<uint32_t>(bits)) - 12582912.0F;
}

// What scales a lane's columns, and what its rows' codes sum to, of one half chunk or of both.
struct CodedNumbers {
  float scales[2];
  float minima[2];
};

// One chunk's products.
template <Storage kStorage>
MYNAH_INLINE void add_coded_units(const CodedUnits& chunk, UnitsSums<CodedTile, float>& sums) {
  constexpr ChunkLayout kLayout = layout_of(kStorage);
  constexpr int kShares = kLayout.halves ? 2 : 1;  // that have scales of their own
  constexpr int kRowPanels = CodedTile::kWarpRowPanels;
  const int g = lane() / 4;
  const int t = lane() % 4;
  Vector<uint32_t, 2> x[kRowPanels];
  Vector<float, 2> x_scales[kRowPanels];
  Vector<float, 2> code_sums[kRowPanels][kShares] = {};
  MYNAH_UNROLLED
  for (int r = 0; r < kRowPanels; ++r) {
    const int row = (first_row_panel<CodedTile>() + r) * kPanel;
    x[r] = chunk.x.template load<2>(coded_place(row + g, t));
    x_scales[r] = chunk.x_scales.template load<2>(row + 2 * t);
    if constexpr (kLayout.minima) {
      const Vector<float, 2> first = chunk.sums.template load<2>(row + 2 * t);
      const Vector<float, 2> second = chunk.sums.template load<2>(CodedTile::kRows + row + 2 * t);
      MYNAH_UNROLLED
      for (int i = 0; i < 2; ++i) {
        code_sums[r][0][i] = kLayout.halves ? first[i] : first[i] + second[i];
        code_sums[r][kShares - 1][i] = kLayout.halves ? second[i] : code_sums[r][0][i];
      }
    }
  }
  MYNAH_UNROLLED
  for (int p = 0; p < CodedTile::kPairs; ++p) {
    const int column = (first_column_panel<CodedTile>() + 2 * p) * kPanel + g;
    const Vector<uint32_t, 2> low = chunk.w.template load<2>(coded_place(column, t));
    const Vector<uint32_t, 2> high = chunk.w.template load<2>(coded_place(column + kPanel, t));
    CodedNumbers numbers[kShares] = {};
    MYNAH_UNROLLED
    for (int share = 0; share < kShares; ++share) {
      MYNAH_UNROLLED
      for (int i = 0; i < 2; ++i) {
        const int at = share * CodedTile::kRows + column + i * kPanel;
        numbers[share].scales[i] = chunk.scales[at];
        if constexpr (kLayout.minima) {
          numbers[share].minima[i] = chunk.minima[at];
        }
      }
    }
    MYNAH_UNROLLED
    for (int r = 0; r < kRowPanels; ++r) {
      float values[4] = {};
      MYNAH_UNROLLED
      for (int share = 0; share < kShares; ++share) {
        int dots[4] = {kCodeSumZero, kCodeSumZero, kCodeSumZero, kCodeSumZero};
        if constexpr (kLayout.halves) {
          const uint32_t a[2] = {low[share], high[share]};
          const uint32_t b[1] = {x[r][share]};
          multiply_codes(a, b, dots);
        } else {
          const uint32_t a[4] = {low[0], high[0], low[1], high[1]};
          const uint32_t b[2] = {x[r][0], x[r][1]};
          multiply_codes(a, b, dots);
        }
        MYNAH_UNROLLED
        for (int i = 0; i < 4; ++i) {
          values[i] = add_scaled<kStorage>(code_sum_of(dots[i]), numbers[share].scales[i / 2],
                                           numbers[share].minima[i / 2], code_sums[r][share][i % 2],
                                           values[i]);
        }
      }
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        sums[p][r][i] += x_scales[r][i % 2] * values[i];
      }
    }
  }
}

template <Storage kStorage>
MYNAH_INLINE void linear_int8_units(const LinearArgs& args) {
  MYNAH_SHARED(uint32_t, words, kAllCodedWords);
  MYNAH_SHARED(float, floats, kAllCodedFloats);
  const int64_t row = static_cast<int64_t>(block_index_x()) * CodedTile::kRows;
  const int64_t column = static_cast<int64_t>(block_index_y()) * CodedTile::kColumns;
  CodedChunks<kStorage> part(args, row, column);
  UnitsSums<CodedTile, float> sums;
  set_to_zero<CodedTile>(sums);
  const int chunks = static_cast<int>(args.weights.chunks);
  const int stages = (chunks + kCodedChunks - 1) / kCodedChunks;
  MYNAH_ROLLED for (int stage = 0; stage <= stages; ++stage) {
    if (stage < stages) {
      part.fetch(stage);
    }
    if (stage > 0) {
      MYNAH_ROLLED for (int i = 0; i < kCodedChunks; ++i) {
        add_coded_units<kStorage>(coded_units(words, floats, (stage - 1) * kCodedChunks + i), sums);
      }
    }
    if (stage < stages) {
      part.put(coded_units(words, floats, CodedChunks<kStorage>::chunk_of(stage)));
    }
    barrier();
  }
  finish_units<CodedTile>(sums, floats, Finisher(args.finish, args.weights.scales),
                          Global<const float>(nullptr), row + first_row_panel<CodedTile>() * kPanel,
                          args.finish.rows, column + first_column_panel<CodedTile>() * kPanel,
                          args.finish.columns);
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
