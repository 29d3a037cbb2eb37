// A voice detector where it is placed: what it knows of a recording is kept here, so that another
// device can go on.
#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "place/kinds/detector/detector.h"
#include "place/state/rungs.h"
#include "place/workers/remote_probe.h"

namespace mynah::place {
namespace {

using DetectorRungs = Rungs<VoiceDetector>;

bool is_probability(float value) {
  return value >= 0.0F && value <= 1.0F;
}

Status check_sound(std::span<const float> probabilities, const DetectorRungs::Rung& rung) {
  for (const float probability : probabilities) {
    if (!is_probability(probability)) {
      return fail(
          ErrorCode::Device,
          devices_of(rung.where) + " computed numbers that are no probabilities (NaN) in vad");
    }
  }
  return {};
}

// "a.wav to c.wav" of recordings that have names; of others "recordings 4 to 6".
std::string names_of(PlacementState& state, ModelId model, size_t first, size_t count) {
  if (const auto names = state.openings().work_names(model); count > 0 && names.size() == count) {
    return count == 1 ? names.front() : fmt::format("{} to {}", names.front(), names.back());
  }
  return count <= 1 ? fmt::format("recording {}", first)
                    : fmt::format("recordings {} to {}", first, first + count - 1);
}

class PlacedSession final : public VoiceDetector::Session, private Keeper {
 public:
  // `recordings`: how many were begun by all sessions.
  PlacedSession(std::shared_ptr<DetectorRungs> rungs, std::shared_ptr<PlacementState> state,
                std::shared_ptr<std::atomic<size_t>> recordings)
      : rungs_(std::move(rungs)), placement_(std::move(state)), recordings_(std::move(recordings)) {
    rungs_->add(*this);
  }

  ~PlacedSession() override { rungs_->remove(*this); }

  PlacedSession(const PlacedSession&) = delete;
  PlacedSession& operator=(const PlacedSession&) = delete;

  Result<std::vector<float>> push(std::span<const float> samples) override {
    return listen([&] { return session_->push(samples); });
  }

  Result<std::vector<float>> flush() override {
    auto probabilities = listen([&] { return session_->flush(); });
    state_.clear();
    heard_s_ = 0;
    recording_.clear();
    return probabilities;
  }

  void reset() override {
    if (session_ != nullptr) {
      session_->reset();
    }
    heard_s_ = 0;
    recording_.clear();
    state_.clear();
  }

  [[nodiscard]] Result<std::vector<std::byte>> save() const override try {
    const DetectorRungs::Rung in_use = rungs_->now();  // it is not let go meanwhile
    return session_ != nullptr ? session_->save() : Result<std::vector<std::byte>>(state_);
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  Status restore(std::span<const std::byte> state) override {
    return on_a_rung([&](const DetectorRungs::Rung& /*rung*/) -> Status {
      MYNAH_TRY_STATUS(session_->restore(state));
      state_.assign(state.begin(), state.end());
      return {};
    });
  }

 private:
  // Before the model goes what the session knows is kept; of a device that is kept anyway.
  void let_go() override {
    if (session_ != nullptr && here_) {
      auto state = session_->save();
      if (!state) {
        return;
      }
      state_ = *std::move(state);
    }
    session_.reset();
    model_.reset();
    number_ = 0;
  }

  Status move_to(const DetectorRungs::Rung& rung) {
    if (session_ != nullptr && here_) {
      MYNAH_TRY(state_, session_->save());
    }
    session_.reset();
    model_ = rung.model;
    session_ = model_->session();
    number_ = rung.number;
    here_ = is_here(rung.where);
    return state_.empty() ? Status{} : session_->restore(state_);
  }

  // Here nothing fails that could be gone on from: what it would cost is not kept.
  Status keep() {
    if (here_) {
      return {};
    }
    MYNAH_TRY(state_, session_->save());
    return {};
  }

  // Of what was heard last, so many seconds.
  Status vouch(const DetectorRungs::Rung& rung, double seconds) try {
    rungs_->vouch(rung, fmt::format("speech from {:.1f} to {:.1f} s of {}", heard_s_,
                                    heard_s_ + seconds, recording_));
    return {};
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  template <class Listen>
  Result<std::vector<float>> listen(const Listen& once) {
    if (recording_.empty()) {
      recording_ = names_of(*placement_, rungs_->id(), recordings_->fetch_add(1) + 1, 1);
    }
    return on_a_rung([&](const DetectorRungs::Rung& rung) -> Result<std::vector<float>> {
      MYNAH_TRY(auto probabilities, once());
      MYNAH_TRY_STATUS(check_sound(probabilities, rung));
      const double seconds = static_cast<double>(probabilities.size()) * rung.model->frame_s();
      MYNAH_TRY_STATUS(vouch(rung, seconds));
      MYNAH_TRY_STATUS(keep());
      heard_s_ += seconds;
      return probabilities;
    });
  }

  // Does the work with a session of the device that is to be used.
  template <class Work>
  auto on_a_rung(const Work& work) -> std::invoke_result_t<Work, const DetectorRungs::Rung&> {
    return rungs_->on_some_rung([&](const DetectorRungs::Rung& rung)
                                    -> std::invoke_result_t<Work, const DetectorRungs::Rung&> {
      if (rung.number != number_) {
        MYNAH_TRY_STATUS(move_to(rung));
      }
      return work(rung);
    });
  }

  std::shared_ptr<DetectorRungs> rungs_;
  std::shared_ptr<PlacementState> placement_;
  std::shared_ptr<std::atomic<size_t>> recordings_;
  std::string recording_;  // the name of the one that is heard; "": none is yet
  std::shared_ptr<const VoiceDetector> model_;  // that session_ is of
  std::unique_ptr<VoiceDetector::Session> session_;
  uint64_t number_ = 0;
  bool here_ = true;
  double heard_s_ = 0;            // of the recording
  std::vector<std::byte> state_;  // after what was heard last; empty: at the beginning
};

class PlacedDetector final : public VoiceDetector {
 public:
  PlacedDetector(std::shared_ptr<DetectorRungs> rungs, std::shared_ptr<PlacementState> state,
                 const VoiceDetector& opened)
      : rungs_(std::move(rungs)),
        state_(std::move(state)),
        rate_hz_(opened.rate_hz()),
        frame_s_(opened.frame_s()),
        name_(opened.name()) {}

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<PlacedSession>(rungs_, state_, heard_);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    using Lists = std::vector<std::vector<float>>;
    return rungs_->on_some_rung([&](const DetectorRungs::Rung& rung) -> Result<Lists> {
      MYNAH_TRY(Lists found, rung.model->probabilities(recordings));
      for (const std::vector<float>& one : found) {
        MYNAH_TRY_STATUS(check_sound(one, rung));
      }
      rungs_->vouch(rung, names_of(*state_, rungs_->id(), *heard_ + 1, recordings.size()));
      heard_->fetch_add(recordings.size());
      return found;
    });
  }

  [[nodiscard]] int rate_hz() const override { return rate_hz_; }

  [[nodiscard]] double frame_s() const override { return frame_s_; }

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] std::string device() const override { return devices_of(rungs_->where()); }

 private:
  std::shared_ptr<DetectorRungs> rungs_;
  std::shared_ptr<PlacementState> state_;
  // The same on every device, and known while the model is let go.
  int rate_hz_;
  double frame_s_;
  std::string name_;
  // Recordings that were heard as a whole, or begun piece by piece.
  std::shared_ptr<std::atomic<size_t>> heard_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace

Result<std::shared_ptr<const VoiceDetector>> place_detector(std::shared_ptr<PlacementState> state,
                                                            const DetectorFile& file) {
  const ModelId id = state->context().expect(file);
  const auto open = [id, file](const StagePlaces& where,
                               PlacementState& here) -> Result<DetectorRungs::Opened> {
    const StageDevice& device = where.at(kVadStage);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, here.openings().worker_for(id, where));
      const StepPace pace = here.planner().step_pace(id);
      MYNAH_TRY(auto model, open_remote_detector(worker, file, device, pace));
      return DetectorRungs::Opened{.model = std::move(model),
                                   .probe = remote_probe(std::move(worker), kVadGroup, pace)};
    }
    MYNAH_TRY(auto backend, here.openings().open_here(id, kVadStage, device));
    MYNAH_TRY(auto model, load_detector(file, *backend));
    return DetectorRungs::Opened{.model = keeping(std::move(model), std::move(backend)),
                                 .probe = {}};
  };
  auto rungs = std::make_shared<DetectorRungs>(id, state, open);
  MYNAH_TRY(const auto opened, rungs->begin());
  state->openings().add(hooks_of(rungs));
  return std::make_shared<const PlacedDetector>(std::move(rungs), std::move(state), *opened);
}

}  // namespace mynah::place
