// A mind that calls tools, as a test says.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "talk/organs/organs.h"

namespace mynah::talk {

class CallingMind final : public Mind {
 public:
  // What it says, and what it calls then.
  struct Reply {
    std::string text;
    std::vector<ToolCall> calls{};
  };

  explicit CallingMind(std::deque<Reply> replies) : replies_(std::move(replies)) {}

  // Replies to what stands in front of it.
  explicit CallingMind(std::function<Reply(const ChatRequest&)> thinks)
      : thinks_(std::move(thinks)) {}

  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& stop) override {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    asked.push_back(request);
    Reply next = {.text = "All right."};
    if (thinks_) {
      next = thinks_(request);
    } else if (!replies_.empty()) {
      next = std::move(replies_.front());
      replies_.pop_front();
    }
    ChatDelta delta;
    delta.said.content = next.text;
    MYNAH_TRY_STATUS(observer.on_delta(delta));
    ChatReply reply;
    reply.message.content = std::move(next.text);
    reply.message.calls = std::move(next.calls);
    return reply;
  }

  [[nodiscard]] OrganFacts facts() const override {
    return {.model = "calling", .place = "cpu", .leaves_machine = leaves_machine};
  }

  bool leaves_machine = false;
  std::vector<ChatRequest> asked;

 private:
  std::deque<Reply> replies_;
  std::function<Reply(const ChatRequest&)> thinks_;
};

}  // namespace mynah::talk
