// A tile of a product in f32: what a block of kTileThreads threads computes.
//
// The order of a sum is the same in every kernel of products in f32: a chunk of 32 products from
// the first to the last, the chunks' sums from the first to the last. So a row's result does not
// depend on which kernel or tile it fell to, and not on the rows beside it. Kernels on matrix units
// have an order of their own (units.h), all of them the same one.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/weights.h"

namespace mynah::simt {

// Of a tile's sums a thread has this many rows and columns.
inline constexpr int kThreadRows = 8;
inline constexpr int kThreadColumns = 4;

// Two chunks of both sides: while one is used, the other is filled.
inline constexpr int kTileChunk = kTileRows * kChunk;
inline constexpr int kTileMemory = 4 * kTileChunk;
static_assert(kTileRows == kTileColumns, "both sides of a tile lie in shared memory alike");

using TileSums = float[kThreadRows][kThreadColumns];

// Where element (k, row) of a side is in shared memory. Four rows stay together; which four banks
// they have depends on k, so that neighbours along k can be written without waiting for each other.
inline int tile_place(int k, int row) {
  return k * kTileRows + (row ^ ((k / 4 % 8) * 4));
}

// The rows and columns of this thread: a warp has 32 by 32 of the tile.
struct ThreadPlace {
  int row;
  int column;
};

inline ThreadPlace thread_place() {
  return {(warp() / 2 * 4 + lane() / 8) * kThreadRows,
          (warp() % 2 * 8 + lane() % 8) * kThreadColumns};
}

// 64 rows whose elements along k are neighbours: x, and matrices of matmul. A thread has four
// neighbours of every sixteenth row.
class RowsSide {
 public:
  static constexpr int kRuns = 4;

  // Rows from `first` of `rows`; beyond them, and beyond `k`, zeros.
  RowsSide(const Rows& x, int64_t first, int64_t rows, int64_t k, bool aligned)
      : x_(Global<const float>(x.data).from((first + thread_index() / 8) * x.stride +
                                            thread_index() % 8 * 4)),
        step_(static_cast<int>(x.stride) * kApart),
        rows_(static_cast<int>(rows - first < kTileRows ? rows - first : kTileRows) -
              thread_index() / 8),
        k_(static_cast<int>(k) - thread_index() % 8 * 4),
        aligned_(aligned) {}

  void fetch(int64_t chunk) {
    const int k = static_cast<int>(chunk) * kChunk;
    const bool whole = aligned_ && k + 4 <= k_;
    Global<const float> run = x_.from(k);
    MYNAH_UNROLLED for (int i = 0; i < kRuns; ++i) {
      const bool inside = i * kApart < rows_;
      if (whole && inside) {
        runs_[i] = run.load<4>(0);
      } else {
        MYNAH_UNROLLED for (int j = 0; j < 4; ++j) {
          runs_[i][j] = 0.0F;
          if (inside && k + j < k_) {
            runs_[i][j] = run[j];
          }
        }
      }
      run = run.from(step_);
    }
  }

  void put(const Shared<float>& side) const {
    for (int i = 0; i < kRuns; ++i) {
      for (int j = 0; j < 4; ++j) {
        side[tile_place(thread_index() % 8 * 4 + j, thread_index() / 8 + i * kApart)] = runs_[i][j];
      }
    }
  }

 private:
  static constexpr int kApart = kTileThreads / 8;  // rows of a thread

  Global<const float> x_;
  int step_;  // between them
  int rows_;  // from the thread's first on
  int k_;     // from the thread's first on
  bool aligned_;
  Vector<float, 4> runs_[kRuns];
};

// 64 rows of packed weights: a thread has half a chunk of one row.
template <Storage kStorage>
class WeightsSide {
 public:
  WeightsSide(const Weights& weights, int64_t first)
      : half_(thread_index() / kPanel % 2),
        row_in_tile_(thread_index() % kPanel + thread_index() / (2 * kPanel) * kPanel),
        row_(weights, first + row_in_tile_) {}

  void fetch(int64_t chunk) { stored_ = row_.load(chunk, half_); }

  void put(const Shared<float>& side) const {
    float values[kHalf];
    WeightRow<kStorage>::widen(stored_, half_, values);
    for (int i = 0; i < kHalf; ++i) {
      side[tile_place(half_ * kHalf + i, row_in_tile_)] = values[i];
    }
  }

 private:
  int half_;
  int row_in_tile_;
  WeightRow<kStorage> row_;
  HalfChunk<kStorage> stored_;
};

// One chunk's products, added to `sums` as one number each.
inline void add_chunk(const Shared<float>& left, const Shared<float>& right,
                      const ThreadPlace& place, TileSums& sums) {
  TileSums part = {};
  MYNAH_ROLLED for (int four = 0; four < kChunk; four += 4) {
    for (int k = four; k < four + 4; ++k) {
      const Vector<float, 4> a = left.load<4>(tile_place(k, place.row));
      const Vector<float, 4> b = left.load<4>(tile_place(k, place.row + 4));
      const Vector<float, 4> w = right.load<4>(tile_place(k, place.column));
      for (int j = 0; j < kThreadColumns; ++j) {
        for (int i = 0; i < 4; ++i) {
          part[i][j] = multiply_add(a[i], w[j], part[i][j]);
          part[i + 4][j] = multiply_add(b[i], w[j], part[i + 4][j]);
        }
      }
    }
  }
  for (int i = 0; i < kThreadRows; ++i) {
    for (int j = 0; j < kThreadColumns; ++j) {
      sums[i][j] += part[i][j];
    }
  }
}

// All chunks; `memory` has kTileMemory elements, of which nobody needs anything after it.
template <class Left, class Right>
inline void add_chunks(Left& left, Right& right, int64_t chunks, const Shared<float>& memory,
                       TileSums& sums) {
  const ThreadPlace place = thread_place();
  // A chunk is on its way to registers while the one before it is multiplied.
  MYNAH_ROLLED for (int64_t chunk = 0; chunk <= chunks; ++chunk) {
    const Shared<float> next = memory.from(chunk % 2 * 2 * kTileChunk);
    const Shared<float> now = memory.from((chunk + 1) % 2 * 2 * kTileChunk);
    if (chunk < chunks) {
      left.fetch(chunk);
      right.fetch(chunk);
    }
    if (chunk > 0) {
      add_chunk(now, now.from(kTileChunk), place, sums);
    }
    if (chunk < chunks) {
      left.put(next);
      right.put(next.from(kTileChunk));
    }
    barrier();
  }
}

// Writes a tile of sums whose first element is (row, column) of the result. Through `memory`, of
// kTileRows * kTileColumns elements: so neighbouring threads write neighbours, and the code of the
// activations is there once.
inline void finish_tile(const TileSums& sums, const Shared<float>& memory, const Finisher& finisher,
                        int64_t row, int64_t column, int64_t columns) {
  const ThreadPlace place = thread_place();
  for (int i = 0; i < kThreadRows; ++i) {
    Vector<float, 4> run;
    for (int j = 0; j < kThreadColumns; ++j) {
      run[j] = sums[i][j];
    }
    memory.store<4>((place.row + i) * kTileColumns + place.column, run);
  }
  barrier();
  constexpr int kRuns = kTileColumns / 4;  // of a row
  const int first = thread_index() % kRuns * 4;
  const int64_t left = columns - column - first;
  MYNAH_ROLLED for (int i = thread_index() / kRuns; i < kTileRows; i += kTileThreads / kRuns) {
    if (left > 0) {
      finisher.put(row + i, column + first, memory.load<4>(i * kTileColumns + first),
                   left < 4 ? static_cast<int>(left) : 4);
    }
  }
}

}  // namespace mynah::simt
