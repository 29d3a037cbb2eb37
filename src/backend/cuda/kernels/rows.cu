// Rows moved about.
#include "backend/cuda/kernels/row_numbers.h"
#include "backend/cuda/kernels/rows_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

// A thread a word of kCount elements of T.
template <class T, int kCount>
inline void gather(const GatherRowsArgs& args) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  const int64_t i = number / args.columns;
  if (i >= args.count) {
    return;
  }
  const int64_t column = number - i * args.columns;
  const int32_t row = Global<const int32_t>(args.numbers)[i];
  const Global<T> out(static_cast<T*>(args.out));
  const int64_t to = (i * args.out_stride + column) * kCount;
  const bool there = row_is_there(row, args.x_rows, RowFault::GatherRows, args.fault);
  const Global<const T> x(static_cast<const T*>(args.x));
  const int64_t from = ((there ? row : 0) * args.x_stride + column) * kCount;
  if constexpr (kCount == 1) {
    T word{};
    if (there) {
      word = x[from];
    }
    out[to] = word;
  } else {
    Vector<T, kCount> word{};
    if (there) {
      word = x.template load<kCount>(from);
    }
    out.template store<kCount>(to, word);
  }
}

// A thread an element.
template <class T>
inline void scatter(const ScatterRowsArgs& args) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  const int64_t i = number / args.columns;
  if (i >= args.count) {
    return;
  }
  const int64_t column = number - i * args.columns;
  const int32_t row = Global<const int32_t>(args.numbers)[i];
  if (row_is_there(row, args.out_rows, RowFault::ScatterRows, args.fault)) {
    const Global<const float> x(args.x.data);
    const Global<T> out(static_cast<T*>(args.out));
    out[row * args.out_stride + column] = from_float<T>(x[i * args.x.stride + column]);
  }
}

// The nearest whole number, ties away from zero; 0 where it is no code.
inline int away_from_zero(float x) {
  constexpr float kMost = 127.5F;
  if (!(x > -kMost && x < kMost)) {
    return 0;
  }
  const int whole = static_cast<int>(x);
  const float rest = x - static_cast<float>(whole);
  return whole + (rest >= 0.5F ? 1 : rest <= -0.5F ? -1 : 0);
}

}  // namespace

MYNAH_KERNEL(gather_rows_1, GatherRowsArgs, kThreads) {
  gather<uint8_t, 1>(args);
}

MYNAH_KERNEL(gather_rows_2, GatherRowsArgs, kThreads) {
  gather<uint16_t, 1>(args);
}

MYNAH_KERNEL(gather_rows_4, GatherRowsArgs, kThreads) {
  gather<uint32_t, 1>(args);
}

MYNAH_KERNEL(gather_rows_16, GatherRowsArgs, kThreads) {
  gather<uint32_t, 4>(args);
}

MYNAH_KERNEL(scatter_rows_f32, ScatterRowsArgs, kThreads) {
  scatter<float>(args);
}

MYNAH_KERNEL(scatter_rows_f16, ScatterRowsArgs, kThreads) {
  scatter<F16>(args);
}

MYNAH_KERNEL(scatter_rows_bf16, ScatterRowsArgs, kThreads) {
  scatter<Bf16>(args);
}

// A warp a block of 32 columns (tensor/quantize.h, quantize of Q8_0, bit for bit).
MYNAH_KERNEL(scatter_rows_q8_0, ScatterRowsArgs, kThreads) {
  constexpr int kWords = 1 + kWarp / 2;  // of two bytes, of a block
  const int64_t blocks = args.columns / kWarp;
  const int64_t number = static_cast<int64_t>(block_index_x()) * warp_count() + warp();
  const int64_t i = number / blocks;
  if (i >= args.count) {
    return;
  }
  const int64_t block = number - i * blocks;
  const int32_t row = Global<const int32_t>(args.numbers)[i];
  if (!row_is_there(row, args.out_rows, RowFault::ScatterRows, args.fault)) {
    return;
  }
  const float value = Global<const float>(args.x.data)[i * args.x.stride + block * kWarp + lane()];
  float peak = value < 0.0F ? -value : value;
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    peak = maximum(peak, shuffle_xor(peak, distance));
  }
  const float scale = peak / 127.0F;
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  const int code = away_from_zero(value * inverse);
  const int next = shuffle_xor(code, 1);
  const Global<uint16_t> out(static_cast<uint16_t*>(args.out));
  const int64_t at = (row * args.out_stride / kWarp + block) * kWords;
  if (lane() == 0) {
    out[at] = from_float<F16>(scale).bits;
  }
  if (lane() % 2 == 0) {
    out[at + 1 + lane() / 2] = static_cast<uint16_t>((code & 0xFF) | ((next & 0xFF) << 8));
  }
}

// Both sides are read and written along rows; a column more of shared memory keeps the lanes of a
// warp, which read down a column of it, in banks of their own.
MYNAH_KERNEL(transpose, TransposeArgs, kThreads) {
  MYNAH_SHARED(float, tile, kTile*(kTile + 1));
  const Global<const float> x(args.x.data);
  const Global<float> out(args.out.data);
  const int tile_row = block_index_x() / args.tiles;
  const int64_t row = static_cast<int64_t>(tile_row) * kTile;
  const int64_t column = static_cast<int64_t>(block_index_x() - tile_row * args.tiles) * kTile;
  for (int i = warp(); i < kTile; i += warp_count()) {
    if (row + i < args.rows && column + lane() < args.columns) {
      tile[i * (kTile + 1) + lane()] = x[(row + i) * args.x.stride + column + lane()];
    }
  }
  barrier();
  for (int i = warp(); i < kTile; i += warp_count()) {
    if (column + i < args.columns && row + lane() < args.rows) {
      out[(column + i) * args.out.stride + row + lane()] = tile[lane() * (kTile + 1) + i];
    }
  }
}

}  // namespace mynah::simt
