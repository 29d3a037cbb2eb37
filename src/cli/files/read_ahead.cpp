#include "cli/files/read_ahead.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mynah::cli {

namespace {

constexpr double kPiece_s = 0.1;
// More than it takes to know the pace.
constexpr double kMost_s = 1.5 * PaceWatch::kSurelyRecorded_s;

}  // namespace

ReadAhead::ReadAhead(const std::stop_token& stop)
    : outer_stop_(stop, [this] { stop_reading_.request_stop(); }),
      last_came_(Clock::now()),
      played_until_(last_came_) {}

ReadAhead::~ReadAhead() {
  stop_reading_.request_stop();
}

Result<std::unique_ptr<ReadAhead>> ReadAhead::open(
    const std::function<Result<std::unique_ptr<AudioSource>>(const std::stop_token&)>& open,
    const std::stop_token& stop) {
  std::unique_ptr<ReadAhead> ahead(new ReadAhead(stop));
  MYNAH_TRY(ahead->source_, open(ahead->stop_reading_.get_token()));
  ahead->rate_hz_ = ahead->source_->rate_hz();
  ahead->duration_s_ = ahead->source_->duration_s();
  try {
    ahead->reader_ =
        std::jthread([reading = ahead.get()] { reading->run(reading->stop_reading_.get_token()); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::Environment,
                fmt::format("no thread can be started to read the stream with: {}; see `ulimit -u`",
                            error.code().message()));
  }
  return ahead;
}

void ReadAhead::run(const std::stop_token& stop) {
  const auto most = static_cast<int64_t>(kMost_s * rate_hz_);
  std::vector<float> piece(static_cast<size_t>(kPiece_s * rate_hz_));
  while (true) {
    auto got = source_->read(piece);
    std::unique_lock lock(samples_mutex_);
    samples_.append(std::span(piece).first(got.value_or(0)));
    if (got.value_or(0) > 0) {
      const std::chrono::duration<double> lasts(static_cast<double>(*got) / rate_hz_);
      last_came_ = Clock::now();
      played_until_ =
          std::max(played_until_, last_came_) + std::chrono::duration_cast<Clock::duration>(lasts);
    }
    arrived_.notify_one();
    taken_.wait(lock, stop, [&] { return samples_.end() - samples_.begin() < most; });
    if (got && stop.stop_requested()) {
      got = fail(ErrorCode::Cancelled, "stopped");
    }
    if (!got || *got == 0) {
      ended_ = true;
      error_ = got ? std::nullopt : std::optional(std::move(got).error());
      arrived_.notify_one();
      return;
    }
  }
}

Pace ReadAhead::pace() {
  const Clock::time_point begin = Clock::now();
  PaceWatch watch;
  std::unique_lock lock(samples_mutex_);
  while (true) {
    const double arrived_s = static_cast<double>(samples_.end()) / rate_hz_;
    const std::chrono::duration<double> now = Clock::now() - begin;
    if (const auto pace = watch.look(now.count(), arrived_s, ended_)) {
      return *pace;
    }
    arrived_.wait_for(lock, std::chrono::duration<double>(PaceWatch::kLook_s));
  }
}

std::optional<SenderSilence> ReadAhead::wait(double most_s) {
  using Seconds = std::chrono::duration<double>;
  std::unique_lock lock(samples_mutex_);
  if (arrived_.wait_for(lock, Seconds(most_s),
                        [&] { return ended_ || samples_.end() > samples_.begin(); })) {
    return std::nullopt;
  }
  const Clock::time_point now = Clock::now();
  return SenderSilence{.since_last_s = Seconds(now - last_came_).count(),
                       .since_played_s = Seconds(now - played_until_).count()};
}

Result<size_t> ReadAhead::read(std::span<float> out) {
  std::unique_lock lock(samples_mutex_);
  arrived_.wait(lock, [&] { return ended_ || samples_.end() > samples_.begin(); });
  const int64_t begin = samples_.begin();
  const auto ready = samples_.slice(begin, begin + static_cast<int64_t>(out.size()));
  if (ready.empty() && error_) {
    return std::unexpected(*std::exchange(error_, std::nullopt));
  }
  std::ranges::copy(ready, out.begin());
  const auto count = ready.size();
  samples_.discard_before(begin + static_cast<int64_t>(count));
  taken_.notify_one();
  return count;
}

}  // namespace mynah::cli
