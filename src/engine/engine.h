// Engine: models that are open side by side on the same devices, by name: opened once, shared, let
// go by themselves.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/chat.h"
#include "engine/detector.h"
#include "engine/embed.h"
#include "engine/leases.h"
#include "engine/recognizer.h"
#include "engine/surroundings.h"
#include "engine/synthesizer.h"
#include "place/state/housekeeper.h"

namespace mynah::engine {

// A model that is open.
struct OpenModel {
  enum class Does : uint8_t { Hear, Detect, Speak, Write, Embed };

  Does does = Does::Hear;
  std::string path;    // its file or folder; "": it is built in
  std::string device;  // where it computes: "cuda:0,cpu"
  size_t holders = 0;  // requests that have it
  // Until it is let go where nobody asks for it, nor has it any more; none: it is kept for ever.
  std::optional<std::chrono::steady_clock::duration> left;
};

// How long a leased model is kept from now on once nobody holds it; none: for ever.
template <class Lease>
void keep_alive(const Lease& lease, std::optional<std::chrono::milliseconds> idle) {
  using Duration = std::chrono::steady_clock::duration;
  const Duration time = idle ? Duration(*idle) : Duration::max();
  lease.keep_alive(time);
  if (lease->placer != nullptr) {
    // Who holds it may pause: its stages are kept no shorter for that.
    place::PlacementState& state = lease->placer->state();
    const auto usual = state.context().options().keep_alive;
    state.openings().keep_alive(lease->id,
                                std::max(time, usual ? Duration(*usual) : Duration::max()));
  }
}

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
  // As open_chat() refuses.
  [[nodiscard]] Result<Leases<OpenedChat>::Lease> chat(ChatWish wish, Warm warm = Warm::No);
  // As open_embedder() refuses.
  [[nodiscard]] Result<Leases<OpenedEmbedder>::Lease> embedder(EmbedWish wish,
                                                               Warm warm = Warm::No);

  // Lets go of all that nobody holds.
  void unload();

  // Lets go of the models of that file or folder ("": of those that are built in): at once where
  // nobody holds them, else soon after nobody does. How many they are.
  size_t unload(const std::string& path);

  // Looking is no use of them.
  [[nodiscard]] std::vector<OpenModel> open_models();

  // What waits for each model that hears.
  [[nodiscard]] std::vector<HearingLoad> hearing_loads();

  // Has each model compute once that is loaded, as its first request would, which is no use of it
  // either. How many did; the first error, with the model's file.
  [[nodiscard]] Result<size_t> try_open_models();

  // Of all that is open.
  [[nodiscard]] const place::Placer& placer() const { return *placement_.beside; }

 private:
  Engine(PlacementWish placement, Surroundings surroundings);

  // Lets go of what is due; how long nothing will be.
  std::chrono::milliseconds let_go_idle();

  // `open`: open_recognizer and the like.
  template <class Opened, class Wish>
  Result<typename Leases<Opened>::Lease> take(
      Leases<Opened>& leases, const std::string& name, Wish wish, Warm warm,
      Result<Opened> (*open)(const Wish& wish, const Surroundings& surroundings));

  PlacementWish placement_;
  Surroundings surroundings_;
  std::optional<std::chrono::milliseconds> keep_alive_;  // none: for ever
  Leases<OpenedRecognizer> recognizers_;
  Leases<OpenedDetector> detectors_;
  Leases<OpenedSynthesizer> synthesizers_;
  Leases<OpenedChat> chats_;
  Leases<OpenedEmbedder> embedders_;
  place::Housekeeper housekeeper_;  // the first to go
};

}  // namespace mynah::engine
