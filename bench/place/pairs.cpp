#include "pairs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace mynah::bench {
namespace {

// Until a pool's threads no longer wait for more work by turning round (base/thread_pool.cpp), so
// that one place's threads do not take the other's cores.
constexpr std::chrono::milliseconds kSettle{1};

// Turns whose times do not count: memory is had, weights are in the caches.
constexpr int kWarmUp = 3;

// What all threads of a process ran so far.
double processor_ms(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Timed {
  std::string answer;
  double milliseconds = 0;
  double processor = 0;
};

Result<Timed> time_one(const Work& work, pid_t worker) {
  std::this_thread::sleep_for(kSettle);
  Result<std::string> answer = fail(ErrorCode::Io, "nothing was done");
  const double before = processor_ms(::getpid()) + processor_ms(worker);
  const double took_ms = milliseconds_of([&] { answer = work(); });
  const double after = processor_ms(::getpid()) + processor_ms(worker);
  MYNAH_TRY(std::string bytes, std::move(answer));
  return Timed{.answer = std::move(bytes), .milliseconds = took_ms, .processor = after - before};
}

// What of one place loses against the other, with the interval of its median.
class Loss {
 public:
  void add(double here, double worker) { lost_.push_back(worker / here - 1); }

  [[nodiscard]] nlohmann::ordered_json json() const {
    // Order statistics: so many of n values lie below the median, give or take 1.96 sqrt(n) / 2.
    const double apart = 0.98 / std::sqrt(static_cast<double>(lost_.size()));
    return {{"median", median(lost_)},
            {"from", quantile(lost_, 0.5 - apart)},
            {"to", quantile(lost_, 0.5 + apart)}};
  }

 private:
  std::vector<double> lost_;
};

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * last))];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

Result<nlohmann::ordered_json> measure(const Pair& pair) {
  std::vector<double> here_ms;
  std::vector<double> worker_ms;
  Loss lost;
  Loss lost_processor;
  for (int turn = -kWarmUp; turn < pair.turns; ++turn) {
    const bool here_first = turn % 2 == 0;
    MYNAH_TRY(Timed here, time_one(here_first ? pair.here : pair.worker, pair.worker_pid));
    MYNAH_TRY(Timed worker, time_one(here_first ? pair.worker : pair.here, pair.worker_pid));
    if (!here_first) {
      std::swap(here, worker);
    }
    if (here.answer != worker.answer || here.answer.empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: a worker answers {} bytes that are not the {} of this process",
                              pair.name, worker.answer.size(), here.answer.size()));
    }
    if (turn < 0) {
      continue;
    }
    here_ms.push_back(here.milliseconds);
    worker_ms.push_back(worker.milliseconds);
    lost.add(here.milliseconds, worker.milliseconds);
    lost_processor.add(here.processor, worker.processor);
  }
  return nlohmann::ordered_json{
      {"name", pair.name},          {"turns", pair.turns},
      {"here_ms", median(here_ms)}, {"worker_ms", median(worker_ms)},
      {"lost", lost.json()},        {"lost_processor", lost_processor.json()}};
}

}  // namespace mynah::bench
