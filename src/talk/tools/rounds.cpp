#include "talk/tools/rounds.h"

#include <fmt/format.h>

namespace mynah::talk {

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
    if (reply.message.calls.empty() || round == kMostRounds) {
      return reply;
    }
  }
}

}  // namespace mynah::talk
