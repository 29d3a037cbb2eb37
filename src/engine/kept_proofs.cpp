#include "engine/kept_proofs.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/rounded.h"
#include "place/terms/kind.h"

namespace mynah::engine {

double fastest_ms(const std::vector<place::Measurement>& measurements) {
  std::map<place::Stage, double> best;
  for (const place::Measurement& measured : measurements) {
    const auto [known, is_new] = best.emplace(measured.stage, measured.ms_per_unit);
    known->second = std::min(known->second, measured.ms_per_unit);
  }
  double sum = 0;
  for (const auto& [stage, ms] : best) {
    sum += ms;
  }
  return sum;
}

std::vector<ToldProof> kept_proofs(place::PlacementState& state, const std::string& device,
                                   const place::DeviceIdentity& identity,
                                   std::span<const NamedModel> models) {
  std::vector<ToldProof> proofs;
  place::Prover& prover = state.context().prover();
  for (const NamedModel& model : models) {
    const auto storage = state.wishes().usual_storage(place::group_of(model.file), device);
    auto kept = prover.store().find(identity, model.file, storage);
    if (!kept) {
      continue;
    }
    ToldProof proof{.model = model.name, .measurements = std::move(kept->measurements)};
    proof.ago_s = std::max<int64_t>(0, place::seconds_now() - kept->made_at);
    if (const auto cpu = prover.kept_of_cpu(model.file)) {
      proof.cpu_ms = fastest_ms(*cpu);
    }
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

nlohmann::ordered_json to_json(const ToldProof& proof) {
  using Json = nlohmann::ordered_json;
  Json stages = Json::array();
  for (const place::Measurement& measured : proof.measurements) {
    stages.push_back(
        {{"stage", place::stage_name(measured.stage)},
         {"storage", measured.storage ? Json(name(*measured.storage)) : Json(nullptr)},
         {"passed", measured.passed},
         {"failure", measured.failure.empty() ? Json(nullptr) : Json(measured.failure)},
         {"ms_per_second", rounded_ms(measured.ms_per_unit)},
         {"worst_error", rounded_ratio(measured.worst_error)},
         {"error_bound", rounded_ratio(measured.error_bound)},
         {"bytes", measured.bytes}});
  }
  return {{"model", proof.model},
          {"seconds_ago", proof.ago_s},
          {"cpu_ms_per_second", proof.cpu_ms ? Json(rounded_ms(*proof.cpu_ms)) : Json()},
          {"stages", std::move(stages)}};
}

}  // namespace mynah::engine
