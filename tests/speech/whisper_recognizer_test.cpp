// The recogniser over a tiny model with random weights: its text means nothing, but it must be the
// same in every batch, on every number of threads, and however a recording arrives.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "speech/recognizer_fixture.h"
#include "speech/whisper/window_decoder.h"
#include "speech/window_recognizer.h"

namespace mynah {
namespace {

TEST_F(WhisperRecognizerTest, TextIsTheSameAloneAndInEveryBatchAndOnEveryNumberOfThreads) {
  for (const auto& voice : {std::shared_ptr<const VoiceDetector>(), voice_}) {
    RecognizerOptions alone = options();
    alone.cutting.batch = 1;
    const std::string wanted = recognise(five_jobs(), alone, 1, voice);
    EXPECT_NE(wanted.find('['), std::string::npos) << "no text at all: the test shows nothing";
    RecognizerOptions batch = options();
    batch.cutting.batch = 8;
    EXPECT_EQ(recognise(five_jobs(), batch, 1, voice), wanted);
    batch.cutting.batch = 3;
    EXPECT_EQ(recognise(five_jobs(), batch, 2, voice), wanted);
  }
}

TEST_F(WhisperRecognizerTest, EveryOptionOfDecodingRuns) {
  RecognizerOptions all = options();
  all.decoding.words = true;
  all.cutting.condition_on_previous_text = true;
  all.cutting.initial_prompt = "w300 w301";
  all.cutting.hotwords = {"w302", "w303 w304"};
  all.cutting.carry_initial_prompt = true;
  all.decoding.whisper.repetition_penalty = 1.3F;
  all.decoding.whisper.no_repeat_ngram_size = 3;
  all.cutting.hallucination_silence_s = 2.0;
  all.decoding.whisper.beam_size = 2;
  all.decoding.whisper.max_context_tokens = 20;
  all.decoding.whisper.entropy_threshold = 2.4F;
  all.decoding.whisper.suppress_regex = "[0-9]+";
  all.cutting.clips = {{1.0, 2.5}, {4.0, 9.0}};
  const std::string once = recognise(five_jobs(), all, 1, voice_);
  EXPECT_EQ(recognise(five_jobs(), all, 2, voice_), once);
  all.decoding.whisper.context = AudioContext::Full;
  all.decoding.timestamps = false;
  EXPECT_EQ(recognise(five_jobs(), all, 2, nullptr), recognise(five_jobs(), all, 1, nullptr));
}

TEST_F(WhisperRecognizerTest, WhatSeveralClipsShareIsHeardOnce) {
  RecognizerOptions one = options();
  one.cutting.clips = {{1.0, 50.0}};
  RecognizerOptions several = options();
  several.cutting.clips = {{20.0, 50.0}, {1.0, 40.0}, {2.0, 3.0}};
  const std::vector<RecognizerJob> jobs = {job(speech("a", 60))};
  EXPECT_EQ(recognise(jobs, several, 1, nullptr), recognise(jobs, one, 1, nullptr));
}

TEST_F(WhisperRecognizerTest, ABadRecordingEndsInItsErrorAndTheOthersGoOn) {
  const RecognizerJob missing{
      .name = "missing", .open = [] {
        return Result<std::unique_ptr<AudioSource>>(fail(ErrorCode::NotFound, "no such file"));
      }};
  const std::string text =
      recognise({missing, job(speech("a", 3)), job(speech("b", 3), true), job(speech("c", 3))},
                options(), 1, voice_);
  EXPECT_TRUE(text.starts_with("error\njob")) << text;
  EXPECT_NE(text.find("\nerror\njob"), std::string::npos) << text;
}

TEST_F(WhisperRecognizerTest, NothingIsWrittenWhereNobodySpeaks) {
  EXPECT_EQ(
      recognise({job(std::vector<float>(40 * kRate_hz, 0.0F)), job({})}, options(), 1, voice_),
      "job\njob\n");
}

TEST_F(WhisperRecognizerTest, TextInDoubtIsNobodysWhereTheDetectorIsNotSure) {
  // Random weights believe nothing of what they write.
  const std::vector<RecognizerJob> jobs = {job(speech("a", 3))};
  EXPECT_NE(recognise(jobs, options(), 1, voice_), "job\n");
  EXPECT_EQ(recognise(jobs, options(), 1, std::make_shared<const FakeDetector>(false)), "job\n");
}

TEST_F(WhisperRecognizerTest, AfterAStopEveryJobIsCancelled) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const WindowRecognizer recognizer(tiny_windows(false, **backend), voice_);
  std::stop_source stop;
  stop.request_stop();
  Collector collector;
  const std::vector<RecognizerJob> jobs = five_jobs();
  recognizer.run(jobs, options(), collector, stop.get_token());
  ASSERT_EQ(collector.done_.size(), jobs.size());
  for (const Result<Transcript>& result : collector.done_) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  }
}

TEST_F(WhisperRecognizerTest, TheFirstTextDoesNotWaitForAWholeBatch) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const WindowRecognizer recognizer(tiny_windows(false, **backend), voice_);
  Collector collector;
  std::vector<size_t> segments_when_opened;
  std::vector<RecognizerJob> jobs;
  for (int i = 0; i < 3; ++i) {
    RecognizerJob one = job(speech("a", 3));
    one.open = [open = one.open, &collector, &segments_when_opened] {
      segments_when_opened.push_back(collector.segments_[0].size());
      return open();
    };
    jobs.push_back(std::move(one));
  }
  recognizer.run(jobs, options(), collector, std::stop_token());
  ASSERT_EQ(segments_when_opened.size(), 3U);
  EXPECT_GT(segments_when_opened[1], 0U);
  EXPECT_EQ(segments_when_opened[2], segments_when_opened[1]);  // these two share a batch
}

// Tells what it is told of and when.
class EndsCollector final : public Collector {
 public:
  void on_finished(size_t job, const Transcript& transcript) override {
    EXPECT_EQ(transcript.segments.size(), segments_[job].size());
    ends_.push_back("finished " + std::to_string(job));
  }

  void on_done(size_t job, const Result<Transcript>& result) override {
    Collector::on_done(job, result);
    ends_.push_back("done " + std::to_string(job));
  }

  std::vector<std::string> ends_;
};

TEST_F(WhisperRecognizerTest, ShortRecordingsBehindALongOneAreToldOfWhenTheyAreFinished) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  // Without a voice detector the long one's windows come one after the other.
  const WindowRecognizer recognizer(tiny_windows(false, **backend), nullptr);
  EndsCollector collector;
  recognizer.run({{job(speech("long", 100)), job(speech("b", 3)), job(speech("c", 3))}}, options(),
                 collector, std::stop_token());
  EXPECT_THAT(collector.ends_,
              testing::ElementsAre("finished 1", "finished 2", "done 0", "done 1", "done 2"));
}

TEST_F(WhisperRecognizerTest, AStopInABatchKeepsWhatWasReportedAndOpensNothingMore) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const WindowRecognizer recognizer(tiny_windows(false, **backend), voice_);
  std::stop_source stop;
  int opened = 0;
  std::vector<RecognizerJob> jobs;
  for (int i = 0; i < 4; ++i) {
    RecognizerJob one = job(speech("a", 3));
    one.open = [open = one.open, i, &stop, &opened] {
      ++opened;
      if (i == 2) {
        stop.request_stop();
      }
      return open();
    };
    jobs.push_back(std::move(one));
  }
  Collector collector;
  recognizer.run(jobs, options(), collector, stop.get_token());
  EXPECT_EQ(opened, 3);
  ASSERT_EQ(collector.done_.size(), 4U);
  EXPECT_TRUE(collector.done_[0].has_value());  // the first batch was done
  for (size_t i = 1; i < 4; ++i) {
    ASSERT_FALSE(collector.done_[i].has_value());
    EXPECT_EQ(collector.done_[i].error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(collector.segments_[i].empty());
  }
}

TEST_F(WhisperRecognizerTest, AStopIsSeenBetweenLayersAndTokens) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const auto model = test::tiny_model(false, **backend);
  auto made = WhisperWindowDecoder::create(model, options().decoding);
  ASSERT_TRUE(made.has_value());
  WindowDecoder* const decoder = made->get();
  std::stop_source stop;
  stop.request_stop();
  const std::vector<float> samples = speech("a", 3);
  WindowTask task;
  task.samples = samples;
  const auto heard = decoder->decode(std::span(&task, 1), stop.get_token());
  ASSERT_TRUE(heard.has_value());
  ASSERT_EQ(heard->size(), 1U);
  EXPECT_TRUE(heard->front().segments.empty());
  EXPECT_EQ(decoder->timings().decoder_ms, 0.0);
}

TEST_F(WhisperRecognizerTest, OptionsThatTheModelCannotDoAreRefusedBeforeAnyAudioIsOpened) {
  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const WindowRecognizer recognizer(tiny_windows(false, **backend), nullptr);
  RecognizerOptions wrong = options();
  EXPECT_TRUE(recognizer.check(wrong).has_value());
  wrong.decoding.task = Task::Translate;
  EXPECT_EQ(recognizer.check(wrong).error().code, ErrorCode::Unsupported);
  wrong = options();
  wrong.decoding.language = "german";
  EXPECT_EQ(recognizer.check(wrong).error().code, ErrorCode::Unsupported);
  EXPECT_THAT(recognizer.check(wrong).error().message, testing::HasSubstr("`mynah pull small`"));
  wrong.decoding.language = "elvish";
  EXPECT_EQ(recognizer.check(wrong).error().code, ErrorCode::InvalidInput);
  for (const auto& [text, meant] : {std::pair{"en-US", "(did you mean en?)"},
                                    {"pt_BR", "(did you mean pt?)"},
                                    {"germn", "(did you mean german?)"}}) {
    wrong.decoding.language = text;
    EXPECT_THAT(recognizer.check(wrong).error().message, testing::HasSubstr(meant));
  }
  wrong = options();
  wrong.decoding.whisper.suppress_regex = "(";
  EXPECT_EQ(recognizer.check(wrong).error().code, ErrorCode::InvalidInput);
  wrong = options();
  wrong.decoding.whisper.suppress_tokens = {99999};
  EXPECT_EQ(recognizer.check(wrong).error().code, ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace mynah
