// linear in f32 for few rows, as in a decoder's step: memory's speed is what counts, so each weight
// is read once for eight rows. Eight lanes of a warp take the rows of a panel, four chunks at once,
// and each lane sums a chunk of its own. A block's warps take one to four panels, and several
// chunks. The chunks' sums are then added one after the other: the order of tile.h.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/weights.h"

namespace mynah::simt {

// What is this block's, and this lane's of it.
struct FewRowsBlock {
  int64_t first_row;
  int64_t first_column;
  FewRowsMemory memory;
  int chunk;   // of this lane, among those that the block takes at once
  int column;  // from the first

  // Element of `sums` for a chunk's product with row r.
  [[nodiscard]] int sum_place(int r) const {
    return chunk * memory.sums_apart() + (column / kPanel * memory.rows + r) * kPanel +
           column % kPanel;
  }
};

inline FewRowsBlock few_rows_block(const LinearArgs& args) {
  const int64_t first_row = static_cast<int64_t>(block_index_y()) * kFewRows;
  const int64_t rows = args.finish.rows - first_row;
  const int panel = warp() % args.panels;
  const int group = warp() / args.panels;
  return {first_row,
          static_cast<int64_t>(block_index_x()) * args.panels * kPanel,
          {static_cast<int>(rows < kFewRows ? rows : kFewRows),
           warp_count() / args.panels * kFewRowsChunks, args.panels},
          group * kFewRowsChunks + lane() / kPanel,
          panel * kPanel + lane() % kPanel};
}

// Adds the chunks of a step, of which `left` are still to come, to this thread's result, in order.
template <class Sum>
inline void add_sums(const FewRowsMemory& memory, const Shared<Sum>& sums, int left, Sum& sum) {
  if (thread_index() < memory.results()) {
    const int chunks = left < memory.chunks ? left : memory.chunks;
    for (int c = 0; c < chunks; ++c) {
      sum += static_cast<Sum>(sums[c * memory.sums_apart() + thread_index()]);
    }
  }
}

// `sum_of(r)` is this thread's result, of row r of the block.
template <class SumOf>
inline void finish_few_rows(const LinearArgs& args, const FewRowsMemory& memory, int64_t first_row,
                            int64_t first_column, const SumOf& sum_of) {
  if (thread_index() < memory.results()) {
    const int row = thread_index() / kPanel % memory.rows;
    const int column = thread_index() / kPanel / memory.rows * kPanel + thread_index() % kPanel;
    Finisher(args.finish, args.weights.scales)
        .put(first_row + row, first_column + column, sum_of(row));
  }
}

template <Storage kStorage>
inline void few_rows(const LinearArgs& args) {
  MYNAH_DYNAMIC_SHARED(float, x);
  const FewRowsBlock block = few_rows_block(args);
  const FewRowsMemory& memory = block.memory;
  constexpr int kApart = FewRowsMemory::kFloatChunk;
  const Shared<float> sums = x.from(memory.rows * memory.chunks * kApart);
  const Global<const float> rows(args.x.data + block.first_row * args.x.stride);
  const WeightRow<kStorage> weights(args.weights, block.first_column + block.column);
  float sum = 0.0F;
  const int chunks = static_cast<int>(args.weights.chunks);
  MYNAH_ROLLED for (int first = 0; first < chunks; first += memory.chunks) {
    // On their way from memory while x is fetched.
    const int chunk = first + block.chunk;
    const bool inside = chunk < chunks;
    HalfChunk<kStorage> stored[2] = {};
    if (inside) {
      weights.load(chunk, stored);
    }
    MYNAH_ROLLED for (int r = 0; r < memory.rows; ++r) {
      for (int k = thread_index(); k < memory.chunks * kChunk; k += thread_count()) {
        const int at = first * kChunk + k;
        float value = 0.0F;
        if (at < args.in) {
          value = rows[r * args.x.stride + at];
        }
        x[(r * memory.chunks + k / kChunk) * kApart + k % kChunk] = value;
      }
    }
    barrier();
    if (inside) {
      float parts[kFewRows] = {};
      MYNAH_UNROLLED for (int half = 0; half < 2; ++half) {
        float w[kHalf];
        WeightRow<kStorage>::widen(stored[half], half, w);
        MYNAH_UNROLLED for (int r = 0; r < kFewRows; ++r) {
          if (r >= memory.rows) {
            continue;
          }
          const int place = (r * memory.chunks + block.chunk) * kApart + half * kHalf;
          MYNAH_UNROLLED for (int k = 0; k < kHalf; k += 4) {
            const Vector<float, 4> run = x.load<4>(place + k);
            for (int i = 0; i < 4; ++i) {
              parts[r] = multiply_add(run[i], w[k + i], parts[r]);
            }
          }
        }
      }
      MYNAH_UNROLLED for (int r = 0; r < kFewRows; ++r) {
        if (r < memory.rows) {
          sums[block.sum_place(r)] = parts[r];
        }
      }
    }
    barrier();
    add_sums(memory, sums, chunks - first, sum);
  }
  finish_few_rows(args, memory, block.first_row, block.first_column, [&](int) { return sum; });
}

}  // namespace mynah::simt
