// PlaceWatch: where a conversation's organs compute, and whether one moved: its device failed, or
// others took it.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "talk/loop/workers.h"
#include "talk/organs/organs.h"

namespace mynah::talk {

// Thread-safe.
class PlaceWatch {
 public:
  PlaceWatch(const Ear& ear, const Mind& mind, const Mouth& mouth)
      : ear_(ear),
        mind_(mind),
        mouth_(mouth),
        places_{place_of(Organ::Ear), place_of(Organ::EndRule), place_of(Organ::Mind),
                place_of(Organ::Mouth)} {}

  // Where it computes now, if that was elsewhere when it was looked at last.
  [[nodiscard]] std::optional<std::string> moved(Organ organ) {
    std::string place = place_of(organ);
    const std::lock_guard lock(mutex_);
    std::string& before = places_[static_cast<size_t>(organ)];
    if (place == before) {
      return std::nullopt;
    }
    before = std::move(place);
    return before;
  }

 private:
  [[nodiscard]] std::string place_of(Organ organ) const {
    switch (organ) {
      case Organ::Ear:
        return ear_.facts().place;
      case Organ::Mind:
        return mind_.facts().place;
      case Organ::Mouth:
        return mouth_.facts().place;
      case Organ::EndRule:
        break;  // always on the processor
    }
    return {};
  }

  const Ear& ear_;
  const Mind& mind_;
  const Mouth& mouth_;
  std::mutex mutex_;
  std::array<std::string, kOrgans> places_;
};

}  // namespace mynah::talk
