// What a voice detector hears of a recording: quiet ones louder, steady sounds below speech not.
#include "speech/automatic_level.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "speech/session_state.h"
#include "speech/voice_detector.h"

namespace mynah {
namespace {

constexpr int kRate_hz = 16000;
constexpr size_t kBlock = 512;

double decibels(double db) {
  return std::pow(10.0, db / 20);
}

// Bursts of a tone of 400 Hz with pauses between, a second each, as syllables come.
std::vector<float> syllables(double seconds, double peak) {
  std::vector<float> samples(static_cast<size_t>(seconds * kRate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate_hz;
    const double swell = std::max(0.0, std::sin(2 * std::numbers::pi * t));
    samples[i] = static_cast<float>(peak * swell * std::sin(2 * std::numbers::pi * 400 * t));
  }
  return samples;
}

void add_tone(std::vector<float>& samples, double hz, double peak) {
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate_hz;
    samples[i] += static_cast<float>(peak * std::sin(2 * std::numbers::pi * hz * t));
  }
}

std::vector<float> heard(std::span<const float> samples, size_t piece = 1600) {
  AutomaticLevel level(kRate_hz, kBlock);
  std::vector<float> all;
  while (!samples.empty()) {
    const size_t count = std::min(piece, samples.size());
    std::ranges::copy(level.push(samples.first(count)), std::back_inserter(all));
    samples = samples.subspan(count);
  }
  std::ranges::copy(level.flush(), std::back_inserter(all));
  return all;
}

float peak_of(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) {
    peak = std::max(peak, std::abs(sample));
  }
  return peak;
}

// From `seconds` on.
std::span<const float> after(std::span<const float> samples, double seconds) {
  return samples.subspan(static_cast<size_t>(seconds * kRate_hz));
}

TEST(AutomaticLevel, LoudSpeechPassesBitForBit) {
  const std::vector<float> loud = syllables(5, 0.5);
  const std::vector<float> out = heard(loud);
  ASSERT_EQ(out.size(), loud.size());
  // Before the first loud block nobody knows how loud it will be.
  EXPECT_TRUE(std::ranges::equal(after(out, 0.25), after(loud, 0.25)));
}

TEST(AutomaticLevel, QuietSpeechIsBroughtUpAndNeverAboveTheWantedPeak) {
  for (const double db : {-30.0, -45.0, -60.0}) {
    const std::vector<float> out = heard(syllables(5, decibels(db)));
    EXPECT_NEAR(peak_of(after(out, 1)), 0.1F, 0.002F) << db;
    EXPECT_LE(peak_of(out), 0.1001F) << db;
  }
  EXPECT_NEAR(peak_of(heard(syllables(5, decibels(-80)))), 0.01F, 0.001F);  // by 40 dB at most
}

TEST(AutomaticLevel, AKnockDoesNotHideTheQuietSpeechBehindIt) {
  std::vector<float> samples = syllables(6, decibels(-50));
  std::fill_n(samples.begin() + kRate_hz / 2, 300, 0.9F);
  EXPECT_GT(peak_of(after(heard(samples), 3)), 0.09F);
}

TEST(AutomaticLevel, APauseIsNotTakenForAQuietRecording) {
  std::vector<float> samples = syllables(3, 0.5);
  const std::vector<float> hiss = syllables(10, 0.001);
  samples.insert(samples.end(), hiss.begin(), hiss.end());
  EXPECT_LT(peak_of(after(heard(samples), 3.1)), 0.004F);
}

TEST(AutomaticLevel, HumRumbleAndAnOffsetGoAndSpeechStays) {
  const std::vector<std::function<void(std::vector<float>&)>> sounds = {
      [](std::vector<float>& samples) {
        add_tone(samples, 50, 0.4);
        add_tone(samples, 100, 0.12);
        add_tone(samples, 150, 0.04);
      },
      [](std::vector<float>& samples) { add_tone(samples, 17, 0.6); },
      [](std::vector<float>& samples) {
        for (float& sample : samples) {
          sample += 0.4F;
        }
      }};
  const std::vector<float> speech = syllables(5, 0.1);
  for (size_t i = 0; i < sounds.size(); ++i) {
    std::vector<float> samples = speech;
    sounds[i](samples);
    const std::vector<float> out = heard(samples);
    const auto energy = [](std::span<const float> part) {
      double sum = 0;
      for (const float sample : part) {
        sum += static_cast<double>(sample) * sample;
      }
      return 10 * std::log10(sum / static_cast<double>(part.size()));
    };
    // A syllable from 2.1 to 2.4 s, a pause from 2.6 to 2.9 s.
    const auto syllable = energy(after(out, 2.1).first(4800));
    const auto pause = energy(after(out, 2.6).first(4800));
    const auto before =
        energy(after(samples, 2.1).first(4800)) - energy(after(samples, 2.6).first(4800));
    EXPECT_GT(syllable - pause, before + 5) << i;
    EXPECT_GT(syllable - pause, 6) << i;
  }
}

TEST(AutomaticLevel, IsTheSameHoweverTheSamplesCome) {
  std::vector<float> samples = syllables(4.03, 0.01);
  add_tone(samples, 60, 0.02);
  const std::vector<float> wanted = heard(samples);
  ASSERT_EQ(wanted.size(), samples.size());
  for (const size_t piece : {size_t{1}, size_t{511}, size_t{513}, samples.size()}) {
    EXPECT_EQ(heard(samples, piece), wanted) << piece;
  }
}

TEST(AutomaticLevel, GoesOnInAnotherFromItsState) {
  std::vector<float> samples = syllables(4, 0.01);
  add_tone(samples, 60, 0.02);
  const std::vector<float> wanted = heard(samples);
  for (const size_t cut : {size_t{0}, size_t{100}, kBlock, size_t{40000}}) {
    AutomaticLevel first(kRate_hz, kBlock);
    std::vector<float> all = first.push(std::span(samples).first(cut));
    AutomaticLevel second(kRate_hz, kBlock);
    ASSERT_TRUE(second.set_state(first.state()));
    std::ranges::copy(second.push(std::span(samples).subspan(cut)), std::back_inserter(all));
    std::ranges::copy(second.flush(), std::back_inserter(all));
    EXPECT_EQ(all, wanted) << cut;
  }
}

TEST(AutomaticLevel, RefusesNumbersThatAreNoState) {
  AutomaticLevel level(kRate_hz, kBlock);
  (void)level.push(syllables(3, 0.01));
  const std::vector<double> good = level.state();
  std::vector<double> longer = good;
  longer.push_back(0);
  EXPECT_FALSE(level.set_state(longer));
  EXPECT_FALSE(level.set_state(std::span(good).first(good.size() - 1)));
  EXPECT_FALSE(level.set_state({}));
  for (const auto& [place, value] : std::vector<std::pair<size_t, double>>{
           {3, 2.0}, {3, -1.0}, {4, 1e9}, {4, -1.0}, {7, 1e9}, {7, -1.0}, {7, 0.0}}) {
    std::vector<double> wrong = good;
    wrong[place] = value;
    EXPECT_FALSE(level.set_state(wrong)) << place << " " << value;
  }
  EXPECT_EQ(level.state(), good);
}

// A detector through it: what the built-in one hears, and its state with the level's.
TEST(LeveledDetector, HearsQuietSpeechAsItHearsLoud) {
  const auto plain = builtin_voice_detector();
  const auto leveled = with_automatic_level(plain);
  EXPECT_EQ(leveled->name(), plain->name());
  EXPECT_EQ(leveled->is_sure(), plain->is_sure());
  EXPECT_EQ(leveled->for_recogniser({}).threshold, plain->for_recogniser({}).threshold);
  const std::vector<float> quiet = syllables(3, decibels(-58));
  const std::vector<float> by_hand = heard(quiet);
  const std::vector<std::span<const float>> recordings = {quiet, by_hand};
  const auto through = leveled->probabilities(std::span(recordings).first(1));
  const auto wanted = plain->probabilities(std::span(recordings).last(1));
  ASSERT_TRUE(through.has_value() && wanted.has_value());
  EXPECT_EQ(*through, *wanted);

  const auto session = leveled->session();
  std::vector<float> found = *session->push(std::span(quiet).first(20001));
  const auto next = leveled->session();
  ASSERT_TRUE(next->restore(*session->save()).has_value());
  std::ranges::copy(*next->push(std::span(quiet).subspan(20001)), std::back_inserter(found));
  std::ranges::copy(*next->flush(), std::back_inserter(found));
  EXPECT_EQ(found, wanted->front());
  session->reset();
  EXPECT_EQ(session->push(quiet).value().size(), quiet.size() / kBlock);
}

}  // namespace
}  // namespace mynah
