#include "cli/talk/talk_mind.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace mynah::cli {

Result<std::unique_ptr<TalkMind>> TalkMind::open(Context& context, const Wish& wish,
                                                 talk::Mind& mind, talk::Confirm& confirm) {
  std::unique_ptr<TalkMind> opened(new TalkMind());
  for (const auto& described : wish.file.described()) {
    if (described.command.empty()) {
      context.say(fmt::format(
          "{} is not offered: the file has no \"command\" for it, and out loud nobody can type "
          "what it answers",
          described.facts.name));
    }
  }
  MYNAH_TRY(opened->tools_, wish.tools.open(context, wish.file, {}));
  MYNAH_TRY(opened->opened_memory_, wish.memory.open(context, wish.placement));
  opened->mind_ = &mind;
  if (!opened->tools_.box.empty()) {
    for (const std::string& note : opened->tools_.box.refresh(context.stop)) {
      context.say(note);
    }
    opened->with_tools_ = std::make_unique<talk::ToolMind>(mind, opened->tools_.box, confirm);
    opened->mind_ = opened->with_tools_.get();
  }
  if (opened->opened_memory_) {
    const talk::OpenedMemory& memory = *opened->opened_memory_;
    opened->memory_ =
        std::make_shared<talk::ConversationMemory>(memory.store, memory.model, "talk", "");
    opened->with_memory_ = std::make_unique<talk::RememberingMind>(*opened->mind_, opened->memory_);
    opened->mind_ = opened->with_memory_.get();
    context.say("what is said is kept; mynah memory shows and forgets it");
  }
  return opened;
}

BesideTalk::BesideTalk(const TalkMind& mind, talk::Conversation& conversation) {
  const auto remark = [&conversation](const std::string& text) { conversation.remark(text); };
  if (mind.memory()) {
    keeper_.emplace(mind.memory(), remark);
  }
  if (mind.timers()) {
    timers_.emplace(
        mind.timers(),
        talk::TimerWatch::Ways{
            .ring = [&conversation](const std::string& text) { conversation.ring(text, "en"); },
            .is_quiet = [&conversation] { return conversation.is_at_rest(); },
            .fail = remark,
            .now =
                [] {
                  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
                }});
  }
}

void BesideTalk::take(const talk::TalkEvent& event) {
  using Kind = talk::TalkEvent::Kind;
  if (!keeper_) {
    return;
  }
  switch (event.kind) {
    case Kind::Voice:
      keeper_->set_idle(false);
      break;
    case Kind::Heard:
      keeper_->keep(
          {.origin = talk::MemoryOrigin::User, .language = event.language, .text = event.text});
      break;
    case Kind::Said:
      keeper_->keep(
          {.origin = talk::MemoryOrigin::Assistant, .text = event.text, .played = event.text});
      keeper_->set_idle(true);
      break;
    case Kind::Tool:
      if (event.tool->kind == talk::ToolNews::Kind::Answered) {
        keeper_->keep({.origin = talk::MemoryOrigin::Tool,
                       .who = event.tool->name,
                       .text = event.tool->text});
      }
      break;
    default:
      break;
  }
}

}  // namespace mynah::cli
