// The largest of numbers and where it stands; the lower index wins a tie.
#pragma once

#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

struct Best {
  static constexpr int kNowhere = 0x7FFFFFFF;  // loses every tie

  float value = -kInfinity;
  int index = kNowhere;

  // NaN is never better.
  void offer(float other, int other_index) {
    if (other > value || (other == value && other_index < index)) {
      value = other;
      index = other_index;
    }
  }
};

// Of a warp, in every lane.
inline Best warp_best(Best best) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const float value = shuffle_xor(best.value, distance);
    const int index = shuffle_xor(best.index, distance);
    best.offer(value, index);
  }
  return best;
}

// Of a block, in every thread; `values` and `indices` have an element a warp. All threads call it.
inline Best block_best(Best best, const Shared<float>& values, const Shared<int>& indices) {
  best = warp_best(best);
  barrier();  // whoever still reads an earlier one
  if (lane() == 0) {
    values[warp()] = best.value;
    indices[warp()] = best.index;
  }
  barrier();
  Best other;
  if (lane() < warp_count()) {
    other.value = values[lane()];
    other.index = indices[lane()];
  }
  return warp_best(other);
}

}  // namespace mynah::simt
