// A web server inside a test: what it answers, and how it misbehaves, is a function.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <fmt/core.h>

namespace mynah::testing {

struct ServerRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }

  // Of "Range: bytes=N-"; 0 without it.
  [[nodiscard]] size_t range_start() const {
    const std::string range = header("range");
    return range.starts_with("bytes=") ? std::stoul(range.substr(6)) : 0;
  }
};

// Returns the bytes to send before the connection closes: a whole answer, half of one, nonsense.
using ServerHandler = std::function<std::string(const ServerRequest&)>;

// An answer with its headers ("Name: value\r\n" each) and the right length.
inline std::string answer(int status, const std::string& headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {} Text\r\n{}Content-Length: {}\r\n\r\n{}", status, headers,
                     body.size(), body);
}

// Serves on a free port of 127.0.0.1 until destroyed, one connection after another. With a
// certificate it speaks TLS.
class TestServer {
 public:
  explicit TestServer(ServerHandler handler, boost::asio::ssl::context* tls = nullptr)
      : handler_(std::move(handler)),
        tls_(tls),
        acceptor_(loop_, {boost::asio::ip::address_v4::loopback(), 0}),
        thread_([this] { serve(); }) {}

  ~TestServer() {
    stopping_ = true;
    // Wakes accept(); a close() from here would race with it.
    boost::asio::ip::tcp::socket wake(loop_);
    boost::system::error_code ignored;
    wake.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }

  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] unsigned port() const { return acceptor_.local_endpoint().port(); }

  [[nodiscard]] std::string url(const std::string& target = "") const {
    return fmt::format("{}://127.0.0.1:{}{}", tls_ != nullptr ? "https" : "http", port(), target);
  }

  // Requests so far, in order.
  [[nodiscard]] std::vector<ServerRequest> requests() const {
    const std::lock_guard lock(requests_mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (true) {
      boost::asio::ip::tcp::socket socket(loop_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      if (stopping_ || error) {
        return;
      }
      if (tls_ == nullptr) {
        answer_on(socket);
      } else {
        boost::asio::ssl::stream<boost::asio::ip::tcp::socket&> secure(socket, *tls_);
        secure.handshake(boost::asio::ssl::stream_base::server, error);
        if (!error) {
          answer_on(secure);
          secure.shutdown(error);
        }
      }
    }
  }

  template <class Stream>
  void answer_on(Stream& stream) {
    boost::system::error_code error;
    std::string text;
    boost::asio::read_until(stream, boost::asio::dynamic_buffer(text), "\r\n\r\n", error);
    if (error) {
      return;
    }
    ServerRequest request = parse(text);
    request.body = text.substr(text.find("\r\n\r\n") + 4);
    if (const std::string length = request.header("content-length"); !length.empty()) {
      const size_t here = request.body.size();
      request.body.resize(std::stoul(length));
      boost::asio::read(stream, boost::asio::buffer(request.body) + here, error);
    }
    {
      const std::lock_guard lock(requests_mutex_);
      requests_.push_back(request);
    }
    boost::asio::write(stream, boost::asio::buffer(handler_(request)), error);
  }

  static ServerRequest parse(const std::string& text) {
    ServerRequest request;
    const size_t space = text.find(' ');
    request.method = text.substr(0, space);
    request.target = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
    size_t begin = text.find("\r\n") + 2;
    for (size_t end = text.find("\r\n", begin); end != begin; end = text.find("\r\n", begin)) {
      const std::string line = text.substr(begin, end - begin);
      std::string name = line.substr(0, line.find(':'));
      for (char& c : name) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      request.headers[name] = line.substr(line.find(':') + 2);
      begin = end + 2;
    }
    return request;
  }

  ServerHandler handler_;
  boost::asio::ssl::context* tls_;
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex requests_mutex_;
  std::vector<ServerRequest> requests_;
  std::thread thread_;
};

}  // namespace mynah::testing
