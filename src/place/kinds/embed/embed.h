// The kind of models that make vectors of texts: "embed", of one stage.
#pragma once

#include <memory>

#include "base/result.h"
#include "chat/embedding_model.h"
#include "place/kinds/stage_backend.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kEmbedGroup = group_of_files<EmbeddingFile>();
inline constexpr Stage kEmbedStage{kEmbedGroup, 0};

// Its row of kinds().
[[nodiscard]] const Kind& embedding_kind();

// The model of what was opened, wherever the backend is.
[[nodiscard]] Result<std::shared_ptr<const EmbeddingModel>> load_embeddings(
    const TensorFile& opened, const EmbeddingFile& file, const StageBackend& where);

// Throws DeviceError.
[[nodiscard]] Result<Probe> probe_embeddings(const EmbeddingModel& model);

// Tokens that are computed.
[[nodiscard]] double tokens_in(const TokenTexts& texts);

// No model is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_embeddings(HostServices& services);

// A model that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const EmbeddingModel>> open_remote_embeddings(
    std::shared_ptr<WorkerLane> worker, const EmbeddingFile& file, const StageDevice& where,
    StepPace pace);

// A model that computes where it is best and goes on elsewhere when that fails. `contents`: the
// file's, as long as somebody keeps them; null: it is read when it is loaded. Refused with the
// reason where no device that is allowed can be used.
[[nodiscard]] Result<std::shared_ptr<const EmbeddingModel>> place_embeddings(
    const std::shared_ptr<PlacementState>& state, const EmbeddingFile& file,
    const std::shared_ptr<const TensorFile>& contents);

}  // namespace mynah::place
