#include "cli/files/read_ahead.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mynah::cli {
namespace {

constexpr int kRate_hz = 1000;

// Counts up from 0; at the end an error, or nothing: then it waits for a stop.
class Counting : public AudioSource {
 public:
  Counting(int64_t count, std::optional<Error> error, const std::stop_token& stop)
      : left_(count), error_(std::move(error)), stop_(stop) {}

  Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), static_cast<size_t>(left_));
    std::iota(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), next_);
    next_ += static_cast<float>(count);
    left_ -= static_cast<int64_t>(count);
    if (count > 0 || !error_) {
      return count;
    }
    if (error_->code == ErrorCode::Cancelled) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, stop_, [] { return false; });
    }
    return std::unexpected(*error_);
  }

  [[nodiscard]] int rate_hz() const override { return kRate_hz; }

  [[nodiscard]] std::optional<double> duration_s() const override { return std::nullopt; }

 private:
  float next_ = 0;
  int64_t left_;
  std::optional<Error> error_;
  std::stop_token stop_;
};

std::unique_ptr<ReadAhead> read_ahead(int64_t count, std::optional<Error> error = std::nullopt,
                                      const std::stop_token& stop = {}) {
  auto ahead = ReadAhead::open(
      [&](const std::stop_token& inner) -> Result<std::unique_ptr<AudioSource>> {
        return std::make_unique<Counting>(count, error, inner);
      },
      stop);
  EXPECT_TRUE(ahead.has_value());
  return std::move(*ahead);
}

TEST(ReadAheadTest, GivesEverySampleInOrderAndThenTheErrorOnce) {
  constexpr int kCount = 200 * kRate_hz + 77;  // more than it keeps
  const auto ahead = read_ahead(kCount, Error{ErrorCode::Io, "torn"});
  EXPECT_EQ(ahead->pace(), Pace::Recorded);
  std::vector<float> samples;
  std::vector<float> piece(333);
  auto got = ahead->read(piece);
  for (; got && *got > 0; got = ahead->read(piece)) {
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
  }
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().message, "torn");
  EXPECT_EQ(ahead->read(piece), 0U);
  std::vector<float> wanted(kCount);
  std::iota(wanted.begin(), wanted.end(), 0.0F);
  EXPECT_EQ(samples, wanted);
}

TEST(ReadAheadTest, EndsWhileItsStreamSaysNothingOrNobodyReads) {
  const Error waits{ErrorCode::Cancelled, "stopped"};
  (void)read_ahead(10, waits);               // goes while the stream is silent
  (void)read_ahead(1000 * kRate_hz, waits);  // goes while it is full
  std::stop_source stop;
  const auto ahead = read_ahead(10, waits, stop.get_token());
  stop.request_stop();
  std::vector<float> piece(100);
  auto got = ahead->read(piece);
  for (; got && *got > 0; got = ahead->read(piece)) {
  }
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Cancelled);
}

TEST(ReadAheadTest, SaysForHowLongNothingHasCome) {
  const auto ahead = read_ahead(10 * kRate_hz, Error{ErrorCode::Cancelled, "stopped"});
  std::vector<float> piece(100);
  for (int64_t read = 0; read < 10 * kRate_hz;) {
    EXPECT_FALSE(ahead->wait(60).has_value()) << "there is something to be read";
    read += static_cast<int64_t>(ahead->read(piece).value());
  }
  const auto first = ahead->wait(0.01);
  const auto second = ahead->wait(0.01);
  ASSERT_TRUE(first && second);
  EXPECT_GE(first->since_last_s, 0.01);
  EXPECT_GE(second->since_last_s, first->since_last_s + 0.01);
  // Ten seconds came at once: played, they would go on for a while.
  EXPECT_NEAR(second->since_played_s, second->since_last_s - 10, 0.5);
}

TEST(ReadAheadTest, WaitsForNobodyAtTheEnd) {
  const auto ahead = read_ahead(0);
  EXPECT_FALSE(ahead->wait(60).has_value());
}

TEST(ReadAheadTest, SaysWhyAStreamCannotBeOpened) {
  const auto ahead = ReadAhead::open(
      [](const std::stop_token&) -> Result<std::unique_ptr<AudioSource>> {
        return fail(ErrorCode::NotFound, "nothing there");
      },
      {});
  ASSERT_FALSE(ahead.has_value());
  EXPECT_EQ(ahead.error().message, "nothing there");
}

}  // namespace
}  // namespace mynah::cli
