// linear on matrix units for few rows, as in a decoder's step: memory's speed is what counts, so
// each weight is read once, straight to registers, for all rows. A block takes one or two panels
// of weights; its warps take kUnitsSumSteps steps each, whose sums are then added one after the
// other: the order of units.h.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/round.h"
#include "backend/cuda/kernels/units.h"

namespace mynah::simt {

inline constexpr int kMostRowPanels = kUnitsFewRows / kPanel;

// A lane's units of activations, packed before or rounded here.
template <Storage kStorage>
class FewRowsSide {
 public:
  explicit FewRowsSide(const UnitsArgs& args)
      : args_(args),
        packed_(reinterpret_cast<const uint32_t*>(args.packed)),
        x_(args.x.data),
        units_(args.weights.chunks * kStepUnits) {}

  [[nodiscard]] Unit unit(int step, int panel) const {
    const int64_t row = panel * kPanel + lane() / kStepUnits;
    const int64_t unit = static_cast<int64_t>(step) * kStepUnits + lane() % kStepUnits;
    Unit rounded{};
    if (row >= args_.finish.rows) {
      return rounded;
    }
    if (!packed_.empty()) {
      return packed_.template load<kUnitWords>(
          ((panel * units_ + unit) * kPanel + lane() / kStepUnits) * kUnitWords);
    }
    const int64_t k = unit * (2 * kUnitWords);
    const Global<const float> x = x_.from(row * args_.x.stride + k);
    MYNAH_UNROLLED
    for (int half = 0; half < 2; ++half) {
      Vector<float, 4> values{};
      if (args_.aligned && k + half * 4 + 4 <= args_.in) {
        values = x.template load<4>(half * 4);
      } else {
        MYNAH_UNROLLED
        for (int i = 0; i < 4; ++i) {
          if (k + half * 4 + i < args_.in) {
            values[i] = x[half * 4 + i];
          }
        }
      }
      rounded[half * 2] = rounded_pair<kStorage>(values[0], values[1]);
      rounded[half * 2 + 1] = rounded_pair<kStorage>(values[2], values[3]);
    }
    return rounded;
  }

 private:
  const UnitsArgs& args_;
  Global<const uint32_t> packed_;
  Global<const float> x_;
  int64_t units_;  // of a row
};

// The sums of kUnitsSumSteps steps from `first` on, of all rows.
template <Storage kStorage>
MYNAH_INLINE void sum_few_rows(const UnitsArgs& args, const FewRowsSide<kStorage>& side,
                               const Global<const uint32_t>& low,
                               const Global<const uint32_t>& high, bool both, int first,
                               int row_panels, float (&sums)[kMostRowPanels][4]) {
  const int steps = static_cast<int>(args.weights.chunks);
  // All on their way at once.
  Unit a[kUnitsSumSteps][2] = {};
  MYNAH_UNROLLED
  for (int i = 0; i < kUnitsSumSteps; ++i) {
    const int64_t at = static_cast<int64_t>(first + i) * kStepWords;
    if (first + i < steps) {
      a[i][0] = low.load<kUnitWords>(at);
      if (both) {
        a[i][1] = high.load<kUnitWords>(at);
      }
    }
  }
  MYNAH_UNROLLED
  for (int i = 0; i < kUnitsSumSteps; ++i) {
    if (first + i < steps) {
      MYNAH_UNROLLED
      for (int panel = 0; panel < kMostRowPanels; ++panel) {
        if (panel < row_panels) {
          multiply_step<kStorage>(a[i][0], a[i][1], side.unit(first + i, panel), sums[panel]);
        }
      }
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
  const bool both = args.panels == 2 && panel + 1 < args.weights.panels;
  const int64_t of_panel = args.weights.chunks * kStepWords;
  const int place = (lane() % kStepUnits * kPanel + lane() / kStepUnits) * kUnitWords;
  const Global<const uint32_t> low =
      Global<const uint32_t>(reinterpret_cast<const uint32_t*>(args.weights.values))
          .from(panel * of_panel + place);
  const Global<const uint32_t> high = low.from(of_panel);
  const FewRowsSide<kStorage> side(args);
  for (int i = thread_index(); i < shape.results(); i += thread_count()) {
    totals[i] = 0.0F;
  }
  const int groups = static_cast<int>((args.weights.chunks + kUnitsSumSteps - 1) / kUnitsSumSteps);
  MYNAH_ROLLED for (int first = 0; first < groups; first += shape.warps) {
    if (first + warp() < groups) {
      float sums[kMostRowPanels][4] = {};
      sum_few_rows(args, side, low, high, both, (first + warp()) * kUnitsSumSteps, shape.row_panels,
                   sums);
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
    barrier();
    const int summed = groups - first < shape.warps ? groups - first : shape.warps;
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

}  // namespace mynah::simt
