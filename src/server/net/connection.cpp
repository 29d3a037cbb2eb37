#include "server/net/connection.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/ascii.h"
#include "server/http/framing.h"
#include "server/http/websocket.h"
#include "server/net/connection_request.h"

namespace mynah::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kMostHead = 64U << 10U;
constexpr size_t kPiece = 64U << 10U;
constexpr size_t kMostAhead = 256U << 10U;

// A handler that throws, or does not come to an end, has made a fault that its client is told.
void have_answered(const Handler& handler, Exchange& exchange, const Front& front) {
  std::string what = "the server has no answer: a fault of its own";
  try {
    handler(exchange);
  } catch (const std::exception& error) {
    what = fmt::format("a fault of the server's own: {}", error.what());
  }
  if (!exchange.has_begun()) {
    exchange.answer(front.refusal(exchange.head(), {ErrorCode::Environment, what}));
  } else if (!exchange.is_over()) {
    exchange.break_off();
  }
}

std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Connection::Connection(const asio::any_io_executor& executor, std::unique_ptr<Stream> stream,
                       std::string peer, Front& front, WorkThreads& threads,
                       const ConnectionSettings& settings, const RoomMaker& make_room)
    : executor_(executor),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      front_(front),
      threads_(threads),
      settings_(settings),
      make_room_(make_room),
      came_(executor),
      room_(executor),
      handled_(executor),
      watch_(executor) {}

Connection::~Connection() = default;

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  const bool opened = co_await open();
  if (!opened) {
    close(false);
    co_return;
  }
  asio::co_spawn(executor_, [self] { return self->read_ahead(); }, asio::detached);
  bool more = true;
  while (more && !last_) {
    more = co_await serve_one();
  }
  close(false);
}

asio::awaitable<bool> Connection::open() {
  watch(settings_.times.head);
  const bool opened = co_await stream_->open();
  watch_.end();
  co_return opened && !over_;
}

void Connection::drain() {
  last_ = true;
  if (socket_ != nullptr) {
    socket_->bid_farewell();
  } else if (exchange_ == nullptr && inbox_.empty()) {
    close(false);
  }
}

void Connection::stop() {
  last_ = true;
  if (exchange_ != nullptr) {
    exchange_->leave();
  }
  close(false);
}

void Connection::drop() {
  close(true);
}

void Connection::close(bool reset) {
  if (!over_) {
    over_ = true;
    stream_->close(reset);
    came_.notify();
    room_.notify();
    handled_.notify();
  }
}

asio::awaitable<void> Connection::read_ahead() {
  std::array<char, kPiece> piece{};
  while (!over_) {
    if (inbox_.size() >= kMostAhead) {
      co_await room_.wait(Clock::time_point::max());
      continue;
    }
    const size_t count = co_await stream_->read_some(asio::buffer(piece));
    if (count == 0) {
      break;
    }
    inbox_.append(piece.data(), count);
    came_.notify();
  }
  gone_ = true;
  if (exchange_ != nullptr) {
    exchange_->leave();
  }
  came_.notify();
  handled_.notify();
}

asio::awaitable<bool> Connection::wait_for_more(Clock::time_point until) {
  const size_t before = inbox_.size();
  while (inbox_.size() == before && !gone_ && !over_ && Clock::now() < until) {
    co_await came_.wait(until);
  }
  co_return inbox_.size() > before && !over_;
}

asio::awaitable<bool> Connection::serve_one() {
  Request request;
  waits_since_ = Clock::now();
  request.parser.header_limit(kMostHead);
  request.parser.body_limit(std::numeric_limits<uint64_t>::max());  // ours counts
  if (inbox_.empty()) {
    const bool came = co_await wait_for_more(Clock::now() + settings_.times.idle);
    if (!came) {
      co_return false;
    }
  }
  request.began = Clock::now();
  waits_since_ = request.began;
  bool more = co_await read_head(request);
  if (more && request.plan.socket.make) {
    more = co_await upgrade(request);
  } else if (more) {
    more = co_await read_body(request);
    if (more) {
      more = co_await have_handled(request);
    }
  }
  constexpr int kClientClosed = 499;
  if (request.served.status == 0 && request.plan.handler != nullptr) {
    request.served.status = kClientClosed;  // it was not told anything any more
  }
  if (request.served.status != 0) {
    request.served.took = Clock::now() - request.began;
    request.served.left = gone_ && !request.answered;
    front_.on_served(request.head, request.served);
  }
  co_return more;
}

asio::awaitable<bool> Connection::read_head(Request& request) {
  request.head.peer = peer_;
  const auto until = request.began + settings_.times.head;
  size_t taken = 0;
  while (!request.parser.is_header_done()) {
    error_code error;
    const size_t used = request.parser.put(asio::buffer(inbox_), error);
    inbox_.erase(0, used);
    taken += used;
    room_.notify();
    // Beast's limit is that of what one call is given.
    const bool long_head = error == http::error::header_limit || taken > kMostHead;
    if (long_head || (error && error != http::error::need_more)) {
      const Error told{ErrorCode::InvalidInput,
                       long_head ? fmt::format("wanted a head of at most {} KB", kMostHead >> 10U)
                                 : "wanted a request of HTTP/1.1: " + error.message()};
      const bool long_line = long_head && request.parser.get().target().empty();
      const int status = long_line ? 414 : long_head ? 431 : 400;
      co_return co_await refuse_as(request, status, told);
    }
    if (error) {
      const bool more = co_await wait_for_more(until);
      if (!more) {
        co_return co_await give_up(request);
      }
    }
  }
  const auto& parsed = request.parser.get();
  RequestHead& head = request.head;
  head.method = std::string(view_of(parsed.method_string()));
  for (const auto& field : parsed) {
    head.headers.add(std::string(view_of(field.name_string())),
                     std::string(view_of(field.value())));
  }
  request.keeps = request.parser.keep_alive();
  request.bodiless = head.method == "HEAD";
  request.chunked = parsed.version() >= 11;
  Status target = parse_target(view_of(parsed.target()), head);
  if (target) {
    target = check_framing(head.headers, request.chunked);
  }
  if (!target) {
    request.refusal = front_.refusal(head, target.error());
    co_return co_await refuse(request);
  }
  auto plan = front_.plan(head);
  if (!plan) {
    request.refusal = std::move(plan).error();
    co_return co_await refuse(request);
  }
  request.plan = *std::move(plan);
  share_ = share_of(head);
  co_return true;
}

asio::awaitable<bool> Connection::read_body(Request& request) {
  const RequestHead& head = request.head;
  auto taker =
      make_body_taker(request.plan.accepts, head.headers.get("content-type"), settings_.limits);
  if (!taker) {
    co_return co_await refuse_body(request, taker.error());
  }
  const auto length = request.parser.content_length();
  if (length && *length > settings_.limits.most_bytes) {
    const Error error{ErrorCode::OutOfMemory,
                      fmt::format("wanted a body of at most {} MB, found one of {} MB",
                                  settings_.limits.most_bytes >> 20U, *length >> 20U)};
    co_return co_await refuse_body(request, error);
  }
  if (equal_but_for_case(head.headers.get("expect"), "100-continue")) {
    const bool sent = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!sent) {
      co_return false;
    }
  }
  request.parser.get().body().taker = taker->get();
  request.parser.eager(true);
  uint64_t taken = 0;
  const auto begun = Clock::now();
  while (!request.parser.is_done()) {
    // A byte now and then is no body: all of it is as fast as a telephone line at least.
    constexpr uint64_t kSlowest_bytes_per_s = 256;
    const auto late =
        begun + settings_.times.stall + std::chrono::seconds(taken / kSlowest_bytes_per_s);
    if (inbox_.empty()) {
      const bool came =
          co_await wait_for_more(std::min(Clock::now() + settings_.times.stall, late));
      if (!came) {
        co_return co_await give_up(request);
      }
    }
    error_code error;
    const size_t used = request.parser.put(asio::buffer(inbox_), error);
    inbox_.erase(0, used);
    taken += used;
    // Who is as fast as that is not waited for.
    constexpr uint64_t kFast_bytes_per_s = 64U << 10U;
    waits_since_ = begun + std::chrono::milliseconds(1000 * taken / kFast_bytes_per_s);
    request.served.received = taken;
    room_.notify();
    // Chunks of a byte are a client's right; more around them than that is no body.
    constexpr uint64_t kMostAroundOne = 16;
    if (taken > kMostHead + (1 + kMostAroundOne) * request.parser.get().body().taken) {
      const Error told{ErrorCode::InvalidInput, "there is more around the body than in it"};
      co_return co_await refuse_body(request, told);
    }
    if (error == http::error::need_more && used == 0) {
      if (inbox_.size() >= kMostAhead) {
        const Error told{ErrorCode::InvalidInput, "the head of a piece of the body is too long"};
        co_return co_await refuse_body(request, told);
      }
      const bool more =
          co_await wait_for_more(std::min(Clock::now() + settings_.times.stall, late));
      if (!more) {
        co_return co_await give_up(request);
      }
    } else if (error && error != http::error::need_more) {
      const auto& own = request.parser.get().body().error;
      const Error told = own ? *own
                             : Error{ErrorCode::InvalidInput,
                                     "the body is not what its head says: " + error.message()};
      co_return co_await refuse_body(request, told);
    }
  }
  auto body = (*taker)->finish();
  if (!body) {
    co_return co_await refuse_body(request, body.error());
  }
  request.body = *std::move(body);
  co_return true;
}

asio::awaitable<bool> Connection::have_handled(Request& request) {
  const auto wake = [executor = executor_, weak = weak_from_this()] {
    asio::post(executor, [weak] {
      if (const auto connection = weak.lock()) {
        connection->handled_.notify();
      }
    });
  };
  const auto exchange = std::make_shared<Exchange>(request.head, std::move(request.body), wake);
  exchange_ = exchange;
  if (gone_) {
    exchange_.reset();
    co_return false;
  }
  waits_since_ = kNever;
  const std::function<void()> work = [exchange, handler = request.plan.handler, &front = front_] {
    have_answered(handler, *exchange, front);
  };
  bool runs = threads_.run(work, share_);
  while (!runs && !gone_ && make_room_(share_)) {
    constexpr std::chrono::milliseconds kSoon{20};
    co_await handled_.wait(Clock::now() + kSoon);
    runs = threads_.run(work, share_);
  }
  bool sent = false;
  if (runs) {
    sent = co_await send_outgoing(request, *exchange);
  } else {
    exchange_.reset();
    request.refusal =
        front_.refusal(request.head, {ErrorCode::Busy, "all threads are busy; ask again"});
    co_return co_await refuse(request);
  }
  if (!sent) {
    exchange->leave();
  }
  exchange_.reset();
  const bool another = sent && request.keeps;
  co_return another;
}

asio::awaitable<bool> Connection::upgrade(Request& request) {
  auto answer = upgrade_answer(request.head, request.plan.socket.protocol);
  const auto length = request.parser.content_length();
  const bool has_body = request.parser.chunked() || length.value_or(0) > 0;
  if (answer && (has_body || !request.chunked)) {
    answer = fail(ErrorCode::InvalidInput,
                  "wanted a request of HTTP/1.1 without a body, as one for a WebSocket is");
  }
  if (!answer) {
    constexpr int kUpgradeRequired = 426;
    request.refusal = front_.refusal(request.head, answer.error());
    request.refusal.status = kUpgradeRequired;
    request.refusal.headers.set("Upgrade", "websocket");
    request.refusal.headers.set("Sec-WebSocket-Version", "13");
    co_return co_await refuse(request);
  }
  waits_since_ = kNever;
  const auto write_bytes = [this](std::string_view bytes) { return write(bytes); };
  socket_ = std::make_shared<MessageConnection>(Wire{.executor = executor_,
                                                     .inbox = inbox_,
                                                     .came = came_,
                                                     .room = room_,
                                                     .gone = gone_,
                                                     .write = write_bytes},
                                                request.head, request.plan.socket.make, threads_);
  const bool sent = co_await send_head(request, *answer, true);
  if (sent) {
    co_await socket_->run();
  } else {
    socket_->leave();
  }
  socket_.reset();
  co_return false;
}

asio::awaitable<bool> Connection::send_outgoing(Request& request, Exchange& exchange) {
  auto silent_at = Clock::now() + settings_.times.silence;
  while (true) {
    Exchange::Outgoing next = exchange.take_outgoing();
    bool good = true;
    if (next.head) {
      good = co_await send_head(request, *next.head, next.whole);
    }
    if (good && next.body.broken_off) {
      close(true);
      good = false;
    }
    if (good && !next.whole && (next.body.over || !next.body.bytes.empty())) {
      good = co_await send_piece(request, next.body.bytes, next.body.over);
    }
    if (!good || next.body.over) {
      request.answered = good;
      co_return good;
    }
    if (gone_ || over_) {
      co_return false;
    }
    // What came while the last was sent is taken first: nobody tells of it again.
    if (next.head || !next.body.bytes.empty()) {
      silent_at = Clock::now() + settings_.times.silence;
      continue;
    }
    const bool fills = exchange.has_filler();
    co_await handled_.wait(fills ? silent_at : Clock::time_point::max());
    if (fills && Clock::now() >= silent_at) {
      exchange.fill();
    }
  }
}

asio::awaitable<bool> Connection::send_head(Request& request, Response& head, bool whole) {
  front_.dress(request.head, head);
  request.served.status = head.status;
  std::string text = head_text(head);
  const bool empty = head.status < 200 || head.status == 204 || head.status == 304;
  if (whole && !empty) {
    text += fmt::format("Content-Length: {}\r\n", head.body.size());
  } else if (!whole && request.chunked) {
    text += "Transfer-Encoding: chunked\r\n";
  } else if (!whole) {
    request.keeps = false;  // HTTP/1.0: the end of the connection is that of the body
  }
  request.keeps = request.keeps && !last_;
  if (!request.keeps && head.status >= 200) {
    text += "Connection: close\r\n";
  }
  text += "\r\n";
  if (whole && !request.bodiless) {
    request.served.bytes = head.body.size();
    text += head.body;
  }
  const bool sent = co_await write(text);
  request.answered = sent && whole;
  co_return sent;
}

asio::awaitable<bool> Connection::send_piece(Request& request, std::string& bytes, bool last) {
  if (request.bodiless) {
    co_return true;
  }
  request.served.bytes += bytes.size();
  if (request.chunked) {
    std::string chunk;
    if (!bytes.empty()) {
      chunk = fmt::format("{:x}\r\n", bytes.size()) + bytes + "\r\n";
    }
    bytes = chunk + (last ? "0\r\n\r\n" : "");
  }
  co_return co_await write(bytes);
}

void Connection::watch(std::chrono::milliseconds time) {
  watch_.begin(time, [weak = weak_from_this()] {
    if (const auto connection = weak.lock()) {
      connection->close(true);
    }
  });
}

asio::awaitable<bool> Connection::write(std::string_view bytes) {
  if (over_) {
    co_return false;
  }
  watch(settings_.times.stall);
  writes_since_ = Clock::now();
  const bool written = co_await stream_->write(asio::const_buffer(bytes.data(), bytes.size()));
  writes_since_ = kNever;
  watch_.end();
  // Who takes nothing any more has left, whether that was read already or not.
  gone_ = gone_ || (!written && !over_);
  co_return written;
}

}  // namespace mynah::server
