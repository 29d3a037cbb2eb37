// TurnObserver: who follows the reply to a turn, which may be thrown away before anybody hears it.
#pragma once

#include <cstdint>
#include <string>

#include "chat/chat_request.h"

namespace mynah::talk {

// What becomes of a tool that is called for a reply; and what else the model is told for it.
struct ToolNews {
  enum class Kind : uint8_t {
    Called,    // `text`: the arguments
    Asks,      // it changes something, and a key must let it; `text` shows the call
    Progress,  // `text`: how far it has come
    Answered,  // `text`: what came of it, for the model
    NotRun,    // `text`: why
    Remark,    // `text`: what people should know of tools as such
    Recalled,  // `text`: what a memory reminds the model of; `name`: the day it was said on
  };

  Kind kind = Kind::Called;
  std::string name{};
  std::string text{};

  bool operator==(const ToolNews&) const = default;
};

// Told on the thread that replies.
class TurnObserver : public ChatObserver {
 public:
  // Whether the turn is over that is replied to. Before that nothing may be done for the reply that
  // anybody could notice.
  [[nodiscard]] virtual bool is_decided() const = 0;

  // What the model was told in place of the user's last message.
  virtual void on_question(const std::string& text) = 0;

  // What belongs to the conversation before that which is said next: calls, and what came of them.
  virtual void on_message(const ChatRequest::Json& message) = 0;

  virtual void on_tool(const ToolNews& news) = 0;
};

}  // namespace mynah::talk
