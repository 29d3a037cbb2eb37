// A tile of keys in the hands of one warp: for few lines, where the keys' bytes are what takes
// time. A lane reads a key's row; rows pass through shared memory as they are stored, a slice at a
// time.
#pragma once

#include "backend/cuda/kernels/attention_parts.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

// A slice of a tile: 128 bytes of each row. Eight neighbouring rows meet all banks: they are 144
// bytes apart, which takes the fewest registers, or, where there are to be two slices, 128, with
// chunks in another order in each.
template <class T>
struct WarpSlice {
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(T));
  static constexpr int kChunks = 8;                  // of a row
  static constexpr int kColumns = kChunks * kChunk;  // 32 or 64
  static constexpr int kElements = split_slice_bytes(kLevel) / static_cast<int>(sizeof(T));
  static constexpr int kPitch = kElements / kTileKeys;
  static constexpr int kLoads = kTileKeys * kChunks / kWarp;
  static constexpr int kOwnColumns = kColumns / kWarp;  // of a lane, of values

  Vector<T, kChunk> chunks[kLoads];  // what a lane carries

  // Where a column of a row stands.
  static int place(int row, int column) {
    if constexpr (kPitch > kColumns) {
      return row * kPitch + column;
    }
    return row * kPitch + ((column / kChunk) ^ (row % kChunks)) * kChunk + column % kChunk;
  }

  // Neighbouring lanes read neighbouring bytes.
  template <class Rows>
  void read(const Rows& from, int first, int column) {
    MYNAH_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int number = i * kWarp + lane();
      chunks[i] = from.chunk(first + number / kChunks, column + number % kChunks * kChunk);
    }
  }

  // To the warp's own shared memory, on their way until they are waited for.
  template <class Rows>
  static void copy(const Rows& from, int first, int column, const Shared<T>& to) {
    MYNAH_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int number = i * kWarp + lane();
      const int row = number / kChunks;
      const int at = number % kChunks * kChunk;
      from.copy(first + row, column + at, to.from(place(row, at)));
    }
  }

  // To the warp's own shared memory. All lanes call it.
  void put(const Shared<T>& to) const {
    warp_barrier();  // whoever still reads the last slice
    MYNAH_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int number = i * kWarp + lane();
      to.template store<kChunk>(place(number / kChunks, number % kChunks * kChunk), chunks[i]);
    }
    warp_barrier();
  }
};

// Adds the products of a slice's row, each lane its own, to the scores of as many lines. `queries`
// are the slice's columns of the first line, rows `pitch` apart.
template <class T, int Lines>
MYNAH_INLINE void add_row_scores(const Shared<T>& rows, const Shared<float>& queries, int pitch,
                                 int lines, float (&scores)[Lines]) {
  using Slice = WarpSlice<T>;
  MYNAH_ROLLED
  for (int chunk = 0; chunk < Slice::kChunks; ++chunk) {
    const Vector<T, Slice::kChunk> stored =
        rows.template load<Slice::kChunk>(Slice::place(lane(), chunk * Slice::kChunk));
    MYNAH_UNROLLED
    for (int i = 0; i < Slice::kChunk; i += 4) {
      MYNAH_UNROLLED
      for (int l = 0; l < Lines; ++l) {
        if (l < lines) {
          const Vector<float, 4> query = queries.load<4>(l * pitch + chunk * Slice::kChunk + i);
          MYNAH_UNROLLED
          for (int k = 0; k < 4; ++k) {
            scores[l] = multiply_add(query[k], to_float(stored[i + k]), scores[l]);
          }
        }
      }
    }
  }
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
