// ReadAhead: a stream that is read on a thread of its own as it comes, so that one can see how much
// has come and whether it has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

#include "audio/source.h"
#include "base/result.h"
#include "cli/files/pace.h"
#include "speech/recognizer.h"
#include "speech/sample_buffer.h"

namespace mynah::cli {

// Keeps at most a minute and a half that nobody has taken; then whoever writes the stream waits.
// Its methods belong to one thread.
class ReadAhead final : public AudioSource {
 public:
  // `open` is called at once, on the caller's thread, and handed what will end the reading: a stop
  // of `stop`, or that the ReadAhead goes.
  static Result<std::unique_ptr<ReadAhead>> open(
      const std::function<Result<std::unique_ptr<AudioSource>>(const std::stop_token&)>& open,
      const std::stop_token& stop);

  ~ReadAhead() override;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Waits until it is known. Before anything is read.
  [[nodiscard]] Pace pace();

  Result<size_t> read(std::span<float> out) override;

  // Waits until read() would not, at most so long; then it says for how long nothing has come.
  [[nodiscard]] std::optional<SenderSilence> wait(double most_s);

  [[nodiscard]] int rate_hz() const override { return rate_hz_; }

  [[nodiscard]] std::optional<double> duration_s() const override { return duration_s_; }

 private:
  using Clock = std::chrono::steady_clock;

  explicit ReadAhead(const std::stop_token& stop);

  void run(const std::stop_token& stop);

  std::stop_source stop_reading_;
  std::stop_callback<std::function<void()>> outer_stop_;
  std::unique_ptr<AudioSource> source_;  // the thread's
  int rate_hz_ = 0;
  std::optional<double> duration_s_;

  std::mutex samples_mutex_;
  std::condition_variable_any arrived_;
  std::condition_variable_any taken_;
  SampleBuffer samples_;
  Clock::time_point last_came_;     // samples
  Clock::time_point played_until_;  // what came, had each been played when it came or after the
                                    // one before
  bool ended_ = false;
  std::optional<Error> error_;  // that ended it; told once, behind the samples

  std::jthread reader_;  // last: it uses all that stands above
};

}  // namespace mynah::cli
