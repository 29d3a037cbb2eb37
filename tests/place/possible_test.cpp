// Answers and kept files whose bytes can be read and whose numbers cannot be.
#include "place/wire/possible.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "place/kinds/detector/detector_wire.h"
#include "place/kinds/kinds.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/proofs/reference.h"
#include "place/terms/plain_text.h"
#include "place/workers/driver_answer.h"

namespace mynah::place {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

HearingFacts facts(std::vector<std::string> languages) {
  HearingFacts facts;
  facts.languages = std::move(languages);
  facts.sizes.n_vocab = 51864;
  return facts;
}

constexpr size_t kSamples = 16000;

HeardWindow some_text() {
  HeardWindow heard;
  Segment segment;
  segment.end_s = 1;
  segment.tokens = {5};
  segment.token_log_probabilities = {-1};
  segment.opening = {.token = 50900, .log_probability = -1, .position = 0};
  heard.segments = {segment};
  heard.next_s = 1;
  heard.words = {{.text = "a", .tokens = {5}, .start_s = 0, .end_s = 1, .probability = 1}};
  heard.shorter = kSamples / 2;
  return heard;
}

TEST(Possible, ATextRefersToNothingButItself) {
  const HearingFacts english = facts({"en"});
  EXPECT_TRUE(is_possible(some_text(), english, kSamples));
  EXPECT_TRUE(is_possible(HeardWindow{}, english, kSamples));
  const std::vector<std::function<void(HeardWindow&)>> damages = {
      [](HeardWindow& h) { h.segments[0].tokens[0] = -1; },
      [&](HeardWindow& h) {
        h.segments[0].tokens[0] = static_cast<int32_t>(english.sizes.n_vocab);
      },
      [](HeardWindow& h) { h.segments[0].tokens[0] = 1 << 30; },
      [](HeardWindow& h) { h.segments[0].token_log_probabilities.pop_back(); },
      [](HeardWindow& h) { h.segments[0].tokens.clear(); },
      [](HeardWindow& h) { h.segments[0].opening->token = -3; },
      [](HeardWindow& h) { h.segments[0].closing = {.token = 1 << 30}; },
      [](HeardWindow& h) { h.segments[0].start_s = kNan; },
      [](HeardWindow& h) { h.segments[0].end_s = 1e300; },
      [](HeardWindow& h) { h.next_s = -kInfinite; },
      [](HeardWindow& h) { h.words[0].end_s = kNan; },
      [](HeardWindow& h) { h.words[0].tokens[0] = -5; },
      [](HeardWindow& h) { h.language = "de"; },
      [](HeardWindow& h) { h.language = "<|startoftranscript|>"; },
      [](HeardWindow& h) { h.shorter = 0; },
      [](HeardWindow& h) { h.shorter = -1; },
      [](HeardWindow& h) { h.shorter = kSamples; },
      [](HeardWindow& h) { h.shorter = int64_t{1} << 62; },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    HeardWindow heard = some_text();
    damages[i](heard);
    EXPECT_FALSE(is_possible(heard, english, kSamples)) << i;
  }
}

TEST(Possible, ALanguageIsOneOfTheModels) {
  const HearingFacts many = facts({"en", "de"});
  HeardWindow heard;
  heard.language = "de";
  EXPECT_TRUE(is_possible(heard, many, kSamples));
  heard.language = "elvish";
  EXPECT_FALSE(is_possible(heard, many, kSamples));
}

TEST(Possible, ADetectorHasARateAndFrames) {
  const DetectorFacts good{.rate_hz = 16000, .frame_s = 0.032, .name = "silero"};
  EXPECT_TRUE(is_possible(good));
  for (const int rate : {0, -16000, 1 << 30}) {
    DetectorFacts bad = good;
    bad.rate_hz = rate;
    EXPECT_FALSE(is_possible(bad)) << rate;
  }
  for (const double frame_s : {0.0, -1.0, kNan, kInfinite}) {
    DetectorFacts bad = good;
    bad.frame_s = frame_s;
    EXPECT_FALSE(is_possible(bad)) << frame_s;
  }
  const std::vector<std::vector<float>> two(2);
  EXPECT_TRUE(is_possible(two, 2));
  EXPECT_FALSE(is_possible(two, 3));
}

TEST(Possible, AVoiceHasARateAndTakesPhonemes) {
  VoiceModelFacts facts;
  facts.rate_hz = 24000;
  facts.most_phonemes = 510;
  EXPECT_TRUE(is_possible(facts));
  facts.most_phonemes = 0;
  EXPECT_FALSE(is_possible(facts)) << "a text would never be cut";
  facts.most_phonemes = ~uint64_t{0};
  EXPECT_FALSE(is_possible(facts));
  facts.most_phonemes = 510;
  facts.rate_hz = 0;
  EXPECT_FALSE(is_possible(facts));
}

TEST(Possible, AClauseHasTheWordsThatWereGiven) {
  ClauseSound sound;
  EXPECT_TRUE(is_possible(sound, 3)) << "silence has none";
  sound.samples.resize(100);
  EXPECT_FALSE(is_possible(sound, 3));
  sound.words.resize(3);
  EXPECT_TRUE(is_possible(sound, 3));
  EXPECT_FALSE(is_possible(sound, 4));
}

std::vector<Measurement> measurements(StageGroup group) {
  std::vector<Measurement> all;
  for (const Stage stage : stages_of(group)) {
    Measurement measured;
    measured.stage = stage;
    measured.device = "cpu";
    measured.passed = true;
    measured.ms_per_unit = 12;
    all.push_back(measured);
  }
  return all;
}

TEST(Possible, TokensAreThoseThatWereAskedFor) {
  const LanguageFacts facts{.architecture = "llama",
                            .vocabulary = 10,
                            .trained_context = 100,
                            .context = 100,
                            .position_bytes = 8};
  EXPECT_TRUE(is_possible(facts));
  LanguageFacts none = facts;
  none.vocabulary = 0;
  EXPECT_FALSE(is_possible(none));
  LanguageFacts forward = facts;
  forward.rewinds = -1;
  EXPECT_FALSE(is_possible(forward));
  LanguageFacts endless = facts;
  endless.window_bytes = 1;
  EXPECT_FALSE(is_possible(endless)) << "a window that nothing is let go behind";
  const StepRequest request{.forks = {},
                            .forgotten = {},
                            .steps = {{.text = 1, .begin = 0, .tokens = {1}, .wishes = {}},
                                      {.text = 2,
                                       .begin = 0,
                                       .tokens = {1, 2},
                                       .wishes = {TokenWish{.alternatives = 1}, TokenWish{}}}}};
  const std::vector<ChosenToken> good = {
      {.token = 9, .log_probability = -1, .alternatives = {{.token = 3, .log_probability = -2}}},
      {.token = 0}};
  EXPECT_TRUE(is_possible(good, request, facts));
  EXPECT_FALSE(is_possible(std::vector(good.begin(), good.begin() + 1), request, facts));
  for (const int32_t token : {-1, 10, std::numeric_limits<int32_t>::max()}) {
    auto bad = good;
    bad[0].token = token;
    EXPECT_FALSE(is_possible(bad, request, facts)) << token;
    bad = good;
    bad[0].alternatives[0].token = token;
    EXPECT_FALSE(is_possible(bad, request, facts)) << token;
  }
  auto bad = good;
  bad.emplace_back();  // more than were wanted
  EXPECT_FALSE(is_possible(bad, request, facts));
  bad = good;
  bad[0].alternatives.emplace_back();
  EXPECT_FALSE(is_possible(bad, request, facts));
}

TEST(Possible, MeasurementsAreOfAllStagesAndFinite) {
  const auto good = measurements(kSttGroup);
  EXPECT_TRUE(is_possible(good, kSttGroup));
  EXPECT_FALSE(is_possible(good, kTtsGroup));
  EXPECT_FALSE(is_possible(std::span(good).first(1), kSttGroup));
  for (const double number : {kNan, kInfinite, -1.0, 1e300}) {
    auto bad = good;
    bad[1].ms_per_unit = number;
    EXPECT_FALSE(is_possible(bad, kSttGroup)) << number;
    bad = good;
    bad[0].longest_step_ms = number;
    EXPECT_FALSE(is_possible(bad, kSttGroup)) << number;
    bad = good;
    bad[0].step_work = number;
    EXPECT_FALSE(is_possible(bad, kSttGroup)) << number;
  }
  auto bad = good;
  bad[0].bytes = ~uint64_t{0};
  EXPECT_FALSE(is_possible(bad, kSttGroup));
}

TEST(Possible, AProbesTimesAreTimes) {
  ProbeReport report;
  report.probe.sound_s = 2;
  report.times = {{.stage = kVadStage, .milliseconds = 3, .longest_step_ms = 1}};
  EXPECT_TRUE(is_possible(report));
  for (const double number : {kNan, kInfinite, -1.0}) {
    ProbeReport bad = report;
    bad.times[0].milliseconds = number;
    EXPECT_FALSE(is_possible(bad)) << number;
    bad = report;
    bad.times[0].longest_step_ms = number;
    EXPECT_FALSE(is_possible(bad)) << number;
    bad = report;
    bad.times[0].step_work = number;
    EXPECT_FALSE(is_possible(bad)) << number;
    bad = report;
    bad.probe.sound_s = number;
    EXPECT_FALSE(is_possible(bad)) << number;
  }
  std::vector<StageReport> stages(1);
  EXPECT_TRUE(is_possible(stages));
  stages[0].bytes = ~uint64_t{0};
  EXPECT_FALSE(is_possible(stages));
}

TEST(Possible, AReferenceIsWhatOthersCanBeComparedWith) {
  Reference reference;
  reference.exact.sound_s = 2;
  reference.exact.stages = {{.stage = "vad", .values = {0.5F}}};
  reference.cpu = measurements(kVadGroup);
  reference.error_bound = {0.01};
  EXPECT_TRUE(is_possible(reference, kVadGroup));
  EXPECT_FALSE(is_possible(reference, kTtsGroup));
  const std::vector<std::function<void(Reference&)>> damages = {
      [](Reference& r) { r.exact.stages[0].values[0] = std::nanf(""); },
      [](Reference& r) { r.exact.sound_s = kNan; },
      [](Reference& r) { r.cpu[0].ms_per_unit = -1; },
      [](Reference& r) { r.cpu[0].device = "cuda:0"; },
      [](Reference& r) { r.cpu[0].stage = kTtsVocoder; },
      [](Reference& r) { r.error_bound.clear(); },
      [](Reference& r) { r.error_bound[0] = kInfinite; },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    Reference bad = reference;
    damages[i](bad);
    EXPECT_FALSE(is_possible(bad, kVadGroup)) << i;
  }
}

TEST(PlainText, SteersNoTerminal) {
  EXPECT_EQ(made_plain("a\nb\x1b[31mc\x7f\u009bd", 100), "a b [31mc   d");
  EXPECT_EQ(made_plain("grün ♪", 100), "grün ♪");
  EXPECT_EQ(made_plain("grün", 3), "gr") << "between two characters";
  for (const std::string text : {"a\nb", "\x1b[0m", "\u009b1m", "grün"}) {
    EXPECT_TRUE(is_plain(made_plain(text, 3), 3)) << text;
  }
  EXPECT_FALSE(is_plain("a\nb", 100));
  EXPECT_FALSE(is_plain("abc", 2));
}

}  // namespace
}  // namespace mynah::place
