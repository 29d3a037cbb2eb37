// Where PlacementState takes the stages of a model apart: what it knows of that, and has proven.
#include <algorithm>
#include <iterator>
#include <utility>

#include "place/placement_state.h"
#include "place/plans/stages_apart.h"

namespace mynah::place {

std::vector<DeviceIdentity> PlacementState::identities(const StagePlaces& places) {
  std::vector<DeviceIdentity> all;
  all.reserve(places.size());
  for (const auto& [stage, where] : places) {
    all.push_back(identity(where.device));
  }
  return all;
}

void PlacementState::note_no_room_apart(const StagePlaces& places, const Error& error) {
  const std::lock_guard lock(mutex_);
  no_room_apart_[places].failed(options_.times.seconds(), error.message);
}

std::optional<StagesApart> PlacementState::measure_apart(const ModelFile& file,
                                                         const StagePlaces& places, int& left) {
  {
    const std::lock_guard lock(mutex_);
    const auto full = no_room_apart_.find(places);
    if (full != no_room_apart_.end() && full->second.waits(options_.times.seconds())) {
      return std::nullopt;
    }
  }
  if (auto kept = prover_.kept_apart(file, places, identities(places))) {
    return std::move(kept->measurements);
  }
  if (left == 0) {
    return std::nullopt;
  }
  --left;
  DeviceProof proof =
      prover_.of_stages_apart(file, places, identities(places), ProofWish::IfTrusted);
  if (proof.no_room) {
    note_no_room_apart(places, proof.no_room->error);
  }
  return proof.refusal.empty() ? std::optional(std::move(proof.measurements)) : std::nullopt;
}

Result<Plan> PlacementState::plan_apart(const std::vector<ModelFile>& files, PlanInput& input) {
  int left = 2;
  return make_plan(input, [&](const StagesApart& imagined) -> std::optional<StagesApart> {
    const StageGroup group = place::group_of(imagined.front().stage);
    const auto file =
        std::ranges::find(files, group, [](const ModelFile& one) { return place::group_of(one); });
    return file == files.end() ? std::nullopt : measure_apart(*file, places_of(imagined), left);
  });
}

StagePlaces PlacementState::profiled_apart(const ModelFile& file) const {
  StagePlaces places;
  for (const Stage stage : stages_of(place::group_of(file))) {
    const Measurement* const said = options_.storage ? nullptr : profiled(stage);
    if (said == nullptr) {
      return {};
    }
    places[stage] = {.device = said->device, .storage = said->storage};
  }
  return is_apart(places) ? places : StagePlaces();
}

void PlacementState::measure_profiled_apart(const ModelFile& file, const StagePlaces& places,
                                            const std::string& device, PlanInput& input) {
  const StageGroup group = place::group_of(file);
  std::string refusal;
  for (const auto& [stage, where] : places) {
    bool no_room = false;
    if (refusal.empty() && where.device != "cpu") {
      refusal = why_excluded(group, where, no_room);
    }
  }
  if (refusal.empty()) {
    DeviceProof proof = prover_.of_stages_apart(file, places, identities(places), ProofWish::Asked);
    refusal = std::move(proof.refusal);
    // Where they failed, that says nothing of what the processor does alone.
    const bool passed = std::ranges::all_of(proof.measurements, &Measurement::passed);
    std::ranges::copy_if(proof.measurements, std::back_inserter(input.measurements),
                         [&](const Measurement& measured) {
                           return refusal.empty() && (passed || measured.device == device);
                         });
    for (const auto& [stage, where] : places) {
      if (proof.no_room && where.device != "cpu") {
        note_no_room(group, where, *proof.no_room);
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
