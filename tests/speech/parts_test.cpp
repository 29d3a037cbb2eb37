// Long runs, which the recogniser shares out to the parts of its device: the same text in the same
// order, and every way out of it.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "speech/recognizer_fixture.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// Beside what was said, which threads said so.
class ThreadCollector final : public Collector {
 public:
  void on_segment(size_t job, const Segment& segment) override {
    Collector::on_segment(job, segment);
    threads_.insert(std::this_thread::get_id());
    if (when_heard_) {
      when_heard_();
    }
  }

  std::set<std::thread::id> threads_;
  std::function<void()> when_heard_;
};

// What goes wrong with a detector, and when.
struct Failure {
  enum class Kind : uint8_t { Lost, Refuses, RefusesTheEnd } kind;
  int after_s = 0;  // of audio, however it comes; it works again behind
};

class FailingDetector final : public VoiceDetector {
 public:
  explicit FailingDetector(Failure failure)
      : failure_(failure), left_(int64_t{failure.after_s} * kRate_hz) {}

  class FailingSession final : public Session {
   public:
    explicit FailingSession(const FailingDetector& detector)
        : detector_(detector), session_(FakeDetector().session()) {}

    Result<std::vector<float>> push(std::span<const float> samples) override {
      const auto count = static_cast<int64_t>(samples.size());
      const int64_t left = detector_.left_.fetch_sub(count);
      if (detector_.failure_.kind == Failure::Kind::Lost && left < count) {
        throw DeviceError({ErrorCode::Device, "the device fell off the bus"});
      }
      if (detector_.failure_.kind == Failure::Kind::Refuses && left >= 0 && left < count) {
        return fail(ErrorCode::Device, "the device answers no more");
      }
      return session_->push(samples);
    }

    Result<std::vector<float>> flush() override {
      if (detector_.failure_.kind == Failure::Kind::RefusesTheEnd) {
        return fail(ErrorCode::Device, "the device answers no more");
      }
      return session_->flush();
    }

    void reset() override { session_->reset(); }

    [[nodiscard]] Result<std::vector<std::byte>> save() const override { return session_->save(); }

    Status restore(std::span<const std::byte> state) override { return session_->restore(state); }

   private:
    const FailingDetector& detector_;
    std::unique_ptr<Session> session_;
  };

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<FailingSession>(*this);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    return FakeDetector().probabilities(recordings);
  }

  [[nodiscard]] int rate_hz() const override { return kRate_hz; }

  [[nodiscard]] double frame_s() const override { return FakeDetector().frame_s(); }

  [[nodiscard]] std::string name() const override { return "failing"; }

 private:
  Failure failure_;
  mutable std::atomic<int64_t> left_;  // samples
};

class PartsTest : public WhisperRecognizerTest {
 protected:
  // Windows of a few seconds, two a batch: many batches.
  static RecognizerOptions short_windows() {
    RecognizerOptions short_windows = options();
    short_windows.cutting.chunk_length_s = 5;
    short_windows.cutting.batch = 2;
    short_windows.decoding.whisper.max_new_tokens = 6;
    return short_windows;
  }

  // Three minutes with a pause in every eight seconds, then short ones.
  static std::vector<RecognizerJob> many_windows() {
    std::vector<float> longest = speech("long", 180);
    for (size_t at = 6 * kRate_hz; at + 2 * kRate_hz < longest.size(); at += 8 * kRate_hz) {
      std::fill_n(longest.begin() + static_cast<ptrdiff_t>(at), 2 * kRate_hz, 0.0F);
    }
    std::vector<RecognizerJob> jobs = {job(longest)};
    for (int i = 0; i < 12; ++i) {
      jobs.push_back(job(speech("short" + std::to_string(i), 1 + i % 3), i == 5));
    }
    return jobs;
  }

  void run(const std::vector<RecognizerJob>& jobs, const RecognizerOptions& options, int threads,
           Collector& collector, const std::stop_token& stop = {}) const {
    ThreadPool pool(threads);
    auto backend = make_cpu_backend(pool);
    ASSERT_TRUE(backend.has_value());
    const WindowRecognizer recognizer(tiny_windows(false, **backend), voice_);
    recognizer.run(jobs, options, collector, stop);
    EXPECT_EQ(collector.done_.size(), jobs.size());
  }
};

TEST_F(PartsTest, GiveTheSameTextInTheSameOrder) {
  RecognizerOptions with_words = short_windows();
  with_words.decoding.words = true;
  for (const RecognizerOptions& how : {short_windows(), with_words}) {
    Collector alone;
    run(many_windows(), how, 1, alone);
    EXPECT_GT(alone.segments_[0].size(), 20U);
    for (const int threads : {2, how.decoding.words ? 3 : 5}) {
      Collector parts;
      run(many_windows(), how, threads, parts);
      EXPECT_EQ(parts.all(), alone.all()) << threads << " threads";
    }
  }
}

TEST_F(PartsTest, AreHeardByThreadsOfTheirOwn) {
  // Which thread takes a batch is the system's choice: it may take some runs until two have.
  size_t threads = 0;
  for (int attempt = 0; attempt < 50 && threads < 2; ++attempt) {
    ThreadCollector collector;
    run(many_windows(), short_windows(), 2, collector);
    threads = collector.threads_.size();
  }
  EXPECT_GE(threads, 2U);
}

TEST_F(WhisperRecognizerTest, AWindowThatIsStoppedLeavesTheOthersOfItsBatchAsTheyAre) {
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const auto model = tiny_windows(false, **backend);
  const std::array sounds = {speech("a", 3), speech("b", 2), speech("c", 4)};
  for (const int beams : {1, 3}) {
    RecognizerOptions how = options();
    how.decoding.whisper.beam_size = beams;
    const auto decoder = model->decoder(how.decoding);
    ASSERT_TRUE(decoder);
    std::array<WindowTask, 3> tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].samples = sounds[i];
    }
    const auto whole = (*decoder)->decode(tasks, {});
    ASSERT_TRUE(whole) << whole.error().message;
    std::stop_source stop;
    tasks[1].stop = stop.get_token();
    stop.request_stop();
    const auto heard = (*decoder)->decode(tasks, {});
    ASSERT_TRUE(heard) << heard.error().message;
    EXPECT_EQ((*heard)[0].text(), (*whole)[0].text());
    EXPECT_EQ((*heard)[2].text(), (*whole)[2].text());
    EXPECT_LT((*heard)[1].text().size(), (*whole)[1].text().size()) << "it was left";
  }
}

TEST_F(PartsTest, StopWithoutTextsThatAreUnfinished) {
  Collector whole;
  run(many_windows(), short_windows(), 1, whole);
  for (const size_t after : {size_t{1}, size_t{7}}) {
    std::stop_source stop;
    ThreadCollector collector;
    collector.when_heard_ = [&, heard = size_t{0}]() mutable {
      if (++heard == after) {
        stop.request_stop();
      }
    };
    run(many_windows(), short_windows(), 2, collector, stop.get_token());
    ASSERT_FALSE(collector.done_[0].has_value());
    EXPECT_EQ(collector.done_[0].error().code, ErrorCode::Cancelled);
    const std::vector<Segment>& kept = collector.segments_[0];
    ASSERT_GE(kept.size(), after);
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i].tokens, whole.segments_[0][i].tokens);
    }
  }
}

TEST_F(PartsTest, EndEveryJobInTheErrorOfADeviceThatIsLost) {
  for (const int seconds : {20, 60, 100}) {
    voice_ = std::make_shared<const FailingDetector>(Failure{Failure::Kind::Lost, seconds});
    Collector collector;
    run(many_windows(), short_windows(), 2, collector);
    ASSERT_FALSE(collector.done_.back().has_value());
    EXPECT_EQ(collector.done_.back().error().code, ErrorCode::Device);
    EXPECT_EQ(collector.done_.back().error().message, "the device fell off the bus");
  }
}

TEST_F(PartsTest, NothingIsHeardBehindWhatTheDetectorDidNotHear) {
  const std::vector<RecognizerJob> one = {job(speech("one", 180))};
  Collector whole;
  run(one, short_windows(), 1, whole);
  for (const int threads : {1, 2}) {
    voice_ = std::make_shared<const FailingDetector>(Failure{Failure::Kind::Refuses, 60});
    Collector cut;
    run(one, short_windows(), threads, cut);
    ASSERT_FALSE(cut.done_[0].has_value());
    EXPECT_EQ(cut.done_[0].error().message, "the device answers no more");
    const std::vector<Segment>& kept = cut.segments_[0];
    ASSERT_FALSE(kept.empty());
    EXPECT_LT(kept.back().end_s, 60.0);
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i].tokens, whole.segments_[0][i].tokens);
    }
  }
}

TEST_F(PartsTest, ADetectorThatFailsAtTheEndIsNotIgnored) {
  voice_ = std::make_shared<const FailingDetector>(Failure{Failure::Kind::RefusesTheEnd});
  const std::vector<RecognizerJob> one = {job(speech("one", 12))};
  Collector collector;
  run(one, short_windows(), 1, collector);
  ASSERT_FALSE(collector.done_[0].has_value());
  EXPECT_EQ(collector.done_[0].error().message, "the device answers no more");
}

}  // namespace
}  // namespace mynah
