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
  if (keep_alive) {
    engine->housekeeper_.start(
        kOften, [open = &engine->synthesizers_, idle = *keep_alive] { open->let_go_idle(idle); });
  }
  return engine;
}

Result<Leases<OpenedSynthesizer>::Lease> Engine::synthesizer(SynthesizerWish wish,
                                                             const SpeakingModel& model) {
  wish.placement = placement_;
  const auto open = [&]() -> Result<std::unique_ptr<const OpenedSynthesizer>> {
    MYNAH_TRY(OpenedSynthesizer opened, open_synthesizer(wish, surroundings_));
    return std::make_unique<const OpenedSynthesizer>(std::move(opened));
  };
  // What reads text for it is a part of it.
  return synthesizers_.take(fmt::format("{}\n{}\n{}", model.path, wish.voice_config, wish.lexicon),
                            open, surroundings_.stop);
}

}  // namespace mynah::engine
