#include <utility>

#include "base/stop_scope.h"
#include "place/kinds/detector/detector.h"
#include "place/kinds/detector/detector_wire.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {
namespace {

// A worker's model, its facts and its limits.
struct RemoteModel {
  std::shared_ptr<WorkerLane> worker;
  DetectorFacts facts;
  std::string device;
  StepPace pace;

  [[nodiscard]] StepLimit limit_of(size_t samples) const {
    return pace.limit({{kVadStage, static_cast<double>(samples) / facts.rate_hz}});
  }
};

struct Heard {
  std::vector<float> probabilities;
  std::vector<std::byte> state;
};

template <class Archive>
void wire(Archive& a, Heard& v) {
  a(v.probabilities, v.state);
}

// What the detector knows of its recording stays here, so that it can go on elsewhere.
class RemoteSession final : public VoiceDetector::Session {
 public:
  explicit RemoteSession(std::shared_ptr<const RemoteModel> model) : model_(std::move(model)) {}

  Result<std::vector<float>> push(std::span<const float> samples) override {
    return listen(samples, false);
  }

  Result<std::vector<float>> flush() override {
    auto probabilities = listen({}, true);
    reset();
    return probabilities;
  }

  void reset() override { state_.clear(); }

  [[nodiscard]] Result<std::vector<std::byte>> save() const override { return state_; }

  Status restore(std::span<const std::byte> state) override {
    state_.assign(state.begin(), state.end());
    return {};
  }

 private:
  Result<std::vector<float>> listen(std::span<const float> samples, bool flush) try {
    MYNAH_TRY(Heard heard,
              model_->worker->ask_for<Heard>(Ask::Listen, model_->limit_of(samples.size()),
                                             stop_here(), state_, samples, flush));
    state_ = std::move(heard.state);
    return std::move(heard.probabilities);
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  std::shared_ptr<const RemoteModel> model_;
  std::vector<std::byte> state_;  // empty: at the beginning
};

class RemoteDetector final : public VoiceDetector {
 public:
  explicit RemoteDetector(RemoteModel model)
      : model_(std::make_shared<const RemoteModel>(std::move(model))) {}

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<RemoteSession>(model_);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override try {
    size_t samples = 0;
    for (const auto& recording : recordings) {
      samples += recording.size();
    }
    const std::vector<std::span<const float>> list(recordings.begin(), recordings.end());
    MYNAH_TRY(auto probabilities,
              model_->worker->ask_for<std::vector<std::vector<float>>>(
                  Ask::Probabilities, model_->limit_of(samples), stop_here(), list));
    if (!is_possible(probabilities, recordings.size())) {
      model_->worker->refuse_answer();
    }
    return probabilities;
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  [[nodiscard]] int rate_hz() const override { return model_->facts.rate_hz; }

  [[nodiscard]] double frame_s() const override { return model_->facts.frame_s; }

  [[nodiscard]] std::string name() const override { return model_->facts.name; }

  [[nodiscard]] std::string device() const override { return model_->device; }

 private:
  std::shared_ptr<const RemoteModel> model_;
};

}  // namespace

Result<std::shared_ptr<const VoiceDetector>> open_remote_detector(
    std::shared_ptr<WorkerLane> worker, const DetectorFile& file, const StageDevice& where,
    StepPace pace) {
  MYNAH_TRY(
      const DetectorFacts facts,
      worker->ask_for<DetectorFacts>(Ask::OpenDetector, load_limit(file.path), {}, file, where));
  if (!is_possible(facts)) {
    worker->refuse_answer();
  }
  return std::make_shared<const RemoteDetector>(RemoteModel{.worker = std::move(worker),
                                                            .facts = facts,
                                                            .device = where.device,
                                                            .pace = std::move(pace)});
}

}  // namespace mynah::place
