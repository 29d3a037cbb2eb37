// linear of int8 activations with weights of small whole numbers, many rows: a tile a block. The
// sums of codes are exact; of types whose chunks have scales, the chunks' values are added from the
// first to the last, as everywhere (tile.h).
#pragma once

#include "backend/cuda/kernels/quantize.h"
#include "backend/cuda/kernels/tile.h"

namespace mynah::simt {

inline constexpr int kChunkWords = kChunk / 4;
// A row of words of shared memory, four codes of each of 64 rows: what is beyond 64 keeps the
// halves of a chunk in other banks.
inline constexpr int kWordsApart = kTileRows + 4;
inline constexpr int kCodesOfChunk = kChunkWords * kWordsApart;

// A chunk of both sides, in shared memory.
struct CodedChunk {
  Shared<int> x;
  Shared<int> w;
  Shared<float> sums;    // of x's codes, (half, row)
  Shared<float> scales;  // of w, (half, column)
  Shared<float> minima;
  Shared<float> x_scales;  // (row)
};

inline constexpr int kCodedNumbers = 7 * kTileRows;

inline CodedChunk coded_chunk(const Shared<int>& codes, const Shared<float>& numbers,
                              int64_t chunk) {
  const int64_t which = chunk % 2;
  const Shared<int> x = codes.from(which * 2 * kCodesOfChunk);
  const Shared<float> sums = numbers.from(which * kCodedNumbers);
  return {x,
          x.from(kCodesOfChunk),
          sums,
          sums.from(2 * kTileRows),
          sums.from(4 * kTileRows),
          sums.from(6 * kTileRows)};
}

// A thread's part of a chunk: half of one row of x and half of one row of w.
template <Storage kStorage>
class CodedSides {
 public:
  CodedSides(const LinearArgs& args, int64_t row, int64_t column)
      : codes_(Global<const uint32_t>(reinterpret_cast<const uint32_t*>(args.coded.codes))),
        sums_(args.coded.sums),
        scales_(args.coded.scales),
        half_(thread_index() % 2),
        row_(thread_index() / 2),
        inside_(row + row_ < args.finish.rows),
        first_half_((row + row_) * args.weights.chunks * 2 + half_),
        w_half_(thread_index() / kPanel % 2),
        column_(thread_index() % kPanel + thread_index() / (2 * kPanel) * kPanel),
        weights_(args.weights, column + column_) {}

  void fetch(int64_t chunk) {
    words_ = {};
    sum_ = 0.0F;
    scale_ = 0.0F;
    if (inside_) {
      words_ = codes_.template load<kHalfWords>((first_half_ + chunk * 2) * kHalfWords);
      if constexpr (kStorage != Storage::I8) {
        if (half_ == 0) {
          scale_ = scales_[first_half_ / 2 + chunk];
        }
      }
      if constexpr (kLayout.minima) {
        sum_ = sums_[first_half_ + chunk * 2];
      }
    }
    stored_ = weights_.load(chunk, w_half_);
  }

  void put(const CodedChunk& chunk) const {
    MYNAH_UNROLLED
    for (int i = 0; i < kHalfWords; ++i) {
      chunk.x[(half_ * kHalfWords + i) * kWordsApart + row_] = static_cast<int>(words_[i]);
      chunk.w[(w_half_ * kHalfWords + i) * kWordsApart + column_] =
          WeightRow<kStorage>::codes(stored_, w_half_, i);
    }
    if constexpr (kStorage != Storage::I8) {
      chunk.scales[w_half_ * kTileColumns + column_] = WeightRow<kStorage>::scale(stored_, w_half_);
      if (half_ == 0) {
        chunk.x_scales[row_] = scale_;
      }
    }
    if constexpr (kLayout.minima) {
      chunk.sums[half_ * kTileRows + row_] = sum_;
      chunk.minima[w_half_ * kTileColumns + column_] =
          WeightRow<kStorage>::minimum(stored_, w_half_);
    }
  }

 private:
  static constexpr ChunkLayout kLayout = layout_of(kStorage);

  Global<const uint32_t> codes_;
  Global<const float> sums_;
  Global<const float> scales_;
  int half_;
  int row_;
  bool inside_;
  int64_t first_half_;
  int w_half_;
  int column_;
  WeightRow<kStorage> weights_;
  Vector<uint32_t, kHalfWords> words_;
  float sum_;
  float scale_;
  HalfChunk<kStorage> stored_;
};

using TileDots = int[kThreadRows][kThreadColumns];

// Products of the words [begin, end) of a chunk.
inline void add_dots(const CodedChunk& chunk, const ThreadPlace& place, int begin, int end,
                     TileDots& dots) {
  for (int word = begin; word < end; ++word) {
    const Vector<int, 4> a = chunk.x.load<4>(word * kWordsApart + place.row);
    const Vector<int, 4> b = chunk.x.load<4>(word * kWordsApart + place.row + 4);
    const Vector<int, 4> w = chunk.w.load<4>(word * kWordsApart + place.column);
    MYNAH_UNROLLED
    for (int j = 0; j < kThreadColumns; ++j) {
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        dots[i][j] = dot4(a[i], w[j], dots[i][j]);
        dots[i + 4][j] = dot4(b[i], w[j], dots[i + 4][j]);
      }
    }
  }
}

// What one scale of the chunk has to do with: a half, or all of it.
template <Storage kStorage>
inline void add_share(const CodedChunk& chunk, const ThreadPlace& place, int begin, int end,
                      TileSums& values) {
  constexpr bool kMinima = layout_of(kStorage).minima;
  TileDots dots = {};
  add_dots(chunk, place, begin, end, dots);
  const int half = begin / kHalfWords;
  const bool both = end - begin == kChunkWords;
  const Vector<float, 4> scales = chunk.scales.load<4>(half * kTileColumns + place.column);
  Vector<float, 4> minima{};
  if constexpr (kMinima) {
    minima = chunk.minima.load<4>(half * kTileColumns + place.column);
  }
  MYNAH_UNROLLED
  for (int i = 0; i < kThreadRows; ++i) {
    float code_sum = 0.0F;
    if constexpr (kMinima) {
      code_sum = chunk.sums[half * kTileRows + place.row + i];
      if (both) {
        code_sum += chunk.sums[kTileRows + place.row + i];
      }
    }
    MYNAH_UNROLLED
    for (int j = 0; j < kThreadColumns; ++j) {
      values[i][j] = add_scaled<kStorage>(static_cast<float>(dots[i][j]), scales[j], minima[j],
                                          code_sum, values[i][j]);
    }
  }
}

// A chunk's products: of I8 all sums stay whole.
template <Storage kStorage>
inline void add_coded_chunk(const CodedChunk& chunk, const ThreadPlace& place, TileDots& dots,
                            TileSums& sums) {
  if constexpr (kStorage == Storage::I8) {
    add_dots(chunk, place, 0, kChunkWords, dots);
  } else {
    TileSums values = {};
    if constexpr (layout_of(kStorage).halves) {
      add_share<kStorage>(chunk, place, 0, kHalfWords, values);
      add_share<kStorage>(chunk, place, kHalfWords, kChunkWords, values);
    } else {
      add_share<kStorage>(chunk, place, 0, kChunkWords, values);
    }
    MYNAH_UNROLLED
    for (int i = 0; i < kThreadRows; ++i) {
      const float scale = chunk.x_scales[place.row + i];
      MYNAH_UNROLLED
      for (int j = 0; j < kThreadColumns; ++j) {
        sums[i][j] += scale * values[i][j];
      }
    }
  }
}

template <Storage kStorage>
inline void linear_int8_rows(const LinearArgs& args) {
  MYNAH_SHARED(int, codes, 4 * kCodesOfChunk);
  MYNAH_SHARED(float, numbers, 2 * kCodedNumbers);
  MYNAH_SHARED(float, tile, kTileRows* kTileColumns);
  const int64_t row = static_cast<int64_t>(block_index_x()) * kTileRows;
  const int64_t column = static_cast<int64_t>(block_index_y()) * kTileColumns;
  const ThreadPlace place = thread_place();
  CodedSides<kStorage> sides(args, row, column);
  TileDots dots = {};
  TileSums sums = {};
  MYNAH_ROLLED for (int64_t chunk = 0; chunk <= args.weights.chunks; ++chunk) {
    if (chunk < args.weights.chunks) {
      sides.fetch(chunk);
    }
    if (chunk > 0) {
      add_coded_chunk<kStorage>(coded_chunk(codes, numbers, chunk - 1), place, dots, sums);
    }
    if (chunk < args.weights.chunks) {
      sides.put(coded_chunk(codes, numbers, chunk));
    }
    barrier();
  }
  if constexpr (kStorage == Storage::I8) {
    const Global<const float> row_scales(args.coded.scales);
    MYNAH_UNROLLED
    for (int i = 0; i < kThreadRows; ++i) {
      float scale = 0.0F;
      if (row + place.row + i < args.finish.rows) {
        scale = row_scales[row + place.row + i];
      }
      MYNAH_UNROLLED
      for (int j = 0; j < kThreadColumns; ++j) {
        sums[i][j] = scale * static_cast<float>(dots[i][j]);
      }
    }
  }
  finish_tile(sums, tile, Finisher(args.finish, args.weights.scales), row, column,
              args.finish.columns);
}

}  // namespace mynah::simt
