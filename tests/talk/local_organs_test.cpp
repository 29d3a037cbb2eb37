// The organs in this process, with the models that are built in: what one speaks the other hears.
#include "talk/organs/local_organs.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/resampler.h"
#include "speech/hearing.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

class Kept final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& clause) override {
    samples.insert(samples.end(), clause.samples.begin(), clause.samples.end());
    words.insert(words.end(), clause.words.begin(), clause.words.end());
    return {};
  }

  std::vector<float> samples;
  std::vector<SpokenWord> words;
};

class LocalOrgans : public ::testing::Test {
 protected:
  LocalOrgans() {
    surroundings_.environment = Environment({{"HOME", folder_ / "user"},
                                             {"MYNAH_HOME", folder_ / "home"},
                                             {"MYNAH_CUDA_DRIVER", folder_ / "no-driver"}});
    engine::PlacementWish placement;
    placement.device = "cpu";
    placement.quiet = true;
    auto engine = engine::Engine::create(placement, surroundings_);
    EXPECT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }

  std::unique_ptr<Mouth> mouth(SpeakOptions options = {}) {
    const engine::SynthesizerWish wish{.model = "builtin"};
    auto lease = engine_->synthesizer(wish, {});
    EXPECT_TRUE(lease) << lease.error().message;
    auto mouth = local_mouth(*std::move(lease), std::move(options));
    EXPECT_TRUE(mouth) << mouth.error().message;
    return *std::move(mouth);
  }

  std::unique_ptr<Ear> ear() {
    auto lease = engine_->recognizer({.model = "builtin", .vad_model = "builtin"});
    EXPECT_TRUE(lease) << lease.error().message;
    auto ear = local_ear(*std::move(lease));
    EXPECT_TRUE(ear) << ear.error().message;
    return *std::move(ear);
  }

  test::TemporaryFolder folder_;
  engine::Surroundings surroundings_;
  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(LocalOrgans, WhatTheMouthSaysTheEarHears) {
  const auto mouth = this->mouth();
  Kept kept;
  ASSERT_TRUE(
      mouth->speak("One two three four five.", {.language = "en", .first = true}, kept, {}));
  ASSERT_EQ(kept.words.size(), 5U);
  EXPECT_EQ(kept.words[2].text, "three");
  auto resampler = Resampler::create(mouth->rate_hz(), kHearingRate_hz);
  ASSERT_TRUE(resampler);
  std::vector<float> samples(kHearingRate_hz / 4);
  ASSERT_TRUE(resampler->push(kept.samples, samples));
  ASSERT_TRUE(resampler->finish(samples));
  samples.resize(samples.size() + kHearingRate_hz / 4);
  const auto heard = ear()->hear(samples, {.language = "en"}, {});
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->text, "one two three four five");
}

TEST_F(LocalOrgans, TellWhereTheyComputeAndThatNothingLeaves) {
  const auto mouth = this->mouth();
  const auto ear = this->ear();
  for (const OrganFacts& facts : {mouth->facts(), ear->facts()}) {
    EXPECT_EQ(facts.place, "cpu");
    EXPECT_FALSE(facts.leaves_machine);
    EXPECT_NE(facts.model, "");
  }
}

TEST_F(LocalOrgans, SpeakAndHearNothingOnceTheyAreStopped) {
  std::stop_source stopped;
  stopped.request_stop();
  Kept kept;
  const Status spoken = mouth()->speak("Hello.", {}, kept, stopped.get_token());
  ASSERT_FALSE(spoken);
  EXPECT_EQ(spoken.error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(kept.samples.empty());
  const auto heard = ear()->hear(std::vector<float>(kHearingRate_hz), {}, stopped.get_token());
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, ErrorCode::Cancelled);
}

TEST_F(LocalOrgans, RefuseAVoiceThatNobodyHas) {
  auto lease = engine_->synthesizer({.model = "builtin"}, {});
  ASSERT_TRUE(lease);
  SpeakOptions options;
  options.voice.voice = "nobody";
  const auto mouth = local_mouth(*std::move(lease), options);
  ASSERT_FALSE(mouth);
  EXPECT_EQ(mouth.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace mynah::talk
