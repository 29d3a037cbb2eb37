// Sessions of voice detectors that go on in another: on another device, in another process.
#include "speech/session_state.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_backend.h"
#include "speech/voice_detector.h"
#include "test_paths.h"

namespace mynah {
namespace {

// A second of a tone that swells, with a hiss: some frames like speech and some not.
std::vector<float> sound(int rate_hz) {
  std::vector<float> samples(static_cast<size_t>(rate_hz));
  uint32_t noise = 1;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<float>(i) / static_cast<float>(rate_hz);
    noise = noise * 1664525U + 1013904223U;
    samples[i] = 0.3F * t * std::sin(6.2831853F * 180.0F * t) * std::sin(20.0F * t) +
                 0.01F * static_cast<float>(noise >> 8U) / 16777216.0F;
  }
  return samples;
}

std::vector<float> pushed(VoiceDetector::Session& session, std::span<const float> samples) {
  auto found = session.push(samples);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found.value_or(std::vector<float>());
}

// Probabilities of all samples where a session is saved after `cut` of them, in the middle of a
// frame, and another goes on.
std::vector<float> moved(const VoiceDetector& from, const VoiceDetector& to,
                         std::span<const float> samples, size_t cut) {
  const auto first = from.session();
  std::vector<float> all = pushed(*first, samples.first(cut));
  const auto state = first->save();
  EXPECT_TRUE(state.has_value());
  const auto second = to.session();
  const Status restored = second->restore(*state);
  EXPECT_TRUE(restored.has_value()) << restored.error().message;
  const std::vector<float> rest = pushed(*second, samples.subspan(cut));
  all.insert(all.end(), rest.begin(), rest.end());
  const auto last = second->flush();
  EXPECT_TRUE(last.has_value());
  all.insert(all.end(), last->begin(), last->end());
  return all;
}

std::vector<float> unmoved(const VoiceDetector& detector, std::span<const float> samples) {
  auto found = detector.probabilities({&samples, 1});
  EXPECT_TRUE(found.has_value());
  return found ? found->front() : std::vector<float>();
}

// Every way in which a state can be wrong; the session stays as it was.
void expect_refusals(const VoiceDetector& detector) {
  const std::vector<float> samples = sound(detector.rate_hz());
  const size_t cut = samples.size() / 2 + 37;
  const auto session = detector.session();
  pushed(*session, std::span(samples).first(cut));
  const std::vector<std::byte> good = *session->save();
  const auto refused = [&](std::vector<std::byte> bytes) {
    const Status status = session->restore(bytes);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::InvalidInput);
  };
  const auto with = [&](size_t number, double value) {
    std::vector<std::byte> bytes = good;
    const auto raw = std::as_bytes(std::span(&value, 1));
    std::ranges::copy(raw, bytes.begin() + 16 + static_cast<ptrdiff_t>(number * sizeof(double)));
    return bytes;
  };
  refused({});
  refused(std::vector<std::byte>(good.begin(), good.begin() + 16));
  refused(std::vector<std::byte>(good.begin(), good.end() - 1));
  refused(std::vector<std::byte>(good.begin(), good.end() - sizeof(double)));
  std::vector<std::byte> longer = good;
  longer.resize(good.size() + sizeof(double));
  refused(longer);
  std::vector<std::byte> other = good;
  other[0] = std::byte{'x'};
  refused(other);
  const size_t numbers = (good.size() - 16) / sizeof(double);
  for (const size_t number : {size_t{0}, size_t{1}, numbers / 2, numbers - 1}) {
    for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(), 1e300}) {
      refused(with(number, value));
    }
  }
  for (const double value : {-1.0, 1e9, 2.0 * detector.rate_hz()}) {
    refused(with(0, value));  // the rate, or how many samples wait
  }
  // It is where it was.
  const auto fresh = detector.session();
  ASSERT_TRUE(fresh->restore(good).has_value());
  EXPECT_EQ(pushed(*session, std::span(samples).subspan(cut)),
            pushed(*fresh, std::span(samples).subspan(cut)));
}

TEST(SessionState, TheBuiltInDetectorGoesOnBitForBit) {
  const auto detector = builtin_voice_detector();
  const std::vector<float> samples = sound(detector->rate_hz());
  const std::vector<float> wanted = unmoved(*detector, samples);
  for (const size_t cut : {size_t{0}, size_t{100}, size_t{512}, size_t{9000}, samples.size()}) {
    EXPECT_EQ(moved(*detector, *detector, samples, cut), wanted) << cut;
  }
}

TEST(SessionState, TheBuiltInDetectorRefusesWhatIsNoState) {
  expect_refusals(*builtin_voice_detector());
}

TEST(SessionState, ALeveledDetectorGoesOnBitForBitAndRefusesWhatIsNoState) {
  const auto detector = with_automatic_level(builtin_voice_detector());
  std::vector<float> samples = sound(detector->rate_hz());
  for (float& sample : samples) {
    sample *= 0.01F;
  }
  const std::vector<float> wanted = unmoved(*detector, samples);
  for (const size_t cut : {size_t{0}, size_t{100}, size_t{512}, size_t{9000}, samples.size()}) {
    EXPECT_EQ(moved(*detector, *detector, samples, cut), wanted) << cut;
  }
  expect_refusals(*detector);
}

class SileroState : public testing::Test {
 protected:
  void SetUp() override { MYNAH_SKIP_WITHOUT(test::weights_path("silero/silero_vad.onnx")); }

  std::shared_ptr<const VoiceDetector> on(DeviceKind device, int rate_hz = 16000) {
    backends_.push_back(test::golden_backend(device, pool_));
    auto detector =
        load_silero(test::weights_path("silero/silero_vad.onnx"), rate_hz, *backends_.back());
    EXPECT_TRUE(detector.has_value()) << detector.error().message;
    return detector.value_or(nullptr);
  }

  ThreadPool pool_{2};
  std::vector<std::unique_ptr<Backend>> backends_;
};

TEST_F(SileroState, GoesOnOnAnotherDevice) {
  constexpr float kBound = 1e-4F;  // as between devices in silero_test.cpp
  for (const int rate_hz : {16000, 8000}) {
    const std::vector<float> samples = sound(rate_hz);
    const auto cpu = on(DeviceKind::Cpu, rate_hz);
    const auto simt = on(DeviceKind::Simt, rate_hz);
    const std::vector<float> wanted = unmoved(*cpu, samples);
    EXPECT_EQ(moved(*cpu, *on(DeviceKind::Cpu, rate_hz), samples, samples.size() / 3), wanted);
    for (const size_t cut : {size_t{0}, size_t{100}, samples.size() / 2}) {
      EXPECT_THAT(moved(*simt, *cpu, samples, cut),
                  testing::Pointwise(testing::FloatNear(kBound), wanted));
    }
    EXPECT_THAT(moved(*cpu, *simt, samples, samples.size() / 2),
                testing::Pointwise(testing::FloatNear(kBound), wanted));
  }
}

TEST_F(SileroState, RefusesWhatIsNoState) {
  expect_refusals(*on(DeviceKind::Cpu));
}

TEST_F(SileroState, OfAnotherRateIsRefused) {
  const auto at_16000 = on(DeviceKind::Cpu)->session();
  const auto at_8000 = on(DeviceKind::Cpu, 8000)->session();
  const Status status = at_8000->restore(*at_16000->save());
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, testing::HasSubstr("8000 Hz"));
  EXPECT_FALSE(builtin_voice_detector()->session()->restore(*at_16000->save()).has_value());
}

}  // namespace
}  // namespace mynah
