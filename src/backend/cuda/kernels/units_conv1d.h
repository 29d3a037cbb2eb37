// conv1d on matrix units for many rows, by the tiles of units_linear.h. Their rows are windows, and
// those are nowhere laid out: x is packed once, row after row, and a unit of a window is copied
// from the row of x that its tap falls on, or is zero where there is none. A unit is of one tap,
// because channels are whole units (read_in_place).
#pragma once

#include "backend/cuda/kernels/units_linear.h"
#include "backend/cuda/kernels/windows.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

// As PanelUnits, of windows. A step is four units further on than the one before it, and so at most
// one tap.
template <class Tile>
class WindowUnits {
 public:
  explicit WindowUnits(const UnitsArgs& args)
      : packed_(reinterpret_cast<const uint32_t*>(args.packed)),
        words_of_tap_(args.windows.channels / kUnitElements * kUnitWords),
        words_of_row_(units_of_packed_row(args.windows.channels) * kUnitWords),
        dilation_(args.windows.dilation),
        word_(lane() / kPanel * kUnitWords) {
    const Windows& windows = args.windows;
    const int64_t row = (row_of_tiles() * Tile::kRowPanels + warp()) * kPanel + lane() % kPanel;
    MYNAH_UNROLLED
    for (int i = 0; i < kCopies; ++i) {
      const WindowPlace place = window_place(windows, row + i * (Tile::kWarps * kPanel));
      const int past_taps = place.first + windows.kernel * windows.dilation;
      begin_[i] = static_cast<int>(place.begin);
      at_[i] = place.first;
      end_[i] = past_taps < place.length ? past_taps : place.length;
    }
  }

  [[nodiscard]] bool inside(int /*step*/, int copy) const {
    return at_[copy] >= 0 && at_[copy] < end_[copy];
  }

  [[nodiscard]] Global<const uint32_t> unit(int /*step*/, int copy) const {
    return packed_.from(static_cast<int64_t>(begin_[copy] + at_[copy]) * words_of_row_ + word_);
  }

  // Moves to the next step.
  void go_on() {
    word_ += kStepUnits * kUnitWords;
    if (word_ >= words_of_tap_) {
      word_ -= words_of_tap_;
      MYNAH_UNROLLED
      for (int i = 0; i < kCopies; ++i) {
        at_[i] += dilation_;
      }
    }
  }

 private:
  static constexpr int kCopies = Tile::kRowPanels / Tile::kWarps;

  Global<const uint32_t> packed_;
  int words_of_tap_;
  int words_of_row_;  // of x, packed
  int dilation_;
  int word_;  // of a row of x, where this thread's unit begins
  // Of each copy: its utterance's first row in x, and counted from there the row that the tap falls
  // on, and the end of those that the window sees.
  int begin_[kCopies];
  int at_[kCopies];
  int end_[kCopies];
};

template <class Tile, Storage kStorage>
MYNAH_INLINE void units_conv1d(const UnitsArgs& args) {
  multiply_tile<Tile, kStorage>(args, WindowUnits<Tile>(args));
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
