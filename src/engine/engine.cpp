#include "engine/engine.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace mynah::engine {

Result<std::unique_ptr<Engine>> Engine::create(PlacementWish placement, Surroundings surroundings) {
  constexpr std::chrono::seconds kOften{1};
  MYNAH_TRY(const auto keep_alive, parse_keep_alive(placement.keep_alive));
  MYNAH_TRY(placement.beside, open_placer(placement, surroundings));
  std::unique_ptr<Engine> engine(new Engine(std::move(placement), std::move(surroundings)));
  if (keep_alive) {
    engine->housekeeper_.start(
        kOften, [open = &engine->synthesizers_, idle = *keep_alive] { open->let_go_idle(idle); });
  }
  return engine;
}

Result<Engine::Speaker> Engine::speaker(SynthesizerWish wish) {
  wish.placement = placement_;
  MYNAH_TRY(SpeakingModel model, speaking_model(wish, surroundings_.environment));
  const auto open = [&]() -> Result<std::unique_ptr<const OpenedSynthesizer>> {
    MYNAH_TRY(OpenedSynthesizer opened, open_synthesizer(wish, surroundings_));
    return std::make_unique<const OpenedSynthesizer>(std::move(opened));
  };
  // What reads text for it is a part of it.
  const std::string name = fmt::format("{}\n{}\n{}", model.path, wish.voice_config, wish.lexicon);
  MYNAH_TRY(auto lease, synthesizers_.take(name, open, surroundings_.stop));
  return Speaker{.opened = std::move(lease), .voice = std::move(model.voice)};
}

}  // namespace mynah::engine
