// A web server inside a test that keeps its connections: what it does with each request, byte by
// byte, is a function.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <fmt/core.h>

#include "base/ascii.h"

namespace mynah::testing {

struct ScriptedRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // the number of the one that it came over, from 1

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// What a request is answered over.
class ScriptedWire {
 public:
  using Send = std::function<bool(std::string_view bytes)>;

  ScriptedWire(Send send, const std::stop_token& stop) : send_(std::move(send)), stop_(stop) {}

  // False: the client is gone.
  [[nodiscard]] bool send(std::string_view bytes) const { return send_(bytes); }

  // An answer with its headers ("Name: value\r\n" each) and the right length.
  void answer(int status, std::string_view headers, std::string_view body) const {
    static_cast<void>(send(fmt::format("HTTP/1.1 {} Text\r\n{}Content-Length: {}\r\n\r\n{}", status,
                                       headers, body.size(), body)));
  }

  // The head of an answer whose body comes in chunks.
  void begin(std::string_view type) const {
    static_cast<void>(send(fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n", type)));
  }

  [[nodiscard]] bool chunk(std::string_view bytes) const {
    return send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
  }

  void end() const { static_cast<void>(send("0\r\n\r\n")); }

  // Until the test is over, as a server that stalls.
  void wait_for_the_end() const {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    ended.wait(lock, stop_, [] { return false; });
  }

 private:
  Send send_;
  std::stop_token stop_;
};

// Whether the connection is kept.
using ScriptedHandler = std::function<bool(const ScriptedRequest&, const ScriptedWire&)>;

// Serves on a free port of 127.0.0.1 until destroyed, connections side by side. With a certificate
// it speaks TLS.
class ScriptedServer {
 public:
  explicit ScriptedServer(ScriptedHandler handler, boost::asio::ssl::context* tls = nullptr)
      : handler_(std::move(handler)),
        tls_(tls),
        acceptor_(loop_, {boost::asio::ip::address_v4::loopback(), 0}),
        thread_([this](const std::stop_token& stop) { accept(stop); }) {}

  ~ScriptedServer() {
    thread_.request_stop();
    boost::asio::ip::tcp::socket wake(loop_);
    boost::system::error_code ignored;
    wake.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }

  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url(std::string_view target = "") const {
    return fmt::format("{}://127.0.0.1:{}{}", tls_ != nullptr ? "https" : "http",
                       acceptor_.local_endpoint().port(), target);
  }

  // So far, in order.
  [[nodiscard]] std::vector<ScriptedRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  void accept(const std::stop_token& stop) {
    std::vector<std::jthread> served;
    for (int number = 1;; ++number) {
      auto socket = std::make_shared<Socket>(loop_);
      boost::system::error_code error;
      acceptor_.accept(*socket, error);
      if (stop.stop_requested() || error) {
        return;
      }
      served.emplace_back([this, socket, number](const std::stop_token& ends) {
        // A client that keeps its connection is not waited for.
        const std::stop_callback close(
            ends, [&] { static_cast<void>(::shutdown(socket->native_handle(), SHUT_RDWR)); });
        boost::system::error_code failed;
        if (tls_ == nullptr) {
          serve(*socket, number, ends);
          socket->shutdown(Socket::shutdown_both, failed);
          return;
        }
        boost::asio::ssl::stream<Socket&> secure(*socket, *tls_);
        secure.handshake(boost::asio::ssl::stream_base::server, failed);
        if (!failed) {
          serve(secure, number, ends);
        }
        socket->shutdown(Socket::shutdown_both, failed);
      });
    }
  }

  template <class Stream>
  void serve(Stream& stream, int number, const std::stop_token& stop) {
    std::string bytes;
    boost::system::error_code error;
    while (!stop.stop_requested()) {
      const size_t head =
          boost::asio::read_until(stream, boost::asio::dynamic_buffer(bytes), "\r\n\r\n", error);
      if (error) {
        return;
      }
      ScriptedRequest request = parse(std::string_view(bytes).substr(0, head));
      request.connection = number;
      bytes.erase(0, head);
      const std::string length = request.header("content-length");
      const size_t size = length.empty() ? 0 : std::stoul(length);
      if (bytes.size() < size) {
        boost::asio::read(stream, boost::asio::dynamic_buffer(bytes),
                          boost::asio::transfer_exactly(size - bytes.size()), error);
      }
      request.body = bytes.substr(0, size);
      bytes.erase(0, size);
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const ScriptedWire wire(
          [&](std::string_view sent) {
            boost::asio::write(stream, boost::asio::buffer(sent), error);
            return !error;
          },
          stop);
      if (!handler_(request, wire) || error) {
        return;
      }
    }
  }

  static ScriptedRequest parse(std::string_view text) {
    ScriptedRequest request;
    const size_t space = text.find(' ');
    request.method = text.substr(0, space);
    request.target = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
    size_t begin = text.find("\r\n") + 2;
    for (size_t end = text.find("\r\n", begin); end != begin; end = text.find("\r\n", begin)) {
      const std::string_view line = text.substr(begin, end - begin);
      const size_t colon = line.find(':');
      request.headers[ascii_lower(line.substr(0, colon))] = line.substr(colon + 2);
      begin = end + 2;
    }
    return request;
  }

  ScriptedHandler handler_;
  boost::asio::ssl::context* tls_;
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  mutable std::mutex mutex_;
  std::vector<ScriptedRequest> requests_;
  std::jthread thread_;
};

}  // namespace mynah::testing
