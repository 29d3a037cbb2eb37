// linear on matrix units for many rows: a tile a block, both of whose sides are copied to shared
// memory some steps ahead.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/units.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

inline constexpr int kStages = units_stages(kLevel);

// A side of a tile that is packed in panels: where this thread's copies of a step come from, one of
// every kWarps panels.
template <int kWarps>
class PanelUnits {
 public:
  // A matrix of `panels` panels, of `units` a row, from panel `first` on.
  PanelUnits(const uint8_t* packed, int units, int64_t panels, int64_t first)
      : from_(reinterpret_cast<const uint32_t*>(packed)),
        units_(units),
        panels_(static_cast<int>(panels - first)) {
    const int64_t of_panel = static_cast<int64_t>(units) * (kPanel * kUnitWords);
    panel_step_ = of_panel * kWarps;
    from_ = from_.from((first + warp()) * of_panel + lane() * kUnitWords);
  }

  [[nodiscard]] bool inside(int step, int copy) const {
    return step * kStepUnits + lane() / kPanel < units_ && warp() + copy * kWarps < panels_;
  }

  [[nodiscard]] Global<const uint32_t> unit(int step, int copy) const {
    return from_.from(copy * panel_step_ + static_cast<int64_t>(step) * kStepWords);
  }

  void go_on() {}  // nothing is kept from a step to the next

 private:
  Global<const uint32_t> from_;
  int units_;           // of a row
  int panels_;          // from the tile's first on
  int64_t panel_step_;  // in words, from one of this thread's panels to its next
};

// A tile's sides in shared memory: stages of a step each, panels of weights and then of
// activations. Unit u of a panel's row r stands at u * 8 + (r ^ 2 u): so the eight lanes that are
// served at once, of two rows and four units, find theirs in different banks. At level 90 it stands
// at u * 8 + r: a warp reads the eight rows of a unit at once. `Rows` says where activations come
// from, for one step after the other: PanelUnits, or another of its kind.
template <class Tile, Storage kStorage, class Rows>
class UnitsSides {
 public:
  UnitsSides(const UnitsArgs& args, const Rows& rows, int64_t column_panel,
             const Shared<uint32_t>& memory)
      : memory_(memory),
        steps_((units_of_row<kStorage>(args.weights) + kStepUnits - 1) / kStepUnits),
        weights_(args.weights.values, units_of_row<kStorage>(args.weights), args.weights.panels,
                 column_panel),
        rows_(rows),
        to_(warp() * kStepWords + place(lane() / kPanel, lane() % kPanel)) {}

  [[nodiscard]] int steps() const { return steps_; }

#if MYNAH_LEVEL >= 80
  // Begins to copy a step to its stage.
  void begin(int step) {
    const Shared<uint32_t> to = memory_.from(step % kStages * Tile::kStageWords + to_);
    MYNAH_UNROLLED
    for (int i = 0; i < kWeightCopies; ++i) {
      copy_16_async(to.from(i * Tile::kWarps * kStepWords), weights_.unit(step, i),
                    weights_.inside(step, i));
    }
    MYNAH_UNROLLED
    for (int i = 0; i < kRowCopies; ++i) {
      copy_16_async(to.from((Tile::kColumnPanels + i * Tile::kWarps) * kStepWords),
                    rows_.unit(step, i), rows_.inside(step, i));
    }
    rows_.go_on();
  }
#else
  // A step on its way to registers, and from there to its stage.
  void fetch(int step) {
    MYNAH_UNROLLED
    for (int i = 0; i < kWeightCopies; ++i) {
      on_way_[i] =
          weights_.inside(step, i) ? weights_.unit(step, i).template load<kUnitWords>(0) : Unit{};
    }
    MYNAH_UNROLLED
    for (int i = 0; i < kRowCopies; ++i) {
      on_way_[kWeightCopies + i] =
          rows_.inside(step, i) ? rows_.unit(step, i).template load<kUnitWords>(0) : Unit{};
    }
    rows_.go_on();
  }

  void put(int step) const {
    const Shared<uint32_t> to = memory_.from(step % kStages * Tile::kStageWords + to_);
    MYNAH_UNROLLED
    for (int i = 0; i < kWeightCopies + kRowCopies; ++i) {
      to.template store<kUnitWords>(i * Tile::kWarps * kStepWords, on_way_[i]);
    }
  }
#endif

  // This lane's unit of a panel of the tile, those of activations after those of weights.
  [[nodiscard]] Unit unit(int step, int panel) const {
    const Shared<uint32_t> from =
        memory_.from(step % kStages * Tile::kStageWords + panel * kStepWords);
#if MYNAH_LEVEL >= 90
    Unit words;
    load_matrices(from.from(lane() * kUnitWords), words.at);
    return words;
#else
    return from.template load<kUnitWords>(place(lane() % kStepUnits, lane() / kStepUnits));
#endif
  }

 private:
  static constexpr int kWeightCopies = Tile::kColumnPanels / Tile::kWarps;
  static constexpr int kRowCopies = Tile::kRowPanels / Tile::kWarps;
  static_assert(kWeightCopies * Tile::kWarps == Tile::kColumnPanels);
  static_assert(kRowCopies * Tile::kWarps == Tile::kRowPanels);

  static int place(int unit, int row) {
    return (unit * kPanel + (kLevel >= 90 ? row : row ^ (2 * unit))) * kUnitWords;
  }

  Shared<uint32_t> memory_;
  int steps_;
  PanelUnits<Tile::kWarps> weights_;
  Rows rows_;
  int to_;  // in a stage, of this thread's first copy
#if MYNAH_LEVEL < 80
  Unit on_way_[kWeightCopies + kRowCopies];
#endif
};

// A warp's sums: of pairs of panels of weights with panels of activations.
template <class Tile, class Sum>
using UnitsSums = Sum[Tile::kPairs][Tile::kWarpRowPanels][4];

// Where a warp's part of the tile begins, in panels.
template <class Tile>
inline int first_column_panel() {
  return warp() % Tile::kColumnWarps * (2 * Tile::kPairs);
}

template <class Tile>
inline int first_row_panel() {
  return warp() / Tile::kColumnWarps * Tile::kWarpRowPanels;
}

template <class Tile, Storage kStorage, class Rows>
MYNAH_INLINE void add_step(const UnitsSides<Tile, kStorage, Rows>& sides, int step,
                           UnitsSums<Tile, typename UnitsType<kStorage>::Sum>& sums) {
  Unit x[Tile::kWarpRowPanels];
  MYNAH_UNROLLED
  for (int r = 0; r < Tile::kWarpRowPanels; ++r) {
    x[r] = sides.unit(step, Tile::kColumnPanels + first_row_panel<Tile>() + r);
  }
  MYNAH_UNROLLED
  for (int p = 0; p < Tile::kPairs; ++p) {
    const int panel = first_column_panel<Tile>() + 2 * p;
    const Unit low = sides.unit(step, panel);
    const Unit high = sides.unit(step, panel + 1);
    MYNAH_UNROLLED
    for (int r = 0; r < Tile::kWarpRowPanels; ++r) {
      multiply_step<kStorage>(low, high, x[r], sums[p][r]);
    }
  }
}

// All steps, each by `add(step)` once it is there.
template <class Tile, Storage kStorage, class Rows, class Add>
MYNAH_INLINE void for_each_step(UnitsSides<Tile, kStorage, Rows>& sides, const Add& add) {
  const int steps = sides.steps();
#if MYNAH_LEVEL >= 80
  MYNAH_UNROLLED
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) {
      sides.begin(step);
    }
    commit_copies();
  }
  MYNAH_ROLLED for (int step = 0; step < steps; ++step) {
    wait_for_copies<kStages - 2>();
    barrier();  // everybody's copies are there, and nobody reads the stage that is filled next
    if (step + kStages - 1 < steps) {
      sides.begin(step + kStages - 1);
    }
    commit_copies();
    add(step);
  }
#else
  sides.fetch(0);
  sides.put(0);
  barrier();
  MYNAH_ROLLED for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      sides.fetch(step + 1);
    }
    add(step);
    if (step + 1 < steps) {
      sides.put(step + 1);
    }
    barrier();
  }
#endif
}

template <class Tile, class Sum>
MYNAH_INLINE void set_to_zero(UnitsSums<Tile, Sum>& sums) {
  MYNAH_UNROLLED
  for (int p = 0; p < Tile::kPairs; ++p) {
    MYNAH_UNROLLED
    for (int r = 0; r < Tile::kWarpRowPanels; ++r) {
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        sums[p][r][i] = Sum{0};
      }
    }
  }
}

template <class Tile>
MYNAH_INLINE void add_sums(const UnitsSums<Tile, float>& part, UnitsSums<Tile, float>& sums) {
  MYNAH_UNROLLED
  for (int p = 0; p < Tile::kPairs; ++p) {
    MYNAH_UNROLLED
    for (int r = 0; r < Tile::kWarpRowPanels; ++r) {
      MYNAH_UNROLLED
      for (int i = 0; i < 4; ++i) {
        sums[p][r][i] += part[p][r][i];
      }
    }
  }
}

// Writes a warp's sums, a panel of rows after the other, through shared memory of the warp's own:
// so neighbouring lanes write neighbours. `row_scales` may be empty.
template <class Tile, class Sum>
MYNAH_INLINE void finish_units(const UnitsSums<Tile, Sum>& sums, const Shared<float>& memory,
                               const Finisher& finisher, const Global<const float>& row_scales,
                               int64_t first_row, int64_t rows, int64_t first_column,
                               int64_t columns) {
  constexpr int kColumns = Tile::kPairs * 2 * kPanel;
  // Two rows side by side, and the next two eight more than a multiple of 16 on: the lanes that
  // write, of every second row, and those that read, of one row or two, find other banks.
  const auto place = [](int row) { return row / 2 * (2 * kColumns + 8) + row % 2 * kColumns; };
  const Shared<float> own = memory.from(warp() * place(kPanel));
  constexpr int kRuns = kColumns / 4;  // of a row
  const int column = lane() % kRuns * 4;
  const int64_t left = columns - first_column - column;
  MYNAH_ROLLED for (int panel = 0; panel < Tile::kWarpRowPanels; ++panel) {
    MYNAH_UNROLLED
    for (int r = 0; r < Tile::kWarpRowPanels; ++r) {
      if (r != panel) {
        continue;  // registers have no index
      }
      MYNAH_UNROLLED
      for (int p = 0; p < Tile::kPairs; ++p) {
        MYNAH_UNROLLED
        for (int i = 0; i < 4; ++i) {
          own[place(lane() % 4 * 2 + i % 2) + p * 2 * kPanel + i / 2 * kPanel + lane() / 4] =
              static_cast<float>(sums[p][r][i]);
        }
      }
    }
    warp_barrier();
    MYNAH_ROLLED for (int i = lane() / kRuns; i < kPanel; i += kWarp / kRuns) {
      const int64_t row = first_row + panel * kPanel + i;
      Vector<float, 4> run = own.load<4>(place(i) + column);
      if (!row_scales.empty()) {
        const float scale = row < rows ? static_cast<float>(row_scales[row]) : 0.0F;
        for (int j = 0; j < 4; ++j) {
          run[j] = scale * run[j];
        }
      }
      if (left > 0) {
        finisher.put(row, first_column + column, run, left < 4 ? static_cast<int>(left) : 4);
      }
    }
    warp_barrier();
  }
}

template <class Tile, Storage kStorage, class Rows>
MYNAH_INLINE void multiply_tile(const UnitsArgs& args, const Rows& rows) {
  using Sum = typename UnitsType<kStorage>::Sum;
  MYNAH_DYNAMIC_SHARED(uint32_t, stages);
  MYNAH_DYNAMIC_SHARED(float, results);
  static_assert(Tile::kResultWords <= kStages * Tile::kStageWords);
  const int64_t row_panel = row_of_tiles() * Tile::kRowPanels;
  if (row_panel * kPanel >= args.finish.rows) {
    return;
  }
  const int64_t column_panel = static_cast<int64_t>(block_index_y()) * Tile::kColumnPanels;
  UnitsSides<Tile, kStorage, Rows> sides(args, rows, column_panel, stages);
  UnitsSums<Tile, Sum> sums;
  set_to_zero<Tile>(sums);
  if constexpr (kStorage == Storage::I8) {
    for_each_step(sides, [&](int step) { add_step(sides, step, sums); });
  } else {
    UnitsSums<Tile, Sum> part;
    set_to_zero<Tile>(part);
    for_each_step(sides, [&](int step) {
      add_step(sides, step, part);
      if (step % kUnitsSumSteps == kUnitsSumSteps - 1 || step == sides.steps() - 1) {
        add_sums<Tile>(part, sums);
        set_to_zero<Tile>(part);
      }
    });
  }
  barrier();  // nobody reads the stages any more
  finish_units<Tile>(sums, results, Finisher(args.finish, args.weights.scales),
                     Global<const float>(args.row_scales),
                     (row_panel + first_row_panel<Tile>()) * kPanel, args.finish.rows,
                     (column_panel + first_column_panel<Tile>()) * kPanel, args.finish.columns);
}

template <class Tile, Storage kStorage>
MYNAH_INLINE void units_linear(const UnitsArgs& args) {
  multiply_tile<Tile, kStorage>(
      args, PanelUnits<Tile::kWarps>(args.packed, units_of_row<kStorage>(args.weights),
                                     (args.finish.rows + kPanel - 1) / kPanel,
                                     row_of_tiles() * Tile::kRowPanels));
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
