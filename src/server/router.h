// Router: which handler answers what, and who may ask it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/gate.h"
#include "server/http/route.h"
#include "server/metrics/work_board.h"

namespace mynah::server {

class Router final : public Front {
 public:
  Router(std::vector<Route> routes, Gate gate, ErrorTeller tell_error);

  [[nodiscard]] std::expected<Plan, Response> plan(RequestHead& head) override;
  [[nodiscard]] Response refusal(const RequestHead& head, const Error& error) const override;
  void dress(RequestHead& head, Response& response) override;
  void on_served(const RequestHead& head, const Served& served) override;

  // Told each request that is over, from the network's thread, as turns of sockets from others.
  using Log = std::function<void(const RequestHead& head, const Served& served)>;

  void log_to(Log log) { log_ = std::move(log); }

  // Those that are under way are put there, which must outlive this.
  void show_on(WorkBoard& board) { board_ = &board; }

  // A path that stands before all others where a proxy does not take it off: "/x".
  void set_base_path(std::string path) { base_path_ = std::move(path); }

  // How long who is told that all is busy is to wait; asked from the network's thread.
  using RetryAfter = std::function<std::chrono::milliseconds()>;

  void retry_after(RetryAfter ask) { retry_after_ = std::move(ask); }

 private:
  // A row of the table whose path is that of a request.
  struct Match {
    const Route* route;
    std::string part;  // what its braces took
  };

  // Those of a path, one for each method; of rows that take more of it in braces none.
  [[nodiscard]] std::vector<Match> matches_of(std::string_view path) const;
  // What the client calls the request where that is a name, else one of ours.
  [[nodiscard]] std::string id_of(const RequestHead& head);
  // On the handler's thread.
  void have_handled(const Route& route, Exchange& exchange);
  // What is added to "there is nothing at PATH".
  [[nodiscard]] std::string suggestion_for(std::string_view path) const;
  // The methods that a path knows: "GET, HEAD".
  [[nodiscard]] static std::string methods_of(const std::vector<Match>& rows);

  std::vector<Route> routes_;
  Gate gate_;
  ErrorTeller tell_error_;
  std::atomic<uint64_t> requests_{0};
  const uint64_t start_;  // of requests' names
  Log log_;
  std::string base_path_;
  WorkBoard* board_ = nullptr;
  RetryAfter retry_after_;
};

}  // namespace mynah::server
