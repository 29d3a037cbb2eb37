// The canceller as a whole: what it takes away, and what it leaves alone.
#include "audio/echo/echo_canceller.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "audio/echo/signals.h"

namespace mynah::echo {
namespace {

struct Heard {
  std::vector<float> cleaned;
  std::vector<float> quieted;
  std::vector<EchoFacts> facts;  // a frame each
};

// Both signals in pieces of 10 ms.
Heard hear(EchoCanceller& canceller, std::span<const float> captured, std::span<const float> played,
           int played_hz) {
  Heard heard;
  const auto step = static_cast<double>(played_hz) / 100;
  for (size_t i = 0; i < captured.size() / kFrame; ++i) {
    const auto from = std::min(played.size(), static_cast<size_t>(static_cast<double>(i) * step));
    const auto to = std::min(played.size(), static_cast<size_t>(static_cast<double>(i + 1) * step));
    for (const CleanFrame& frame :
         canceller.process(captured.subspan(i * kFrame, kFrame), played.subspan(from, to - from))) {
      heard.cleaned.insert(heard.cleaned.end(), frame.cleaned.begin(), frame.cleaned.end());
      heard.quieted.insert(heard.quieted.end(), frame.quieted.begin(), frame.quieted.end());
      heard.facts.push_back(frame.facts);
    }
  }
  return heard;
}

double decibels(double ratio) {
  return 10 * std::log10(ratio);
}

EchoCanceller make(int played_hz) {
  auto canceller = EchoCanceller::create(played_hz, make_speex_filter);
  EXPECT_TRUE(canceller);
  return *std::move(canceller);
}

TEST(EchoCanceller, TakesAnEchoAwayAndSaysWhatIsKnownOfIt) {
  for (const int played_hz : {16000, 22050, 24000}) {
    EchoCanceller canceller = make(played_hz);
    const std::vector<float> played = syllables(16, played_hz, 7);
    const std::vector<float> heard = echo_of(played, played_hz, 1200, 80, room(0.15, 8));
    const Heard out = hear(canceller, heard, played, played_hz);
    const size_t from = 12 * 16000;
    const double taken = decibels(power_of(std::span(heard).subspan(from)) /
                                  power_of(std::span(out.quieted).subspan(from)));
    EXPECT_GT(taken, 15) << played_hz;
    const EchoFacts& facts = out.facts.back();
    EXPECT_TRUE(facts.far_active);
    EXPECT_FALSE(facts.inaudible);
    ASSERT_TRUE(facts.delay_ms);
    EXPECT_NEAR(*facts.delay_ms, 75 + 80e-6 * 16000, 0.1);
    EXPECT_NEAR(facts.drift_ppm, 80, 4);
    EXPECT_GT(facts.erle_db, 10);
  }
}

TEST(EchoCanceller, LeavesSilenceSilent) {
  EchoCanceller canceller = make(24000);
  const std::vector<float> silence(3 * 16000);
  const Heard out = hear(canceller, silence, {}, 24000);
  EXPECT_LT(power_of(out.quieted), 1e-9);  // -90 dBFS: half a step of 16 bits
  EXPECT_LT(power_of(out.cleaned), 1e-9);
  EXPECT_FALSE(out.facts.back().far_active);
}

// The microphone is closed in the middle: nothing of the echo that was learned is put in.
TEST(EchoCanceller, LeavesDigitalSilenceBesideWhatIsPlayed) {
  const std::vector<float> played = syllables(8, 16000, 14);
  std::vector<float> heard = echo_of(played, 16000, 700, 0, room(0.05, 15));
  std::fill(heard.begin() + 6 * 16000, heard.end(), 0.0F);
  EchoCanceller canceller = make(16000);
  const Heard out = hear(canceller, heard, played, 16000);
  const auto behind = [](const std::vector<float>& samples) {
    return std::span(samples).subspan(6 * 16000);
  };
  EXPECT_EQ(power_of(behind(out.cleaned)), 0);
  EXPECT_EQ(power_of(behind(out.quieted)), 0);
}

TEST(EchoCanceller, ForgetsAPathAndRemembersWhatWasPlayed) {
  const std::vector<float> played = syllables(9, 16000, 14);
  const std::vector<float> heard = echo_of(played, 16000, 700, 0, room(0.05, 15));
  EchoCanceller canceller = make(16000);
  ASSERT_TRUE(hear(canceller, heard, played, 16000).facts.back().settled);
  canceller.forget_path();
  EXPECT_FALSE(canceller.facts().settled);
  EXPECT_FALSE(canceller.facts().delay_ms);
  EXPECT_TRUE(canceller.facts().far_active);
  const Heard again = hear(canceller, heard, played, 16000);
  EXPECT_TRUE(again.facts.front().far_active);
  EXPECT_NEAR(again.facts.back().delay_ms.value_or(0), 700 / 16.0, 0.5);
}

TEST(EchoCanceller, LetsAVoicePassWhileNothingIsPlayed) {
  EchoCanceller canceller = make(24000);
  const std::vector<float> voice = syllables(3, 16000, 9);
  const Heard out = hear(canceller, voice, {}, 24000);
  EXPECT_EQ(out.cleaned, voice);
  EXPECT_EQ(out.quieted, voice);
}

// A voice that has nothing to do with what is played beside it, after the filter knows the room:
// what comes out holds it, 5 dB above what is wrong at least, with an echo as loud as it is.
TEST(EchoCanceller, KeepsAVoiceBesideAnEcho) {
  EchoCanceller canceller = make(16000);
  const std::vector<float> played = syllables(20, 16000, 16);
  std::vector<float> heard = echo_of(played, 16000, 900, -50, room(0.1, 17));
  std::vector<float> voice = syllables(20, 16000, 18);
  const size_t from = 12 * 16000;
  std::fill(voice.begin(), voice.begin() + from, 0.0F);
  const double gain = std::sqrt(power_of(std::span(heard).subspan(from)) /
                                power_of(std::span(voice).subspan(from)));
  for (size_t i = from; i < heard.size(); ++i) {
    voice[i] *= static_cast<float>(gain);
    heard[i] += voice[i];
  }
  const Heard out = hear(canceller, heard, played, 16000);
  // Filters with a high pass in them turn phases: what is compared is power. The echo's would add
  // as much again.
  const double kept = decibels(power_of(std::span(out.cleaned).subspan(from)) /
                               power_of(std::span(voice).subspan(from)));
  EXPECT_GT(kept, -6);
  EXPECT_LT(kept, 1.5);
}

TEST(EchoCanceller, SaysThatNothingIsHeardOfWhatIsPlayed) {
  EchoCanceller canceller = make(24000);
  const std::vector<float> played = syllables(8, 24000, 10);
  const std::vector<float> captured(8 * 16000);
  const Heard out = hear(canceller, captured, played, 24000);
  EXPECT_TRUE(out.facts.back().inaudible);
  EXPECT_FALSE(out.facts.back().delay_ms);
}

TEST(EchoCanceller, TakesWhatIsNoSound) {
  EchoCanceller canceller = make(24000);
  EXPECT_TRUE(canceller.process({}, {}).empty());
  const std::vector<float> none(1600, std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> endless(2400, std::numeric_limits<float>::infinity());
  const std::vector<float> loud(16000, 1e30F);
  for (const std::span<const float> captured :
       {std::span(none), std::span(endless), std::span(loud)}) {
    for (const std::span<const float> played :
         {std::span(endless), std::span(none), std::span<const float>(), std::span(loud)}) {
      for (const CleanFrame& frame : canceller.process(captured, played)) {
        for (size_t i = 0; i < kFrame; ++i) {
          ASSERT_LE(std::abs(frame.cleaned[i]), 2);
          ASSERT_LE(std::abs(frame.quieted[i]), 2);
        }
        ASSERT_TRUE(std::isfinite(frame.facts.erle_db) && std::isfinite(frame.facts.excess_db));
      }
    }
  }
}

// What comes in pieces of any length is what comes in frames, as long as both come together.
TEST(EchoCanceller, DoesNotHangOnHowSamplesCome) {
  const std::vector<float> played = syllables(4, 16000, 11);
  const std::vector<float> heard = echo_of(played, 16000, 500, 0, room(0.05, 12));
  EchoCanceller first = make(16000);
  const Heard frames = hear(first, heard, played, 16000);
  EchoCanceller second = make(16000);
  std::vector<float> pieces;
  std::mt19937 random(13);
  for (size_t at = 0; at < heard.size();) {
    const size_t count = std::min<size_t>(heard.size() - at, 1 + random() % 400);
    // What is played ahead of the capture is not asked for before its time.
    for (const CleanFrame& frame : second.process(std::span(heard).subspan(at, count),
                                                  std::span(played).subspan(at, count))) {
      pieces.insert(pieces.end(), frame.cleaned.begin(), frame.cleaned.end());
    }
    at += count;
  }
  ASSERT_EQ(pieces.size(), frames.cleaned.size());
  EXPECT_EQ(pieces, frames.cleaned);
}

TEST(EchoCanceller, KnowsNothingAfterAReset) {
  const std::vector<float> played = syllables(4, 16000, 14);
  const std::vector<float> heard = echo_of(played, 16000, 700, 0, room(0.05, 15));
  EchoCanceller canceller = make(16000);
  const Heard once = hear(canceller, heard, played, 16000);
  canceller.reset();
  EXPECT_FALSE(canceller.facts().delay_ms);
  const Heard again = hear(canceller, heard, played, 16000);
  EXPECT_EQ(once.cleaned, again.cleaned);
}

TEST(EchoCanceller, RefusesALoudspeakerOfNoRate) {
  for (const int rate_hz : {-1, 0, 7999, 192001}) {
    const auto canceller = EchoCanceller::create(rate_hz, make_speex_filter);
    ASSERT_FALSE(canceller);
    EXPECT_EQ(canceller.error().code, ErrorCode::InvalidInput);
  }
}

}  // namespace
}  // namespace mynah::echo
