// What is told in a conversation beside turns and replies.
#include <utility>

#include "talk/loop/conversation.h"

namespace mynah::talk {

void Conversation::ring(std::string text, std::string language) {
  const std::lock_guard lock(mutex_);
  rings_.push_back({.text = std::move(text), .language = std::move(language)});
}

void Conversation::remark(std::string text) {
  const std::lock_guard lock(mutex_);
  tell({.kind = TalkEvent::Kind::Remark, .at = watch_.now(), .text = std::move(text)});
}

std::string Conversation::said_so_far() const {
  const std::lock_guard lock(mutex_);
  return speaking_ ? speaking_->played() : std::string();
}

void Conversation::fail_organ(OrganFault fault) {
  tell({.kind = TalkEvent::Kind::Fault, .at = watch_.now(), .fault = std::move(fault)});
}

void Conversation::look_where(Organ organ) {
  if (auto place = places_.moved(organ)) {
    const std::lock_guard lock(mutex_);
    tell({.kind = TalkEvent::Kind::Moved,
          .at = watch_.now(),
          .text = *std::move(place),
          .organ = organ});
  }
}

void Conversation::follow_rings() {
  if (closed_ || speaking_ || turn_ || watch_.has_turn() || rings_.empty()) {
    return;
  }
  ringing_ = std::move(rings_.front());
  rings_.pop_front();
  ChatRequest request;
  request.messages.push_back({{"role", "assistant"}, {"content", ringing_->text}});
  speaking_ = SpokenReply::begin({.mind = repeater_, .mouth = parts_.mouth, .work = work_},
                                 std::move(request), ringing_->language);
  speaking_->release();
  speaking_told_ = false;
}

void Conversation::tell_tools() {
  for (ToolNews& news : speaking_->take_tools()) {
    if (news.kind == ToolNews::Kind::Remark) {
      tell({.kind = TalkEvent::Kind::Remark, .at = watch_.now(), .text = std::move(news.text)});
    } else {
      const auto kind =
          news.kind == ToolNews::Kind::Recalled ? TalkEvent::Kind::Recalled : TalkEvent::Kind::Tool;
      tell({.kind = kind, .at = watch_.now(), .tool = std::move(news)});
    }
  }
}

}  // namespace mynah::talk
