// Ready: whether models compute, asked as often as somebody likes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>

#include "server/http/message.h"
#include "server/models/service.h"

namespace mynah::server {

// Thread-safe. One look is under way at a time, and all who ask meanwhile are told what it saw; one
// that does not come to its end is what they are told.
class Ready {
 public:
  static constexpr std::chrono::milliseconds kPatience{10'000};

  explicit Ready(Service& service, std::chrono::milliseconds patience = kPatience)
      : service_(service), patience_(patience) {}

  // 200 {"status":"ready"}: all models that are loaded computed just now; 200 {"status":"idle"}:
  // none is, and one could be. 503 with the reason otherwise. Nothing is loaded for it.
  [[nodiscard]] Response answer();

 private:
  using Clock = std::chrono::steady_clock;

  // What was seen: how many models computed.
  Result<size_t> look();
  // Wants the lock.
  Status start();

  Service& service_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool looks_ = false;
  Clock::time_point since_{};  // when it began to look
  uint64_t looked_ = 0;        // how often
  std::optional<Result<size_t>> seen_;
  std::jthread looker_;  // the first to go
};

}  // namespace mynah::server
