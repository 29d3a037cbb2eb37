// A voice detector that hears each recording through an AutomaticLevel, on whatever device it is:
// the level is this process's own, and goes along where the detector moves.
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "speech/automatic_level.h"
#include "speech/session_state.h"
#include "speech/voice_detector.h"

namespace mynah {
namespace {

constexpr std::string_view kState = "level 1";

AutomaticLevel level_for(const VoiceDetector& detector) {
  const auto frame = std::llround(detector.frame_s() * detector.rate_hz());
  return {detector.rate_hz(), static_cast<size_t>(frame)};
}

class LeveledSession final : public VoiceDetector::Session {
 public:
  explicit LeveledSession(const VoiceDetector& detector)
      : level_(level_for(detector)), session_(detector.session()) {}

  Result<std::vector<float>> push(std::span<const float> samples) override {
    return session_->push(level_.push(samples));
  }

  Result<std::vector<float>> flush() override {
    MYNAH_TRY(std::vector<float> found, session_->push(level_.flush()));
    MYNAH_TRY(const std::vector<float> rest, session_->flush());
    found.insert(found.end(), rest.begin(), rest.end());
    return found;
  }

  void reset() override {
    level_.reset();
    session_->reset();
  }

  // How many numbers the level's state has, those, then the detector's bytes.
  [[nodiscard]] Result<std::vector<std::byte>> save() const override {
    MYNAH_TRY(const std::vector<std::byte> known, session_->save());
    const std::vector<double> level = level_.state();
    std::vector<double> values{static_cast<double>(level.size())};
    values.insert(values.end(), level.begin(), level.end());
    std::vector<std::byte> bytes = pack_state(kState, values);
    bytes.insert(bytes.end(), known.begin(), known.end());
    return bytes;
  }

  Status restore(std::span<const std::byte> state) override {
    const size_t head = pack_state(kState, {}).size();
    double count = -1;
    if (state.size() >= head + sizeof(count)) {
      std::memcpy(&count, state.data() + head, sizeof(count));
    }
    const size_t room = state.size() < head ? 0 : (state.size() - head) / sizeof(double);
    if (!(count >= 0 && count < static_cast<double>(room))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted the state of a session of {} with its length, found {} bytes",
                              kState, state.size()));
    }
    const size_t own = head + sizeof(double) * (1 + static_cast<size_t>(count));
    MYNAH_TRY(const std::vector<double> values, unpack_state(kState, state.first(own)));
    AutomaticLevel level = level_;
    if (!level.set_state(std::span(values).subspan(1))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted what is known of a recording's level, found {} numbers",
                              values.size()));
    }
    MYNAH_TRY_STATUS(session_->restore(state.subspan(own)));
    level_ = std::move(level);
    return {};
  }

 private:
  AutomaticLevel level_;
  std::unique_ptr<VoiceDetector::Session> session_;
};

class LeveledDetector final : public VoiceDetector {
 public:
  explicit LeveledDetector(std::shared_ptr<const VoiceDetector> detector)
      : detector_(std::move(detector)) {}

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<LeveledSession>(*detector_);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    AutomaticLevel level = level_for(*detector_);
    std::vector<std::vector<float>> leveled;
    for (const std::span<const float> samples : recordings) {
      leveled.push_back(level.push(samples));
      const std::vector<float> rest = level.flush();
      leveled.back().insert(leveled.back().end(), rest.begin(), rest.end());
    }
    const std::vector<std::span<const float>> heard(leveled.begin(), leveled.end());
    return detector_->probabilities(heard);
  }

  [[nodiscard]] int rate_hz() const override { return detector_->rate_hz(); }

  [[nodiscard]] double frame_s() const override { return detector_->frame_s(); }

  [[nodiscard]] std::string name() const override { return detector_->name(); }

  [[nodiscard]] std::string device() const override { return detector_->device(); }

  [[nodiscard]] VadOptions for_recogniser(const VadOptions& options) const override {
    return detector_->for_recogniser(options);
  }

  [[nodiscard]] bool is_sure() const override { return detector_->is_sure(); }

 private:
  std::shared_ptr<const VoiceDetector> detector_;
};

}  // namespace

std::shared_ptr<const VoiceDetector> with_automatic_level(
    std::shared_ptr<const VoiceDetector> detector) {
  MYNAH_CHECK(detector != nullptr);
  return std::make_shared<const LeveledDetector>(std::move(detector));
}

}  // namespace mynah
