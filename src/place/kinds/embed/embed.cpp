#include "place/kinds/embed/embed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "place/kinds/embed/embed_wire.h"
#include "place/wire/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 24;  // of a vocabulary, a text or a vector

constexpr std::array kEmbeddingStages = {
    StageFacts{.name = "embed",
               .probe_work = [](double sound_s, double /*window_s*/) { return sound_s; },
               // Of a vector's numbers, as a share of the largest: a cosine of 0.9999 to what is
               // exact leaves sqrt(2e-4) of a vector's length.
               .least_error = [](double /*sound_s*/) { return 1.4e-2; }}};

Status open_embeddings_in(WorkerLane& worker, const ModelFile& file, const StagePlaces& places) {
  return worker.tell(Ask::OpenEmbedder, load_limit(path_of(file)), std::get<EmbeddingFile>(file),
                     places.at(kEmbedStage));
}

constexpr Kind kEmbeddingRow{.name = "embed",
                             .stages = kEmbeddingStages,
                             .unit = "a token",
                             .has_types = false,
                             .host = host_embeddings,
                             .open_in = open_embeddings_in};

}  // namespace

const Kind& embedding_kind() {
  return kEmbeddingRow;
}

Result<std::shared_ptr<const EmbeddingModel>> load_embeddings(const TensorFile& opened,
                                                              const EmbeddingFile& file,
                                                              const StageBackend& where) {
  // Cards multiply f16 several times as fast as f32, which leaves cosines within 1e-5. For
  // processors load_embedding_model() chooses.
  const DeviceKind kind = where.backend.device().kind;
  const bool is_card = kind == DeviceKind::Cuda || kind == DeviceKind::Simt;
  const bool halves = is_card && file.precision == Precision::Fast;
  return load_embedding_model(
      opened,
      {.storage = where.storage || !halves ? where.storage : std::optional(DType::F16),
       .precision = file.precision,
       .cache_folder = file.cache_folder},
      where.backend);
}

Result<Probe> probe_embeddings(const EmbeddingModel& model) {
  auto probe = probe_embedding_model(model);
  if (!probe && is_of_device(probe.error().code)) {
    throw DeviceError(std::move(probe).error());
  }
  return probe;
}

double tokens_in(const TokenTexts& texts) {
  size_t tokens = 1;
  for (const auto& text : texts) {
    tokens += text.size();
  }
  return static_cast<double>(tokens);
}

bool is_possible(const EmbeddingFacts& facts) {
  const auto is_size = [](int64_t size) { return size > 0 && size <= kMostSize; };
  return is_size(facts.vocabulary) && is_size(facts.longest) && is_size(facts.width);
}

bool is_possible(const std::vector<float>& vectors, const TokenTexts& texts,
                 const EmbeddingFacts& facts) {
  return std::ssize(vectors) == std::ssize(texts) * facts.width &&
         std::ranges::all_of(vectors, [](float value) { return std::isfinite(value); });
}

}  // namespace mynah::place
