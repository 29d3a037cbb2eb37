#include "store/http.h"

#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/core.h>
#include <openssl/err.h>

#include "base/ascii.h"
#include "store/base64.h"

namespace mynah {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Milliseconds = std::chrono::milliseconds;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr size_t kPieceBytes = 256U << 10U;
constexpr uint32_t kHeaderLimitBytes = 64U << 10U;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

template <class Fields>
std::map<std::string, std::string> headers_of(const Fields& fields) {
  std::map<std::string, std::string> headers;
  for (const auto& field : fields) {
    const std::string_view name(field.name_string().data(), field.name_string().size());
    headers[ascii_lower(name)] = std::string(field.value().data(), field.value().size());
  }
  return headers;
}

// One connection to one server, and the event loop that drives it. Asynchronous operations run one
// by one to their end, each under a deadline, which a synchronous socket would not have.
class Connection {
 public:
  Connection(const HttpOptions& options, const std::stop_token& stop)
      : options_(options), stop_(stop), resolver_(loop_), stream_(loop_), on_stop_(stop, [this] {
          asio::post(loop_, [this] {
            resolver_.cancel();
            tcp().cancel();
          });
        }) {}

  Status open(const Url& url);
  Result<HttpResponse> exchange(const HttpRequest& request, const Url& url,
                                const HttpHeadHandler& on_head, const HttpBodyHandler& on_body);
  Result<int> send(const HttpPost& post, const Url& url);

 private:
  [[nodiscard]] beast::tcp_stream& tcp() { return tls_ ? beast::get_lowest_layer(*tls_) : stream_; }

  // Starts an operation and runs the loop until its handler was called.
  template <class Start>
  error_code run(Milliseconds timeout, Start&& start) {
    error_code result = asio::error::operation_aborted;
    if (stop_.stop_requested()) {
      return result;
    }
    tcp().expires_after(timeout);
    start([&result](const error_code& error, const auto&...) { result = error; });
    loop_.restart();
    loop_.run();
    return result;
  }

  [[nodiscard]] std::unexpected<Error> failure(ErrorCode code, std::string_view doing,
                                               const error_code& error) const {
    if (stop_.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    return fail(
        code, fmt::format("{}: {}", doing,
                          error == beast::error::timeout ? "no answer in time" : error.message()));
  }

  Status connect(const std::string& host, const std::string& port);
  // Leaves the addresses that may be connected to.
  Status allow(const std::string& host, asio::ip::tcp::resolver::results_type& endpoints) const;
  Status tunnel(const Url& url, const Url& proxy);
  Status handshake(const Url& url);
  template <class Stream, class Body>
  Result<HttpResponse> exchange_over(Stream& stream, const http::request<Body>& message,
                                     const HttpHeadHandler& on_head,
                                     const HttpBodyHandler& on_body);
  template <class Stream, class Parser>
  Status read_body(Stream& stream, Parser& parser, const HttpBodyHandler& on_body);

  const HttpOptions& options_;
  const std::stop_token& stop_;
  asio::io_context loop_;
  asio::ip::tcp::resolver resolver_;
  beast::tcp_stream stream_;
  asio::ssl::context tls_context_{asio::ssl::context::tls_client};
  std::optional<TlsStream> tls_;
  beast::flat_buffer buffer_;
  bool through_plain_proxy_ = false;
  std::string proxy_authorization_;
  std::stop_callback<std::function<void()>> on_stop_;
};

Status Connection::open(const Url& url) {
  const std::string proxy_text = proxy_for(url, options_.proxies);
  if (proxy_text.empty()) {
    MYNAH_TRY_STATUS(connect(url.host, url.port));
    return url.scheme == "https" ? handshake(url) : Status{};
  }
  // Proxies are often written without a scheme: "proxy:3128".
  const auto proxy = parse_url(proxy_text.contains("://") ? proxy_text : "http://" + proxy_text);
  if (!proxy || proxy->scheme != "http") {
    return fail(
        ErrorCode::Environment,
        "wanted a proxy like http://host:port in the environment's *_proxy variables, found "
        "another form");
  }
  if (!proxy->user.empty()) {
    proxy_authorization_ = "Basic " + base64(std::as_bytes(std::span(proxy->user)));
  }
  MYNAH_TRY_STATUS(connect(proxy->host, proxy->port));
  if (url.scheme == "https") {
    MYNAH_TRY_STATUS(tunnel(url, *proxy));
    return handshake(url);
  }
  through_plain_proxy_ = true;
  return {};
}

Status Connection::connect(const std::string& host, const std::string& port) {
  asio::ip::tcp::resolver::results_type endpoints;
  // The resolver knows no deadline of its own.
  asio::steady_timer deadline(loop_, options_.connect_timeout);
  bool late = false;
  error_code error = run(options_.connect_timeout, [&](auto done) {
    deadline.async_wait([&](const error_code& cancelled) {
      if (!cancelled) {
        late = true;
        resolver_.cancel();
      }
    });
    resolver_.async_resolve(host, port, [&, done](const error_code& failed, auto results) {
      endpoints = std::move(results);
      deadline.cancel();
      done(failed);
    });
  });
  if (error) {
    return failure(ErrorCode::Environment, fmt::format("cannot find the host {}", host),
                   late ? make_error_code(beast::error::timeout) : error);
  }
  MYNAH_TRY_STATUS(allow(host, endpoints));
  error = run(options_.connect_timeout, [&](auto done) { tcp().async_connect(endpoints, done); });
  if (error) {
    return failure(ErrorCode::Environment, fmt::format("cannot connect to {}:{}", host, port),
                   error);
  }
  return {};
}

Status Connection::allow(const std::string& host,
                         asio::ip::tcp::resolver::results_type& endpoints) const {
  if (!options_.may_connect) {
    return {};
  }
  std::vector<asio::ip::tcp::endpoint> allowed;
  std::string refused;
  for (const auto& entry : endpoints) {
    const std::string address = entry.endpoint().address().to_string();
    if (options_.may_connect(address)) {
      allowed.push_back(entry.endpoint());
    } else {
      refused = address;
    }
  }
  if (allowed.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} leads to {}, which may not be connected to", host, refused));
  }
  endpoints =
      asio::ip::tcp::resolver::results_type::create(allowed.begin(), allowed.end(), host, "");
  return {};
}

Status Connection::tunnel(const Url& url, const Url& proxy) {
  http::request<http::empty_body> message(http::verb::connect, url.host_and_port(), 11);
  message.set(http::field::host, url.host_and_port());
  message.set(http::field::user_agent, options_.user_agent);
  if (!proxy_authorization_.empty()) {
    message.set(http::field::proxy_authorization, proxy_authorization_);
  }
  error_code error =
      run(options_.connect_timeout, [&](auto done) { http::async_write(stream_, message, done); });
  http::response_parser<http::empty_body> parser;
  parser.skip(true);  // a CONNECT's answer has no body
  if (!error) {
    error = run(options_.connect_timeout,
                [&](auto done) { http::async_read_header(stream_, buffer_, parser, done); });
  }
  if (error) {
    return failure(ErrorCode::Environment,
                   fmt::format("the proxy {} does not answer", proxy.host_and_port()), error);
  }
  if (const auto status = parser.get().result_int(); status / 100 != 2) {
    return fail(ErrorCode::Environment,
                fmt::format("the proxy {} refuses to connect to {}: status {}",
                            proxy.host_and_port(), url.host_and_port(), status));
  }
  buffer_.clear();
  return {};
}

Status Connection::handshake(const Url& url) {
  error_code error;
  static_cast<void>(tls_context_.set_default_verify_paths(error));
  if (!options_.ca_file.empty()) {
    static_cast<void>(tls_context_.load_verify_file(options_.ca_file, error));
    if (error) {
      return fail(ErrorCode::Environment, fmt::format("cannot read the certificates in {}: {}",
                                                      options_.ca_file, error.message()));
    }
  }
  SSL_CTX_set_min_proto_version(tls_context_.native_handle(), TLS1_2_VERSION);
  tls_.emplace(std::move(stream_), tls_context_);
  tls_->set_verify_mode(asio::ssl::verify_peer);
  tls_->set_verify_callback(asio::ssl::host_name_verification(url.host));
  SSL_set_tlsext_host_name(tls_->native_handle(), url.host.c_str());
  error = run(options_.connect_timeout,
              [&](auto done) { tls_->async_handshake(asio::ssl::stream_base::client, done); });
  if (error) {
    return failure(ErrorCode::Environment,
                   fmt::format("cannot make a secure connection to {}", url.host), error);
  }
  return {};
}

Result<HttpResponse> Connection::exchange(const HttpRequest& request, const Url& url,
                                          const HttpHeadHandler& on_head,
                                          const HttpBodyHandler& on_body) {
  const std::string target =
      through_plain_proxy_ ? fmt::format("http://{}{}", url.authority(), url.target) : url.target;
  http::request<http::empty_body> message(http::verb::get, target, 11);
  message.set(http::field::host, url.authority());
  message.set(http::field::user_agent, options_.user_agent);
  message.set(http::field::accept, "*/*");
  message.set(http::field::accept_encoding, "identity");
  message.set(http::field::connection, "close");
  if (through_plain_proxy_ && !proxy_authorization_.empty()) {
    message.set(http::field::proxy_authorization, proxy_authorization_);
  }
  if (!url.user.empty()) {
    message.set(http::field::authorization, "Basic " + base64(std::as_bytes(std::span(url.user))));
  }
  if (request.range_start > 0) {
    message.set(http::field::range, fmt::format("bytes={}-", request.range_start));
    if (!request.if_range.empty()) {
      message.set(http::field::if_range, request.if_range);
    }
  }
  auto response = tls_ ? exchange_over(*tls_, message, on_head, on_body)
                       : exchange_over(stream_, message, on_head, on_body);
  if (response) {
    response->url = url.text();
  }
  return response;
}

Result<int> Connection::send(const HttpPost& post, const Url& url) {
  http::request<http::string_body> message(http::verb::post, url.target, 11);
  message.set(http::field::host, url.authority());
  message.set(http::field::user_agent, options_.user_agent);
  message.set(http::field::connection, "close");
  for (const auto& [name, value] : post.headers) {
    message.set(name, value);
  }
  message.body() = post.body;
  message.prepare_payload();
  const HttpHeadHandler heard = [](const HttpResponse&) { return Status(); };
  MYNAH_TRY(const HttpResponse response, tls_ ? exchange_over(*tls_, message, heard, {})
                                              : exchange_over(stream_, message, heard, {}));
  return response.status;
}

template <class Stream, class Body>
Result<HttpResponse> Connection::exchange_over(Stream& stream, const http::request<Body>& message,
                                               const HttpHeadHandler& on_head,
                                               const HttpBodyHandler& on_body) {
  error_code error =
      run(options_.stall_timeout, [&](auto done) { http::async_write(stream, message, done); });
  if (error) {
    return failure(ErrorCode::Io, "cannot send the request", error);
  }
  http::response_parser<http::buffer_body> parser;
  // Largest number, not boost::none: Beast 1.74 takes that for a limit of nothing once a length is
  // known.
  parser.body_limit(std::numeric_limits<uint64_t>::max());
  parser.header_limit(kHeaderLimitBytes);
  error = run(options_.stall_timeout,
              [&](auto done) { http::async_read_header(stream, buffer_, parser, done); });
  if (error) {
    const bool not_http =
        error.category() == make_error_code(http::error::bad_version).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message;
    return failure(not_http ? ErrorCode::InvalidInput : ErrorCode::Io, "no proper answer", error);
  }
  HttpResponse response;
  response.status = static_cast<int>(parser.get().result_int());
  response.headers = headers_of(parser.get());
  response.first_headers = response.headers;
  if (is_redirect(response.status)) {
    return response;
  }
  MYNAH_TRY_STATUS(on_head(response));
  if (on_body && (response.status == 200 || response.status == 206)) {
    MYNAH_TRY_STATUS(read_body(stream, parser, on_body));
  }
  return response;
}

template <class Stream, class Parser>
Status Connection::read_body(Stream& stream, Parser& parser, const HttpBodyHandler& on_body) {
  std::vector<std::byte> piece(kPieceBytes);
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    parser.get().body().more = true;
    const error_code error = run(options_.stall_timeout, [&](auto done) {
      http::async_read_some(stream, buffer_, parser, done);
    });
    const size_t count = piece.size() - parser.get().body().size;
    if (count > 0) {
      MYNAH_TRY_STATUS(on_body(std::span(piece).first(count)));
    }
    if (error && error != http::error::need_buffer) {
      return failure(ErrorCode::Io, "the connection broke", error);
    }
  }
  return {};
}

Error in_context(Error error, const Url& url, const char* method = "GET") {
  return std::move(error).while_doing(fmt::format("{} {}", method, url.text()));
}

}  // namespace

std::string HttpResponse::header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? std::string() : found->second;
}

std::optional<uint64_t> HttpResponse::content_length() const {
  const std::string text = header("content-length");
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

Result<HttpResponse> http_get(const HttpRequest& request, const HttpOptions& options,
                              const HttpHeadHandler& on_head, const HttpBodyHandler& on_body,
                              const std::stop_token& stop) {
  MYNAH_TRY(Url url, parse_url(request.url));
  std::optional<std::map<std::string, std::string>> first_headers;
  const auto head_with_first = [&](const HttpResponse& response) {
    HttpResponse complete = response;
    complete.url = url.text();
    complete.first_headers = first_headers.value_or(response.headers);
    return on_head(complete);
  };
  for (int hop = 0; hop <= options.max_redirects; ++hop) {
    Connection connection(options, stop);
    if (Status opened = connection.open(url); !opened) {
      return std::unexpected(in_context(std::move(opened).error(), url));
    }
    auto response = connection.exchange(request, url, head_with_first, on_body);
    if (!response) {
      return std::unexpected(in_context(std::move(response).error(), url));
    }
    if (!first_headers) {
      first_headers = response->headers;
    }
    if (!is_redirect(response->status)) {
      response->first_headers = *first_headers;
      return response;
    }
    MYNAH_TRY(Url next, resolve_location(url, response->header("location")));
    if (url.scheme == "https" && next.scheme != "https") {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("GET {}: it redirects to {}, which is not secure; not followed",
                              url.text(), next.text()));
    }
    url = std::move(next);
  }
  return fail(ErrorCode::InvalidInput, fmt::format("GET {}: more than {} redirects; not followed",
                                                   request.url, options.max_redirects));
}

Result<int> http_post(const HttpPost& post, const HttpOptions& options,
                      const std::stop_token& stop) {
  MYNAH_TRY(const Url url, parse_url(post.url));
  HttpOptions direct = options;
  direct.proxies = {};
  Connection connection(direct, stop);
  if (Status opened = connection.open(url); !opened) {
    return std::unexpected(in_context(std::move(opened).error(), url, "POST"));
  }
  auto status = connection.send(post, url);
  if (!status) {
    return std::unexpected(in_context(std::move(status).error(), url, "POST"));
  }
  return status;
}

}  // namespace mynah
