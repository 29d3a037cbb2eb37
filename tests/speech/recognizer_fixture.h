// The recogniser over a tiny model with random weights: recordings in memory, a detector that knows
// them, and what it is told.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "memory_source.h"
#include "models/whisper/tiny_model.h"
#include "speech/voice_detector.h"
#include "speech/whisper/window_decoder.h"
#include "speech/window_recognizer.h"

namespace mynah {

// Says that a frame is speech when its first sample is not zero.
class FakeDetector final : public VoiceDetector {
 public:
  explicit FakeDetector(bool sure = true) : sure_(sure) {}

  class FakeSession final : public Session {
   public:
    Result<std::vector<float>> push(std::span<const float> samples) override {
      held_.insert(held_.end(), samples.begin(), samples.end());
      std::vector<float> result;
      const size_t whole = held_.size() / kFrame * kFrame;
      for (size_t begin = 0; begin < whole; begin += kFrame) {
        result.push_back(held_[begin] != 0 ? 1.0F : 0.0F);
      }
      held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(whole));
      return result;
    }

    Result<std::vector<float>> flush() override {
      held_.clear();
      return std::vector<float>{};
    }

    void reset() override { held_.clear(); }

    [[nodiscard]] Result<std::vector<std::byte>> save() const override {
      const auto bytes = std::as_bytes(std::span(held_));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    }

    Status restore(std::span<const std::byte> state) override {
      held_.resize(state.size() / sizeof(float));
      std::ranges::copy(state, std::as_writable_bytes(std::span(held_)).begin());
      return {};
    }

   private:
    static constexpr size_t kFrame = 512;
    std::vector<float> held_;
  };

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<FakeSession>();
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> /*recordings*/) const override {
    return fail(ErrorCode::Unsupported, "not asked for");
  }

  [[nodiscard]] int rate_hz() const override { return kRate_hz; }

  [[nodiscard]] double frame_s() const override { return 0.032; }

  [[nodiscard]] std::string name() const override { return "fake"; }

  [[nodiscard]] bool is_sure() const override { return sure_; }

 private:
  bool sure_;
};

class Collector : public RecognizerObserver {
 public:
  void on_segment(size_t job, const Segment& segment) override {
    EXPECT_EQ(segment.id, static_cast<int64_t>(segments_[job].size()));
    if (!segments_[job].empty()) {
      EXPECT_GE(segment.start_s, segments_[job].back().start_s);
    }
    segments_[job].push_back(segment);
  }

  void on_done(size_t job, const Result<Transcript>& result) override {
    EXPECT_EQ(job, done_.size()) << "jobs end in their order";
    done_.push_back(result);
    if (result) {
      EXPECT_EQ(result->segments.size(), segments_[job].size());
    }
  }

  // Tokens and times of every job, as text.
  [[nodiscard]] std::string all() const {
    std::string text;
    for (const Result<Transcript>& result : done_) {
      text += result ? "job" : "error";
      for (const Segment& segment : result ? result->segments : std::vector<Segment>{}) {
        text += " [" + std::to_string(segment.start_s) + " " + std::to_string(segment.end_s);
        for (const int32_t token : segment.tokens) {
          text += " " + std::to_string(token);
        }
        text += "]";
      }
      text += "\n";
    }
    return text;
  }

  std::map<size_t, std::vector<Segment>> segments_;
  std::vector<Result<Transcript>> done_;
};

inline std::shared_ptr<const WindowModel> tiny_windows(bool multilingual, Backend& backend) {
  return std::make_shared<const WhisperWindows>(test::tiny_model(multilingual, backend));
}

class WhisperRecognizerTest : public testing::Test {
 protected:
  static std::vector<float> speech(const std::string& name, double seconds) {
    std::vector<float> samples =
        test::seeded_uniform(name, static_cast<int64_t>(seconds * kRate_hz));
    for (float& sample : samples) {
      sample = sample * 0.1F + 0.001F;
    }
    return samples;
  }

  static RecognizerOptions options() {
    RecognizerOptions options;
    options.decoding.language = "en";
    options.decoding.whisper.max_new_tokens = 12;
    options.decoding.whisper.temperatures = {0.0F, 0.4F};
    options.decoding.whisper.best_of = 2;
    options.decoding.whisper.no_speech_threshold.reset();
    return options;
  }

  static std::string recognise(const std::vector<RecognizerJob>& jobs,
                               const RecognizerOptions& options, int threads,
                               const std::shared_ptr<const VoiceDetector>& voice) {
    ThreadPool pool(threads);
    auto backend = make_cpu_backend(pool);
    EXPECT_TRUE(backend.has_value());
    const WindowRecognizer recognizer(tiny_windows(false, **backend), voice);
    Collector collector;
    recognizer.run(jobs, options, collector, std::stop_token());
    EXPECT_EQ(collector.done_.size(), jobs.size());
    return collector.all();
  }

  std::vector<RecognizerJob> five_jobs() {
    std::vector<float> with_pauses = speech("pauses", 50);
    std::fill_n(with_pauses.begin() + 10 * kRate_hz, 6 * kRate_hz, 0.0F);
    std::fill_n(with_pauses.begin() + 30 * kRate_hz, 5 * kRate_hz, 0.0F);
    return {job(speech("a", 3)), job(speech("b", 0.7)), job(with_pauses), job({}),
            job(speech("c", 12))};
  }

  std::shared_ptr<const VoiceDetector> voice_ = std::make_shared<const FakeDetector>();
};

}  // namespace mynah
