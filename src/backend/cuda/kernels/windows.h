// The windows of a convolution: which rows of x a row of the result sees.
#pragma once

#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// A window: the row of its first tap, counted from the utterance's begin, and the utterance.
struct WindowPlace {
  int64_t begin;
  int length;  // 0: no window, all of its elements are zero
  int first;
};

inline WindowPlace window_place(const Windows& windows, int64_t row) {
  if (row >= windows.rows) {
    return {0, 0, 0};
  }
  const Global<const Utterance> utterances(windows.utterances);
  // The last utterance that begins at or before the row.
  int64_t low = 0;
  int64_t high = windows.count - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    const Utterance utterance = utterances[middle];
    if (utterance.out_begin <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const Utterance utterance = utterances[low];
  return {utterance.begin, static_cast<int>(utterance.length),
          static_cast<int>(row - utterance.out_begin) * windows.stride - windows.padding};
}

// The row of x that a tap falls on; -1: on none.
inline int64_t row_of(const Windows& windows, const WindowPlace& place, int tap) {
  const int row = place.first + tap * windows.dilation;
  return tap < windows.kernel && row >= 0 && row < place.length ? place.begin + row : -1;
}

}  // namespace mynah::simt
