#include "server/net/stream.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace mynah::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class PlainStream final : public Stream {
 public:
  explicit PlainStream(asio::generic::stream_protocol::socket socket)
      : socket_(std::move(socket)) {}

  asio::awaitable<bool> open() override { co_return true; }

  asio::awaitable<size_t> read_some(asio::mutable_buffer into) override {
    error_code error;
    const size_t count =
        co_await socket_.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
    co_return error ? 0 : count;
  }

  asio::awaitable<bool> write(asio::const_buffer bytes) override {
    error_code error;
    co_await asio::async_write(socket_, bytes, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }

  void end_writing() override {
    error_code ignored;  // the client may be gone
    static_cast<void>(socket_.shutdown(asio::socket_base::shutdown_send, ignored));
  }

  void close(bool reset) override {
    error_code ignored;  // it may be closed already
    if (reset) {
      static_cast<void>(socket_.set_option(asio::socket_base::linger(true, 0), ignored));
    } else {
      static_cast<void>(socket_.shutdown(asio::socket_base::shutdown_both, ignored));
    }
    static_cast<void>(socket_.close(ignored));
  }

 private:
  asio::generic::stream_protocol::socket socket_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(asio::generic::stream_protocol::socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

void Watch::begin(std::chrono::milliseconds time, std::function<void()> too_late) {
  timer_.expires_after(time);
  timer_.async_wait([too_late = std::move(too_late)](const error_code& error) {
    if (!error) {
      too_late();
    }
  });
}

asio::awaitable<void> Event::wait(std::chrono::steady_clock::time_point until) {
  timer_.expires_at(until);
  error_code ignored;  // cancelled is what is waited for
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace mynah::server
