// ToolMind: a mind that may have tools run before it replies.
#pragma once

#include <mutex>
#include <string>

#include "talk/organs/organs.h"
#include "talk/tools/confirm.h"
#include "talk/tools/tool_box.h"

namespace mynah::talk {

// Bytes of one answer of a tool: of what is spoken most is a sentence or two, and the context is to
// have room for what was said before.
inline constexpr size_t kMostTalkAnswerBytes = size_t{8} << 10;

// In a conversation run_rounds() before a reply; asked without one, tools are offered and nothing
// is run. Before its turn is decided, a tool runs only where ToolFacts::unnoticed says that it may.
// A conversation's replies come one after the other: those that are asked for side by side wait.
class ToolMind final : public Mind {
 public:
  // All of them outlive it. Nobody else may use the box while a reply is under way.
  ToolMind(Mind& mind, ToolBox& box, Confirm& confirm)
      : mind_(mind), box_(box), confirm_(confirm) {}

  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& stop) override;

  Result<ChatReply> reply_in_turn(const ChatRequest& request, TurnObserver& observer,
                                  const std::stop_token& stop) override;

  [[nodiscard]] OrganFacts facts() const override { return mind_.facts(); }

 private:
  class Rounds;
  class TellingConfirm;

  [[nodiscard]] ModelPlace place() const;

  Mind& mind_;
  ToolBox& box_;
  Confirm& confirm_;
  std::mutex mutex_;  // guards box_
};

}  // namespace mynah::talk
