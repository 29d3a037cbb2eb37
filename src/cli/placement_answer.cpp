#include "cli/placement_answer.h"

#include <nlohmann/json.hpp>

namespace mynah::cli {

nlohmann::ordered_json placement_json(const place::Placer* placer) {
  return placer != nullptr ? to_json(placer->report()) : nlohmann::ordered_json(nullptr);
}

const Status& LastLook::take() {
  if (!right_) {
    right_ = placer_ != nullptr ? placer_->settle() : Status{};
  }
  return *right_;
}

}  // namespace mynah::cli
