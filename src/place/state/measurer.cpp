#include "place/state/measurer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "tensor/device_failure.h"

namespace mynah::place {

Trust::Refusal Measurer::measure_as(const ExpectedModel& model, const StageDevice& where,
                                    PlanInput& input) {
  Trust::Refusal refused = trust_.refusal(model.id, where);
  if (!refused.why.empty()) {
    return refused;
  }
  const bool asked = wishes_.is_named(model.id, where.device);
  DeviceProof proof =
      context_.prover().of_device(model.file, where, context_.identity(where.device),
                                  asked ? ProofWish::Asked : ProofWish::IfTrusted);
  if (proof.refusal.empty()) {
    std::ranges::move(proof.measurements, std::back_inserter(input.measurements));
  }
  refused = {.why = std::move(proof.refusal), .no_room = proof.no_room.has_value()};
  if (proof.no_room) {
    trust_.note_no_room(model.id, where, *std::move(proof.no_room));
  }
  return refused;
}

// A device's measurements, or why it is not to be chosen: as each of the types that a profile names
// there, which no other stands in for; else as the first that has room.
void Measurer::measure_device(const ExpectedModel& model, const std::string& device,
                              PlanInput& input) {
  const std::vector<const Measurement*> said = wishes_.profiled_on(model.id, device);
  if (const StagePlaces apart = wishes_.said_apart(model.id);
      !is_processor(device) && std::ranges::any_of(apart, [&](const auto& entry) {
        return entry.second.device == device;
      })) {
    measure_said_apart(model, apart, device, input);
    return;
  }
  const auto is_said = [&](Stage stage, std::optional<DType> type) {
    return std::ranges::any_of(
        said, [&](const Measurement* one) { return one->stage == stage && one->storage == type; });
  };
  std::map<Stage, std::string> refusals;  // the first of each
  bool full = false;                      // with the last type that was tried
  std::optional<DType> last;
  std::vector<TooLarge> too_large;
  for (const std::optional<DType>& type : wishes_.types_on(model.id, device)) {
    if (std::ranges::any_of(input.measurements, [&](const Measurement& measured) {
          return is_said(measured.stage, type) && measured.device == device &&
                 measured.storage == type;
        })) {
      continue;  // the processor was measured as this already
    }
    const Trust::Refusal tried = measure_as(model, {.device = device, .storage = type}, input);
    if (tried.why.empty() && said.empty()) {
      refusals.clear();
      std::ranges::move(too_large, std::back_inserter(input.too_large));
      break;
    }
    for (const Stage stage : stages_of(model.id.group)) {
      if (!tried.why.empty() && (said.empty() || is_said(stage, type))) {
        refusals.try_emplace(stage, tried.why);
        too_large.push_back({.stage = stage, .device = device});
      }
    }
    if (said.empty()) {
      full = tried.no_room;
      last = type;
      if (!full) {
        break;
      }
    }
  }
  for (const auto& [stage, refusal] : refusals) {
    input.excluded.push_back({.stage = stage,
                              .device = device,
                              .reason = refusal,
                              .of_whole = full,
                              .storage = full ? last : std::nullopt});
  }
  std::erase_if(input.measurements, [&](const Measurement& measured) {
    return measured.device == device && std::ranges::any_of(said, [&](const Measurement* one) {
             return one->stage == measured.stage && one->storage != measured.storage;
           });
  });
}

void Measurer::measure_smaller_types(const ExpectedModel& model, PlanInput& input) {
  const Stage first = stages_of(model.id.group).front();
  std::set<StageDevice> measured;
  for (const Measurement& one : input.measurements) {
    if (one.stage == first) {
      measured.insert({.device = one.device, .storage = one.storage});
    }
  }
  for (const StageDevice& where : measured) {
    for (const std::optional<DType>& type : wishes_.types_on(model.id, where.device)) {
      const StageDevice smaller{.device = where.device, .storage = type};
      if (!is_processor(where.device) && !measured.contains(smaller)) {
        static_cast<void>(measure_as(model, smaller, input));
      }
    }
  }
}

Result<bool> Measurer::measure(const ExpectedModel& model, PlanInput& input) {
  const auto& [id, file] = model;
  MYNAH_TRY_STATUS(wishes_.apply_profile(model));
  std::set<std::string> devices;
  bool elsewhere = false;
  const bool named_whole = kind_of(id.group).may_be_apart != nullptr &&
                           !wishes_.wanted(id, stages_of(id.group).back()).automatic &&
                           wishes_.said_apart(id).empty();
  for (const Stage stage : stages_of(id.group)) {
    input.stages.push_back({.stage = stage,
                            .storage = wishes_.storage_of(id, stage, ""),
                            .profile = wishes_.profiled(id, stage) != nullptr
                                           ? wishes_.profile(id)->name
                                           : std::string(),
                            .growing = {},
                            .whole = is_whole(file) || named_whole});
    input.request.of(stage) = wishes_.wanted(id, stage);
    for (std::string& device : wishes_.candidates(id, stage)) {
      elsewhere = elsewhere || !is_processor(device);
      devices.insert(std::move(device));
    }
  }
  if (!elsewhere) {
    return false;  // nothing to compare: the processor is what there is
  }
  for (const std::string& device : devices) {
    if (device == "cpu") {
      const auto measured = context_.prover().of_cpu(file);
      // Where no process can be had to measure in, it computes all the same.
      if (!measured && !is_of_device(measured.error().code)) {
        return std::unexpected(measured.error());
      }
      if (measured) {
        std::ranges::copy(*measured, std::back_inserter(input.measurements));
      }
    }
    if (!is_processor(device) || (device == "cpu" && !wishes_.profiled_on(id, device).empty())) {
      measure_device(model, device, input);
    }
  }
  return std::ranges::any_of(devices,
                             [](const auto& device) { return card_index(device).has_value(); });
}

std::optional<StagesApart> Measurer::measure_apart(const ExpectedModel& model,
                                                   const StagePlaces& places, int& left) {
  if (trust_.waits_for_room_apart(model.id, places)) {
    return std::nullopt;
  }
  const std::vector<DeviceIdentity> identities = context_.identities(places);
  if (auto kept = context_.prover().kept_apart(model.file, places, identities)) {
    return std::move(kept->measurements);
  }
  if (left == 0) {
    return std::nullopt;
  }
  --left;
  DeviceProof proof =
      context_.prover().of_stages_apart(model.file, places, identities, ProofWish::IfTrusted);
  if (proof.no_room) {
    trust_.note_no_room_apart(model.id, places, proof.no_room->error);
  }
  return proof.refusal.empty() ? std::optional(std::move(proof.measurements)) : std::nullopt;
}

void Measurer::measure_said_apart(const ExpectedModel& model, const StagePlaces& places,
                                  const std::string& device, PlanInput& input) {
  std::string refusal;
  for (const auto& [stage, where] : places) {
    if (refusal.empty() && where.device != "cpu") {
      refusal = trust_.refusal(model.id, where).why;
    }
  }
  if (refusal.empty()) {
    DeviceProof proof = context_.prover().of_stages_apart(
        model.file, places, context_.identities(places), ProofWish::Asked);
    refusal = std::move(proof.refusal);
    // Where they failed, that says nothing of what the processor does alone.
    const bool passed = std::ranges::all_of(proof.measurements, &Measurement::passed);
    std::ranges::copy_if(proof.measurements, std::back_inserter(input.measurements),
                         [&](const Measurement& measured) {
                           return refusal.empty() && (passed || measured.device == device);
                         });
    for (const auto& [stage, where] : places) {
      if (proof.no_room && where.device != "cpu") {
        trust_.note_no_room(model.id, where, *proof.no_room);
      }
    }
  }
  for (const auto& [stage, where] : places) {
    if (where.device == device && !refusal.empty()) {
      input.excluded.push_back({.stage = stage, .device = device, .reason = refusal});
    }
  }
}

}  // namespace mynah::place
