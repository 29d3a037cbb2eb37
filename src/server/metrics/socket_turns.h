// SocketTurns: what is computed for clients of sockets, a turn at a time, shown and told as
// requests are.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/access/key_ring.h"
#include "server/http/front.h"
#include "server/http/message.h"
#include "server/metrics/work_board.h"

namespace mynah::server {

// What turns are shown on, counted by and told to; any thread may tell. All must outlive them.
struct TurnPlaces {
  WorkBoard& board;
  KeyRing& keys;
  std::function<void(const RequestHead& head, const Served& served)> log;  // null: nobody is told
};

// One of them, as long as it lives. One thread at a time.
class SocketTurn {
 public:
  // It is known of `about`, whose work it is.
  SocketTurn(const TurnPlaces& places, RequestHead about);
  ~SocketTurn();
  SocketTurn(const SocketTurn&) = delete;
  SocketTurn& operator=(const SocketTurn&) = delete;

  // What is computed for it from a thread is about that (RequestScope).
  [[nodiscard]] const std::shared_ptr<RequestWork>& work() const { return about_.work; }

  // It came to its end, well or not; the client of one that did not has left.
  void end(const Status& status);

 private:
  const TurnPlaces& places_;
  const RequestHead about_;
  const WorkBoard::Entry entry_;
  const std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();
  Served served_;
};

// Those of one client. Thread-safe.
class SocketTurns {
 public:
  // `client`: what the socket was asked for with.
  SocketTurns(const TurnPlaces& places, const RequestHead& client);

  // Another turn begins.
  [[nodiscard]] std::unique_ptr<SocketTurn> begin(RequestWork::Does does);

  // So many seconds were heard or spoken for the client.
  void spend(double audio_s) const;
  // Busy where no more may be until some time has passed.
  [[nodiscard]] Status check_audio() const;
  // What of the client's limits is left.
  [[nodiscard]] KeyRing::AllLeft left() const;

  [[nodiscard]] const std::string& owner() const { return client_.owner; }

 private:
  const TurnPlaces& places_;
  RequestHead client_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace mynah::server
