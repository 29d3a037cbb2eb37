// Repeater: the mind of what is said though nobody asked.
#pragma once

#include "talk/organs/organs.h"

namespace mynah::talk {

// Says what the request's last message says.
class Repeater final : public Mind {
 public:
  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& /*stop*/) override {
    ChatReply reply;
    reply.message.content = request.messages.back()["content"];
    ChatDelta delta;
    delta.said.content = reply.message.content;
    MYNAH_TRY_STATUS(observer.on_delta(delta));
    return reply;
  }

  [[nodiscard]] OrganFacts facts() const override { return {}; }
};

}  // namespace mynah::talk
