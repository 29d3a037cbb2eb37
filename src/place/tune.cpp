#include "place/tune.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "place/plans/stages_apart.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

std::vector<std::optional<DType>> types_for(const ModelFile& file, const std::string& device,
                                            const TuneOptions& options) {
  if (!kind_of(group_of(file)).has_types) {
    return {std::nullopt};
  }
  if (!options.types.empty()) {
    return {options.types.begin(), options.types.end()};
  }
  if (device == "cpu") {
    return {DType::I8, DType::BF16};
  }
  return card_index(device) ? std::vector<std::optional<DType>>{DType::F16, DType::I8}
                            : std::vector<std::optional<DType>>{std::nullopt};
}

std::string now_text() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%FT%TZ}", now);
}

}  // namespace

std::string disturbed_text(double waited_share) {
  constexpr double kMuch = 0.1;
  return waited_share > kMuch
             ? fmt::format("; others had the cores for {:.0f} % of the time", 100 * waited_share)
             : std::string();
}

void keep_measurements(Profile& profile, const PlanInput& input, const Plan& plan) {
  profile.batch = plan.batch;
  for (const Measurement& measured : input.measurements) {
    const StagePlaces chosen = places_of(plan, group_of(measured.stage));
    const StageDevice where{.device = measured.device, .storage = measured.storage};
    const bool apart = measured_apart(input, plan, measured.stage) != nullptr;
    const bool taken = !apart && chosen.at(measured.stage) == where;
    (taken ? profile.stages : profile.others).push_back(measured);
  }
  for (const StagesApart& stages : input.apart) {
    const bool taken = places_of(stages) == places_of(plan, group_of(stages.front().stage));
    std::ranges::copy(stages, std::back_inserter(taken ? profile.stages : profile.others));
  }
  std::ranges::stable_sort(profile.stages, {}, &Measurement::stage);
}

Result<Profile> tune(PlacementState& state, const ModelFile& file, const std::string& name,
                     const TuneOptions& options) {
  if (!state.context().options().request.mynahs.empty()) {
    return fail(ErrorCode::Usage,
                "--device: a profile is of this machine's devices, and another mynah is none of "
                "them: leave it out");
  }
  const ModelId model = state.context().expect(file);
  MYNAH_TRY(std::string digest,
            model_digest(path_of(file), state.context().options().cache_folder));
  Profile profile;
  profile.name = name;
  profile.model = name;
  profile.model_sha256 = std::move(digest);
  profile.created = now_text();
  profile.build = state.context().options().discovery.build;
  PlanInput input;
  input.request = state.context().options().request;
  input.max_vram = state.context().options().max_vram;
  input.batch = state.context().options().batch;
  input.together = true;
  std::set<std::string> devices;
  for (const Stage stage : stages_of(model.group)) {
    input.stages.push_back({.stage = stage, .storage = {}});
    input.request.of(stage).automatic = true;  // of those that are allowed the fastest
    for (std::string& device : state.wishes().candidates(model, stage)) {
      devices.insert(std::move(device));
    }
  }
  const auto heard = [&](const DeviceProof& proof) {
    profile.waited_share = std::max(profile.waited_share, proof.waited_share);
    if (options.observer) {
      options.observer(proof);
    }
  };
  for (const std::string& device : devices) {
    const DeviceIdentity identity = state.context().identity(device);
    profile.devices.push_back(identity);
    for (const std::optional<DType>& type : types_for(file, device, options)) {
      const StageDevice where{.device = device, .storage = type};
      const DeviceProof proof =
          state.context().prover().of_device(file, where, identity, ProofWish::Anew);
      heard(proof);
      std::ranges::copy(proof.measurements, std::back_inserter(input.measurements));
    }
  }
  input.devices = state.planner().memory(true);
  const auto prove_apart = [&](const StagesApart& imagined) -> std::optional<StagesApart> {
    const StagePlaces places = places_of(imagined);
    DeviceProof proof = state.context().prover().of_stages_apart(
        file, places, state.context().identities(places), ProofWish::Anew);
    heard(proof);
    return std::move(proof.measurements);
  };
  MYNAH_TRY(const Plan plan, make_plan(input, prove_apart));
  keep_measurements(profile, input, plan);
  return profile;
}

}  // namespace mynah::place
