#include "talk/tools/mcp/http_transport.h"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "formats/json.h"
#include "store/event_stream.h"
#include "talk/tools/mcp/message.h"

namespace mynah::talk {

namespace {

using Clock = McpOutgoing::Clock;

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kEventsType = "text/event-stream";
constexpr std::string_view kSessionHeader = "mcp-session-id";
// What one answer may have altogether: a server that tells of its progress forever ends there.
constexpr size_t kMostOfAnswer = size_t{64} << 20;
constexpr int kMostResumes = 3;
constexpr std::chrono::milliseconds kLongestRetry{5000};

// Waits, but for a stop.
void wait_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

// The answer to one request as it comes.
struct HttpTransport::Stream {
  const Take& take;
  std::function<bool()> is_over;
  std::function<Clock::time_point()> deadline;
  EventStream events{kMostMcpMessageBytes};
  bool are_events = false;
  std::string json{};
  size_t bytes = 0;
  bool is_done = false;  // it ended as wanted, whatever the connection says

  Status push(std::span<const std::byte> piece) {
    bytes += piece.size();
    if (bytes > kMostOfAnswer) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the answer is longer than {} bytes", kMostOfAnswer));
    }
    if (deadline && Clock::now() > deadline()) {
      return fail(ErrorCode::Io, "no answer in time");
    }
    const std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (!are_events) {
      if (json.size() + text.size() > kMostMcpMessageBytes) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("a message is longer than {} bytes", kMostMcpMessageBytes));
      }
      json += text;
      return {};
    }
    return events.push(text, [&](const ServerEvent& event) -> Status {
      if (!event.data.empty()) {
        take(event.data);
      }
      is_done = is_over && is_over();
      return is_done ? fail(ErrorCode::Cancelled, "answered") : Status();
    });
  }
};

HttpTransport::HttpTransport(McpAddress address) : address_(std::move(address)) {}

Status HttpTransport::start(Take take) {
  take_ = std::move(take);
  return {};
}

HttpQuestion HttpTransport::question(std::string_view accept) const {
  HttpQuestion question;
  question.target = address_.url.target;
  question.type = kJsonType;
  question.headers = address_.headers;
  question.headers.emplace_back("Accept", accept);
  if (!address_.token.empty()) {
    question.headers.emplace_back("Authorization", "Bearer " + address_.token);
  }
  const std::scoped_lock lock(mutex_);
  if (!session_.empty()) {
    question.headers.emplace_back("Mcp-Session-Id", session_);
  }
  if (!revision_.empty()) {
    question.headers.emplace_back("MCP-Protocol-Version", revision_);
  }
  return question;
}

Status HttpTransport::refused(const HttpAnswer& answer) {
  constexpr int kUnauthorized = 401;
  constexpr int kForbidden = 403;
  constexpr int kNotFound = 404;
  const int status = answer.head.status;
  std::string said;
  if (const auto json = parse_ordered_json(answer.text, "answer"); json && json->is_object()) {
    const auto error = json->find("error");
    said = error != json->end() ? mcp_text(*error, "message") : mcp_text(*json, "message");
  }
  const std::string told = said.empty() ? std::string() : fmt::format(": {}", said);
  if (status == kUnauthorized || status == kForbidden) {
    return fail(ErrorCode::Environment,
                fmt::format("the server answers {}{}: wanted a token that it knows (\"tokenFile\", "
                            "a file that its user alone may read)",
                            status, told));
  }
  const bool had_session = [&] {
    const std::scoped_lock lock(mutex_);
    return status == kNotFound && !std::exchange(session_, {}).empty();
  }();
  if (had_session) {
    return fail(ErrorCode::NotFound, "the server knows the session no more");
  }
  return fail(ErrorCode::Environment, fmt::format("the server answers {}{}", status, told));
}

Status HttpTransport::answer_of(HttpClient& client, const HttpQuestion& asked, Stream& stream,
                                const std::stop_token& stop) {
  HttpQuestion question = asked;
  question.on_head = [&](const HttpResponse& head) -> Status {
    const std::string type = ascii_lower(head.header("content-type"));
    stream.are_events = type.starts_with(kEventsType);
    if (!stream.are_events && !type.starts_with(kJsonType)) {
      return fail(ErrorCode::Environment,
                  fmt::format("wanted an answer of JSON or events, found '{}': is this the "
                              "address of an MCP server?",
                              type));
    }
    const std::string session = head.header(kSessionHeader);
    constexpr size_t kMostSession = 1024;
    const bool is_visible =
        session.size() <= kMostSession &&
        std::ranges::all_of(session, [](char c) { return c > ' ' && c <= '~'; });
    if (!session.empty() && is_visible) {
      const std::scoped_lock lock(mutex_);
      session_ = session;
    }
    return {};
  };
  const auto answer = client.ask(
      question, [&](std::span<const std::byte> piece) { return stream.push(piece); }, stop);
  if (stream.is_done) {
    return {};
  }
  if (!answer) {
    return std::unexpected(answer.error());
  }
  constexpr int kOk = 200;
  if (answer->head.status / 100 != 2) {
    return refused(*answer);
  }
  if (answer->head.status == kOk && !stream.are_events && !stream.json.empty()) {
    take_(stream.json);
  }
  return {};
}

Status HttpTransport::resume(Stream& stream, const std::stop_token& stop) {
  Status ended;
  for (int i = 0; i < kMostResumes && !stream.is_done; ++i) {
    wait_for(
        std::min(stream.events.retry().value_or(std::chrono::milliseconds(100)), kLongestRetry),
        stop);
    HttpQuestion again = question(kEventsType);
    again.type.clear();
    again.headers.emplace_back("Last-Event-ID", stream.events.last_id());
    HttpClient client(address_.url, address_.options);
    ended = answer_of(client, again, stream, stop);
    if (stop.stop_requested()) {
      break;
    }
  }
  return ended;
}

Status HttpTransport::send(const McpOutgoing& outgoing) {
  // A connection of its own each time: several may be under way, and one that was kept may be found
  // closed when nobody knows whether the tool ran.
  HttpOptions options = address_.options;
  if (outgoing.deadline) {
    // Who waits no longer than that is told so, also where not a byte comes.
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(outgoing.deadline() - Clock::now());
    options.stall_timeout = std::clamp(left, std::chrono::milliseconds(1), options.stall_timeout);
  }
  HttpClient client(address_.url, options);
  HttpQuestion question = this->question("application/json, text/event-stream");
  question.body = std::as_bytes(std::span(outgoing.text));
  Stream stream{.take = take_, .is_over = outgoing.is_over, .deadline = outgoing.deadline};
  Status ended = answer_of(client, question, stream, outgoing.stop);
  const bool has_gone =
      outgoing.stop.stop_requested() || (outgoing.deadline && Clock::now() > outgoing.deadline());
  const bool is_answered = !outgoing.is_over || outgoing.is_over();
  if (!is_answered && !has_gone && stream.are_events && !stream.events.last_id().empty()) {
    ended = resume(stream, outgoing.stop);
  }
  return ended;
}

void HttpTransport::on_agreed(const std::string& revision) {
  {
    const std::scoped_lock lock(mutex_);
    revision_ = revision;
  }
  if (!listener_.joinable()) {
    listener_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
  }
}

void HttpTransport::listen(const std::stop_token& stop) {
  constexpr std::chrono::minutes kSilence{5};  // after which it connects again
  constexpr std::chrono::milliseconds kFirstWait{500};
  constexpr std::chrono::milliseconds kLongestWait{30000};
  HttpOptions options = address_.options;
  options.stall_timeout = kSilence;
  std::chrono::milliseconds wait = kFirstWait;
  std::string last_id;
  while (!stop.stop_requested()) {
    HttpQuestion asked = question(kEventsType);
    asked.type.clear();
    if (!last_id.empty()) {
      asked.headers.emplace_back("Last-Event-ID", last_id);
    }
    Stream stream{.take = take_, .is_over = {}, .deadline = {}};
    HttpClient client(address_.url, options);
    const Status ended = answer_of(client, asked, stream, stop);
    const bool is_heard = stream.are_events;
    // A server without such a stream says so (405), or answers something else.
    if (!is_heard && (ended || ended.error().code != ErrorCode::Io)) {
      return;
    }
    last_id = is_heard ? stream.events.last_id() : last_id;
    wait = stream.bytes > 0 ? kFirstWait : std::min(wait * 2, kLongestWait);
    wait_for(std::clamp(stream.events.retry().value_or(wait), kFirstWait, kLongestWait), stop);
  }
}

void HttpTransport::close() {
  if (listener_.joinable()) {
    listener_.request_stop();
    listener_.join();
  }
  HttpQuestion farewell = question("*/*");
  const bool has_session = [&] {
    const std::scoped_lock lock(mutex_);
    return !std::exchange(session_, {}).empty();
  }();
  if (has_session) {
    constexpr std::chrono::seconds kFarewell{2};
    farewell.method = "DELETE";
    HttpOptions options = address_.options;
    options.connect_timeout = kFarewell;
    options.stall_timeout = kFarewell;
    HttpClient client(address_.url, options);
    // A server may not let clients end sessions: nothing hangs on it.
    static_cast<void>(
        client.ask(farewell, [](std::span<const std::byte> /*piece*/) { return Status(); }, {}));
  }
}

}  // namespace mynah::talk
