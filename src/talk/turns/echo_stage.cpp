#include "talk/turns/echo_stage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"

namespace mynah::talk {

namespace {

double level_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) {
    sum += static_cast<double>(sample) * sample;
  }
  return 10 * std::log10(std::max(sum / static_cast<double>(samples.size()), 1e-12));
}

// Frame by frame of the detector's, so that each meets what was known at its end.
class GatedSession final : public VoiceDetector::Session {
 public:
  GatedSession(const VoiceDetector& voice, std::shared_ptr<EchoStage::Heard> heard,
               const NearVoiceOptions& options)
      : session_(voice.session()),
        heard_(std::move(heard)),
        near_(options),
        frame_ms_(1000 * voice.frame_s()),
        frame_(static_cast<size_t>(std::llround(voice.frame_s() * voice.rate_hz()))) {}

  Result<std::vector<float>> push(std::span<const float> samples) override {
    std::vector<float> probabilities;
    for (size_t left = samples.size(); left > 0;) {
      const size_t count = std::min(left, frame_ - waiting_.size());
      take(samples.subspan(samples.size() - left, count));
      left -= count;
      if (waiting_.size() < frame_) {
        break;
      }
      const auto found = session_->push(waiting_);
      if (!found) {
        // What it did not hear is over: the next samples are those that come next.
        take(samples.last(left));
        waiting_.clear();
        return std::unexpected(found.error());
      }
      for (const float probability : *found) {
        probabilities.push_back(gated(probability));
      }
      waiting_.clear();
    }
    return probabilities;
  }

  Result<std::vector<float>> flush() override {
    waiting_.clear();
    return session_->flush();
  }

  void reset() override {
    waiting_.clear();
    session_->reset();
  }

  [[nodiscard]] Result<std::vector<std::byte>> save() const override { return session_->save(); }

  Status restore(std::span<const std::byte> state) override { return session_->restore(state); }

 private:
  // What the canceller made of the next samples: silence where the stage gave none, or where
  // somebody keeps the conversation from hearing them.
  void take(std::span<const float> samples) {
    const size_t have = std::min(samples.size(), heard_->quieted.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      waiting_.push_back(i < have && samples[i] != 0 ? heard_->quieted[i] : 0.0F);
    }
    heard_->quieted.erase(heard_->quieted.begin(),
                          heard_->quieted.begin() + static_cast<ptrdiff_t>(have));
    heard_->begun += have;
    const size_t frames = std::min(heard_->begun / echo::kFrame, heard_->facts.size());
    if (frames > 0) {
      facts_ = heard_->facts[frames - 1];
      heard_->facts.erase(heard_->facts.begin(),
                          heard_->facts.begin() + static_cast<ptrdiff_t>(frames));
      heard_->begun -= frames * echo::kFrame;
    }
  }

  float gated(float probability) {
    const bool speaks = near_.push({.ms = frame_ms_,
                                    .probability = probability,
                                    .level_db = level_of(waiting_),
                                    .far_active = facts_.far_active,
                                    .settled = facts_.settled,
                                    .inaudible = facts_.inaudible,
                                    .excess_db = facts_.excess_db});
    return speaks || !facts_.far_active || facts_.inaudible ? probability : 0;
  }

  std::unique_ptr<VoiceDetector::Session> session_;
  std::shared_ptr<EchoStage::Heard> heard_;
  NearVoice near_;
  double frame_ms_;
  size_t frame_;  // samples
  std::vector<float> waiting_;
  echo::EchoFacts facts_;
};

class GatedVoice final : public VoiceDetector {
 public:
  GatedVoice(std::shared_ptr<const VoiceDetector> voice, std::shared_ptr<EchoStage::Heard> heard,
             const NearVoiceOptions& options)
      : voice_(std::move(voice)), heard_(std::move(heard)), options_(options) {}

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<GatedSession>(*voice_, heard_, options_);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    return voice_->probabilities(recordings);
  }

  [[nodiscard]] int rate_hz() const override { return voice_->rate_hz(); }

  [[nodiscard]] double frame_s() const override { return voice_->frame_s(); }

  [[nodiscard]] std::string name() const override { return voice_->name(); }

  [[nodiscard]] std::string device() const override { return voice_->device(); }

  [[nodiscard]] VadOptions for_recogniser(const VadOptions& options) const override {
    return voice_->for_recogniser(options);
  }

  [[nodiscard]] bool is_sure() const override { return voice_->is_sure(); }

 private:
  std::shared_ptr<const VoiceDetector> voice_;
  std::shared_ptr<EchoStage::Heard> heard_;
  NearVoiceOptions options_;
};

}  // namespace

Result<std::unique_ptr<EchoStage>> EchoStage::create(int played_hz,
                                                     std::shared_ptr<const VoiceDetector> voice,
                                                     const NearVoiceOptions& options) {
  MYNAH_CHECK(voice != nullptr && voice->rate_hz() == 16000);
  MYNAH_TRY(echo::EchoCanceller canceller,
            echo::EchoCanceller::create(played_hz, echo::make_speex_filter));
  return std::unique_ptr<EchoStage>(new EchoStage(std::move(canceller), std::move(voice), options));
}

EchoStage::EchoStage(echo::EchoCanceller canceller, std::shared_ptr<const VoiceDetector> voice,
                     const NearVoiceOptions& options)
    : canceller_(std::move(canceller)),
      heard_(std::make_shared<Heard>()),
      voice_(std::make_shared<GatedVoice>(std::move(voice), heard_, options)) {}

std::vector<float> EchoStage::push(std::span<const float> captured, std::span<const float> played) {
  std::vector<float> cleaned;
  for (const echo::CleanFrame& frame : canceller_.process(captured, played)) {
    cleaned.insert(cleaned.end(), frame.cleaned.begin(), frame.cleaned.end());
    heard_->quieted.insert(heard_->quieted.end(), frame.quieted.begin(), frame.quieted.end());
    heard_->facts.push_back(frame.facts);
  }
  return cleaned;
}

void EchoStage::reset() {
  canceller_.forget_path();
  // A conversation that is behind takes as many samples as before.
  std::ranges::fill(heard_->quieted, 0.0F);
  std::ranges::fill(heard_->facts, echo::EchoFacts{});
}

}  // namespace mynah::talk
