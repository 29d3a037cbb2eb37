// Stages: what is placed, each on a device of its own. Which there are, the rows of kinds/ tell
// (place/terms/kind.h); nothing else names one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mynah::place {

// What belongs together: the stages of one kind of model, which computes one request after the
// other. A kind's number is that of its files among ModelFile's.
enum class StageGroup : uint8_t {};

// The stages of a kind are counted in the order in which they compute.
struct Stage {
  StageGroup group{};
  uint8_t index = 0;

  auto operator<=>(const Stage&) const = default;
};

// No more stages of all kinds together: what is kept by stage has room for these.
inline constexpr size_t kMostStages = 16;

// Of all kinds, in their order.
[[nodiscard]] std::span<const Stage> all_stages();
[[nodiscard]] std::span<const StageGroup> all_groups();

// A stage's place in all_stages().
[[nodiscard]] size_t number_of(Stage stage);

// As it is written: "stt.encoder".
[[nodiscard]] std::string_view stage_name(Stage stage);

// One of the names; none: no stage is called so.
[[nodiscard]] std::optional<Stage> find_stage(std::string_view name);

[[nodiscard]] constexpr StageGroup group_of(Stage stage) {
  return stage.group;
}

// As it is written: "stt".
[[nodiscard]] std::string_view group_name(StageGroup group);

[[nodiscard]] std::span<const Stage> stages_of(StageGroup group);

}  // namespace mynah::place
