#include "engine/engine.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace mynah::engine {

Result<std::unique_ptr<Engine>> Engine::create(PlacementWish placement, Surroundings surroundings) {
  constexpr std::chrono::seconds kOften{1};
  MYNAH_TRY(placement.beside, open_placer(placement, surroundings));
  const auto keep_alive = placement.beside->state().context().options().keep_alive;
  std::unique_ptr<Engine> engine(new Engine(std::move(placement), std::move(surroundings)));
  engine->housekeeper_.start(kOften, [open = engine.get(), keep_alive] {
    open->recognizers_.let_go_idle(keep_alive);
    open->detectors_.let_go_idle(keep_alive);
    open->synthesizers_.let_go_idle(keep_alive);
  });
  return engine;
}

template <class Opened, class Wish>
Result<typename Leases<Opened>::Lease> Engine::take(
    Leases<Opened>& leases, const std::string& name, Wish wish, Warm warm,
    Result<Opened> (*open)(const Wish& wish, const Surroundings& surroundings)) {
  wish.placement = placement_;
  const auto open_one = [&]() -> Result<std::unique_ptr<const Opened>> {
    MYNAH_TRY(Opened opened, open(wish, surroundings_));
    if (warm == Warm::Yes) {
      MYNAH_TRY_STATUS(opened.warm_up());
    }
    return std::make_unique<const Opened>(std::move(opened));
  };
  return leases.take(name, open_one, surroundings_.stop);
}

Result<Leases<OpenedRecognizer>::Lease> Engine::recognizer(RecognizerWish wish, Warm warm) {
  const std::string name =
      fmt::format("{}\n{}", hearing_model(wish, surroundings_.environment), wish.vad_model);
  return take(recognizers_, name, std::move(wish), warm, open_recognizer);
}

Result<Leases<OpenedDetector>::Lease> Engine::detector(DetectorWish wish, Warm warm) {
  const std::string name =
      fmt::format("{}\n{}", detecting_model(wish, surroundings_.environment), wish.rate_hz);
  return take(detectors_, name, std::move(wish), warm, open_detector);
}

Result<Leases<OpenedSynthesizer>::Lease> Engine::synthesizer(SynthesizerWish wish,
                                                             const SpeakingModel& model,
                                                             Warm warm) {
  // What reads text for it is a part of it.
  const std::string name = fmt::format("{}\n{}\n{}", model.path, wish.voice_config, wish.lexicon);
  return take(synthesizers_, name, std::move(wish), warm, open_synthesizer);
}

void Engine::unload() {
  recognizers_.let_go_unused();
  detectors_.let_go_unused();
  synthesizers_.let_go_unused();
}

}  // namespace mynah::engine
