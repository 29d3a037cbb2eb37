// A tile of keys in the hands of one warp: for few lines, where the keys' bytes are what takes
// time. A lane reads a key's row; rows pass through shared memory as they are stored, a slice at a
// time.
#pragma once

#include "backend/cuda/kernels/attention_parts.h"

namespace mynah::simt {

// A slice of a tile: 128 bytes of each row, 144 apart, so that eight neighbouring rows meet all
// banks.
template <class T>
struct WarpSlice {
  static constexpr int kChunk = KeyRows<T>::kChunk;
  static constexpr int kChunks = 8;                  // of a row
  static constexpr int kColumns = kChunks * kChunk;  // 32 or 64
  static constexpr int kPitch = kColumns + kChunk;
  static constexpr int kElements = kTileKeys * kPitch;
  static_assert(kElements * static_cast<int>(sizeof(T)) == kWarpSliceBytes);
  static constexpr int kLoads = kTileKeys * kChunks / kWarp;
  static constexpr int kOwnColumns = kColumns / kWarp;  // of a lane, of values

  Vector<T, kChunk> chunks[kLoads];  // what a lane carries

  // Neighbouring lanes read neighbouring bytes.
  void read(const KeyRows<T>& from, int first, int column) {
    MYNAH_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int number = i * kWarp + lane();
      chunks[i] = from.chunk(first + number / kChunks, column + number % kChunks * kChunk);
    }
  }

  // To the warp's own shared memory. All lanes call it.
  void put(const Shared<T>& to) const {
    warp_barrier();  // whoever still reads the last slice
    MYNAH_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int number = i * kWarp + lane();
      to.template store<kChunk>(number / kChunks * kPitch + number % kChunks * kChunk, chunks[i]);
    }
    warp_barrier();
  }
};

// Adds the products of a slice, at its lane's row, to the scores of as many lines. `queries` are
// the slice's columns of the first line, rows `pitch` apart.
template <class T, int Lines>
MYNAH_INLINE void add_row_scores(const Shared<T>& row, const Shared<float>& queries, int pitch,
                                 int lines, float (&scores)[Lines]) {
  using Slice = WarpSlice<T>;
  MYNAH_ROLLED
  for (int chunk = 0; chunk < Slice::kChunks; ++chunk) {
    const Vector<T, Slice::kChunk> stored =
        row.template load<Slice::kChunk>(static_cast<int64_t>(chunk) * Slice::kChunk);
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

}  // namespace mynah::simt
