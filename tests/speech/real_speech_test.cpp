// tiny.en's real weights behind each voice detector: nothing is written where nobody speaks, and
// nothing is lost where somebody does.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "backend/cpu/cpu_backend.h"
#include "speech/decode_quality.h"
#include "speech/recognizer.h"
#include "speech/window_model.h"
#include "test_paths.h"

namespace mynah {
namespace {

class Texts final : public RecognizerObserver {
 public:
  void on_done(size_t /*job*/, const Result<Transcript>& result) override {
    std::string text = result ? "" : result.error().message;
    for (const Segment& segment : result ? result->segments : std::vector<Segment>{}) {
      text += segment.text;
      segments.push_back(segment);
    }
    texts.push_back(std::move(text));
  }

  std::vector<std::string> texts;
  std::vector<Segment> segments;
};

// A recording with so much silence before and behind it.
class BetweenSilences final : public AudioSource {
 public:
  BetweenSilences(std::unique_ptr<AudioSource> source, double silence_s)
      : source_(std::move(source)),
        before_(static_cast<size_t>(silence_s * rate_hz())),
        behind_(before_) {}

  Result<size_t> read(std::span<float> out) override {
    if (before_ > 0) {
      return silence(before_, out);
    }
    MYNAH_TRY(const size_t count, source_->read(out));
    return count > 0 ? count : silence(behind_, out);
  }

  [[nodiscard]] int rate_hz() const override { return 16000; }

  [[nodiscard]] std::optional<double> duration_s() const override { return std::nullopt; }

 private:
  static size_t silence(size_t& left, std::span<float> out) {
    const size_t count = std::min(left, out.size());
    std::ranges::fill(out.first(count), 0.0F);
    left -= count;
    return count;
  }

  std::unique_ptr<AudioSource> source_;
  size_t before_;
  size_t behind_;
};

class RealSpeech : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(test::weights_path("tiny.en"));
    MYNAH_SKIP_WITHOUT(test::shared_path("speech"));
    auto backend = make_cpu_backend(pool_);
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    backend_ = std::move(*backend);
    std::shared_ptr<const VoiceDetector> voice = builtin_voice_detector();
    if (std::string(GetParam()) == "silero") {
      MYNAH_SKIP_WITHOUT(test::weights_path("silero/silero_vad.onnx"));
      auto silero = load_silero(test::weights_path("silero/silero_vad.onnx"), 16000, *backend_);
      ASSERT_TRUE(silero.has_value()) << silero.error().message;
      voice = *silero;
    }
    HearingLoadOptions options;
    options.storage = DType::I8;
    auto recognizer =
        load_recognizer(test::weights_path("tiny.en"), options, *backend_, std::move(voice));
    ASSERT_TRUE(recognizer.has_value()) << recognizer.error().message;
    recognizer_ = *recognizer;
  }

  static RecognizerJob job(const std::string& path) {
    return {.name = path, .open = [path] { return open_audio(path, {}); }};
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Recognizer> recognizer_;
};

// A window is heard twice where its text is in doubt: whichever of the two a stop cuts short,
// nothing is asked of what was not heard.
TEST_P(RealSpeech, AStopAtAnyTimeEndsWhatIsNotDone) {
  const std::vector<RecognizerJob> jobs = {
      job(test::shared_path("speech/clips/azure_de-DE_training_audio1.flac"))};
  RecognizerOptions doubtful;
  doubtful.decoding.whisper.log_probability_threshold = 0.0F;  // no text is that likely
  doubtful.decoding.whisper.temperatures = {0.0F};
  doubtful.decoding.whisper.max_new_tokens = 8;
  const auto begin = std::chrono::steady_clock::now();
  Texts whole;
  recognizer_->run(jobs, doubtful, whole, {});
  const auto time = std::chrono::steady_clock::now() - begin;
  constexpr int kStops = 12;
  for (int i = 0; i < kStops; ++i) {
    std::stop_source stop;
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(time * i / kStops);
      stop.request_stop();
    });
    Texts stopped;
    recognizer_->run(jobs, doubtful, stopped, stop.get_token());
    ASSERT_EQ(stopped.texts.size(), jobs.size());
    for (size_t k = 0; k < jobs.size(); ++k) {
      EXPECT_TRUE(stopped.texts[k] == whole.texts[k] ||
                  stopped.texts[k] == "stopped before the end of the recording")
          << stopped.texts[k];
    }
  }
}

TEST_P(RealSpeech, NothingIsWrittenOfNoiseMusicAndAnimals) {
  std::vector<RecognizerJob> jobs;
  for (const auto& file : std::filesystem::directory_iterator(test::shared_path("speech/noise"))) {
    jobs.push_back(job(file.path()));
  }
  ASSERT_EQ(jobs.size(), 9U);
  Texts whole;
  recognizer_->run(jobs, {}, whole, {});
  EXPECT_EQ(whole.texts, std::vector<std::string>(9));

  for (const RecognizerJob& one : jobs) {
    const auto source = one.open();
    ASSERT_TRUE(source.has_value());
    const auto session = recognizer_->session({}).value();
    std::vector<float> piece(1600);
    std::string committed;
    const auto commit = [&committed](const LiveText& live) {
      committed += text_of(live.committed) + live.agreed;
    };
    while (const size_t count = (*source)->read(piece).value_or(0)) {
      for (const auto& live : {session->push(std::span(piece).first(count)), session->wait()}) {
        ASSERT_TRUE(live.has_value());
        commit(*live);
      }
    }
    const auto rest = session->flush();
    ASSERT_TRUE(rest.has_value());
    commit(*rest);
    EXPECT_EQ(committed, "") << one.name;
  }
}

TEST_P(RealSpeech, AnotherLanguageIsDoubtfulThroughoutAndEnglishIsNot) {
  class Doubts final : public RecognizerObserver {
   public:
    void on_done(size_t /*job*/, const Result<Transcript>& result) override {
      ASSERT_TRUE(result.has_value()) << result.error().message;
      doubtful.push_back(doubtful_throughout(result->segments));
      texts.push_back(text_of(result->segments));
    }

    std::vector<bool> doubtful;
    std::vector<std::string> texts;
  };

  Doubts heard;
  const std::vector<RecognizerJob> jobs = {
      job(test::shared_path("speech/clips/azure_de-DE_testing_audio.flac")),
      job(test::shared_path("speech/clips/azure_es-ES_testing_audio.flac")),
      job(test::shared_path("speech/clips/jfk_jfk.flac"))};
  recognizer_->run(jobs, {}, heard, {});
  ASSERT_EQ(heard.doubtful.size(), 3U);
  EXPECT_TRUE(heard.doubtful[0]);
  EXPECT_TRUE(heard.doubtful[1] || heard.texts[1].empty()) << "it is nobody's altogether";
  EXPECT_FALSE(heard.doubtful[2]);
}

TEST_P(RealSpeech, NoWordIsLostToTheDetector) {
  const std::vector<RecognizerJob> jobs = {job(test::shared_path("speech/clips/jfk_jfk.flac"))};
  Texts heard;
  recognizer_->run(jobs, {}, heard, {});
  ASSERT_EQ(heard.texts.size(), 1U);
  std::string words;
  for (const char c : heard.texts.front()) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ') {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  EXPECT_EQ(words,
            " and so my fellow americans ask not what your country can do for you"
            " ask what you can do for your country");
}

// What is heard has padding, which is nobody's time.
// Samples as a recording.
class Samples final : public AudioSource {
 public:
  explicit Samples(std::vector<float> samples) : samples_(std::move(samples)) {}

  Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

  [[nodiscard]] int rate_hz() const override { return 16000; }

  [[nodiscard]] std::optional<double> duration_s() const override { return std::nullopt; }

 private:
  std::vector<float> samples_;
  size_t at_ = 0;
};

TEST_P(RealSpeech, WhoSpeaksLowBehindSomebodyLoudIsHeard) {
  std::vector<float> samples;
  for (const auto& [name, peak] : {std::pair("misc_arctic_a0024", 0.7F),
                                   std::pair("librispeech_test-other_1688-142285-0004", 0.08F)}) {
    const auto path = test::shared_path("speech/clips/" + std::string(name) + ".flac");
    const auto source = open_audio(path, {});
    ASSERT_TRUE(source);
    std::vector<float> clip(16000 * 10);
    size_t count = 0;
    for (size_t got = 1; got > 0; count += got) {
      const auto read = (*source)->read(std::span(clip).subspan(count));
      ASSERT_TRUE(read);
      got = *read;
    }
    clip.resize(count);
    const auto [least, most] = std::ranges::minmax(clip);
    for (const float sample : clip) {
      samples.push_back(sample * peak / std::max(-least, most));
    }
  }
  Texts texts;
  const RecognizerJob both{.name = "both",
                           .open = [&samples]() -> Result<std::unique_ptr<AudioSource>> {
                             return std::make_unique<Samples>(samples);
                           }};
  recognizer_->run(std::span(&both, 1), {}, texts, {});
  ASSERT_EQ(texts.texts.size(), 1U);
  EXPECT_THAT(texts.texts[0], testing::HasSubstr("induced people to buy"));
  // A detector that leans to speech does not say where there surely is some.
  if (std::string(GetParam()) == "silero") {
    EXPECT_THAT(texts.texts[0], testing::HasSubstr("best of all"));
  }
}

TEST_P(RealSpeech, SegmentsBeginAndEndWithTheirSpeech) {
  const std::string path = test::shared_path("speech/clips/jfk_jfk.flac");  // speech: 0.3 to 10.6 s
  const std::vector<RecognizerJob> jobs = {
      {.name = path, .open = [path]() -> Result<std::unique_ptr<AudioSource>> {
         MYNAH_TRY(auto source, open_audio(path, {}));
         return std::make_unique<BetweenSilences>(std::move(source), 8.0);
       }}};
  Texts heard;
  recognizer_->run(jobs, {}, heard, {});
  ASSERT_FALSE(heard.segments.empty());
  EXPECT_NEAR(heard.segments.front().start_s, 8.3, 0.2);
  if (std::string_view(GetParam()) == "silero") {  // the other takes silence for speech, at times
    EXPECT_NEAR(heard.segments.back().end_s, 18.6, 0.3);
  }
}

INSTANTIATE_TEST_SUITE_P(Detectors, RealSpeech, testing::Values("builtin", "silero"),
                         [](const auto& detector) { return std::string(detector.param); });

}  // namespace
}  // namespace mynah
