#include "server/operation/places.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/kept_proofs.h"
#include "engine/model_files.h"
#include "place/terms/device_name.h"
#include "server/http/json_text.h"
#include "store/families.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const place::DeviceFacts& facts) {
  Json json = {{"device", facts.label()},
               {"model", facts.model.empty() ? Json(nullptr) : Json(facts.model)},
               {"memory_bytes", or_null(facts.memory_total)}};
  if (facts.cpu) {
    json["cores"] = facts.cpu->cores;
    json["instruction_set"] = facts.cpu->instruction_set;
  }
  if (facts.absence) {
    json["absent"] = facts.absence->reason;
  }
  return json;
}

// All that compute, whether they are open or not. What cannot be read is left out.
std::vector<engine::NamedModel> stored_models(const Store& store) {
  std::vector<engine::NamedModel> models;
  for (const StoredModel& model : store.list()) {
    const bool computes = is_for(model.family, FamilyKind::SpeechToText) ||
                          is_for(model.family, FamilyKind::VoiceActivity) ||
                          is_for(model.family, FamilyKind::Speech);
    if (auto named = computes ? engine::named_models(store, {model.name})
                              : Result<std::vector<engine::NamedModel>>()) {
      std::ranges::move(*named, std::back_inserter(models));
    }
  }
  return models;
}

}  // namespace

Handler devices(Service& service) {
  return [&service](Exchange& exchange) {
    const place::Placer& placer = service.engine().placer();
    place::PlacementState& state = placer.state();
    Json told = {{"object", "list"}, {"devices", Json::array()}};
    const std::vector<engine::NamedModel> models = stored_models(service.store());
    for (const place::DeviceFacts& facts : state.context().discovery().devices) {
      Json device = to_json(facts);
      device["proofs"] = Json::array();
      if (!facts.absence && !place::is_processor(facts.name)) {
        for (const auto& proof :
             engine::kept_proofs(state, facts.name, state.context().identity(facts.name), models)) {
          device["proofs"].push_back(engine::to_json(proof));
        }
      }
      told["devices"].push_back(std::move(device));
    }
    told["placement"] = mynah::to_json(placer.report());
    exchange.answer({.body = json_text(told) + "\n"});
  };
}

}  // namespace mynah::server
