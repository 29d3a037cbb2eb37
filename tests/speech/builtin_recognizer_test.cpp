// PocketSphinx behind Recognizer, on the LibriVox sentences of the package pocketsphinx-testdata.
#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "memory_source.h"
#include "speech/recognizer.h"
#include "speech/sphinx/sphinx_windows.h"
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

std::vector<float> samples_of_file(const std::string& path) {
  std::vector<float> samples;
  std::vector<float> piece(8000);
  const auto source = open_audio(path, {});
  EXPECT_TRUE(source);
  while (source) {
    const auto count = (*source)->read(piece);
    EXPECT_TRUE(count);
    if (!count || *count == 0) {
      break;
    }
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(*count));
  }
  return samples;
}

// SphinxWindows that are heard when they are let.
class GatedWindows final : public WindowModel {
 public:
  explicit GatedWindows(std::shared_ptr<const WindowModel> model) : model_(std::move(model)) {}

  void close(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }

  void pass(const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !closed_; });
  }

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override {
    return model_->header();
  }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override;

  [[nodiscard]] Result<Probe> probe() const override { return model_->probe(); }

  [[nodiscard]] WindowDevices devices() const override { return model_->devices(); }

 private:
  std::shared_ptr<const WindowModel> model_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  bool closed_ = false;
};

class GatedDecoder final : public WindowDecoder {
 public:
  GatedDecoder(const GatedWindows& gate, std::unique_ptr<WindowDecoder> decoder)
      : gate_(gate), decoder_(std::move(decoder)) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    EXPECT_EQ(tasks.size(), 1U) << "nobody waits for the others of a batch";
    gate_.pass(stop);
    return decoder_->decode(tasks, stop);
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    gate_.pass(stop);
    return decoder_->draft(task, stop);
  }

  [[nodiscard]] const WindowTimings& timings() const override { return decoder_->timings(); }

 private:
  const GatedWindows& gate_;
  std::unique_ptr<WindowDecoder> decoder_;
};

Result<std::unique_ptr<WindowDecoder>> GatedWindows::decoder(const DecodingOptions& options) const {
  auto made = model_->decoder(options);
  EXPECT_TRUE(made);
  return std::make_unique<GatedDecoder>(*this, *std::move(made));
}

class BuiltinRecognizer : public testing::Test {
 protected:
  // Some of the sentences, with a second behind each.
  static std::vector<float> sentences(std::initializer_list<const char*> numbers) {
    std::vector<float> samples;
    for (const char* number : numbers) {
      const auto said =
          samples_of_file(kFolder + "/sense_and_sensibility_01_austen_64kb-" + number + ".wav");
      samples.insert(samples.end(), said.begin(), said.end());
      samples.resize(samples.size() + kRate_hz, 0.0F);
    }
    return samples;
  }

  // The text of a session, in pieces as a microphone has them.
  static std::string hear_live(const Recognizer& recognizer, std::span<const float> samples) {
    constexpr size_t kPiece = 4000;
    RecognizerOptions options;
    options.cutting.partial_text = false;
    const auto session = recognizer.session(options).value();
    std::string text;
    const auto take = [&](const Result<LiveText>& live) {
      EXPECT_TRUE(live) << live.error().message;
      text += live ? text_of(live->committed) : "";
    };
    for (size_t at = 0; at < samples.size(); at += kPiece) {
      take(session->push(samples.subspan(at, std::min(kPiece, samples.size() - at))));
    }
    take(session->flush());
    return text;
  }

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
    // What is heard of it comes after the push.
    for (auto live : {session->push(std::span(piece).first(*count)), session->wait()}) {
      ASSERT_TRUE(live) << live.error().message;
      partial = partial || !live->partial.empty();
      EXPECT_EQ(live->agreed, "") << "all of it may change until it is committed";
      std::ranges::move(live->committed, std::back_inserter(committed));
    }
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

TEST_F(BuiltinRecognizer, decodes_nothing_in_a_push) {
  const auto gate = std::make_shared<GatedWindows>(SphinxWindows::create().value());
  const auto recognizer = make_recognizer(gate, builtin_voice_detector());
  const auto session = recognizer->session({}).value();
  gate->close(true);
  // They come back though nobody hears.
  EXPECT_EQ(text_of(session->push(sentences({"0880", "0890"}))->committed), "");
  EXPECT_EQ(session->push(std::vector<float>(kRate_hz))->partial, "");
  gate->close(false);
  const auto live = session->flush();
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_GE(live->committed.size(), 2U);
}

TEST_F(BuiltinRecognizer, hears_several_who_speak_at_once_as_if_each_were_alone) {
  const std::vector<float> samples = sentences({"0880", "0930"});
  const std::span<const float> all = samples;
  const std::span<const float> half = all.first(all.size() / 2);
  const std::string wanted[] = {hear_live(*recognizer_, all), hear_live(*recognizer_, half)};
  EXPECT_NE(wanted[0], wanted[1]);
  std::string heard[3];
  {
    std::vector<std::jthread> speakers;
    for (size_t i = 0; i < std::size(heard); ++i) {
      speakers.emplace_back([&, i] { heard[i] = hear_live(*recognizer_, i == 0 ? all : half); });
    }
  }
  EXPECT_EQ(heard[0], wanted[0]);
  EXPECT_EQ(heard[1], wanted[1]);
  EXPECT_EQ(heard[2], wanted[1]);
}

TEST_F(BuiltinRecognizer, ends_a_window_early_once_it_is_stopped_and_hears_the_next_as_before) {
  const auto decoder = SphinxWindows::create().value()->decoder({}).value();
  const std::vector<float> samples = sentences({"0880", "0930"});
  const WindowTask task{.samples = samples};
  const auto hear = [&](const std::stop_token& stop) {
    timespec begin{};
    timespec end{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    const auto heard = decoder->decode(std::span(&task, 1), stop);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    EXPECT_TRUE(heard) << heard.error().message;
    const double spent_s = static_cast<double>(end.tv_sec - begin.tv_sec) +
                           1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
    return std::pair(spent_s, heard ? heard->front().text() : "");
  };
  const std::string first = hear({}).second;  // which opens it, too
  const auto [whole_s, text] = hear({});
  EXPECT_EQ(text, first);
  EXPECT_FALSE(text.empty());
  std::stop_source stop;
  double stopped_s = 0;
  {
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    stopped_s = hear(stop.get_token()).first;
  }
  EXPECT_LT(stopped_s, whole_s / 2);
  EXPECT_EQ(hear({}).second, text);
  EXPECT_EQ(hear(stop.get_token()).second, "");
}

TEST_F(BuiltinRecognizer, drafts_what_was_said_so_far_and_what_is_new_of_it) {
  const auto decoder = SphinxWindows::create().value()->decoder({}).value();
  const std::vector<float> samples =
      samples_of_file(kFolder + "/sense_and_sensibility_01_austen_64kb-0880.wav");
  std::string last;
  for (size_t end = kRate_hz; end < samples.size(); end += kRate_hz) {
    const auto draft = decoder->draft({.samples = std::span(samples).first(end)}, {});
    ASSERT_TRUE(draft) << draft.error().message;
    last = draft->text();
  }
  EXPECT_THAT(last, testing::StartsWith(" "));
  const WindowTask whole{.samples = samples};
  const auto heard = decoder->decode(std::span(&whole, 1), {});
  const auto other = SphinxWindows::create().value()->decoder({}).value();
  const auto alone = other->decode(std::span(&whole, 1), {});
  ASSERT_TRUE(heard && alone);
  EXPECT_EQ(heard->front().text(), alone->front().text()) << "whatever was drafted before";
}

TEST_F(BuiltinRecognizer, times_words_inside_of_the_recording_whoever_cuts_it) {
  std::vector<float> samples;
  while (samples.size() < size_t{31} * kRate_hz) {  // longer than a window
    const std::vector<float> more = sentences({"0880", "0890", "0930"});
    samples.insert(samples.end(), more.begin(), more.end());
  }
  const double duration_s = static_cast<double>(samples.size()) / kRate_hz;
  RecognizerOptions options;
  options.decoding.words = true;
  // All of it by the clock, and a part of it by its pauses.
  for (const ClipRange& clip : {ClipRange{0, duration_s}, ClipRange{2, 7.5}}) {
    options.cutting.vad = clip.start_s > 0;
    options.cutting.clips = {clip};
    Listener listener;
    const RecognizerJob jobs[] = {job(samples)};
    recognizer_->run(jobs, options, listener, {});
    ASSERT_TRUE(listener.results.at(0)) << listener.results[0].error().message;
    double last_s = clip.start_s;
    size_t words = 0;
    for (const Segment& segment : listener.results[0]->segments) {
      std::string said;
      for (const Word& word : segment.words) {
        EXPECT_LE(last_s, word.start_s + 1e-6);
        EXPECT_LT(word.start_s, word.end_s);
        EXPECT_LE(word.end_s, clip.end_s + 1e-6);
        EXPECT_GE(word.start_s, segment.start_s - 1e-6);
        EXPECT_LE(word.end_s, segment.end_s + 1e-6);
        last_s = word.end_s;
        said += word.text;
        ++words;
      }
      EXPECT_EQ(said, segment.text);
    }
    EXPECT_GE(words, options.cutting.vad ? 5U : 60U);
  }
}

TEST_F(BuiltinRecognizer, writes_nothing_of_noise) {
  std::vector<float> noise(10 * kRate_hz);
  uint32_t state = 1;
  for (float& sample : noise) {
    state = state * 1664525U + 1013904223U;
    sample = 0.05F * (static_cast<float>(state >> 8U) / static_cast<float>(1U << 23U) - 1);
  }
  Listener listener;
  const RecognizerJob jobs[] = {job(noise)};
  recognizer_->run(jobs, {}, listener, {});
  ASSERT_TRUE(listener.results.at(0));
  EXPECT_EQ(text_of(listener.results[0]->segments), "");
  EXPECT_EQ(hear_live(*recognizer_, noise), "");
}

}  // namespace
}  // namespace mynah
