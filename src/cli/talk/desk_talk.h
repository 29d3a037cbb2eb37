// A conversation at a desk: microphone, loudspeaker, and a terminal's keys.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "audio/device/sound_device.h"
#include "base/result.h"
#include "cli/speak/sound_output.h"
#include "cli/talk/key_confirm.h"
#include "cli/talk/talk_screen.h"
#include "talk/loop/conversation.h"
#include "talk/loop/wake_gate.h"
#include "talk/turns/echo_stage.h"

namespace mynah::cli {

// One thread. The device's frames are the conversation's clock.
class DeskTalk {
 public:
  struct Parts {
    std::vector<std::string> first_notes{};  // that the screen shows from the beginning
    talk::Conversation& conversation;        // its detector is the stage's
    talk::WakeGate& gate;                    // before it
    SoundDevice& device;                     // of the mouth's rate
    talk::EchoStage& stage;                  // of kHeardHz
    TalkScreen* screen = nullptr;            // null: there are no keys, `tell` and `note` are all
    KeyConfirm* confirm = nullptr;           // what keys let tools do; null: nobody is asked
    bool keeps = false;                      // what is said is kept in a memory, which is shown
    SoundOutput* heard = nullptr;            // what is kept of both sides; null: nothing
    SoundOutput* said = nullptr;
    std::function<void(const talk::TalkEvent& event)> tell{};
    // What happens to the device, or to this machine, in a word and as a line.
    std::function<void(std::string_view kind, const std::string& note)> note{};
    // Seconds that this machine slept so far: mynah::asleep_s().
    std::function<double()> asleep_s{};
  };

  // `push_to_talk`: what the microphone hears counts between two presses of the space bar alone.
  DeskTalk(const Parts& parts, bool push_to_talk);

  // Until q or Ctrl-C is pressed, the terminal is gone or stop is requested. The device itself
  // never ends it.
  Status run(const std::stop_token& stop);

  // What was heard and said, and what was told beside it; of a long conversation the end.
  [[nodiscard]] const std::vector<TalkView::Line>& lines() const { return view_.lines; }

 private:
  // Has the conversation hear a frame, without the echo in it.
  Status hear(const SoundFrame& frame);
  void play(std::span<const float> played);
  void take(const talk::TalkEvent& event);
  void take_news();
  // A machine that slept: the clocks stood still, and the room may be another.
  void look_for_sleep();
  void tell_note(std::string_view kind, const std::string& note);
  // What the screen shows above, the oldest of it left out.
  void add_line(TalkView::Line line);
  // Shows what is asked before it is to be let run.
  void show_question();
  // False: it is to end.
  bool take_key(char key);
  void repeat();
  void refresh();
  // What is going on, in a word or two.
  [[nodiscard]] std::string doing(Listening listening) const;

  Parts parts_;
  bool push_to_talk_;
  bool pressed_ = false;
  bool muted_ = false;
  bool speaking_ = false;
  bool thinking_ = false;                        // a turn was heard, and nothing of its reply yet
  Listening listening_ = Listening::Microphone;  // of the last frame
  std::vector<float> played_;                    // by the conversation, in this frame
  std::vector<float> reply_;                     // the last one, as it was played
  TalkView view_;
  std::string keys_;  // what they do while nothing is asked
  std::string last_times_;
  double slept_s_;     // before it was looked at last
  float loudest_ = 0;  // since the screen was painted last
};

}  // namespace mynah::cli
