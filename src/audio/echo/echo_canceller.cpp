#include "audio/echo/echo_canceller.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "audio/echo/power.h"
#include "base/check.h"

namespace mynah::echo {

namespace {

constexpr double kRate_hz = 16000;

// What is kept of what was played: the longest delay, and the reach of an interpolation.
constexpr double kKept_s = 0.5;

// The filter's first taps are before the strongest path: reflections of a table may be stronger
// than the direct one, and the delay is known to some samples.
constexpr double kHeadroom = 40;

// The nominal reference of the finder is read so far back that all of it has come: the reach of the
// interpolation at three times the rate.
constexpr double kBehind = 20;

// Below this (-56 dBFS in 10 ms) nothing is played.
constexpr double kPlayedPower = 2.5e-6;

// How long an echo is heard after it was played: the longest path, and most of a room's tail.
constexpr int64_t kLasts = 5600;

// A path that is so far away from the one that is used is taken at once (samples); nearer ones
// within some seconds, by so many samples a sample.
constexpr double kJump = 24;
constexpr double kFollow_s = 4;
constexpr double kFastest = 400e-6;

// Of speech that is played this is enough to hear an echo of it, if there is one (samples).
constexpr int64_t kInaudible = 4 * 16000;

// The powers that are compared are averages of about 80 ms: a phoneme.
constexpr double kSmooth = 0.12;

// How the usual remainder follows: 0.6 of the frames of the far end are below it, at a pace of so
// many dB a frame. Near speech, in less than half of them, moves it little.
constexpr double kUsualShare = 0.6;
constexpr double kUsualPace_db = 0.06;
constexpr double kUsualAtFirst_db = 0;

// Frames of the far end until the filter knows the room, more or less, until it does, and until it
// knows it as well as it ever will. Until then a loud vowel may leave so many dB more than others.
constexpr int64_t kLearning = 100;
constexpr int64_t kSettled = 250;
constexpr int64_t kKnown = 400;
constexpr double kVowel_db = 6;

double decibels(double ratio) {
  return 10 * std::log10(std::max(ratio, 1e-12));
}

float number(float sample) {
  return std::isfinite(sample) ? std::clamp(sample, -1.0F, 1.0F) : 0.0F;
}

}  // namespace

Result<EchoCanceller> EchoCanceller::create(int played_hz, const MakeEchoFilter& make_filter) {
  if (played_hz < 8000 || played_hz > 192000) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a loudspeaker of 8000 to 192000 Hz, found {} Hz", played_hz));
  }
  return EchoCanceller(played_hz, make_filter());
}

EchoCanceller::EchoCanceller(int played_hz, std::unique_ptr<EchoFilter> filter)
    : played_hz_(played_hz),
      ratio_(played_hz / kRate_hz),
      played_(played_hz, ratio_, kKept_s),
      filter_(std::move(filter)) {
  MYNAH_CHECK(filter_ != nullptr);
  reset();
}

void EchoCanceller::reset() {
  played_ = PlayedSound(played_hz_, ratio_, kKept_s);
  waiting_.clear();
  frames_ = 0;
  since_played_ = kLasts;
  taken_ = 0;
  forget_path();
}

void EchoCanceller::forget_path() {
  finder_.reset();
  filter_->reset();
  lag_.reset();
  lag_growth_ = 0;
  facts_ = {};
  facts_.far_active = since_played_ < kLasts;
  aligned_frames_ = 0;
  echo_power_ = left_power_ = captured_power_ = 0;
  usual_left_db_ = kUsualAtFirst_db;
}

std::vector<CleanFrame> EchoCanceller::process(std::span<const float> captured,
                                               std::span<const float> played) {
  std::vector<float> heard(played.size());
  std::ranges::transform(played, heard.begin(), number);
  const auto wanted = static_cast<size_t>(static_cast<double>(captured.size()) * ratio_);
  if (heard.size() < wanted / 2) {
    heard.resize(wanted);
  }
  played_.push(heard);
  std::ranges::transform(captured, std::back_inserter(waiting_), number);
  std::vector<CleanFrame> frames;
  size_t taken = 0;
  for (; waiting_.size() - taken >= kFrame; taken += kFrame) {
    frames.push_back(frame(std::span<const float>(waiting_).subspan(taken, kFrame)));
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(taken));
  return frames;
}

CleanFrame EchoCanceller::frame(std::span<const float> captured) {
  const double begin = static_cast<double>(frames_) * kFrame;
  std::array<float, kFrame> nominal{};
  for (size_t i = 0; i < kFrame; ++i) {
    nominal[i] = played_.at((begin + static_cast<double>(i) - kBehind) * ratio_);
  }
  since_played_ = power(nominal) > kPlayedPower
                      ? 0
                      : std::min(since_played_ + static_cast<int64_t>(kFrame), kLasts);
  const bool another = finder_.push(captured, nominal);
  ++frames_;
  if (another) {
    const double lag = finder_.path()->samples + kBehind;
    if (!lag_ || std::abs(lag - kHeadroom - *lag_) > kJump) {
      lag_.reset();
      filter_->reset();
      aligned_frames_ = 0;
      usual_left_db_ = kUsualAtFirst_db;
    }
  }
  align();
  CleanFrame out;
  out.cleaned.resize(kFrame);
  out.quieted.resize(kFrame);
  std::array<float, kFrame> reference{};
  if (lag_) {
    for (size_t i = 0; i < kFrame; ++i) {
      const auto at = static_cast<double>(i);
      reference[i] = played_.at((begin + at - *lag_ - lag_growth_ * at) * ratio_);
    }
    *lag_ += lag_growth_ * kFrame;
  }
  filter_->process(captured, reference, out.cleaned, out.quieted);
  judge(captured, out, reference);
  pass(captured, out);
  out.facts = facts_;
  return out;
}

void EchoCanceller::align() {
  const auto path = finder_.path();
  if (!path) {
    return;
  }
  // Before this nothing has come yet.
  const double wanted = std::max(path->samples + kBehind - kHeadroom, kBehind);
  const double drift = path->drift_ppm * 1e-6;
  if (!lag_) {
    lag_ = wanted;
  }
  lag_growth_ = std::clamp(drift + (wanted - *lag_) / (kFollow_s * kRate_hz), -kFastest, kFastest);
  facts_.delay_ms = 1000 * (path->samples + kBehind) / kRate_hz;
  facts_.drift_ppm = path->drift_ppm;
}

void EchoCanceller::pass(std::span<const float> captured, CleanFrame& frame) {
  if (std::ranges::all_of(captured, [](float sample) { return sample == 0.0F; })) {
    // A microphone that is closed hears no echo: without this one would be put in.
    std::ranges::fill(frame.cleaned, 0.0F);
    std::ranges::fill(frame.quieted, 0.0F);
    taken_ = 0;
    return;
  }
  // From one to the other within a frame.
  const double wanted = facts_.far_active ? 1 : 0;
  const double step = (wanted - taken_) / kFrame;
  for (size_t i = 0; i < kFrame; ++i) {
    taken_ += step;
    const auto share = static_cast<float>(taken_);
    frame.cleaned[i] = captured[i] + share * (frame.cleaned[i] - captured[i]);
    frame.quieted[i] = captured[i] + share * (frame.quieted[i] - captured[i]);
  }
  taken_ = wanted;
}

void EchoCanceller::judge(std::span<const float> captured, const CleanFrame& frame,
                          std::span<const float> reference) {
  facts_.far_active = since_played_ < kLasts;
  facts_.inaudible = !finder_.path() && finder_.missed() >= kInaudible;
  std::array<float, kFrame> taken{};
  for (size_t i = 0; i < kFrame; ++i) {
    taken[i] = captured[i] - frame.cleaned[i];
  }
  const auto follow = [](double& average, double value) { average += kSmooth * (value - average); };
  follow(echo_power_, power(taken));
  follow(left_power_, power(frame.cleaned));
  follow(captured_power_, power(captured));
  facts_.settled = lag_ && aligned_frames_ >= kSettled;
  facts_.excess_db = 0;
  if (!lag_ || !facts_.far_active) {
    return;
  }
  const double left_db = decibels(left_power_ / std::max(echo_power_, 1e-10));
  const double excess_db = left_db - usual_left_db_;
  const auto unknown =
      static_cast<double>(std::clamp(kKnown - aligned_frames_, int64_t{0}, kKnown - kSettled));
  facts_.excess_db = excess_db - kVowel_db * unknown / (kKnown - kSettled);
  if (power(reference) > kPlayedPower) {
    ++aligned_frames_;
    const double pace = aligned_frames_ < kLearning ? 10 * kUsualPace_db : kUsualPace_db;
    usual_left_db_ += left_db > usual_left_db_ ? pace * kUsualShare : -pace * (1 - kUsualShare);
    if (excess_db < 0) {
      facts_.erle_db +=
          0.02 * (decibels(captured_power_ / std::max(left_power_, 1e-12)) - facts_.erle_db);
    }
  }
}

}  // namespace mynah::echo
