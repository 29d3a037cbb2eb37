#include "place/terms/stage.h"

#include <algorithm>
#include <array>
#include <vector>

#include "place/terms/kind.h"

namespace mynah::place {
namespace {

struct Lists {
  std::vector<StageGroup> groups;
  std::vector<Stage> stages;
  std::array<size_t, kMostStages> first{};  // of each group, among all stages
};

const Lists& lists() {
  static const Lists made = [] {
    Lists all;
    for (size_t number = 0; number < kinds().size(); ++number) {
      const auto group = static_cast<StageGroup>(number);
      all.groups.push_back(group);
      all.first[number] = all.stages.size();
      for (size_t i = 0; i < kinds()[number]->stages.size(); ++i) {
        all.stages.push_back({.group = group, .index = static_cast<uint8_t>(i)});
      }
    }
    return all;
  }();
  return made;
}

}  // namespace

std::span<const Stage> all_stages() {
  return lists().stages;
}

std::span<const StageGroup> all_groups() {
  return lists().groups;
}

size_t number_of(Stage stage) {
  return lists().first[static_cast<size_t>(stage.group)] + stage.index;
}

std::string_view stage_name(Stage stage) {
  return facts_of(stage).name;
}

std::optional<Stage> find_stage(std::string_view name) {
  const auto found = std::ranges::find(all_stages(), name, stage_name);
  return found == all_stages().end() ? std::nullopt : std::optional(*found);
}

std::string_view group_name(StageGroup group) {
  return kind_of(group).name;
}

std::span<const Stage> stages_of(StageGroup group) {
  return all_stages().subspan(lists().first[static_cast<size_t>(group)],
                              kind_of(group).stages.size());
}

const Kind& kind_of(StageGroup group) {
  return *kinds()[static_cast<size_t>(group)];
}

const StageFacts& facts_of(Stage stage) {
  return kind_of(stage.group).stages[stage.index];
}

bool is_whole(const ModelFile& file) {
  const Kind& kind = kind_of(group_of(file));
  return kind.may_be_apart != nullptr && !kind.may_be_apart(file);
}

bool hears_windows(StageGroup group) {
  return std::ranges::any_of(kind_of(group).stages, &StageFacts::keeps_windows);
}

}  // namespace mynah::place
