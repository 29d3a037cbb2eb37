// Rounds: a model replies, what it calls is run, and it replies to what came of that.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/chat_request.h"
#include "talk/tools/tool_box.h"

namespace mynah::talk {

// Replies to one question in which tools may be called, and calls of one reply: a model that calls
// forever ends here.
inline constexpr int kMostRounds = 10;
inline constexpr size_t kMostCallsOfReply = 16;

// The conversation that is had.
class RoundsHost {
 public:
  RoundsHost() = default;
  virtual ~RoundsHost() = default;
  RoundsHost(const RoundsHost&) = delete;
  RoundsHost& operator=(const RoundsHost&) = delete;

  // Has the model reply to what was said and answered so far, with these tools.
  [[nodiscard]] virtual Result<ChatReply> reply(const ToolJson& tools) = 0;

  // Whether what a reply calls is to be run here; where not, the reply is the last one.
  [[nodiscard]] virtual bool runs_calls(const ChatReply& reply) {
    static_cast<void>(reply);
    return true;
  }

  // A tool is about to be called.
  virtual void on_call(const ToolCall& call) { static_cast<void>(call); }

  // What is to stand in the conversation behind the call. Each call of a reply has one.
  virtual void on_answer(const ToolCall& call, const CallAnswer& answer) = 0;
  // Something that people should know: ToolBox::refresh().
  virtual void on_note(const std::string& note) = 0;
  // Asked anew for each call: a conversation may have a stop for each.
  [[nodiscard]] virtual ToolRun next_run() = 0;
};

// The code of the note that kMostRounds replies have called.
inline constexpr std::string_view kRoundsOverNote = "rounds_over";

// A reply as the conversation has it from then on: with its calls, without its thoughts, which
// templates drop.
[[nodiscard]] ChatRequest::Json called_message(const ReplyMessage& reply);

// What came of a call, as the conversation has it.
[[nodiscard]] ChatRequest::Json answer_message(const ToolCall& call, std::string answer);

// Until a reply calls nothing that is run here, which is returned, or kMostRounds replies have
// called: then the last of them without its calls, which were run, and with a note.
[[nodiscard]] Result<ChatReply> run_rounds(ToolBox& box, ModelPlace place, Confirm& confirm,
                                           RoundsHost& host);

}  // namespace mynah::talk
