// Waiting for words: with a network of random weights, and the real ones on what Flite says.
#include "speech/wake/wake_word.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/resampler.h"
#include "models/builtin/flite_voice.h"
#include "test_paths.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr auto kManifest =
    R"({"wake_word": "Tiny", "author": "Nobody", "website": "https://example.org", "version": 2,
        "trained_languages": ["en", "de"],
        "micro": {"probability_cutoff": 0.75, "sliding_window_size": 2, "feature_step_size": 10}})";

// tests/models/wake_word/golden's network as a word of a folder.
class TinyWord : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(test::source_path("tests/models/wake_word/golden/tiny.tflite"), path());
    write(kManifest);
  }

  [[nodiscard]] fs::path path() const { return fs::path(folder_.path()) / "tiny.tflite"; }

  void write(const std::string& manifest) const {
    std::ofstream(fs::path(folder_.path()) / "tiny.json") << manifest;
  }

  [[nodiscard]] std::shared_ptr<const WakeWord> word() const {
    auto loaded = WakeWord::load(path().string());
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? *loaded : nullptr;
  }

  test::TemporaryFolder folder_;
};

std::vector<float> made_up_noise(size_t samples) {
  std::mt19937 random(5);
  std::vector<float> noise(samples);
  for (size_t i = 0; i < samples; ++i) {
    const float loud = (i / 4000) % 3 == 0 ? 0.9F : 0.02F;
    noise[i] = loud * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F);
  }
  return noise;
}

TEST_F(TinyWord, HasTheFactsOfItsManifest) {
  const WakeWordFacts facts = word()->facts();
  EXPECT_EQ(facts.name, "tiny");
  EXPECT_EQ(facts.phrase, "Tiny");
  EXPECT_EQ(facts.author, "Nobody");
  EXPECT_EQ(facts.languages, (std::vector<std::string>{"en", "de"}));
  EXPECT_EQ(facts.cutoff, 0.75);
  EXPECT_EQ(facts.window, 2);
}

TEST_F(TinyWord, OfAFolderIsTheOneThatIsThere) {
  const auto loaded = WakeWord::load(folder_.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->facts().name, "tiny");
  fs::remove(path());
  EXPECT_EQ(WakeWord::load(folder_.path()).error().code, ErrorCode::NotFound);
}

TEST_F(TinyWord, IsRefusedWithoutAManifestThatSaysWhenItCounts) {
  fs::remove(fs::path(folder_.path()) / "tiny.json");
  EXPECT_THAT(WakeWord::load(path().string()).error().message, HasSubstr("manifest"));
  for (const char* bad :
       {"", "[]", "{}", R"({"micro": 3})", R"({"micro": {"probability_cutoff": 1.5}})",
        R"({"micro": {"sliding_window_size": 0}})", R"({"micro": {"sliding_window_size": 1e30}})",
        R"({"micro": {"feature_step_size": 20}})"}) {
    write(bad);
    EXPECT_FALSE(WakeWord::load(path().string())) << bad;
  }
  write(R"({"micro": {}})");  // what it leaves out has a default
  EXPECT_EQ(word()->facts().phrase, "tiny");
}

TEST_F(TinyWord, IsFoundAtTheSamePlacesHoweverTheSamplesCome) {
  const std::vector<float> samples = made_up_noise(64000);
  WakeListener whole({word()}, {.cutoff = 0.5, .refractory_s = 0.1});
  const std::vector<WakeDetection> wanted = whole.push(samples);
  ASSERT_GE(wanted.size(), 2U);
  std::mt19937 random(9);
  WakeListener pieces({word()}, {.cutoff = 0.5, .refractory_s = 0.1});
  std::vector<WakeDetection> found;
  for (std::span<const float> left = samples; !left.empty();) {
    const size_t size = std::min<size_t>(left.size(), random() % 1000);
    const auto more = pieces.push(left.first(size));
    found.insert(found.end(), more.begin(), more.end());
    left = left.subspan(size);
  }
  EXPECT_EQ(found, wanted);
  whole.reset();
  EXPECT_EQ(whole.push(samples), wanted);
}

TEST_F(TinyWord, IsToldOnceWhileItIsRefractory) {
  const std::vector<float> samples = made_up_noise(64000);
  const WakeOptions eager{.cutoff = 0.5, .refractory_s = 0};
  const WakeOptions patient{.cutoff = 0.5, .refractory_s = 1};
  const auto often = WakeListener({word()}, eager).push(samples);
  const auto seldom = WakeListener({word()}, patient).push(samples);
  EXPECT_GT(often.size(), seldom.size());
  ASSERT_GE(seldom.size(), 2U);
  for (size_t i = 1; i < seldom.size(); ++i) {
    EXPECT_GE(seldom[i].sample - seldom[i - 1].sample, wake_word::kFeatureRate_hz);
  }
}

TEST_F(TinyWord, SeveralListenWithoutMindingEachOther) {
  const std::vector<float> samples = made_up_noise(64000);
  const auto alone = WakeListener({word()}, {.cutoff = 0.5}).push(samples);
  ASSERT_FALSE(alone.empty());
  const auto twice = WakeListener({word(), word()}, {.cutoff = 0.5}).push(samples);
  EXPECT_EQ(twice.size(), 2 * alone.size());
}

TEST_F(TinyWord, TakesSamplesThatAreNoNumbersForSilence) {
  std::vector<float> samples(16000, 0.0F);
  WakeListener silence({word()}, {});
  const auto wanted = silence.push(samples);
  std::ranges::fill(samples, std::numeric_limits<float>::quiet_NaN());
  WakeListener bad({word()}, {});
  EXPECT_EQ(bad.push(samples), wanted);
  std::ranges::fill(samples, std::numeric_limits<float>::infinity());
  static_cast<void>(bad.push(samples));
}

// What a voice of Flite's says, between a second of silence on both sides, at 16 kHz.
std::vector<float> said(const std::string& text, std::string_view voice) {
  const auto speech = speak_with_flite(text, voice, 1.0F);
  EXPECT_TRUE(speech) << speech.error().message;
  std::vector<float> samples(wake_word::kFeatureRate_hz, 0.0F);
  auto resampler = Resampler::create(speech->rate_hz, wake_word::kFeatureRate_hz);
  EXPECT_TRUE(resampler);
  EXPECT_TRUE(resampler->push(speech->samples, samples));
  EXPECT_TRUE(resampler->finish(samples));
  samples.resize(samples.size() + wake_word::kFeatureRate_hz, 0.0F);
  return samples;
}

TEST(RealWords, AreHeardWhereTheyAreSaidAndNotElsewhere) {
  std::vector<std::shared_ptr<const WakeWord>> words;
  for (const char* name : {"okay_nabu", "hey_jarvis", "alexa", "hey_mycroft"}) {
    const std::string path = test::weights_path(std::string("wake/") + name + ".tflite");
    MYNAH_SKIP_WITHOUT(path);
    const auto word = WakeWord::load(path);
    ASSERT_TRUE(word) << word.error().message;
    words.push_back(*word);
  }

  struct Said {
    const char* text;
    const char* word;
  };

  for (const Said& one : {Said{"Okay Nabu.", "okay_nabu"}, Said{"Hey Jarvis.", "hey_jarvis"}}) {
    WakeListener listener(words, {});
    const auto samples = said(one.text, "rms");
    const auto found = listener.push(samples);
    ASSERT_EQ(found.size(), 1U) << one.text;
    EXPECT_EQ(found[0].name, one.word);
    EXPECT_GT(found[0].sample, wake_word::kFeatureRate_hz);
    EXPECT_LT(found[0].sample, static_cast<int64_t>(samples.size()));
  }
  WakeListener listener(words, {});
  EXPECT_TRUE(
      listener.push(said("Turn on the light in the kitchen please, and then the radio.", "rms"))
          .empty());
}

}  // namespace
}  // namespace mynah
