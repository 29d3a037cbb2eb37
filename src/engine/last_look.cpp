#include "engine/last_look.h"

#include <utility>

#include <fmt/format.h>

namespace mynah::engine {

std::vector<std::string> with_doubts(std::vector<std::string> warnings,
                                     const place::Placer* placer) {
  if (placer == nullptr) {
    return warnings;
  }
  for (const PlacementMove& move : placer->report().moves) {
    if (!move.doubted.empty()) {
      warnings.push_back(fmt::format("{} may be wrong: {}", move.doubted, move.reason));
    }
  }
  return warnings;
}

const Status& LastLook::take() {
  if (!right_) {
    right_ = placer_ != nullptr ? placer_->settle() : Status{};
  }
  return *right_;
}

}  // namespace mynah::engine
