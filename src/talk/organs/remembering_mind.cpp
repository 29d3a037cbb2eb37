#include "talk/organs/remembering_mind.h"

#include <algorithm>
#include <utility>

#include "talk/memory/quoted_memory.h"

namespace mynah::talk {

namespace {

bool is_users(const ChatRequest::Json& message) {
  return message.value("role", "") == "user" && message.contains("content") &&
         message["content"].is_string();
}

}  // namespace

void RememberingMind::count_told(const ChatRequest& request) {
  const std::lock_guard lock(mutex_);
  const bool stands =
      last_ && std::ranges::any_of(request.messages, [this](const ChatRequest::Json& message) {
        return is_users(message) &&
               message["content"].get_ref<const std::string&>().starts_with(last_->question);
      });
  if (stands) {
    memory_->told(last_->reminder);
    last_.reset();
  }
}

Result<ChatReply> RememberingMind::reply_in_turn(const ChatRequest& request, TurnObserver& observer,
                                                 const std::stop_token& stop) {
  count_told(request);
  if (request.messages.empty() || !is_users(request.messages.back())) {
    return mind_.reply_in_turn(request, observer, stop);  // the question was told before
  }
  const auto question = request.messages.back()["content"].get<std::string>();
  auto reminder = memory_->remind(question, stop);
  if (!reminder || reminder->quoted.empty()) {
    if (!reminder && reminder.error().code != ErrorCode::Cancelled) {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(failed_, true)) {
        observer.on_tool({.kind = ToolNews::Kind::Remark, .text = reminder.error().message});
      }
    }
    return mind_.reply_in_turn(request, observer, stop);
  }
  ChatRequest reminded = request;
  const std::string told = with_memory(question, reminder->quoted);
  reminded.messages.back()["content"] = told;
  observer.on_question(told);
  for (const RecalledWords& words : reminder->items) {
    observer.on_tool({.kind = ToolNews::Kind::Recalled, .name = words.day, .text = words.text});
  }
  {
    const std::lock_guard lock(mutex_);
    last_ = Told{.reminder = *std::move(reminder), .question = told};
  }
  return mind_.reply_in_turn(reminded, observer, stop);
}

}  // namespace mynah::talk
