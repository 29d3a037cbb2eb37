// What a connection refuses, and how it ends then.
#include "server/net/connection.h"
#include "server/net/connection_request.h"

namespace mynah::server {
namespace {

namespace asio = boost::asio;

}  // namespace

asio::awaitable<bool> Connection::refuse_as(Request& request, int status, const Error& error) {
  request.refusal = front_.refusal(request.head, error);
  if (status != 0) {
    request.refusal.status = status;
  }
  co_return co_await refuse(request);
}

asio::awaitable<bool> Connection::refuse_body(Request& request, const Error& error) {
  co_return co_await refuse_as(request, error.code == ErrorCode::OutOfMemory ? 413 : 0, error);
}

asio::awaitable<bool> Connection::give_up(Request& request) {
  if (gone_ || over_) {
    co_return false;  // nobody waits for an answer to half a request
  }
  constexpr int kTimedOut = 408;
  const Error told{ErrorCode::InvalidInput, "the rest of the request did not come in time"};
  co_return co_await refuse_as(request, kTimedOut, told);
}

asio::awaitable<bool> Connection::refuse(Request& request) {
  request.keeps = false;
  const bool sent = co_await send_head(request, request.refusal, true);
  if (sent) {
    // Who reads to the end has it now, and closes. What the client still sends is read for a while:
    // a socket that is closed with bytes unread is reset, and the answer is lost with it.
    stream_->end_writing();
    constexpr std::chrono::milliseconds kPatience{2'000};
    waits_since_ = Clock::now();
    const auto until = waits_since_ + kPatience;
    while (!gone_ && !over_ && Clock::now() < until) {
      inbox_.clear();
      room_.notify();
      co_await came_.wait(until);
    }
  }
  co_return false;
}

}  // namespace mynah::server
