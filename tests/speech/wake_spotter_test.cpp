// What may be a word is looked at again: when, with which samples, and what comes of it.
#include "speech/wake/wake_spotter.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "saying_model.h"
#include "test_paths.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// tests/models/wake_word/golden's network, whose cutoff nothing reaches.
class WakeSpotterTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path path = fs::path(folder_.path()) / "tiny.tflite";
    fs::copy_file(test::source_path("tests/models/wake_word/golden/tiny.tflite"), path);
    std::ofstream(fs::path(folder_.path()) / "tiny.json") << R"({"wake_word": "Tiny Robin",
        "trained_languages": ["de"],
        "micro": {"probability_cutoff": 0.999, "sliding_window_size": 2, "feature_step_size": 10}})";
    auto loaded = WakeWord::load(path.string());
    ASSERT_TRUE(loaded) << loaded.error().message;
    words_ = {*loaded};
    auto check = WakeCheck::create(std::make_shared<test::SayingModel>(said_));
    ASSERT_TRUE(check) << check.error().message;
    check_ = *check;
  }

  void says(const std::string& text) {
    said_->says = [text](const WindowTask& /*task*/) { return Result<std::string>(text); };
  }

  // Noise in which the network takes something for the word at half its cutoff.
  static std::vector<float> noise(size_t samples) {
    std::mt19937 random(5);
    std::vector<float> made(samples);
    for (size_t i = 0; i < samples; ++i) {
      const float loud = (i / 4000) % 3 == 0 ? 0.9F : 0.02F;
      made[i] = loud * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F);
    }
    return made;
  }

  test::TemporaryFolder folder_;
  std::vector<std::shared_ptr<const WakeWord>> words_;
  std::shared_ptr<test::Said> said_ = std::make_shared<test::Said>();
  std::shared_ptr<WakeCheck> check_;
};

TEST_F(WakeSpotterTest, NothingIsLookedAtWhereNobodyLooks) {
  WakeSpotter spotter(words_, {}, false);
  const auto found = spotter.push(noise(64000));
  EXPECT_THAT(found.words, IsEmpty());
  EXPECT_THAT(found.looks, IsEmpty());
  EXPECT_FALSE(spotter.waits());
}

TEST_F(WakeSpotterTest, LooksHaveTheSoundAroundWhateverItCameIn) {
  const std::vector<float> samples = noise(96000);
  WakeSpotter whole(words_, {}, true);
  const auto wanted = whole.push(samples).looks;
  ASSERT_GE(wanted.size(), 2U);
  std::vector<WakeLook> looks;
  WakeSpotter pieces(words_, {}, true);
  for (std::span<const float> left = samples; !left.empty();) {
    const size_t size = std::min<size_t>(left.size(), 160);
    for (WakeLook& look : pieces.push(left.first(size)).looks) {
      looks.push_back(std::move(look));
    }
    left = left.subspan(size);
  }
  ASSERT_EQ(looks.size(), wanted.size());
  for (size_t i = 0; i < looks.size(); ++i) {
    EXPECT_EQ(looks[i].maybe, wanted[i].maybe);
    EXPECT_FALSE(looks[i].maybe.sure);
    EXPECT_EQ(looks[i].samples, wanted[i].samples);
    EXPECT_TRUE(std::ranges::equal(
        looks[i].samples,
        std::span(samples).subspan(static_cast<size_t>(looks[i].begin), looks[i].samples.size())));
    EXPECT_GE(looks[i].maybe.sample - (i == 0 ? -8000 : looks[i - 1].maybe.sample), 8000);
  }
}

TEST_F(WakeSpotterTest, TheRecogniserIsToldTheWordAndSaysWhetherItIsThere) {
  const std::vector<float> samples = noise(96000);
  says(" Tiny robbing.");
  WakeSpotter spotter(words_, {}, true);
  const auto found = spot(spotter, check_.get(), samples, {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_THAT(*found, SizeIs(testing::Ge(1)));
  EXPECT_EQ(found->front().name, "tiny");
  EXPECT_THAT(said_->prompts.front(), ElementsAre("Tiny Robin."));
  EXPECT_EQ(said_->languages.front(), "de");
  says(" Turn on the light.");
  WakeSpotter other(words_, {}, true);
  const auto none = spot(other, check_.get(), samples, {});
  ASSERT_TRUE(none);
  EXPECT_THAT(*none, IsEmpty());
}

TEST_F(WakeSpotterTest, AWordIsToldOnceWithinItsRefractoryTime) {
  const std::vector<float> samples = noise(96000);  // six seconds
  says(" Tiny robin.");
  WakeSpotter spotter(words_, {.refractory_s = 10}, true);
  const auto found = spot(spotter, check_.get(), samples, {});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, SizeIs(1));
}

TEST_F(WakeSpotterTest, TheWordEndsWhereTheRecogniserHearsItsEnd) {
  says(" Well. Tiny robin, what is it?");
  const auto phrase = WakePhrase::create("tiny robin");
  ASSERT_TRUE(phrase);
  const auto verdict = check_->look(std::vector<float>(16000), *phrase, "xx", {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->distance, 0);
  EXPECT_EQ(verdict->end_s, 3);
  EXPECT_EQ(said_->languages.back(), "");  // that it is to find out
}

TEST_F(WakeSpotterTest, WhatIsHeardOnlyByWhoIsToldIsNotTheWord) {
  said_->says = [](const WindowTask& task) -> Result<std::string> {
    return std::string(task.prompts.empty() ? " That is it." : " Tiny robin.");
  };
  const auto phrase = WakePhrase::create("tiny robin");
  ASSERT_TRUE(phrase);
  const auto verdict = check_->look(std::vector<float>(16000), *phrase, "en", {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->heard, " Tiny robin.");
  EXPECT_EQ(verdict->untold, " That is it.");
  EXPECT_FALSE(verdict->is_word());
}

TEST_F(WakeSpotterTest, ALookThatFailsIsAnError) {
  said_->says = [](const WindowTask& /*task*/) -> Result<std::string> {
    return fail(ErrorCode::Device, "it is deaf");
  };
  WakeSpotter spotter(words_, {}, true);
  const auto found = spot(spotter, check_.get(), noise(64000), {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "it is deaf");
}

}  // namespace
}  // namespace mynah
