#include "cli/talk/desk_talk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cli/talk/talk_printer.h"

namespace mynah::cli {

namespace {

// Frames between two paintings: 0.1 s.
constexpr int64_t kPaintedEvery = 10;
constexpr size_t kMostLines = 500;
// What waits to be played, so that a late frame leaves no hole: less is filled up with silence,
// silence beyond is left out. The clocks' drift goes there, too.
constexpr double kWaits_s = 0.1;
// So much of a reply waits where the loudspeaker is away: what comes back sooner says all of it,
// late; nobody wants to hear more of it then.
constexpr double kMostWaits_s = 5;
// A clock that is read behind another one is no sleep.
constexpr double kSlept_s = 1;
// Of a reply that is to be repeated.
constexpr size_t kMostRepeated_s = 120;

constexpr char kInterrupt = 3;   // Ctrl-C
constexpr char kEndOfInput = 4;  // Ctrl-D
constexpr char kEscapeKey = 27;

std::string_view name_of(SoundNews::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"opened",    "waiting", "returned", "moved",
                                                      "no_signal", "signal",  "slow"};
  return kNames.at(static_cast<size_t>(kind));
}

bool is_silent(std::span<const float> samples) {
  return std::ranges::all_of(samples, [](float sample) { return sample == 0.0F; });
}

}  // namespace

DeskTalk::DeskTalk(const Parts& parts, bool push_to_talk)
    : parts_(parts), push_to_talk_(push_to_talk), slept_s_(parts.asleep_s()) {
  keys_ = push_to_talk ? "space: talk, and again when done   s: stop   r: repeat   m: mute   "
                         "q: quit"
                       : "s: stop   r: repeat   m: mute   q: quit";
  for (const std::string& note : parts_.first_notes) {
    add_line({.who = {}, .text = note});
  }
}

Status DeskTalk::run(const std::stop_token& stop) {
  bool goes_on = true;
  while (goes_on) {
    auto frame = parts_.device.next(stop);
    if (!frame) {
      break;  // stop was requested
    }
    take_news();
    look_for_sleep();
    MYNAH_TRY_STATUS(hear(*frame));
    for (const talk::TalkEvent& event : parts_.gate.take_events()) {
      take(event);
    }
    if (parts_.screen == nullptr) {
      continue;
    }
    show_question();
    for (auto key = parts_.screen->key(); key && goes_on; key = parts_.screen->key()) {
      goes_on = take_key(*key);
    }
    if (frame->number % kPaintedEvery == 0) {
      refresh();
      goes_on = goes_on && parts_.screen->show(view_);
    }
  }
  parts_.conversation.stop_speaking();
  for (const talk::TalkEvent& event : parts_.gate.take_events()) {
    parts_.tell(event);
  }
  parts_.device.drop();
  return {};
}

Status DeskTalk::hear(const SoundFrame& frame) {
  for (const float sample : frame.heard) {
    loudest_ = std::max(loudest_, std::abs(sample));
  }
  const Listening before = std::exchange(listening_, frame.listening);
  if (listening_ == Listening::Microphone && before != Listening::Microphone) {
    parts_.stage.reset();  // while it was away nothing was heard of what was played
  }
  const bool open = !push_to_talk_ || pressed_;
  const std::vector<float> cleaned = parts_.stage.push(frame.heard, frame.played);
  const std::vector<float> silence(cleaned.size());
  played_.clear();
  parts_.gate.step(open ? cleaned : silence, played_);
  play(played_);
  if (parts_.heard != nullptr) {
    // What nobody listened to is not kept.
    MYNAH_TRY_STATUS(parts_.heard->write(open && parts_.gate.is_awake() ? cleaned : silence));
    MYNAH_TRY_STATUS(parts_.said->write(played_));
  }
  return {};
}

void DeskTalk::play(std::span<const float> played) {
  const bool silent = is_silent(played);
  if (speaking_ &&
      reply_.size() < kMostRepeated_s * static_cast<size_t>(parts_.device.playback_hz())) {
    reply_.insert(reply_.end(), played.begin(), played.end());
  }
  const double waits_s =
      static_cast<double>(parts_.device.state().waiting) / parts_.device.playback_hz();
  if (speaking_ && waits_s > kMostWaits_s) {
    tell_note("silent", "the reply ended: the loudspeaker plays nothing");
    parts_.conversation.stop_speaking();
    parts_.device.drop();
  } else if (!silent || waits_s < kWaits_s) {
    parts_.device.play(played);
  }
}

void DeskTalk::take(const talk::TalkEvent& event) {
  using Kind = talk::TalkEvent::Kind;
  parts_.tell(event);
  switch (event.kind) {
    case Kind::Draft:
      view_.draft = event.text;
      break;
    case Kind::Voice:
      if (!speaking_) {
        parts_.device.drop();  // a reply that is repeated
      }
      break;
    case Kind::Heard:
      view_.draft.clear();
      thinking_ = !event.text.empty();
      if (!event.text.empty()) {
        add_line({.who = "you", .text = event.text});
      }
      break;
    case Kind::Replies:
      speaking_ = true;
      thinking_ = false;
      reply_.clear();
      last_times_ = fmt::format("replied after {:.0f} ms", event.times.sound_ms);
      break;
    case Kind::Held:
      parts_.device.drop();  // what is not on its way yet; it goes on from the word's begin
      break;
    case Kind::Said:
      speaking_ = false;
      thinking_ = false;
      if (event.interrupted) {
        parts_.device.drop();
      }
      add_line({.who = "mynah", .text = event.text + (event.interrupted ? " ..." : "")});
      break;
    case Kind::Rings:
      speaking_ = true;
      reply_.clear();
      break;
    case Kind::Recalled:
    case Kind::Tool:
      add_line({.who = "", .text = tool_line(*event.tool)});
      break;
    case Kind::Remark:
      add_line({.who = "", .text = event.text});
      break;
    case Kind::Fault:
      add_line({.who = "", .text = event.fault->error.message});
      break;
    case Kind::Moved:
      add_line({.who = "", .text = fmt::format("it goes on, on {}", event.text)});
      break;
    case Kind::WentOn:
    case Kind::Woke:  // what it is doing is shown
    case Kind::Sleeps:
      break;
  }
}

void DeskTalk::add_line(TalkView::Line line) {
  if (view_.lines.size() == kMostLines) {
    view_.lines.erase(view_.lines.begin());
  }
  view_.lines.push_back(std::move(line));
}

void DeskTalk::take_news() {
  for (const SoundNews& news : parts_.device.take_news()) {
    using Kind = SoundNews::Kind;
    if (news.kind == Kind::Returned || news.kind == Kind::Moved || news.kind == Kind::Signal) {
      parts_.stage.reset();
    }
    tell_note(name_of(news.kind), news.text);
  }
}

void DeskTalk::tell_note(std::string_view kind, const std::string& note) {
  parts_.note(kind, note);
  add_line({.who = "", .text = note});
}

void DeskTalk::look_for_sleep() {
  const double slept_s = parts_.asleep_s() - slept_s_;
  if (slept_s < kSlept_s) {
    return;
  }
  slept_s_ += slept_s;
  parts_.stage.reset();
  const std::string how_long =
      slept_s < 120 ? fmt::format("{:.0f} s", slept_s) : fmt::format("{:.0f} min", slept_s / 60);
  tell_note("slept",
            fmt::format("this machine slept for {}{}", how_long,
                        speaking_ ? ": the reply ended there, and the conversation goes on" : ""));
  if (speaking_) {  // nobody waits for the second half of a sentence that long
    parts_.conversation.stop_speaking();
    parts_.device.drop();
  }
}

void DeskTalk::show_question() {
  const auto asked = parts_.confirm == nullptr ? std::nullopt : parts_.confirm->asked();
  const std::string& keys = asked ? *asked : keys_;
  if (keys == view_.keys) {
    return;
  }
  view_.keys = keys;
  if (asked && parts_.screen->show(view_)) {
    while (parts_.screen->key()) {
    }
    parts_.confirm->shown(*asked);
  }
}

bool DeskTalk::take_key(char key) {
  const bool leaves = key == 'q' || key == kInterrupt || key == kEndOfInput;
  if (!leaves && parts_.confirm != nullptr && parts_.confirm->press(key)) {
    return true;
  }
  switch (key) {
    case 'q':
    case kInterrupt:
    case kEndOfInput:
      return false;
    case 's':
    case kEscapeKey:
      parts_.conversation.stop_speaking();
      parts_.device.drop();
      break;
    case 'm':
      muted_ = !muted_;
      parts_.device.mute(muted_);
      break;
    case 'r':
      repeat();
      break;
    case ' ':
      if (push_to_talk_) {
        pressed_ = !pressed_;
        if (pressed_) {
          parts_.conversation.stop_speaking();
          parts_.device.drop();
        }
      }
      break;
    default:
      break;
  }
  return true;
}

// As it was played; the model is not asked.
void DeskTalk::repeat() {
  if (!speaking_ && !reply_.empty()) {
    parts_.device.drop();
    parts_.device.play(reply_);
  }
}

std::string DeskTalk::doing(Listening listening) const {
  if (muted_) {
    return "muted: the microphone is closed";
  }
  if (listening == Listening::Away) {
    return "the microphone is away";
  }
  if (speaking_) {
    return "speaking";
  }
  if (thinking_) {
    return "thinking";
  }
  if (push_to_talk_ && !pressed_) {
    return "waiting for the space bar";
  }
  if (!parts_.gate.is_awake()) {
    return "asleep, until the word is said";
  }
  return view_.draft.empty() ? "listening" : "hearing";
}

void DeskTalk::refresh() {
  const SoundState state = parts_.device.state();
  view_.level_db = 20 * std::log10(std::max(std::exchange(loudest_, 0.0F), 1e-5F));
  // "Stop" is heard, and nothing replies to it.
  thinking_ = thinking_ && !parts_.conversation.is_at_rest();
  view_.doing = doing(state.listening);
  view_.saying = parts_.conversation.said_so_far();
  const auto name = [](const SoundEnd& end) { return end.title.empty() ? "none" : end.title; };
  view_.devices = fmt::format("{} -> {}{}", name(state.microphone), name(state.loudspeaker),
                              parts_.keeps ? "; what is said is kept" : "");
  view_.figures = fmt::format(
      "microphone {:.0f} ms, loudspeaker {:.0f} ms, echo -{:.0f} dB, drift {:.0f} ppm, xruns "
      "{}{}{}",
      1e3 * state.microphone.latency_s, 1e3 * state.loudspeaker.latency_s,
      std::max(parts_.stage.facts().erle_db, 0.0), state.drift_ppm,
      state.microphone.xruns + state.loudspeaker.xruns, last_times_.empty() ? "" : "; ",
      last_times_);
}

}  // namespace mynah::cli
