#include "server/wyoming/turn_watch.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/resampler.h"
#include "speech/hearing.h"
#include "speech/synthesizer.h"
#include "speech/voice_detector.h"
#include "text/phonemes/written_words.h"

namespace mynah::server {
namespace {

// A sentence of the built-in voice, between a half and one and a half seconds of silence.
std::vector<float> said(int rate_hz) {
  class Samples final : public SpeechObserver {
   public:
    Status on_clause(const SpokenClause& clause) override {
      all.insert(all.end(), clause.samples.begin(), clause.samples.end());
      return {};
    }

    std::vector<float> all;
  } spoken;

  const Synthesizer synthesizer(builtin_voice(), [](const std::string& /*language*/) {
    return Result<std::shared_ptr<const Phonemizer>>(std::make_shared<const WrittenWords>());
  });
  EXPECT_TRUE(synthesizer.speak("Turn on the light in the kitchen please.", {}, spoken, {}));
  std::vector<float> samples(static_cast<size_t>(rate_hz) / 2, 0.0F);
  auto resampler = Resampler::create(synthesizer.model().rate_hz(), rate_hz);
  EXPECT_TRUE(resampler);
  EXPECT_TRUE(resampler->push(spoken.all, samples));
  EXPECT_TRUE(resampler->finish(samples));
  samples.resize(samples.size() + static_cast<size_t>(rate_hz) * 3 / 2, 0.0F);
  return samples;
}

std::string encoded(const std::vector<float>& samples, const SampleFormat& format) {
  std::string bytes;
  for (const float sample : samples) {
    const double scaled = std::clamp(static_cast<double>(sample), -0.99, 0.99) *
                          std::ldexp(1.0, 8 * format.width - 1);
    auto value = static_cast<uint32_t>(static_cast<int32_t>(scaled));
    value += format.width == 1 ? 128U : 0U;
    for (int i = 0; i < format.channels * format.width; ++i) {
      bytes += static_cast<char>(value >> (8U * static_cast<unsigned>(i % format.width)) & 0xFFU);
    }
  }
  return bytes;
}

TEST(TurnWatch, FindsTheEndInEveryFormat) {
  for (const SampleFormat& format :
       {SampleFormat{}, SampleFormat{.rate_hz = 48000, .channels = 2, .width = 4},
        SampleFormat{.rate_hz = 44100, .channels = 1, .width = 3},
        SampleFormat{.rate_hz = 8000, .channels = 1, .width = 1}}) {
    SCOPED_TRACE(format.rate_hz);
    const auto watch = TurnWatch::create(builtin_voice_detector(), format, {});
    ASSERT_TRUE(watch);
    const std::string bytes = encoded(said(format.rate_hz), format);
    std::vector<VoiceEvent::Kind> kinds;
    size_t at = 0;
    // In pieces that end within a frame.
    for (; at < bytes.size() && !(*watch)->is_over(); at += 1021) {
      const auto events = (*watch)->push(std::string_view(bytes).substr(at, 1021), {});
      ASSERT_TRUE(events) << events.error().message;
      for (const VoiceEvent& event : *events) {
        kinds.push_back(event.kind);
      }
    }
    ASSERT_TRUE((*watch)->is_over());
    EXPECT_FALSE((*watch)->is_too_long());
    EXPECT_LT(at, bytes.size());
    EXPECT_EQ(kinds.front(), VoiceEvent::Kind::Began);
    EXPECT_EQ(kinds.back(), VoiceEvent::Kind::Ended);
  }
}

TEST(TurnWatch, AModelThatHearsTheEndNeedsNoLongSilence) {
  class AllSaid final : public TurnScorer {
   public:
    [[nodiscard]] Result<float> score(std::span<const float> turn) const override {
      EXPECT_FALSE(turn.empty());
      return 0.99F;
    }

    [[nodiscard]] int64_t window() const override { return int64_t{8} * kHearingRate_hz; }
  };

  const std::string bytes = encoded(said(kHearingRate_hz), {});
  const auto end_of = [&bytes](std::shared_ptr<const TurnScorer> scorer) {
    const auto watch =
        TurnWatch::create(builtin_voice_detector(), {}, {.scorer = std::move(scorer)});
    EXPECT_TRUE(watch);
    size_t at = 0;
    for (; at < bytes.size() && !(*watch)->is_over(); at += 1024) {
      EXPECT_TRUE((*watch)->push(std::string_view(bytes).substr(at, 1024), {}));
    }
    EXPECT_TRUE((*watch)->is_over());
    return at;
  };
  const size_t third_of_a_second = kHearingRate_hz * 2 / 3;  // bytes
  EXPECT_LT(end_of(std::make_shared<const AllSaid>()) + third_of_a_second, end_of(nullptr));
}

TEST(TurnWatch, NobodySpeaksForEver) {
  const auto watch = TurnWatch::create(builtin_voice_detector(), {}, {});
  ASSERT_TRUE(watch);
  const std::string second(32'000, '\0');
  int seconds = 0;
  for (; seconds < 60 && !(*watch)->is_too_long(); ++seconds) {
    const auto events = (*watch)->push(second, {});
    ASSERT_TRUE(events);
    EXPECT_TRUE(events->empty());
  }
  EXPECT_EQ(seconds, 15);
}

TEST(TurnWatch, RefusesARateThatIsNone) {
  EXPECT_FALSE(TurnWatch::create(builtin_voice_detector(), {.rate_hz = 0}, {}));
}

}  // namespace
}  // namespace mynah::server
