#include "store/http.h"

#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "store/base64.h"
#include "store/http_connection.h"

namespace mynah {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kPieceBytes = 256U << 10U;
constexpr uint32_t kHeaderLimitBytes = 64U << 10U;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One exchange over one connection.
class Getter {
 public:
  Getter(const HttpOptions& options, const std::stop_token& stop)
      : options_(options), connection_(options, stop) {}

  Status open(const Url& url) { return connection_.open(url); }

  Result<HttpResponse> exchange(const HttpRequest& request, const Url& url,
                                const HttpHeadHandler& on_head, const HttpBodyHandler& on_body);
  Result<int> send(const HttpPost& post, const Url& url);

 private:
  template <class Stream, class Body>
  Result<HttpResponse> exchange_over(Stream& stream, const http::request<Body>& message,
                                     const HttpHeadHandler& on_head,
                                     const HttpBodyHandler& on_body);
  template <class Stream, class Parser>
  Status read_body(Stream& stream, Parser& parser, const HttpBodyHandler& on_body);

  const HttpOptions& options_;
  HttpConnection connection_;
};

Result<HttpResponse> Getter::exchange(const HttpRequest& request, const Url& url,
                                      const HttpHeadHandler& on_head,
                                      const HttpBodyHandler& on_body) {
  const std::string target = connection_.through_plain_proxy()
                                 ? fmt::format("http://{}{}", url.authority(), url.target)
                                 : url.target;
  http::request<http::empty_body> message(http::verb::get, target, 11);
  message.set(http::field::host, url.authority());
  message.set(http::field::user_agent, options_.user_agent);
  message.set(http::field::accept, "*/*");
  message.set(http::field::accept_encoding, "identity");
  message.set(http::field::connection, "close");
  if (connection_.through_plain_proxy() && !connection_.proxy_authorization().empty()) {
    message.set(http::field::proxy_authorization, connection_.proxy_authorization());
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
  auto response = connection_.over_stream(
      [&](auto& stream) { return exchange_over(stream, message, on_head, on_body); });
  if (response) {
    response->url = url.text();
  }
  return response;
}

Result<int> Getter::send(const HttpPost& post, const Url& url) {
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
  MYNAH_TRY(const HttpResponse response, connection_.over_stream([&](auto& stream) {
    return exchange_over(stream, message, heard, {});
  }));
  return response.status;
}

template <class Stream, class Body>
Result<HttpResponse> Getter::exchange_over(Stream& stream, const http::request<Body>& message,
                                           const HttpHeadHandler& on_head,
                                           const HttpBodyHandler& on_body) {
  error_code error = connection_.run(options_.stall_timeout,
                                     [&](auto done) { http::async_write(stream, message, done); });
  if (error) {
    return connection_.failure(ErrorCode::Io, "cannot send the request", error);
  }
  http::response_parser<http::buffer_body> parser;
  // Largest number, not boost::none: Beast 1.74 takes that for a limit of nothing once a length is
  // known.
  parser.body_limit(std::numeric_limits<uint64_t>::max());
  parser.header_limit(kHeaderLimitBytes);
  error = connection_.run(options_.stall_timeout, [&](auto done) {
    http::async_read_header(stream, connection_.buffer(), parser, done);
  });
  if (error) {
    const bool not_http =
        error.category() == make_error_code(http::error::bad_version).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message;
    return connection_.failure(not_http ? ErrorCode::InvalidInput : ErrorCode::Io,
                               "no proper answer", error);
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
Status Getter::read_body(Stream& stream, Parser& parser, const HttpBodyHandler& on_body) {
  std::vector<std::byte> piece(kPieceBytes);
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    parser.get().body().more = true;
    const error_code error = connection_.run(options_.stall_timeout, [&](auto done) {
      http::async_read_some(stream, connection_.buffer(), parser, done);
    });
    const size_t count = piece.size() - parser.get().body().size;
    if (count > 0) {
      MYNAH_TRY_STATUS(on_body(std::span(piece).first(count)));
    }
    if (error && error != http::error::need_buffer) {
      return connection_.failure(ErrorCode::Io, "the connection broke", error);
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
    Getter connection(options, stop);
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
  Getter connection(direct, stop);
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
