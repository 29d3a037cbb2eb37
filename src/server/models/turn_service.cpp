#include "server/models/turn_service.h"

#include <utility>

namespace mynah::server {

std::shared_ptr<const TurnScorer> TurnService::scorer() {
  const std::scoped_lock held(mutex_);
  if (opened_.scorer != nullptr) {
    return opened_.scorer;
  }
  engine::Surroundings surroundings = surroundings_;
  if (std::exchange(noted_, true)) {
    surroundings.tell = {};
  }
  auto opened = engine::open_turn_scorer(surroundings);
  if (opened) {
    opened_ = *std::move(opened);
  } else {
    surroundings.note({.code = "turn-model",
                       .text = opened.error().message,
                       .remedy = "until then turns end by silence alone"});
  }
  return opened_.scorer;
}

}  // namespace mynah::server
