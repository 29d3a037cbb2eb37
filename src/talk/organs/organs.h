// The organs of a conversation: what hears a turn, what replies to it, what speaks the reply. Each
// computes in this process or elsewhere; who converses knows no difference but what the facts say.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "speech/synthesizer.h"
#include "talk/organs/turn_observer.h"

namespace mynah::talk {

// What a user is told of an organ.
struct OrganFacts {
  std::string model;            // "tiny.en"; "": it has no name
  std::string place;            // where it computes now: "cpu", "cuda:0", "https://host:port"
  bool leaves_machine = false;  // what it is given goes to another machine
};

// How a turn is to be heard.
struct HearWish {
  std::string language;                // ISO 639-1 code; "": to be found out
  std::vector<std::string> prompts{};  // words to expect, in texts
  // The first guess will do: it need not be as good as the last one.
  bool draft = false;
  // Whether a detector is sure that somebody speaks. Where it is not (a knock, a cough), a text
  // that is in doubt itself is nobody's.
  bool surely_speech = true;
};

// What was said in a turn.
struct HeardText {
  std::string text;      // without white space around it; "": nothing that is words
  std::string language;  // ISO 639-1 code, heard or given; "": unknown
  float language_probability = 1;
};

// Thread-safe: a draft and a last text may be asked for side by side.
class Ear {
 public:
  virtual ~Ear() = default;

  // `samples`: 16 kHz mono, a turn with some silence around it, half a minute at most. Errors: the
  // device's, the network's; Cancelled once stop is requested.
  [[nodiscard]] virtual Result<HeardText> hear(std::span<const float> samples, const HearWish& wish,
                                               const std::stop_token& stop) = 0;

  [[nodiscard]] virtual OrganFacts facts() const = 0;
};

// Thread-safe.
class Mind {
 public:
  virtual ~Mind() = default;

  // As ChatModel::reply(): the observer is told from the thread that asks. Errors: the model's, the
  // network's; Cancelled once stop is requested. What was told before an error stays.
  [[nodiscard]] virtual Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                                                const std::stop_token& stop) = 0;

  // The same in a conversation. Calls that may not be run before the turn is decided are told as a
  // message, without answers, and the reply ends with them: asked again with that behind the
  // request's messages, it runs them and goes on.
  [[nodiscard]] virtual Result<ChatReply> reply_in_turn(const ChatRequest& request,
                                                        TurnObserver& observer,
                                                        const std::stop_token& stop) {
    return reply(request, observer, stop);
  }

  [[nodiscard]] virtual OrganFacts facts() const = 0;
};

// How a clause is to be spoken.
struct SpeakWish {
  // BCP 47, of the text; "": the voice's. Where the voice that was chosen does not speak it, one
  // that does is taken, if there is one.
  std::string language;
  bool first = false;  // nobody hears anything yet: sound is wanted early, if only of the beginning
};

// Thread-safe; clauses are asked for one after the other.
class Mouth {
 public:
  virtual ~Mouth() = default;

  // Samples a second of all that it speaks. What is elsewhere and does not tell before it spoke
  // resamples.
  [[nodiscard]] virtual int rate_hz() const = 0;

  // Speaks plain text: a clause, a sentence or several. The observer is told from the thread that
  // asks, in pieces; times and bytes count from the beginning of this text. One that cannot time
  // words leaves SpokenClause::words empty. Errors: the device's, the network's; Cancelled once
  // stop is requested.
  virtual Status speak(std::string_view text, const SpeakWish& wish, SpeechObserver& observer,
                       const std::stop_token& stop) = 0;

  [[nodiscard]] virtual OrganFacts facts() const = 0;
};

}  // namespace mynah::talk
