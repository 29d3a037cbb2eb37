// RememberingMind: a mind that is told, with each question, what was said of it in earlier
// conversations.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "talk/memory/conversation_memory.h"
#include "talk/organs/organs.h"

namespace mynah::talk {

// A reply that is thrown away has reminded nobody: what was told counts once it stands in the
// conversation. Where the memory fails, that is told once, and the model replies without it.
class RememberingMind final : public Mind {
 public:
  // `mind` outlives it.
  RememberingMind(Mind& mind, std::shared_ptr<ConversationMemory> memory)
      : mind_(mind), memory_(std::move(memory)) {}

  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& stop) override {
    return mind_.reply(request, observer, stop);
  }

  Result<ChatReply> reply_in_turn(const ChatRequest& request, TurnObserver& observer,
                                  const std::stop_token& stop) override;

  [[nodiscard]] OrganFacts facts() const override { return mind_.facts(); }

 private:
  // What a model was told, and the message that it was told in.
  struct Told {
    Reminder reminder;
    std::string question;
  };

  // Counts the last reminder where it stands in the conversation.
  void count_told(const ChatRequest& request);

  Mind& mind_;
  std::shared_ptr<ConversationMemory> memory_;
  std::mutex mutex_;  // guards what follows
  std::optional<Told> last_;
  bool failed_ = false;
};

}  // namespace mynah::talk
