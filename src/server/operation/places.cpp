#include "server/operation/places.h"

#include <nlohmann/json.hpp>

#include "server/http/json_text.h"

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

}  // namespace

Handler devices(Service& service) {
  return [&service](Exchange& exchange) {
    const place::Placer& placer = service.engine().placer();
    Json told = {{"object", "list"}, {"devices", Json::array()}};
    for (const place::DeviceFacts& facts : placer.state().context().discovery().devices) {
      told["devices"].push_back(to_json(facts));
    }
    told["placement"] = mynah::to_json(placer.report());
    exchange.answer({.body = json_text(told) + "\n"});
  };
}

}  // namespace mynah::server
