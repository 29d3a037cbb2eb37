#include "cli/talk/file_talk.h"

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "speech/hearing.h"

namespace mynah::cli {

namespace {

// What is captured and played at once.
constexpr size_t kFrame = kHearingRate_hz / 100;
constexpr std::chrono::milliseconds kFrameTime{10};

// Behind the recording a turn is still to end and a reply to be played: no longer than this, if the
// reply does not end.
constexpr int64_t kMostBehind = int64_t{300} * kHearingRate_hz;

// Has time pass as on the wall, from the first time on that it is asked to.
class FrameClock {
 public:
  // One frame; `passes`: in its own time.
  void frame(bool passes) {
    const auto now = std::chrono::steady_clock::now();
    next_ = (passed_ ? next_ : now) + kFrameTime;
    passed_ = passes;
    if (passes) {
      std::this_thread::sleep_until(next_);
    }
  }

 private:
  std::chrono::steady_clock::time_point next_;
  bool passed_ = false;  // the last frame did
};

// Fills the frame; silence behind the end. False: nothing of it is the recording's.
Result<bool> read_frame(AudioSource& source, std::array<float, kFrame>& frame) {
  frame.fill(0);
  size_t count = 0;
  while (count < frame.size()) {
    MYNAH_TRY(const size_t read, source.read(std::span(frame).subspan(count)));
    if (read == 0) {
      break;
    }
    count += read;
  }
  return count > 0;
}

}  // namespace

void FileTalk::tell_events() const {
  for (const talk::TalkEvent& event : gate.take_events()) {
    tell(event);
  }
}

Status FileTalk::run(const std::stop_token& stop) {
  std::array<float, kFrame> captured{};
  std::vector<float> played;
  FrameClock clock;
  Status broken;       // why the recording is over before its end
  int64_t behind = 0;  // samples since the recording's end
  while (behind < kMostBehind) {
    if (stop.stop_requested()) {
      conversation.stop_speaking();
      tell_events();
      return fail(ErrorCode::Cancelled, "stopped");
    }
    // What was heard before a recording broke off is replied to.
    const auto read = broken ? read_frame(source, captured) : Result<bool>(false);
    if (!read) {
      broken = std::unexpected(read.error());
      captured.fill(0);
    }
    const bool more = read.value_or(false);
    behind = more ? 0 : behind + static_cast<int64_t>(kFrame);
    if (!more && gate.is_at_rest()) {
      return broken;
    }
    played.clear();
    gate.step(captured, played);
    if (output != nullptr) {
      MYNAH_TRY_STATUS(output->write(played));
    }
    tell_events();
    clock.frame(pace == TalkPace::RealTime || gate.is_working());
  }
  conversation.stop_speaking();
  tell_events();
  return broken;
}

}  // namespace mynah::cli
