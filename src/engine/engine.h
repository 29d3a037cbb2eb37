// Engine: models that are open side by side on the same devices, by name: opened once, shared, let
// go by themselves.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/detector.h"
#include "engine/leases.h"
#include "engine/recognizer.h"
#include "engine/surroundings.h"
#include "engine/synthesizer.h"
#include "place/state/housekeeper.h"

namespace mynah::engine {

// Thread-safe. A model is opened by the first who asks for it; who asks meanwhile waits. It may
// compute once at once (Warm): what a first request would wait for, beside the loading, is done.
class Engine {
 public:
  enum class Warm : uint8_t { No, Yes };

  // What is opened is placed as `placement` says, beside what is open there already. What nobody
  // held for its keep_alive is let go. Refused as open_placer() refuses.
  static Result<std::unique_ptr<Engine>> create(PlacementWish placement, Surroundings surroundings);

  // The model that the wish means, whose own placement says nothing here. It is opened where it is
  // not, and refused as open_recognizer(), open_detector() and open_synthesizer() refuse.
  [[nodiscard]] Result<Leases<OpenedRecognizer>::Lease> recognizer(RecognizerWish wish,
                                                                   Warm warm = Warm::No);
  [[nodiscard]] Result<Leases<OpenedDetector>::Lease> detector(DetectorWish wish,
                                                               Warm warm = Warm::No);
  // `model`: speaking_model() of it.
  [[nodiscard]] Result<Leases<OpenedSynthesizer>::Lease> synthesizer(SynthesizerWish wish,
                                                                     const SpeakingModel& model,
                                                                     Warm warm = Warm::No);

  // Lets go of all that nobody holds.
  void unload();

  // Of all that is open.
  [[nodiscard]] const place::Placer& placer() const { return *placement_.beside; }

 private:
  Engine(PlacementWish placement, Surroundings surroundings)
      : placement_(std::move(placement)), surroundings_(std::move(surroundings)) {}

  // `open`: open_recognizer and the like.
  template <class Opened, class Wish>
  Result<typename Leases<Opened>::Lease> take(
      Leases<Opened>& leases, const std::string& name, Wish wish, Warm warm,
      Result<Opened> (*open)(const Wish& wish, const Surroundings& surroundings));

  PlacementWish placement_;
  Surroundings surroundings_;
  Leases<OpenedRecognizer> recognizers_;
  Leases<OpenedDetector> detectors_;
  Leases<OpenedSynthesizer> synthesizers_;
  place::Housekeeper housekeeper_;  // the first to go
};

}  // namespace mynah::engine
