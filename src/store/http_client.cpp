#include "store/http_client.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "store/http_connection.h"

namespace mynah {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 256U << 10U;
constexpr uint32_t kHeaderLimitBytes = 64U << 10U;
constexpr size_t kMostText = 4096;
// The end of an answer that has been told in full comes with its last bytes, or never.
constexpr std::chrono::milliseconds kEndTime{200};

using Message = http::request<http::span_body<const char>>;

Message message_of(const HttpQuestion& question, const Url& url, const HttpOptions& options) {
  Message message(question.body.empty() ? http::verb::get : http::verb::post, question.target, 11);
  message.set(http::field::host, url.authority());
  message.set(http::field::user_agent, options.user_agent);
  message.set(http::field::accept_encoding, "identity");
  if (!question.method.empty()) {
    message.method_string(question.method);
  }
  for (const auto& [name, value] : question.headers) {
    message.set(name, value);
  }
  if (!question.body.empty()) {
    message.set(http::field::content_type, question.type);
    message.body() = {reinterpret_cast<const char*>(question.body.data()), question.body.size()};
    message.prepare_payload();
  }
  return message;
}

// Whether it may be asked once more where nobody knows what became of it.
bool may_repeat(const HttpQuestion& question) {
  const bool posts = question.method.empty() ? !question.body.empty() : question.method == "POST";
  return !posts || question.repeatable;
}

}  // namespace

HttpClient::HttpClient(Url url, HttpOptions options)
    : url_(std::move(url)), options_(std::move(options)) {}

HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::ask(const HttpQuestion& question, const HttpBodyHandler& on_body,
                                   const std::stop_token& stop) {
  std::unique_ptr<HttpConnection> kept = std::move(connection_);
  if (kept && kept->is_quiet()) {
    kept->listen_to(stop);
    bool answered = false;
    auto answer = exchange(std::move(kept), question, on_body, stop, answered);
    if (answer || answered || stop.stop_requested() || !may_repeat(question)) {
      return answer;
    }
  }
  auto made = std::make_unique<HttpConnection>(options_, stop);
  MYNAH_TRY_STATUS(made->open(url_));
  bool answered = false;
  return exchange(std::move(made), question, on_body, stop, answered);
}

Result<HttpAnswer> HttpClient::exchange(std::unique_ptr<HttpConnection> connection,
                                        const HttpQuestion& question,
                                        const HttpBodyHandler& on_body, const std::stop_token& stop,
                                        bool& answered) {
  const Message message = message_of(question, url_, options_);
  http::response_parser<http::buffer_body> parser;
  // As of http_get(): boost::none is a limit of nothing.
  parser.body_limit(std::numeric_limits<uint64_t>::max());
  parser.header_limit(kHeaderLimitBytes);
  auto answer = connection->over_stream([&](auto& stream) -> Result<HttpAnswer> {
    error_code error = connection->run(
        options_.stall_timeout, [&](auto done) { http::async_write(stream, message, done); });
    // Who refuses a body may say so before all of it came: that is read all the same.
    const error_code unsent = error;
    error = connection->run(options_.stall_timeout, [&](auto done) {
      http::async_read_header(stream, connection->buffer(), parser, done);
    });
    if (error) {
      return unsent ? connection->failure(ErrorCode::Io, "cannot send the request", unsent)
                    : connection->failure(ErrorCode::Io, "no answer", error);
    }
    answered = true;
    HttpAnswer got;
    got.head.status = static_cast<int>(parser.get().result_int());
    got.head.url = url_.text();
    got.head.headers = headers_of(parser.get());
    if (got.head.status == 200 && question.on_head) {
      MYNAH_TRY_STATUS(question.on_head(got.head));
    }
    std::vector<std::byte> piece(kPieceBytes);
    std::optional<Clock::time_point> end;  // that the rest is waited for
    // Of an answer that is not 200 no more is read than is told: there may be no end of it.
    while (!parser.is_done() && got.text.size() < kMostText) {
      if (!end && question.is_enough && question.is_enough()) {
        end = Clock::now() + kEndTime;
      }
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      parser.get().body().more = true;
      error = connection->run(end ? kEndTime : options_.stall_timeout, [&](auto done) {
        http::async_read_some(stream, connection->buffer(), parser, done);
      });
      const auto came = std::span(piece).first(piece.size() - parser.get().body().size);
      if (end) {
        if ((error && error != http::error::need_buffer) || Clock::now() > *end) {
          break;  // the connection is not kept, and that is all
        }
        continue;
      }
      if (!came.empty() && got.head.status == 200) {
        MYNAH_TRY_STATUS(on_body(came));
      } else if (!came.empty()) {
        got.text.append(reinterpret_cast<const char*>(came.data()),
                        std::min(came.size(), kMostText - got.text.size()));
      }
      if (error && error != http::error::need_buffer) {
        return connection->failure(ErrorCode::Io, "the connection broke", error);
      }
    }
    return got;
  });
  if (answer && parser.is_done() && parser.get().keep_alive()) {
    // A stop that comes from now on means another exchange; one that came has ended this one.
    connection->listen_to({});
    if (!stop.stop_requested()) {
      connection_ = std::move(connection);
    }
  }
  return answer;
}

}  // namespace mynah
