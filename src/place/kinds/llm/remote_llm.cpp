#include <utility>

#include "base/stop_scope.h"
#include "place/kinds/llm/llm.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {
namespace {

class RemoteSession final : public LanguageModel::Session {
 public:
  RemoteSession(std::shared_ptr<WorkerLane> worker, LanguageFacts facts, StepPace pace)
      : worker_(std::move(worker)), facts_(std::move(facts)), pace_(std::move(pace)) {}

  ~RemoteSession() override {
    try {
      if (number_) {
        (void)worker_->tell(Ask::DropSession, pace_.limit(), *number_);
      }
    } catch (const DeviceError&) {
      return;  // it went with its worker
    }
  }

  RemoteSession(const RemoteSession&) = delete;
  RemoteSession& operator=(const RemoteSession&) = delete;

  Result<std::vector<ChosenToken>> step(const StepRequest& request) override {
    if (!number_) {
      MYNAH_TRY(number_, worker_->ask_for<uint64_t>(Ask::NewSession, pace_.limit(), {}));
    }
    const double tokens = tokens_in(request);
    const StepLimit limit = pace_.limit({{kLlmLower, tokens}, {kLlmStage, tokens}});
    MYNAH_TRY(auto chosen, worker_->ask_for<std::vector<ChosenToken>>(
                               Ask::Write, limit, stop_here(), *number_, request));
    if (!is_possible(chosen, request, facts_)) {
      worker_->refuse_answer();
    }
    return chosen;
  }

 private:
  std::shared_ptr<WorkerLane> worker_;
  LanguageFacts facts_;
  StepPace pace_;
  std::optional<uint64_t> number_;  // in the worker, from the first step on
};

class RemoteLanguage final : public LanguageModel {
 public:
  RemoteLanguage(std::shared_ptr<WorkerLane> worker, LanguageFacts facts, StepPace pace)
      : worker_(std::move(worker)), facts_(std::move(facts)), pace_(std::move(pace)) {}

  [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<RemoteSession>(worker_, facts_, pace_);
  }

 private:
  std::shared_ptr<WorkerLane> worker_;
  LanguageFacts facts_;
  StepPace pace_;
};

}  // namespace

Result<std::shared_ptr<const LanguageModel>> open_remote_language(
    std::shared_ptr<WorkerLane> worker, const LanguageFile& file, const StageDevice& lower,
    const StageDevice& where, StepPace pace) {
  MYNAH_TRY(LanguageFacts facts,
            worker->ask_for<LanguageFacts>(Ask::OpenLanguage, load_limit(file.path), {}, file,
                                           lower, where));
  if (!is_possible(facts)) {
    worker->refuse_answer();
  }
  return std::make_shared<const RemoteLanguage>(std::move(worker), std::move(facts),
                                                std::move(pace));
}

}  // namespace mynah::place
