#include "engine/turn_scorer.h"

#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "store/speech_models.h"
#include "store/store.h"

namespace mynah::engine {

Result<OpenedTurnScorer> open_turn_scorer(const Surroundings& surroundings) {
  const Store store(store_folders(surroundings.environment));
  OpenedTurnScorer opened;
  const auto model = newest_model_for(store, FamilyKind::EndOfTurn);
  if (!model) {
    surroundings.note(
        {.code = "no-turn-model",
         .text = fmt::format("{} was not pulled: turns end by silence alone", kTurnFamily),
         .remedy = fmt::format("'mynah pull {}' brings what hears that somebody is "
                               "done",
                               kTurnFamily)});
    return opened;
  }
  MYNAH_TRY(opened.processor, place::open_device("cpu", place::DeviceSettings{}));
  auto scorer = load_turn_scorer(
      network_of(*model),
      {.storage = {}, .precision = Precision::Fast, .cache_folder = store.folders().cache},
      *opened.processor.backend);
  if (!scorer) {
    return std::unexpected(as_stored(std::move(scorer).error(), model->name, ""));
  }
  opened.scorer = *std::move(scorer);
  return opened;
}

}  // namespace mynah::engine
