#include <utility>

#include "base/stop_scope.h"
#include "place/kinds/embed/embed.h"
#include "place/kinds/embed/embed_wire.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {
namespace {

class RemoteEmbeddings final : public EmbeddingModel {
 public:
  RemoteEmbeddings(std::shared_ptr<WorkerLane> worker, EmbeddingFacts facts, StepPace pace)
      : worker_(std::move(worker)), facts_(std::move(facts)), pace_(std::move(pace)) {}

  [[nodiscard]] const EmbeddingFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::vector<float>> embed(const TokenTexts& texts) const override {
    const StepLimit limit = pace_.limit({{kEmbedStage, tokens_in(texts)}});
    MYNAH_TRY(auto vectors,
              worker_->ask_for<std::vector<float>>(Ask::Embed, limit, stop_here(), texts));
    if (!is_possible(vectors, texts, facts_)) {
      worker_->refuse_answer();
    }
    return vectors;
  }

 private:
  std::shared_ptr<WorkerLane> worker_;
  EmbeddingFacts facts_;
  StepPace pace_;
};

}  // namespace

Result<std::shared_ptr<const EmbeddingModel>> open_remote_embeddings(
    std::shared_ptr<WorkerLane> worker, const EmbeddingFile& file, const StageDevice& where,
    StepPace pace) {
  MYNAH_TRY(EmbeddingFacts facts, worker->ask_for<EmbeddingFacts>(
                                      Ask::OpenEmbedder, load_limit(file.path), {}, file, where));
  if (!is_possible(facts)) {
    worker->refuse_answer();
  }
  return std::make_shared<const RemoteEmbeddings>(std::move(worker), std::move(facts),
                                                  std::move(pace));
}

}  // namespace mynah::place
