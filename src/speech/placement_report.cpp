#include "speech/placement_report.h"

#include <nlohmann/json.hpp>

#include "base/rounded.h"

namespace mynah {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json or_null(const std::optional<double>& value, double (*rounded)(double)) {
  return value ? Json(rounded(*value)) : Json(nullptr);
}

Json to_json(const StagePlacement& stage) {
  Json json = {
      {"stage", stage.stage},
      {"model", stage.model},
      {"device", stage.device},
      {"architecture", or_null(stage.architecture)},
      {"storage", or_null(stage.storage)},
      {"bytes", stage.memory_with.empty() ? Json(stage.bytes) : Json(nullptr)},
      {"memory_with", or_null(stage.memory_with)},
      {"kernels", stage.kernels},
      {"operations", stage.operations},
      {"milliseconds", rounded_ms(stage.milliseconds)},
      {"expected_ms_per_second", or_null(stage.expected_ms, rounded_ms)},
      {"worst_error", or_null(stage.worst_error, rounded_ratio)},
      {"error_bound", stage.worst_error ? Json(rounded_ratio(stage.error_bound)) : Json(nullptr)},
      {"proven_seconds_ago", or_null(stage.proven_ago_s, rounded_ms)},
      {"why", stage.why},
      {"others", Json::array()}};
  if (stage.planned) {
    json["planned"] = {{"bytes", stage.planned->bytes},
                       {"context", stage.planned->context},
                       {"text_bytes", stage.planned->text_bytes}};
  }
  for (const NotChosen& other : stage.others) {
    json["others"].push_back({{"device", other.device}, {"why", other.why}});
  }
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const PlacementReport& report) {
  Json json = {{"stages", Json::array()},
               {"moves", Json::array()},
               {"proof_ms", or_null(report.proof_ms, rounded_ms)}};
  for (const StagePlacement& stage : report.stages) {
    json["stages"].push_back(to_json(stage));
  }
  for (const PlacementMove& move : report.moves) {
    json["moves"].push_back({{"stages", move.stages},
                             {"model", move.model},
                             {"from", move.from},
                             {"to", or_null(move.to)},
                             {"reason", move.reason},
                             {"doubted", or_null(move.doubted)}});
  }
  return json;
}

}  // namespace mynah
