// TurnService: what hears that somebody who speaks is done, for all who listen.
#pragma once

#include <memory>
#include <mutex>

#include "engine/surroundings.h"
#include "engine/turn_scorer.h"

namespace mynah::server {

// Thread-safe.
class TurnService {
 public:
  // The surroundings must outlive it.
  explicit TurnService(const engine::Surroundings& surroundings) : surroundings_(surroundings) {}

  // The store's model, opened by who asks first. Null: none is here (it is looked for again each
  // time, since one may be pulled), or it cannot be opened; which is noted once.
  [[nodiscard]] std::shared_ptr<const TurnScorer> scorer();

 private:
  const engine::Surroundings& surroundings_;
  std::mutex mutex_;
  engine::OpenedTurnScorer opened_;
  bool noted_ = false;
};

}  // namespace mynah::server
