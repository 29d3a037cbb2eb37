// The kind of language models: "llm". Its first layers may be on another device than the rest, as
// the stage "llm.lower"; where they are not, the stage "llm" is all of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "chat/language_model.h"
#include "place/kinds/stage_backend.h"
#include "place/terms/device_request.h"
#include "place/terms/growing_memory.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kLlmGroup = group_of_files<LanguageFile>();
inline constexpr Stage kLlmLower{kLlmGroup, 0};
inline constexpr Stage kLlmStage{kLlmGroup, 1};

// Its row of kinds().
[[nodiscard]] const Kind& language_kind();

// The model, wherever the backends are. `lower`: of LanguageFile::lower_layers, where those are
// apart; null: all of it is in one place.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> load_language(const WritingFile& opened,
                                                                         const LanguageFile& file,
                                                                         Backend* lower,
                                                                         const StageBackend& where);

// What a model's stages need beside what a proof measures of them, and which contexts it may be
// opened with.
[[nodiscard]] std::map<Stage, GrowingMemory> memory_of_texts(const WritingFile& opened,
                                                             const LanguageFile& file);

// The same file, cut in two where it may be better or is to be: with so many of its last layers on
// a card, or, where nobody says how many, as many as fit on a card that has no room for all of
// them. Usage where it cannot be cut there.
[[nodiscard]] Result<LanguageFile> cut_language(PlacementState& state, const LanguageFile& file,
                                                const WritingFile& opened,
                                                std::optional<int64_t> card_layers);

// Throws DeviceError.
[[nodiscard]] Result<Probe> probe_language(const LanguageModel& model);

// Tokens that a step's rows compute.
[[nodiscard]] double tokens_in(const StepRequest& request);

// No model is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_language(HostServices& services);

// --gpu-layers: so many of the last layers on the first card that the request names for language
// models, or on the first there is, and the rest on the processor, which goes on where the card
// fails unless that was named alone. The card's name; "": none is wanted. Usage where there cannot
// be one.
[[nodiscard]] Result<std::string> put_layers(DeviceRequest& request, int64_t layers);

// A model that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> open_remote_language(
    std::shared_ptr<WorkerLane> worker, const LanguageFile& file, const StageDevice& lower,
    const StageDevice& where, StepPace pace);

// A model that computes where it is best and goes on elsewhere when that fails: its sessions keep
// their texts, and compute them anew there. Refused with the reason where no device that is allowed
// can be used. `opened`: the file, for the start; who opens the model later opens it anew.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> place_language(
    const std::shared_ptr<PlacementState>& state, const LanguageFile& file,
    const std::shared_ptr<const WritingFile>& opened);

}  // namespace mynah::place
