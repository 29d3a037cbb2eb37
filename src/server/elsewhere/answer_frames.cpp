#include "server/elsewhere/answer_frames.h"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "place/elsewhere/frames.h"
#include "place/wire/wire_types.h"
#include "server/http/errors.h"
#include "server/http/request_work.h"

namespace mynah::server {
namespace {

using place::FrameKind;

// Four a second: who waits takes twenty times the longest pause that it measured for an end.
constexpr std::chrono::milliseconds kSign{250};

std::string last_frame(const Status& done) {
  if (done) {
    return place::frame(FrameKind::End);
  }
  place::WireWriter out;
  out(done.error());
  return place::frame(FrameKind::Refused, out.bytes());
}

}  // namespace

void name_protocol(Response& response) {
  response.headers.set(std::string(place::kProtocolHeader), std::to_string(place::kMynahProtocol));
}

bool speaks_protocol(Exchange& exchange) {
  const std::string_view theirs = exchange.head().headers.get(place::kProtocolHeader);
  if (theirs == std::to_string(place::kMynahProtocol)) {
    return true;
  }
  Response response = openai_error(
      {ErrorCode::InvalidInput,
       fmt::format("this mynah speaks protocol {} with others, found {}: use the same version of "
                   "both",
                   place::kMynahProtocol, theirs.empty() ? std::string_view("none") : theirs)});
  constexpr int kConflict = 409;
  response.status = kConflict;
  exchange.answer(std::move(response));
  return false;
}

void AnswerFrames::send_bytes(const place::WireWriter& out) {
  const std::lock_guard lock(mutex_);
  frames_.push_back(place::frame(FrameKind::Result, out.bytes()));
  changed_.notify_all();
}

void AnswerFrames::write_on() {
  std::unique_lock lock(mutex_);
  while (!done_ || !frames_.empty()) {
    const bool something =
        changed_.wait_for(lock, kSign, [this] { return done_ || !frames_.empty(); });
    std::deque<std::string> frames = std::exchange(frames_, {});
    lock.unlock();
    if (!something) {
      frames.push_back(place::frame(FrameKind::Alive));
    }
    for (const std::string& frame : frames) {
      // Where the other left, the work sees that by itself.
      static_cast<void>(exchange_.write(frame));
    }
    lock.lock();
  }
}

void AnswerFrames::answer(const Work& work) {
  Response response;
  response.type = place::kFramesType;
  name_protocol(response);
  exchange_.begin(std::move(response));
  Status done;
  try {
    const std::jthread worker([&, about = RequestWork::here()] {
      const RequestScope scope(about);
      done = work(exchange_.stop());
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_all();
    });
    write_on();
  } catch (const std::system_error& error) {
    done = fail(ErrorCode::Environment,
                fmt::format("no thread can be started: {}; see `ulimit -u`", error.what()));
  }
  static_cast<void>(exchange_.write(last_frame(done)));
  exchange_.end();
}

}  // namespace mynah::server
