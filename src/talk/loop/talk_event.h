// TalkEvent: what happens in a conversation, for who shows it or writes it down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "talk/loop/spoken_reply.h"

namespace mynah::talk {

// Milliseconds of one turn and its reply, from the end of the user's voice on, by the
// conversation's clock; and those that the organs took for it, by the machine's.
struct TurnTimes {
  double heard_ms = 0;    // its text is there
  double decided_ms = 0;  // the turn was held to be over
  double sound_ms = 0;    // the reply is heard
  double ear_ms = 0;
  ReplyTimes reply;
};

struct TalkEvent {
  enum class Kind : uint8_t {
    Voice,    // somebody begins to speak, at `at`
    Draft,    // `text` is what was heard of him so far
    Heard,    // his turn is over: `text`, `language`; "": no words
    Replies,  // the reply's first sound is played
    Said,     // the reply is over, and `text` is what was played of it; `interrupted`: not all
    Held,     // it is silent, as somebody speaks over it
    WentOn,   // that was nothing
    Fault,    // an organ failed: `fault`
    Moved,    // `organ` computes elsewhere now: its device failed, or was taken; `text` says where
    Woke,     // the wake word `text` was said, which ends at `at`: from there on it listens
    Sleeps,   // it listens for nothing but that word
    Tool,     // what becomes of one that is called for the reply: `tool`
    Rings,    // `text` is said, of which nobody spoke: a timer's
    Remark,   // `text` is what people should know
    Recalled  // the model was reminded for the reply: `tool` has the words, and the day as its name
  };

  Kind kind = Kind::Voice;
  int64_t at = 0;  // sample of what was captured
  std::string text{};
  std::string language{};
  bool interrupted = false;
  TurnTimes times{};                  // Heard, Replies
  std::optional<OrganFault> fault{};  // Fault
  std::optional<Organ> organ{};       // Moved
  std::optional<ToolNews> tool{};     // Tool, Recalled
};

}  // namespace mynah::talk
