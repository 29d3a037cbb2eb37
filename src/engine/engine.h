// Engine: models that are open side by side on the same devices, by name: opened once, shared, let
// go by themselves.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/leases.h"
#include "engine/surroundings.h"
#include "engine/synthesizer.h"
#include "place/state/housekeeper.h"

namespace mynah::engine {

// Thread-safe.
class Engine {
 public:
  // What is opened is placed as `placement` says, beside what is open there already. What nobody
  // held for its keep_alive is let go. Refused as open_placer() refuses.
  static Result<std::unique_ptr<Engine>> create(PlacementWish placement, Surroundings surroundings);

  // The model that the wish means (`model`: speaking_model() of it), whose own placement says
  // nothing here. It is opened where it is not, and refused as open_synthesizer() refuses.
  [[nodiscard]] Result<Leases<OpenedSynthesizer>::Lease> synthesizer(SynthesizerWish wish,
                                                                     const SpeakingModel& model);

  // Of all that is open.
  [[nodiscard]] const place::Placer& placer() const { return *placement_.beside; }

 private:
  Engine(PlacementWish placement, Surroundings surroundings)
      : placement_(std::move(placement)), surroundings_(std::move(surroundings)) {}

  PlacementWish placement_;
  Surroundings surroundings_;
  Leases<OpenedSynthesizer> synthesizers_;
  place::Housekeeper housekeeper_;  // the first to go
};

}  // namespace mynah::engine
