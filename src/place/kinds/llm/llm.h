// The kind of language models: "llm", of one stage.
#pragma once

#include <memory>

#include "base/result.h"
#include "chat/language_model.h"
#include "place/kinds/stage_backend.h"
#include "place/terms/growing_memory.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kLlmGroup = group_of_files<LanguageFile>();
inline constexpr Stage kLlmStage{kLlmGroup, 0};

// Its row of kinds().
[[nodiscard]] const Kind& language_kind();

// The model, wherever the backend is.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> load_language(const WritingFile& opened,
                                                                         const LanguageFile& file,
                                                                         const StageBackend& where);

// What a model needs beside what a proof measures of it, and which contexts it may be opened with.
[[nodiscard]] GrowingMemory memory_of_texts(const WritingFile& opened, const LanguageFile& file);

// Throws DeviceError.
[[nodiscard]] Result<Probe> probe_language(const LanguageModel& model);

// Tokens that a step's rows compute.
[[nodiscard]] double tokens_in(const StepRequest& request);

// No model is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_language(HostServices& services);

// A model that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> open_remote_language(
    std::shared_ptr<WorkerLane> worker, const LanguageFile& file, const StageDevice& where,
    StepPace pace);

// A model that computes where it is best and goes on elsewhere when that fails: its sessions keep
// their texts, and compute them anew there. Refused with the reason where no device that is allowed
// can be used. `opened`: the file, for the start; who opens the model later opens it anew.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> place_language(
    std::shared_ptr<PlacementState> state, const LanguageFile& file,
    const std::shared_ptr<const WritingFile>& opened);

}  // namespace mynah::place
