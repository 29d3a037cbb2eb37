#include <utility>

#include "talk/organs/local_organs.h"

namespace mynah::talk {

namespace {

class LocalMind final : public Mind {
 public:
  explicit LocalMind(ChatLease lease) : lease_(std::move(lease)) {}

  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& stop) override {
    return lease_->chat->reply(request, observer, stop);
  }

  [[nodiscard]] OrganFacts facts() const override {
    return {.model = lease_->name, .place = lease_->device(), .leaves_machine = false};
  }

 private:
  ChatLease lease_;
};

}  // namespace

std::unique_ptr<Mind> local_mind(ChatLease lease) {
  return std::make_unique<LocalMind>(std::move(lease));
}

}  // namespace mynah::talk
