// The voice detector that a front asks for, with the device it runs on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/open_placer.h"
#include "engine/surroundings.h"
#include "place/placer.h"
#include "speech/voice_detector.h"

namespace mynah::engine {

// Which model, where.
struct DetectorWish {
  // A name of the store, a path, "builtin"; auto: that of the catalogue, else one that was
  // imported, else the built-in one.
  std::string model = "auto";
  int rate_hz = 16000;  // that it hears: 16000 or 8000
  PlacementWish placement;
};

// A detector and what it stands on, in the order that they must be destroyed from the end.
struct OpenedDetector {
  std::shared_ptr<place::Placer> placer;  // null: the built-in one, which is of the processor
  place::ModelId id{};                    // of the placer's
  std::shared_ptr<const VoiceDetector> detector;

  // Listens to a second of silence, as the first request would.
  [[nodiscard]] Status warm_up() const;

  // Of what the work is from now on: files, by which it is named where a device computed wrongly.
  void name_work(const std::vector<std::string>& names) const;
};

// Opens it. That it is the built-in one is noted where nobody named it. Usage for a rate that this
// cannot hear; a device that is not there is refused with the reason.
Result<OpenedDetector> open_detector(const DetectorWish& wish, const Surroundings& surroundings);

// The file of the model that open_detector() takes; "": the built-in one.
[[nodiscard]] std::string detecting_model(const DetectorWish& wish, const Environment& environment);

}  // namespace mynah::engine
