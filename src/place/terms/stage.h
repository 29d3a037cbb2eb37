// Stages: what is placed, each on a device of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mynah::place {

enum class Stage : uint8_t { Vad, SttEncoder, SttDecoder, TtsAcoustic, TtsVocoder };

inline constexpr std::array kStages = {Stage::Vad, Stage::SttEncoder, Stage::SttDecoder,
                                       Stage::TtsAcoustic, Stage::TtsVocoder};

// As it is written: "stt.encoder".
[[nodiscard]] std::string_view stage_name(Stage stage);

// One of the names; none: no stage is called so.
[[nodiscard]] std::optional<Stage> find_stage(std::string_view name);

// What belongs together: the stages of one model, which computes one request after the other.
enum class StageGroup : uint8_t { Vad, Stt, Tts };

[[nodiscard]] StageGroup group_of(Stage stage);

// As it is written: "stt".
[[nodiscard]] std::string_view group_name(StageGroup group);

[[nodiscard]] std::span<const Stage> stages_of(StageGroup group);

}  // namespace mynah::place
