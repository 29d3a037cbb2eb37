// Hearing with a model of a family that nobody knows: what cuts recordings into windows, and what
// makes transcripts of them, asks the family's facts alone.
#include "speech/hearing.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "speech/recognizer_fixture.h"
#include "speech/whisper/whisper_header.h"

namespace mynah {
namespace {

// What was asked of a model.
struct Asked {
  int decoders = 0;
  std::vector<double> windows_s;
  std::vector<std::string> languages;
  std::vector<std::vector<std::string>> prompts;
  std::vector<std::vector<std::string>> hotwords;
};

class ParrotHeader final : public HearingHeader {
 public:
  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& options) const override {
    return options.words ? fail(ErrorCode::Unsupported, "parrots count no words") : Status{};
  }

  [[nodiscard]] double effort(const DecodingOptions& /*options*/) const override { return 1; }

  [[nodiscard]] std::string token_text(int32_t /*token*/) const override { return {}; }

 private:
  HearingFacts facts_{.model = "parrot",
                      .languages = {"en", "de"},
                      .longest_window_s = 10,
                      .full_window_s = 10,
                      .wants_vad = false,
                      .takes_prompt = false,
                      .times_words = false,
                      .sizes = {}};
};

// Says one thing of each window, until its device fails.
class ParrotDecoder final : public WindowDecoder {
 public:
  ParrotDecoder(Asked& asked, int windows) : asked_(asked), left_(windows) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& /*stop*/) override {
    std::vector<HeardWindow> heard;
    for (const WindowTask& task : tasks) {
      if (left_-- <= 0) {
        return fail(ErrorCode::Device, "the parrot flew away");
      }
      asked_.windows_s.push_back(task.duration_s());
      asked_.languages.push_back(task.language);
      asked_.prompts.push_back(task.prompts);
      asked_.hotwords.push_back(task.hotwords);
      Segment segment;
      segment.end_s = task.duration_s();
      segment.text = " polly";
      HeardWindow window;
      window.segments = {segment};
      window.language = "de";
      window.next_s = task.duration_s();
      heard.push_back(std::move(window));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& /*task*/,
                                          const std::stop_token& /*stop*/) override {
    return HeardWindow{};
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  Asked& asked_;
  int left_;
  WindowTimings timings_;
};

class Parrot final : public WindowModel {
 public:
  explicit Parrot(Asked& asked, int windows = 1000) : asked_(asked), windows_(windows) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& /*options*/) const override {
    ++asked_.decoders;
    return std::make_unique<ParrotDecoder>(asked_, windows_);
  }

  [[nodiscard]] Result<Probe> probe() const override { return Probe{}; }

  [[nodiscard]] WindowDevices devices() const override { return {"perch", "perch"}; }

 private:
  Asked& asked_;
  int windows_;
  std::shared_ptr<const HearingHeader> header_ = std::make_shared<const ParrotHeader>();
};

class HearingTest : public WhisperRecognizerTest {
 protected:
  Collector run(int windows, const std::vector<RecognizerJob>& jobs,
                const RecognizerOptions& options) {
    const WindowRecognizer recognizer(std::make_shared<const Parrot>(asked_, windows), voice_);
    Collector collector;
    recognizer.run(jobs, options, collector, std::stop_token());
    return collector;
  }

  Asked asked_;
};

TEST_F(HearingTest, WindowsAreAsLongAsTheFamilyTakesThem) {
  const Collector heard = run(1000, {job(speech("a", 25))}, {});
  ASSERT_EQ(heard.done_.size(), 1U);
  ASSERT_TRUE(heard.done_[0].has_value());
  EXPECT_THAT(asked_.windows_s, testing::ElementsAre(10, 10, 5));
  EXPECT_THAT(asked_.languages, testing::ElementsAre("", "de", "de"));
  EXPECT_EQ(heard.done_[0]->language, "de");
  EXPECT_EQ(heard.done_[0]->model, "parrot");
  EXPECT_EQ(heard.done_[0]->device, "perch");
  ASSERT_EQ(heard.done_[0]->segments.size(), 3U);
  EXPECT_EQ(heard.done_[0]->segments[1].text, " polly");
  EXPECT_DOUBLE_EQ(heard.done_[0]->segments[2].start_s, 20);
}

TEST_F(HearingTest, PromptsAreToldAsTextAndTheInitialOneOnce) {
  RecognizerOptions options;
  options.cutting.hotwords = {"cracker", "Polly"};
  options.cutting.initial_prompt = "Polly wants a cracker.";
  const auto heard = run(1000, {job(speech("a", 25))}, options);
  EXPECT_THAT(asked_.prompts, testing::ElementsAre(testing::ElementsAre("Polly wants a cracker."),
                                                   testing::IsEmpty(), testing::IsEmpty()));
  EXPECT_THAT(asked_.hotwords, testing::Each(options.cutting.hotwords));
  ASSERT_TRUE(heard.done_[0].has_value());
  EXPECT_THAT(heard.done_[0]->notes,
              testing::Contains(testing::HasSubstr("hears without hotwords")));
}

TEST_F(HearingTest, OptionsAreCheckedWithoutADecoder) {
  const WindowRecognizer recognizer(std::make_shared<const Parrot>(asked_), voice_);
  RecognizerOptions options;
  EXPECT_TRUE(recognizer.check(options).has_value());
  options.decoding.words = true;
  EXPECT_EQ(recognizer.check(options).error().code, ErrorCode::Unsupported);
  options.decoding.words = false;
  options.cutting.clips = {{5, 3}};
  EXPECT_EQ(recognizer.check(options).error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(asked_.decoders, 0);
  static_cast<void>(run(1000, {job(speech("a", 3))}, {}));
  EXPECT_EQ(asked_.decoders, 1);
}

TEST_F(HearingTest, ADeviceThatFailsEndsWhatIsNotHeardWithItsError) {
  RecognizerOptions options;
  options.cutting.batch = 1;
  options.decoding.language = "en";
  const Collector heard =
      run(2, {job(speech("a", 3)), job(speech("b", 25)), job(speech("c", 3))}, options);
  ASSERT_EQ(heard.done_.size(), 3U);
  EXPECT_TRUE(heard.done_[0].has_value());
  for (const size_t i : {1U, 2U}) {
    ASSERT_FALSE(heard.done_[i].has_value()) << i;
    EXPECT_EQ(heard.done_[i].error().code, ErrorCode::Device);
    EXPECT_EQ(heard.done_[i].error().message, "the parrot flew away");
  }
}

TEST_F(HearingTest, ALiveSessionWhoseDeviceFailedTellsThatUntilItIsReset) {
  const WindowRecognizer recognizer(std::make_shared<const Parrot>(asked_, 1), voice_);
  const auto session = recognizer.session({}).value();
  ASSERT_TRUE(session->push(speech("a", 2)).has_value());
  ASSERT_TRUE(session->commit().has_value());
  ASSERT_TRUE(session->push(speech("b", 2)).has_value());
  EXPECT_EQ(session->commit().error().message, "the parrot flew away");
  EXPECT_EQ(session->push(speech("c", 2)).error().message, "the parrot flew away");
  session->reset();
  EXPECT_TRUE(session->push(speech("c", 2)).has_value());
}

std::shared_ptr<const WhisperHeader> whisper_header(bool multilingual) {
  const whisper::Config config = test::tiny_config(multilingual);
  auto header = whisper::ModelHeader::create(multilingual ? "tiny" : "tiny.en", config,
                                             test::tiny_vocabulary(config), "memory");
  return std::make_shared<const WhisperHeader>(
      std::make_shared<const whisper::ModelHeader>(std::move(header).value()));
}

TEST(WhisperHeaderTest, KnowsItsLanguagesByCodeNameAndAlias) {
  const auto english = whisper_header(false);
  EXPECT_THAT(english->facts().languages, testing::ElementsAre("en"));
  EXPECT_EQ(english->facts().language_asked("en"), "") << "there is nothing to choose";
  const auto many = whisper_header(true);
  EXPECT_TRUE(many->facts().multilingual());
  EXPECT_EQ(many->facts().languages.size(), 100U);
  EXPECT_EQ(many->facts().language_asked("German"), "de");
  EXPECT_EQ(many->facts().language_asked("de"), "de");
  EXPECT_EQ(many->facts().language_asked("auto"), "");
  EXPECT_EQ(many->facts().language_asked("elvish"), "");
}

TEST(WhisperHeaderTest, TellsWhatItCanDo) {
  const auto header = whisper_header(false);
  const HearingFacts& facts = header->facts();
  EXPECT_EQ(facts.model, "tiny.en");
  EXPECT_TRUE(facts.wants_vad);
  EXPECT_TRUE(facts.takes_prompt);
  EXPECT_FALSE(facts.times_words);
  EXPECT_DOUBLE_EQ(facts.longest_window_s, 30);
  EXPECT_DOUBLE_EQ(facts.full_window_s,
                   0.02 * static_cast<double>(test::tiny_config(false).n_audio_ctx));
}

TEST(WhisperHeaderTest, ChecksRulesWithoutAModel) {
  const auto header = whisper_header(false);
  DecodingOptions options;
  EXPECT_TRUE(header->check(options).has_value());
  options.whisper.suppress_regex = "(";
  EXPECT_EQ(header->check(options).error().code, ErrorCode::InvalidInput);
  options.whisper.suppress_regex.clear();
  options.whisper.suppress_tokens = {99999};
  EXPECT_EQ(header->check(options).error().code, ErrorCode::InvalidInput);
}

TEST(WhisperHeaderTest, MoreSequencesAreMoreEffortAndFewerAreTheUsual) {
  const auto header = whisper_header(false);
  DecodingOptions options;
  EXPECT_DOUBLE_EQ(header->effort(options), 1);
  options.whisper.beam_size = 10;
  EXPECT_DOUBLE_EQ(header->effort(options), 2);
  options.whisper.beam_size = 1;
  options.whisper.best_of = 1;
  EXPECT_DOUBLE_EQ(header->effort(options), 1);
}

}  // namespace
}  // namespace mynah
