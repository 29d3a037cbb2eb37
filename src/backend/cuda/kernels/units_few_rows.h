// linear on matrix units for few rows, as in a decoder's step: memory's speed is what counts, so
// each weight is read once, straight to registers, for all rows. A block takes one or two panels
// of weights; its warps take kUnitsSumSteps steps each, whose sums are then added one after the
// other: the order of units.h.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/round.h"
#include "backend/cuda/kernels/units.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

inline constexpr int kMostRowPanels = kUnitsFewRows / kPanel;

// A lane's units of kUnitsSumSteps steps, so that all are on their way together.
using StepUnits = Unit[kUnitsSumSteps];

// A lane's units of activations; zeros for steps and rows that are not there.
template <Storage kStorage>
class FewRowsSide {
 public:
  explicit FewRowsSide(const UnitsArgs& args)
      : args_(args),
        packed_(reinterpret_cast<const uint32_t*>(args.packed)),
        x_(args.x.data),
        steps_(args.weights.chunks) {}

  [[nodiscard]] bool packed() const { return !packed_.empty(); }

  // Packed before, of the steps from `first` on.
  MYNAH_INLINE void load(int first, int panel, StepUnits& units) const {
    const bool inside = panel * kPanel + lane() / kStepUnits < args_.finish.rows;
    const Global<const uint32_t> from =
        packed_.from((panel * steps_ + first) * kStepWords + own_place());
    MYNAH_UNROLLED
    for (int i = 0; i < kUnitsSumSteps; ++i) {
      units[i] = {};
      if (inside && first + i < steps_) {
        units[i] = load_own(from, static_cast<int64_t>(i) * kStepWords);
      }
    }
  }

  // Rounded here, of the first panel.
  MYNAH_INLINE void round(int first, StepUnits& units) const {
    const int64_t row = lane() / kStepUnits;
    const int64_t k = static_cast<int64_t>(first) * kChunk + own_element();
    const bool inside = row < args_.finish.rows;
    const Global<const float> x = x_.from(row * args_.x.stride + k);
    const bool whole =
        args_.aligned && static_cast<int64_t>(first + kUnitsSumSteps) * kChunk <= args_.in;
    if (!whole || !round_whole(x, inside, units)) {
      round_each(x, k, inside, units);
    }
  }

 private:
  // Words whose elements stand side by side, and their elements.
  static constexpr int kWords = kLevel >= 90 ? 1 : 2;
  static constexpr int kElements = 2 * kWords;

  // False where a number is beyond half precision, which is seldom.
  static MYNAH_INLINE bool round_whole(const Global<const float>& x, bool inside,
                                       StepUnits& units) {
    Vector<float, kElements> values[kUnitsSumSteps][kUnitWords / kWords] = {};
    if (inside) {
      MYNAH_UNROLLED
      for (int i = 0; i < kUnitsSumSteps; ++i) {
        MYNAH_UNROLLED
        for (int j = 0; j < kUnitWords / kWords; ++j) {
          values[i][j] = x.template load<kElements>(i * kChunk + element_of_word(j * kWords));
        }
      }
    }
    uint32_t beyond = 0;
    MYNAH_UNROLLED
    for (int i = 0; i < kUnitsSumSteps; ++i) {
      MYNAH_UNROLLED
      for (int word = 0; word < kUnitWords; ++word) {
        units[i][word] = nearest_pair<typename Rounded<kStorage>::Type>(
            values[i][word / kWords][word % kWords * 2],
            values[i][word / kWords][word % kWords * 2 + 1]);
        beyond |= kStorage == Storage::F16 ? beyond_f16(units[i][word]) : 0U;
      }
    }
    return beyond == 0;
  }

  MYNAH_INLINE void round_each(const Global<const float>& x, int64_t k, bool inside,
                               StepUnits& units) const {
    MYNAH_UNROLLED
    for (int i = 0; i < kUnitsSumSteps; ++i) {
      MYNAH_UNROLLED
      for (int word = 0; word < kUnitWords; ++word) {
        float pair[2] = {};
        MYNAH_UNROLLED
        for (int j = 0; j < 2; ++j) {
          const int at = i * kChunk + element_of_word(word) + j;
          if (inside && k + at < args_.in) {
            pair[j] = x[at];
          }
        }
        units[i][word] = rounded_pair<kStorage>(pair[0], pair[1]);
      }
    }
  }

  const UnitsArgs& args_;
  Global<const uint32_t> packed_;
  Global<const float> x_;
  int64_t steps_;  // of a row
};

// The steps from `first` on, as many as there are, of one panel of rows.
template <Storage kStorage>
MYNAH_INLINE void add_few_rows(const StepUnits (&weights)[2], const StepUnits& x, int left,
                               float (&sums)[4]) {
  MYNAH_UNROLLED
  for (int i = 0; i < kUnitsSumSteps; ++i) {
    if (i < left) {
      multiply_step<kStorage>(weights[0][i], weights[1][i], x[i], sums);
    }
  }
}

// Two panels of weights as a lane reads them; the second may not be there.
class FewRowsWeights {
 public:
  FewRowsWeights(const UnitsArgs& args, int64_t panel)
      : low_(reinterpret_cast<const uint32_t*>(args.weights.values)),
        high_(low_),
        both_(args.panels == 2 && panel + 1 < args.weights.panels) {
    const int64_t of_panel = args.weights.chunks * kStepWords;
    low_ = low_.from(panel * of_panel + own_place());
    high_ = low_.from(of_panel);
  }

  // `left` steps from `first` on, as many as there are; zeros instead of others.
  MYNAH_INLINE void load(int first, int left, StepUnits (&units)[2]) const {
    MYNAH_UNROLLED
    for (int i = 0; i < kUnitsSumSteps; ++i) {
      const int64_t at = static_cast<int64_t>(first + i) * kStepWords;
      units[0][i] = {};
      units[1][i] = {};
      if (i < left) {
        units[0][i] = load_own(low_, at);
        if (both_) {
          units[1][i] = load_own(high_, at);
        }
      }
    }
  }

 private:
  Global<const uint32_t> low_;
  Global<const uint32_t> high_;
  bool both_;
};

// The sums of kUnitsSumSteps steps from `first` on, of all rows.
template <Storage kStorage>
MYNAH_INLINE void sum_few_rows(const FewRowsSide<kStorage>& side, const StepUnits (&weights)[2],
                               int first, int left, int row_panels,
                               float (&sums)[kMostRowPanels][4]) {
  StepUnits x;
  if (!side.packed()) {
    side.round(first, x);
    add_few_rows<kStorage>(weights, x, left, sums[0]);
    return;
  }
  MYNAH_UNROLLED
  for (int panel = 0; panel < kMostRowPanels; ++panel) {
    if (panel < row_panels) {
      side.load(first, panel, x);
      add_few_rows<kStorage>(weights, x, left, sums[panel]);
    }
  }
}

template <Storage kStorage>
MYNAH_INLINE void units_few_rows(const UnitsArgs& args) {
  MYNAH_DYNAMIC_SHARED(float, memory);
  using Memory = UnitsFewMemory;
  const Memory shape{.warps = warp_count(),
                     .row_panels = static_cast<int>((args.finish.rows + kPanel - 1) / kPanel)};
  const Shared<float> totals = memory.from(shape.warps * shape.results());
  const int64_t panel = static_cast<int64_t>(block_index_x()) * args.panels;
  const FewRowsWeights rows_of_weights(args, panel);
  const FewRowsSide<kStorage> side(args);
  const int steps = static_cast<int>(args.weights.chunks);
  const int groups = (steps + kUnitsSumSteps - 1) / kUnitsSumSteps;
  StepUnits weights[2];
  rows_of_weights.load(warp() * kUnitsSumSteps, steps - warp() * kUnitsSumSteps, weights);
  for (int i = thread_index(); i < shape.results(); i += thread_count()) {
    totals[i] = 0.0F;
  }
  MYNAH_ROLLED for (int round = 0; round < groups; round += shape.warps) {
    const int first = (round + warp()) * kUnitsSumSteps;
    if (first < steps) {
      float sums[kMostRowPanels][4] = {};
      sum_few_rows(side, weights, first, steps - first, shape.row_panels, sums);
      MYNAH_UNROLLED
      for (int r = 0; r < kMostRowPanels; ++r) {
        if (r < shape.row_panels) {
          MYNAH_UNROLLED
          for (int i = 0; i < 4; ++i) {
            memory[warp() * shape.results() + Memory::place(r * kPanel + lane() % 4 * 2 + i % 2,
                                                            i / 2 * kPanel + lane() / 4)] =
                sums[r][i];
          }
        }
      }
    }
    // The next round's weights are on their way while this one's sums are added.
    const int next = first + shape.warps * kUnitsSumSteps;
    rows_of_weights.load(next, steps - next, weights);
    barrier();
    const int summed = groups - round < shape.warps ? groups - round : shape.warps;
    for (int i = thread_index(); i < shape.rows() * Memory::kColumns; i += thread_count()) {
      const int at = Memory::place(i / Memory::kColumns, i % Memory::kColumns);
      float total = totals[at];
      for (int w = 0; w < summed; ++w) {
        total += memory[w * shape.results() + at];
      }
      totals[at] = total;
    }
    barrier();
  }
  const Finisher finisher(args.finish, args.weights.scales);
  const int columns = args.panels * kPanel;
  for (int i = thread_index(); i < shape.rows() * columns; i += thread_count()) {
    finisher.put(i / columns, panel * kPanel + i % columns,
                 totals[Memory::place(i / columns, i % columns)]);
  }
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
