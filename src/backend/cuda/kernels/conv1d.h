// conv1d in f32: the product of windows with the weights, whose rows are never laid out.
#pragma once

#include "backend/cuda/kernels/tile.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

// 64 windows. A thread has four neighbours of every sixteenth.
class WindowsSide {
 public:
  static constexpr int kRuns = 4;

  WindowsSide(const Windows& windows, int64_t first, int group)
      : windows_(windows), x_(windows.x.data), first_channel_(group * windows.channels) {
    MYNAH_UNROLLED for (int i = 0; i < kRuns; ++i) {
      places_[i] = window_place(windows, first + thread_index() / 8 + i * (kTileThreads / 8));
    }
  }

  void fetch(int64_t chunk) {
    const int k = static_cast<int>(chunk) * kChunk + thread_index() % 8 * 4;
    int tap = k / windows_.channels;
    int channel = k - tap * windows_.channels;
    if (windows_.aligned) {
      MYNAH_UNROLLED for (int i = 0; i < kRuns; ++i) {
        const int64_t row = row_of(windows_, places_[i], tap);
        runs_[i] = row < 0 ? Vector<float, 4>{}
                           : x_.load<4>(row * windows_.x.stride + first_channel_ + channel);
      }
      return;
    }
    MYNAH_UNROLLED for (int j = 0; j < 4; ++j) {
      MYNAH_UNROLLED for (int i = 0; i < kRuns; ++i) {
        const int64_t row = row_of(windows_, places_[i], tap);
        runs_[i][j] = 0.0F;
        if (row >= 0) {
          runs_[i][j] = x_[row * windows_.x.stride + first_channel_ + channel];
        }
      }
      ++channel;
      if (channel == windows_.channels) {
        channel = 0;
        ++tap;
      }
    }
  }

  void put(const Shared<float>& side) const {
    for (int i = 0; i < kRuns; ++i) {
      for (int j = 0; j < 4; ++j) {
        side[tile_place(thread_index() % 8 * 4 + j, thread_index() / 8 + i * (kTileThreads / 8))] =
            runs_[i][j];
      }
    }
  }

 private:
  const Windows& windows_;
  Global<const float> x_;
  int first_channel_;
  WindowPlace places_[kRuns];
  Vector<float, 4> runs_[kRuns];
};

template <Storage kStorage>
inline void conv1d_windows(const Conv1dArgs& args) {
  MYNAH_SHARED(float, memory, kTileMemory);
  const int group = block_index_z();
  const int64_t row = static_cast<int64_t>(block_index_x()) * kTileRows;
  const int64_t column =
      group * args.group_columns + static_cast<int64_t>(block_index_y()) * kTileColumns;
  WindowsSide left(args.windows, row, group);
  WeightsSide<kStorage> right(args.weights, column);
  TileSums sums = {};
  add_chunks(left, right, args.weights.chunks, memory, sums);
  finish_tile(sums, memory, Finisher(args.finish, args.weights.scales), row, column,
              (group + 1) * args.group_columns);
}

}  // namespace mynah::simt
