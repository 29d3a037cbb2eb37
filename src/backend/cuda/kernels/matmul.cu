// Products of two activations, matrix by matrix of a batch.
#include "backend/cuda/kernels/tile.h"

namespace mynah::simt {

namespace {

// 64 columns of a matrix whose rows are along k: a thread has four neighbours of every eighth row.
class ColumnsSide {
 public:
  static constexpr int kRuns = 4;
  static constexpr int kThreadsOfRow = kTileColumns / 4;

  ColumnsSide(const Rows& x, int64_t first, int64_t columns, int64_t k, bool aligned)
      : x_(Global<const float>(x.data).from(first_row() * x.stride + first + first_column())),
        stride_(x.stride),
        columns_(static_cast<int>(columns - first < kTileColumns ? columns - first : kTileColumns) -
                 first_column()),
        k_(static_cast<int>(k) - first_row()),
        aligned_(aligned) {}

  void fetch(int64_t chunk) {
    MYNAH_UNROLLED for (int i = 0; i < kRuns; ++i) {
      const int k = static_cast<int>(chunk) * kChunk + i * kApart;
      if (aligned_ && k < k_ && columns_ >= 4) {
        runs_[i] = x_.load<4>(k * stride_);
        continue;
      }
      MYNAH_UNROLLED for (int j = 0; j < 4; ++j) {
        runs_[i][j] = 0.0F;
        if (k < k_ && j < columns_) {
          runs_[i][j] = x_[k * stride_ + j];
        }
      }
    }
  }

  void put(const Shared<float>& side) const {
    for (int i = 0; i < kRuns; ++i) {
      side.store<4>(tile_place(first_row() + i * kApart, first_column()), runs_[i]);
    }
  }

 private:
  static constexpr int kApart = kTileThreads / kThreadsOfRow;  // rows of a thread

  static int first_row() { return thread_index() / kThreadsOfRow; }

  static int first_column() { return thread_index() % kThreadsOfRow * 4; }

  Global<const float> x_;
  int64_t stride_;
  int columns_;  // from the thread's first on
  int k_;        // from the thread's first on
  bool aligned_;
  Vector<float, 4> runs_[kRuns];
};

struct MatmulPlace {
  int batch;
  int row;
  int column;
};

// Tiles of rows of the whole batch stand along x, as it may be longer than other axes are.
inline MatmulPlace matmul_place(const MatmulArgs& args) {
  const int batch = block_index_x() / args.row_tiles;
  return {batch, (block_index_x() - batch * args.row_tiles) * kTileRows,
          block_index_y() * kTileColumns};
}

template <class Right>
inline void multiply(const MatmulArgs& args, const MatmulPlace& place, Right& right,
                     const Shared<float>& memory) {
  RowsSide left({args.a.data + place.batch * args.a_batch, args.a.stride}, place.row,
                args.finish.rows, args.k, args.a_aligned);
  TileSums sums = {};
  add_chunks(left, right, (args.k + kChunk - 1) / kChunk, memory, sums);
  Finish finish = args.finish;
  finish.out.data += place.batch * args.out_batch;
  finish_tile(sums, memory, Finisher(finish, nullptr), place.row, place.column,
              args.finish.columns);
}

}  // namespace

MYNAH_KERNEL(matmul, MatmulArgs, kTileThreads) {
  MYNAH_SHARED(float, memory, kTileMemory);
  const MatmulPlace place = matmul_place(args);
  ColumnsSide right({args.b.data + place.batch * args.b_batch, args.b.stride}, place.column,
                    args.finish.columns, args.k, args.b_aligned);
  multiply(args, place, right, memory);
}

MYNAH_KERNEL(matmul_transposed, MatmulArgs, kTileThreads) {
  MYNAH_SHARED(float, memory, kTileMemory);
  const MatmulPlace place = matmul_place(args);
  RowsSide right({args.b.data + place.batch * args.b_batch, args.b.stride}, place.column,
                 args.finish.columns, args.k, args.b_aligned);
  multiply(args, place, right, memory);
}

}  // namespace mynah::simt
