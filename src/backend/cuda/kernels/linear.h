// linear in f32 for many rows: a tile a block.
#pragma once

#include "backend/cuda/kernels/tile.h"

namespace mynah::simt {

template <Storage kStorage>
inline void linear_rows(const LinearArgs& args) {
  MYNAH_SHARED(float, memory, kTileMemory);
  const int64_t row = static_cast<int64_t>(block_index_x()) * kTileRows;
  const int64_t column = static_cast<int64_t>(block_index_y()) * kTileColumns;
  RowsSide left(args.x, row, args.finish.rows, args.in, args.aligned);
  WeightsSide<kStorage> right(args.weights, column);
  TileSums sums = {};
  add_chunks(left, right, args.weights.chunks, memory, sums);
  finish_tile(sums, memory, Finisher(args.finish, args.weights.scales), row, column,
              args.finish.columns);
}

}  // namespace mynah::simt
