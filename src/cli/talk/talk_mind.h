// The mind of a conversation out loud: a language model, with tools and a memory where they are
// wanted; and what goes on beside the conversation for them.
#pragma once

#include <memory>
#include <optional>

#include "cli/chat/help_options.h"
#include "cli/command/verb.h"
#include "talk/loop/conversation.h"
#include "talk/memory/conversation_memory.h"
#include "talk/memory/turn_keeper.h"
#include "talk/organs/remembering_mind.h"
#include "talk/organs/tool_mind.h"
#include "talk/tools/timer_watch.h"

namespace mynah::cli {

class TalkMind {
 public:
  struct Wish {
    const ToolOptions& tools;
    const talk::ToolsFile& file;  // ToolOptions::read()
    const MemoryOptions& memory;
    const engine::PlacementWish& placement;  // of the memory's model
  };

  // `mind` and `confirm` outlive it. Servers of tools are started. Refused as the options refuse.
  static Result<std::unique_ptr<TalkMind>> open(Context& context, const Wish& wish,
                                                talk::Mind& mind, talk::Confirm& confirm);

  [[nodiscard]] talk::Mind& mind() const { return *mind_; }

  // What the model is offered, where it is on this machine.
  [[nodiscard]] talk::ToolJson offered_tools() const {
    return tools_.box.offered(talk::ModelPlace::Here);
  }

  // Null where none is wanted.
  [[nodiscard]] const std::shared_ptr<talk::Timers>& timers() const { return tools_.timers; }

  [[nodiscard]] const std::shared_ptr<talk::ConversationMemory>& memory() const { return memory_; }

 private:
  TalkMind() = default;

  talk::OpenedTools tools_;
  std::optional<talk::OpenedMemory> opened_memory_;
  std::shared_ptr<talk::ConversationMemory> memory_;
  std::unique_ptr<talk::ToolMind> with_tools_;
  std::unique_ptr<talk::RememberingMind> with_memory_;
  talk::Mind* mind_ = nullptr;  // the outermost
};

// What goes on beside a conversation: timers ring in it, what is said is kept.
class BesideTalk {
 public:
  // Both outlive it.
  BesideTalk(const TalkMind& mind, talk::Conversation& conversation);

  void take(const talk::TalkEvent& event);

 private:
  std::optional<talk::TurnKeeper> keeper_;
  std::optional<talk::TimerWatch> timers_;
};

}  // namespace mynah::cli
