// PocketSphinx behind Recognizer, on the LibriVox sentences of the package pocketsphinx-testdata.
#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "speech/recognizer.h"
#include "test_paths.h"
#include "text/word_error.h"

namespace mynah {
namespace {

const std::string kFolder = "/usr/share/pocketsphinx/test/data/librivox";

// Collects what a run says.
class Listener final : public RecognizerObserver {
 public:
  void on_segment(size_t job, const Segment& segment) override { segments[job].push_back(segment); }

  void on_done(size_t job, const Result<Transcript>& result) override {
    EXPECT_EQ(job, results.size());
    results.push_back(result);
  }

  std::map<size_t, std::vector<Segment>> segments;
  std::vector<Result<Transcript>> results;
};

RecognizerJob job_of(const std::string& path) {
  return {.name = path, .open = [path] { return open_audio(path, {}); }};
}

class BuiltinRecognizer : public testing::Test {
 protected:
  void SetUp() override {
    auto recognizer = builtin_recognizer();
    if (!recognizer) {
      GTEST_SKIP() << recognizer.error().message;
    }
    MYNAH_SKIP_WITHOUT(kFolder);
    recognizer_ = *recognizer;
  }

  std::shared_ptr<const Recognizer> recognizer_;
};

TEST_F(BuiltinRecognizer, reads_most_of_five_sentences_and_goes_on_after_a_bad_file) {
  std::vector<RecognizerJob> jobs = {job_of("/nonexistent.wav")};
  std::vector<std::string> expected = {""};
  std::ifstream file(kFolder + "/transcription");
  std::string line;
  while (std::getline(file, line)) {
    // "<s> the words </s> (name)"
    const size_t end = line.find(" </s> (");
    expected.push_back(line.substr(4, end - 4));
    const size_t name = end + 7;
    jobs.push_back(job_of(kFolder + "/" + line.substr(name, line.size() - name - 1) + ".wav"));
  }
  ASSERT_EQ(jobs.size(), 6U);
  Listener listener;
  RecognizerOptions options;
  options.decoding.words = true;
  recognizer_->run(jobs, options, listener, {});
  ASSERT_EQ(listener.results.size(), jobs.size());
  EXPECT_FALSE(listener.results[0]);
  ErrorCounts found;
  for (size_t i = 1; i < jobs.size(); ++i) {
    ASSERT_TRUE(listener.results[i]) << listener.results[i].error().message;
    const Transcript& transcript = *listener.results[i];
    EXPECT_EQ(transcript.language, "en");
    ASSERT_EQ(transcript.notes.size(), 1U);
    EXPECT_THAT(transcript.notes[0], testing::HasSubstr("mynah pull tiny.en"));
    EXPECT_EQ(text_of(listener.segments[i]), text_of(transcript.segments));
    double last_s = 0;
    for (const Segment& segment : transcript.segments) {
      EXPECT_LE(last_s, segment.start_s);
      EXPECT_LE(segment.end_s, transcript.duration_s);
      for (const Word& word : segment.words) {
        EXPECT_LE(last_s, word.start_s);
        EXPECT_LT(word.start_s, word.end_s);
        last_s = word.end_s;
      }
    }
    found += TextScorer("en").score(expected[i], text_of(transcript.segments)).counts;
  }
  // Measured: 19 of 71 words. It is a recogniser, not a good one.
  EXPECT_LE(found.rate(), 1.0 / 3);
}

TEST_F(BuiltinRecognizer, says_the_same_live_as_of_a_file) {
  const std::string path = kFolder + "/sense_and_sensibility_01_austen_64kb-0880.wav";
  Listener listener;
  const RecognizerJob jobs[] = {job_of(path)};
  recognizer_->run(jobs, {}, listener, {});
  ASSERT_TRUE(listener.results.at(0));

  auto source = open_audio(path, {});
  ASSERT_TRUE(source);
  const auto session = recognizer_->session({}).value();
  std::vector<Segment> committed;
  std::vector<float> piece(1234);
  bool partial = false;
  while (true) {
    const auto count = (*source)->read(piece);
    ASSERT_TRUE(count);
    if (*count == 0) {
      break;
    }
    auto live = session->push(std::span(piece).first(*count));
    ASSERT_TRUE(live) << live.error().message;
    partial = partial || !live->partial.empty();
    std::ranges::move(live->committed, std::back_inserter(committed));
  }
  auto rest = session->flush();
  ASSERT_TRUE(rest);
  std::ranges::move(rest->committed, std::back_inserter(committed));
  EXPECT_TRUE(partial);
  EXPECT_EQ(text_of(committed), text_of(listener.results[0]->segments));
}

TEST_F(BuiltinRecognizer, ends_as_cancelled_when_it_is_stopped) {
  std::stop_source stop;
  stop.request_stop();
  Listener listener;
  const RecognizerJob jobs[] = {job_of(kFolder + "/sense_and_sensibility_01_austen_64kb-0880.wav")};
  recognizer_->run(jobs, {}, listener, stop.get_token());
  ASSERT_EQ(listener.results.size(), 1U);
  ASSERT_FALSE(listener.results[0]);
  EXPECT_EQ(listener.results[0].error().code, ErrorCode::Cancelled);
}

TEST_F(BuiltinRecognizer, refuses_what_it_cannot_do_before_it_hears_anything) {
  RecognizerOptions options;
  EXPECT_TRUE(recognizer_->check(options));
  options.decoding.language = "de";
  ASSERT_FALSE(recognizer_->check(options));
  EXPECT_EQ(recognizer_->check(options).error().code, ErrorCode::Unsupported);
  options.decoding.language = "en";
  options.decoding.task = Task::Translate;
  EXPECT_FALSE(recognizer_->check(options));
}

}  // namespace
}  // namespace mynah
