// A recording of hours in which little is said, over a tiny model with random weights.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "speech/recognizer_fixture.h"

namespace mynah {
namespace {

// Sentences of five seconds, a pause before each, and how far they have been read.
class Sentences final : public AudioSource {
 public:
  Sentences(std::vector<int> begins_s, double& read_s)
      : begins_s_(std::move(begins_s)), read_s_(read_s) {}

  Result<size_t> read(std::span<float> out) override {
    const int64_t end = (begins_s_.back() + kSentence_s) * kRate_hz;
    const auto count = std::min(out.size(), static_cast<size_t>(end - at_));
    // A second at a time: what is looked at for each of 48 million samples is what the test takes.
    for (size_t filled = 0; filled < count;) {
      const int64_t now_s = at_ / kRate_hz;
      const auto rest = static_cast<size_t>((now_s + 1) * kRate_hz - at_);
      const std::span<float> second = out.subspan(filled, std::min(count - filled, rest));
      const bool said = std::ranges::any_of(begins_s_, [now_s](int begin_s) {
        return begin_s <= now_s && now_s < begin_s + kSentence_s;
      });
      if (said) {
        for (float& sample : second) {
          sample = 0.01F * static_cast<float>(1 + ++at_ % 7);
        }
      } else {
        std::ranges::fill(second, 0.0F);
        at_ += static_cast<int64_t>(second.size());
      }
      filled += second.size();
    }
    read_s_ = static_cast<double>(at_) / kRate_hz;
    return count;
  }

  [[nodiscard]] int rate_hz() const override { return kRate_hz; }

  [[nodiscard]] std::optional<double> duration_s() const override { return std::nullopt; }

 private:
  static constexpr int kSentence_s = 5;
  std::vector<int> begins_s_;
  double& read_s_;
  int64_t at_ = 0;
};

TEST_F(WhisperRecognizerTest, TextOfARecordingInWhichLittleIsSaidDoesNotWaitForMore) {
  class Reads final : public Collector {
   public:
    explicit Reads(const double& read_s) : read_s_(read_s) {}

    void on_segment(size_t job, const Segment& segment) override {
      Collector::on_segment(job, segment);
      waited_s_[static_cast<int>(segment.start_s) / 600] = read_s_ - segment.start_s;
    }

    std::map<int, double> waited_s_;  // of the last of each ten minutes

   private:
    const double& read_s_;
  };

  ThreadPool pool(1);
  auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  const WindowRecognizer recognizer(tiny_windows(false, **backend), voice_);
  double read_s = 0;
  Reads reads(read_s);
  const RecognizerJob recording{
      .name = "sentences", .open = [&read_s]() -> Result<std::unique_ptr<AudioSource>> {
        return std::make_unique<Sentences>(std::vector{1, 610, 2000, 3000}, read_s);
      }};
  recognizer.run(std::span(&recording, 1), options(), reads, std::stop_token());
  ASSERT_EQ(reads.waited_s_.size(), 4U);
  EXPECT_LT(reads.waited_s_[0], 60) << "the first waits for nothing";
  EXPECT_GT(reads.waited_s_[1], 590) << "others might have been heard with it";
  EXPECT_LT(reads.waited_s_[1], 660);
  EXPECT_LT(reads.waited_s_[3], 660);
}

}  // namespace
}  // namespace mynah
