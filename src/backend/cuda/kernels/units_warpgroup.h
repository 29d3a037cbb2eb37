// linear on matrix units for many rows, at level 90: warpgroups multiply what stands in shared
// memory, and a warp of its own keeps it filled by bulk copies. The order of sums is that of
// units.h: a stage holds what the unit adds from zero.
#pragma once

#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/units_linear.h"

#if MYNAH_LEVEL >= 90

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

// A tile's sides as the block's memory has them: of each stage first the panels of weights, then
// those of activations, as they stand in the card's memory.
template <Storage kStorage>
class WarpgroupSides {
 public:
  using Tile = WarpgroupTile;
  static constexpr int kPanels = Tile::kColumnPanels + Tile::kRowPanels;
  static_assert(kPanels == kWarp);  // a lane of the warp that copies has one

  WarpgroupSides(const UnitsArgs& args, int64_t row_panel, int64_t column_panel,
                 const Shared<uint32_t>& memory)
      : memory_(memory),
        weights_(reinterpret_cast<const uint32_t*>(args.weights.values)),
        rows_(reinterpret_cast<const uint32_t*>(args.packed)),
        units_(units_of_row<kStorage>(args.weights)),
        weight_panels_(static_cast<int>(args.weights.panels - column_panel)),
        row_panels_(static_cast<int>((args.finish.rows + kPanel - 1) / kPanel - row_panel)) {
    const int64_t of_panel = static_cast<int64_t>(units_) * (kPanel * kUnitWords);
    weights_ = weights_.from(column_panel * of_panel);
    rows_ = rows_.from(row_panel * of_panel);
  }

  [[nodiscard]] int stages() const { return (units_ + kWarpgroupUnits - 1) / kWarpgroupUnits; }

  // Of a stage; an even number.
  [[nodiscard]] int units_of(int stage) const {
    const int left = units_ - stage * kWarpgroupUnits;
    return left < kWarpgroupUnits ? left : kWarpgroupUnits;
  }

  // What a stage brings.
  [[nodiscard]] int bytes_of(int stage) const {
    const int weights = weight_panels_ < Tile::kColumnPanels ? weight_panels_ : Tile::kColumnPanels;
    const int rows = row_panels_ < Tile::kRowPanels ? row_panels_ : Tile::kRowPanels;
    return (weights + rows) * panel_bytes(stage);
  }

  // This lane's panel of a stage, where there is one.
  void copy(int stage, const Shared<uint64_t>& filled) const {
    const int panel = lane();
    if (!has(panel)) {
      return;
    }
    const bool of_weights = panel < Tile::kColumnPanels;
    const int64_t of_panel = static_cast<int64_t>(units_) * (kPanel * kUnitWords);
    const int64_t at = (of_weights ? panel : panel - Tile::kColumnPanels) * of_panel +
                       static_cast<int64_t>(stage) * Tile::kPanelWords;
    copy_bulk_async(place(stage, panel), of_weights ? weights_.from(at) : rows_.from(at),
                    panel_bytes(stage), filled);
  }

  // Zeros for the panels that are not there: no copy brings them, and the unit reads them.
  void clear_missing() const {
    MYNAH_ROLLED for (int panel = warp(); panel < kPanels; panel += warp_count()) {
      if (has(panel)) {
        continue;
      }
      MYNAH_ROLLED for (int stage = 0; stage < kWarpgroupStages; ++stage) {
        const Shared<uint32_t> words = place(stage, panel);
        for (int i = lane() * kUnitWords; i < Tile::kPanelWords; i += kWarp * kUnitWords) {
          words.template store<kUnitWords>(i, {});
        }
      }
    }
  }

  // Where a panel of a stage begins; those of activations come after those of weights.
  [[nodiscard]] Shared<uint32_t> place(int stage, int panel) const {
    return memory_.from((stage % kWarpgroupStages * kPanels + panel) * Tile::kPanelWords);
  }

 private:
  [[nodiscard]] bool has(int panel) const {
    return panel < Tile::kColumnPanels ? panel < weight_panels_
                                       : panel - Tile::kColumnPanels < row_panels_;
  }

  [[nodiscard]] int panel_bytes(int stage) const { return units_of(stage) * kPanel * kUnitBytes; }

  Shared<uint32_t> memory_;
  Global<const uint32_t> weights_;
  Global<const uint32_t> rows_;
  int units_;          // of a row
  int weight_panels_;  // from the tile's first on
  int row_panels_;
};

// The warp that copies: a stage once nobody reads what it held before.
template <Storage kStorage>
MYNAH_INLINE void fill_stages(const WarpgroupSides<kStorage>& sides, const Shared<uint64_t>& filled,
                              const Shared<uint64_t>& used) {
  const int stages = sides.stages();
  MYNAH_ROLLED for (int stage = 0; stage < stages; ++stage) {
    const int which = stage % kWarpgroupStages;
    if (stage >= kWarpgroupStages) {
      wait_for_phase(used.from(which), (stage / kWarpgroupStages - 1) % 2);
    }
    if (lane() == 0) {
      arrive_expecting(filled.from(which), sides.bytes_of(stage));
    }
    warp_barrier();
    sides.copy(stage, filled.from(which));
  }
}

template <Storage kStorage>
MYNAH_INLINE void multiply_units(const Shared<uint32_t>& weights, const Shared<uint32_t>& rows,
                                 int unit, float (&sums)[16][4], bool adds) {
  constexpr int kPanelBytes = WarpgroupTile::kPanelWords * 4;
  const int at = unit * kPanel * kUnitWords;
  if constexpr (kStorage == Storage::F16) {
    multiply_panels<F16>(weights.from(at), rows.from(at), kPanelBytes, sums, adds);
  } else {
    multiply_panels<Bf16>(weights.from(at), rows.from(at), kPanelBytes, sums, adds);
  }
}

// A warpgroup's sums of all stages: a stage from zero in `part`.
template <Storage kStorage>
MYNAH_INLINE void add_stages(const WarpgroupSides<kStorage>& sides, const Shared<uint64_t>& filled,
                             const Shared<uint64_t>& used, UnitsSums<WarpgroupTile, float>& part,
                             UnitsSums<WarpgroupTile, float>& sums) {
  constexpr int kGroupPanels = WarpgroupTile::kColumnPanels / kWarpgroups;
  const int group = warp() / kWarpgroupWarps;
  const int stages = sides.stages();
  MYNAH_ROLLED for (int stage = 0; stage < stages; ++stage) {
    const int which = stage % kWarpgroupStages;
    wait_for_phase(filled.from(which), stage / kWarpgroupStages % 2);
    const Shared<uint32_t> weights = sides.place(stage, group * kGroupPanels);
    const Shared<uint32_t> rows = sides.place(stage, WarpgroupTile::kColumnPanels);
    const int units = sides.units_of(stage);
    // No branch between the products of a whole stage: the assembler would wait there.
    if (units == kWarpgroupUnits) {
      begin_products();
      MYNAH_UNROLLED
      for (int unit = 0; unit < kWarpgroupUnits; unit += 2) {
        multiply_units<kStorage>(weights, rows, unit, part[0], unit > 0);
      }
    } else {
      begin_products();
      MYNAH_ROLLED for (int unit = 0; unit < units; unit += 2) {
        multiply_units<kStorage>(weights, rows, unit, part[0], unit > 0);
      }
    }
    wait_for_products(part[0]);
    if (lane() == 0) {
      arrive(used.from(which));
    }
    add_sums<WarpgroupTile>(part, sums);
  }
}

template <Storage kStorage>
MYNAH_INLINE void units_warpgroup_linear(const UnitsArgs& args) {
  using Tile = WarpgroupTile;
  MYNAH_DYNAMIC_SHARED(uint32_t, memory);
  MYNAH_DYNAMIC_SHARED(float, results);
  static_assert(Tile::kResultWords <= Tile::kStageWords);
  MYNAH_SHARED(uint64_t, filled, kWarpgroupStages);
  MYNAH_SHARED(uint64_t, used, kWarpgroupStages);
  const int64_t row_panel = row_of_tiles() * Tile::kRowPanels;
  if (row_panel * kPanel >= args.finish.rows) {
    return;
  }
  const int64_t column_panel = static_cast<int64_t>(block_index_y()) * Tile::kColumnPanels;
  const WarpgroupSides<kStorage> sides(args, row_panel, column_panel, memory);
  if (thread_index() == 0) {
    for (int stage = 0; stage < kWarpgroupStages; ++stage) {
      init_mbarrier(filled.from(stage), 1);
      init_mbarrier(used.from(stage), Tile::kWarps);
    }
  }
  sides.clear_missing();
  show_to_copies_and_products();
  barrier();
  // A shuffle, so that the assembler sees that a warp's lanes go one way.
  const bool copies = shuffle(warp(), 0) == Tile::kWarps;
  UnitsSums<Tile, float> sums;
  UnitsSums<Tile, float> part;
  set_to_zero<Tile>(sums);
  set_to_zero<Tile>(part);
  if (copies) {
    fill_stages(sides, filled, used);
  } else {
    add_stages<kStorage>(sides, filled, used, part, sums);
  }
  barrier();  // nobody reads the stages any more
  if (copies) {
    return;
  }
  finish_units<Tile>(sums, results, Finisher(args.finish, args.weights.scales),
                     Global<const float>(args.row_scales), row_panel * kPanel, args.finish.rows,
                     (column_panel + first_column_panel<Tile>()) * kPanel, args.finish.columns);
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt

#endif
