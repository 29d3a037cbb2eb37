// An embedding model where it is placed: a batch whose device dies is computed anew on the next.
#include <atomic>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "place/kinds/embed/embed.h"
#include "place/state/rungs.h"
#include "place/workers/remote_probe.h"

namespace mynah::place {
namespace {

using EmbeddingRungs = Rungs<EmbeddingModel>;

class PlacedEmbeddings final : public EmbeddingModel {
 public:
  PlacedEmbeddings(std::shared_ptr<EmbeddingRungs> rungs, EmbeddingFacts facts)
      : rungs_(std::move(rungs)), facts_(std::move(facts)) {}

  [[nodiscard]] const EmbeddingFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::vector<float>> embed(const TokenTexts& texts) const override {
    return rungs_->on_some_rung(
        [&](const EmbeddingRungs::Rung& rung) -> Result<std::vector<float>> {
          MYNAH_TRY(auto vectors, rung.model->embed(texts));
          rungs_->vouch(rung, fmt::format("batch {} of texts", ++batches_));
          return vectors;
        });
  }

 private:
  std::shared_ptr<EmbeddingRungs> rungs_;
  EmbeddingFacts facts_;  // the same on every device, and known while the model is let go
  mutable std::atomic<uint64_t> batches_ = 0;
};

}  // namespace

Result<std::shared_ptr<const EmbeddingModel>> place_embeddings(
    const std::shared_ptr<PlacementState>& state, const EmbeddingFile& file,
    const std::shared_ptr<const TensorFile>& contents) {
  const ModelId id = state->context().expect(file);
  const auto open = [id, file, now = std::weak_ptr(contents)](
                        const StagePlaces& where,
                        PlacementState& here) -> Result<EmbeddingRungs::Opened> {
    const StageDevice& device = where.at(kEmbedStage);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, here.openings().worker_for(id, where));
      const StepPace pace = here.planner().step_pace(id);
      MYNAH_TRY(auto model, open_remote_embeddings(worker, file, device, pace));
      return EmbeddingRungs::Opened{.model = std::move(model),
                                    .probe = remote_probe(std::move(worker), kEmbedGroup, pace)};
    }
    MYNAH_TRY(auto backend, here.openings().open_here(id, kEmbedStage, device));
    std::shared_ptr<const TensorFile> read = now.lock();
    if (read == nullptr) {
      MYNAH_TRY(read, open_embedding_file(file.path));
    }
    MYNAH_TRY(auto model,
              load_embeddings(*read, file, {.backend = *backend, .storage = device.storage}));
    return EmbeddingRungs::Opened{.model = keeping(std::move(model), std::move(backend)),
                                  .probe = {}};
  };
  auto rungs = std::make_shared<EmbeddingRungs>(id, state, open);
  MYNAH_TRY(const auto opened, rungs->begin());
  state->openings().add(hooks_of(rungs));
  return std::make_shared<const PlacedEmbeddings>(std::move(rungs), opened->facts());
}

}  // namespace mynah::place
