#include "place/terms/stage.h"

#include <algorithm>

namespace mynah::place {
namespace {

struct Row {
  Stage stage;
  std::string_view name;
  StageGroup group;
};

// In the order of Stage.
constexpr std::array kRows = {Row{Stage::Vad, "vad", StageGroup::Vad},
                              Row{Stage::SttEncoder, "stt.encoder", StageGroup::Stt},
                              Row{Stage::SttDecoder, "stt.decoder", StageGroup::Stt},
                              Row{Stage::TtsAcoustic, "tts.acoustic", StageGroup::Tts},
                              Row{Stage::TtsVocoder, "tts.vocoder", StageGroup::Tts}};

const Row& row_of(Stage stage) {
  return kRows[static_cast<size_t>(stage)];
}

}  // namespace

std::string_view stage_name(Stage stage) {
  return row_of(stage).name;
}

std::optional<Stage> find_stage(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &Row::name);
  return found == kRows.end() ? std::nullopt : std::optional(found->stage);
}

StageGroup group_of(Stage stage) {
  return row_of(stage).group;
}

std::string_view group_name(StageGroup group) {
  constexpr std::array<std::string_view, 3> kNames = {"vad", "stt", "tts"};
  return kNames[static_cast<size_t>(group)];
}

std::span<const Stage> stages_of(StageGroup group) {
  const auto first = std::ranges::find(kStages, group, group_of);
  const auto* const end =
      std::find_if(first, kStages.end(), [group](Stage stage) { return group_of(stage) != group; });
  return {first, end};
}

}  // namespace mynah::place
