// A connection to one server, for http.cpp and http_client.cpp alone: Boost's names end here.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "base/ascii.h"
#include "base/result.h"
#include "store/http.h"
#include "store/url.h"

namespace mynah {

// One connection to one server, and the event loop that drives it. Asynchronous operations run one
// by one to their end, each under a deadline, which a synchronous socket would not have.
class HttpConnection {
 public:
  using ErrorCodeOf = boost::system::error_code;
  using Milliseconds = std::chrono::milliseconds;
  using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

  // `options` must outlive it.
  HttpConnection(const HttpOptions& options, const std::stop_token& stop);

  // Whoever stops from now on ends what is under way.
  void listen_to(const std::stop_token& stop);

  // Environment where the host cannot be found, reached or trusted.
  Status open(const Url& url);

  // Whether it is open and nothing came over it that nobody asked for: what a server says before it
  // closes a connection that rests, or that it did.
  [[nodiscard]] bool is_quiet();

  // Starts an operation and runs the loop until its handler was called.
  template <class Start>
  ErrorCodeOf run(Milliseconds timeout, Start&& start) {
    ErrorCodeOf result = boost::asio::error::operation_aborted;
    if (stop_.stop_requested()) {
      return result;
    }
    tcp().expires_after(timeout);
    start([&result](const ErrorCodeOf& error, const auto&...) { result = error; });
    loop_.restart();
    loop_.run();
    return result;
  }

  // Calls `use` with the stream that bytes pass on.
  template <class Use>
  auto over_stream(Use&& use) {
    return tls_ ? use(*tls_) : use(stream_);
  }

  // "DOING: why"; Cancelled where it was stopped.
  [[nodiscard]] std::unexpected<Error> failure(ErrorCode code, std::string_view doing,
                                               const ErrorCodeOf& error) const;

  [[nodiscard]] boost::beast::flat_buffer& buffer() { return buffer_; }

  [[nodiscard]] bool through_plain_proxy() const { return through_plain_proxy_; }

  [[nodiscard]] const std::string& proxy_authorization() const { return proxy_authorization_; }

 private:
  [[nodiscard]] boost::beast::tcp_stream& tcp() {
    return tls_ ? boost::beast::get_lowest_layer(*tls_) : stream_;
  }

  Status connect(const std::string& host, const std::string& port);
  Status connect_locally(const std::string& path);
  // Leaves the addresses that may be connected to.
  Status allow(const std::string& host,
               boost::asio::ip::tcp::resolver::results_type& endpoints) const;
  Status tunnel(const Url& url, const Url& proxy);
  Status trust();
  Status handshake(const Url& url);

  const HttpOptions& options_;
  std::stop_token stop_;
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::beast::tcp_stream stream_;
  boost::asio::ssl::context tls_context_{boost::asio::ssl::context::tls_client};
  std::optional<TlsStream> tls_;
  boost::beast::flat_buffer buffer_;
  bool through_plain_proxy_ = false;
  std::string proxy_authorization_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

// Names in lower case.
template <class Fields>
std::map<std::string, std::string> headers_of(const Fields& fields) {
  std::map<std::string, std::string> headers;
  for (const auto& field : fields) {
    const std::string_view name(field.name_string().data(), field.name_string().size());
    headers[ascii_lower(name)] = std::string(field.value().data(), field.value().size());
  }
  return headers;
}

}  // namespace mynah
