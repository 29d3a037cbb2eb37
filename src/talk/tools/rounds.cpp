#include "talk/tools/rounds.h"

#include <utility>

#include <fmt/format.h>

namespace mynah::talk {

ChatRequest::Json called_message(const ReplyMessage& reply) {
  ChatRequest::Json message = {{"role", "assistant"}, {"content", reply.content}};
  for (const ToolCall& call : reply.calls) {
    message["tool_calls"].push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return message;
}

ChatRequest::Json answer_message(const ToolCall& call, std::string answer) {
  return {{"role", "tool"},
          {"tool_call_id", call.id},
          {"name", call.name},
          {"content", std::move(answer)}};
}

Result<ChatReply> run_rounds(ToolBox& box, ModelPlace place, Confirm& confirm, RoundsHost& host) {
  for (int round = 1;; ++round) {
    for (const std::string& note : box.refresh(host.next_run().stop)) {
      host.on_note(note);
    }
    MYNAH_TRY(ChatReply reply, host.reply(box.offered(place)));
    if (!host.runs_calls(reply)) {
      return reply;
    }
    for (size_t i = 0; i < reply.message.calls.size(); ++i) {
      const ToolCall& call = reply.message.calls[i];
      if (i >= kMostCallsOfReply) {
        host.on_answer(call, {.text = fmt::format("error: more than {} calls at once: not run",
                                                  kMostCallsOfReply),
                              .ran = false,
                              .why = "too many calls at once"});
        continue;
      }
      host.on_call(call);
      MYNAH_TRY(const CallAnswer answer, box.call(call, place, confirm, host.next_run()));
      host.on_answer(call, answer);
    }
    if (reply.message.calls.empty()) {
      return reply;
    }
    if (round == kMostRounds) {
      reply.message.calls.clear();
      reply.notes.push_back(
          {.code = std::string(kRoundsOverNote),
           .text = fmt::format("tools were called {} times without an answer: it ends here",
                               kMostRounds)});
      return reply;
    }
  }
}

}  // namespace mynah::talk
