// What PlacementState plans by: where each stage may be, what was measured there, and what a
// profile says of it.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "place/device_name.h"
#include "place/placement_state.h"
#include "place/plans/stages_apart.h"
#include "store/sha256.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

// Whether a path is that of a model of this name, in the store or by itself, or is the name.
bool is_called(const std::filesystem::path& path, const std::string& model) {
  return path == model || path.stem() == model ||
         std::ranges::any_of(path, [&](const auto& part) { return part == model; });
}

// A profile that was named is of another model.
std::unexpected<Error> refuse_profile(const Profile& profile, std::string_view why) {
  return fail(ErrorCode::Device,
              fmt::format("the profile {} is of {}, {}; measure this model with `mynah tune`, or "
                          "leave --device out",
                          profile.name, profile.model, why));
}

bool has_stages(const Profile& profile, StageGroup group) {
  return std::ranges::any_of(
      profile.stages, [group](const Measurement& stage) { return group_of(stage.stage) == group; });
}

}  // namespace

const Profile* PlacementState::profile_of(const ModelFile& file, const std::string& digest) const {
  const Profile* by_name = nullptr;
  for (const Profile& profile : options_.profiles) {
    if (!has_stages(profile, group_of(file))) {
      continue;
    }
    if (profile.model_sha256 == digest) {
      return &profile;
    }
    if (!options_.request.profile.empty() || is_called(path_of(file), profile.model)) {
      by_name = &profile;
    }
  }
  return by_name;
}

ProfileFacts PlacementState::profile_facts(const Profile& profile, std::string digest) {
  ProfileFacts facts{
      .build = options_.discovery.build, .model_sha256 = std::move(digest), .devices = {}};
  for (const DeviceIdentity& device : profile.devices) {
    facts.devices.push_back(identity(device.device));
  }
  return facts;
}

Status PlacementState::check_profile(StageGroup group) const {
  if (options_.request.profile.empty() || options_.profiles.empty() ||
      has_stages(options_.profiles.front(), group)) {
    return {};
  }
  return refuse_profile(options_.profiles.front(),
                        fmt::format("which has no {}", group_name(group)));
}

Status PlacementState::check_readable(const ModelFile& file) {
  for (const UnreadableProfile& profile : options_.unreadable_profiles) {
    const bool known = !profile.model.empty();
    // `mynah tune` calls a profile as its model.
    bool is_own = is_called(path_of(file), known ? profile.model : profile.name);
    if (known && !is_own) {
      MYNAH_TRY(const std::string digest, model_digest(path_of(file), options_.cache_folder));
      is_own = digest == profile.model_sha256;
    }
    if (is_own) {
      return fail(ErrorCode::Device, fmt::format("the profile in use, {}, cannot be read: {}",
                                                 profile.name, profile.why));
    }
    if (!known && options_.say && told_unreadable_.insert(profile.name).second) {
      options_.say(fmt::format(
          "the profile in use, {}, cannot be read, so nobody knows of which model it is: {} is "
          "placed by auto; {}",
          profile.name, group_name(group_of(file)), profile.why));
    }
  }
  return {};
}

Result<bool> PlacementState::has_profile(const ModelFile& file) {
  MYNAH_TRY_STATUS(check_readable(file));
  const StageGroup group = group_of(file);
  if (group != StageGroup::Vad) {  // a detector goes along with what is named
    MYNAH_TRY_STATUS(check_profile(group));
  }
  const auto of_group = std::ranges::find_if(
      options_.profiles, [group](const Profile& profile) { return has_stages(profile, group); });
  if (of_group == options_.profiles.end()) {
    return false;
  }
  MYNAH_TRY(const std::string digest, model_digest(path_of(file), options_.cache_folder));
  const Profile* const found = profile_of(file, digest);
  if (found == nullptr) {
    if (options_.say && told_of_profile_.insert(group).second) {
      options_.say(
          fmt::format("the profile in use, {}, is of {} and not of {}: {} is placed by auto",
                      of_group->name, of_group->model, path_of(file), group_name(group)));
    }
    return false;
  }
  const Profile& profile = *found;
  if (profile.model_sha256 != digest && !is_called(path_of(file), profile.model)) {
    return refuse_profile(profile, fmt::format("not of {}", path_of(file)));
  }
  MYNAH_TRY_STATUS(check_holds(profile, profile_facts(profile, digest)));
  const std::lock_guard lock(mutex_);
  profiled_[group] = found;
  return true;
}

const Measurement* PlacementState::profiled(Stage stage) const {
  const std::lock_guard lock(mutex_);
  const auto profile = profiled_.find(group_of(stage));
  if (profile == profiled_.end()) {
    return nullptr;
  }
  const std::vector<Measurement>& stages = profile->second->stages;
  const auto found = std::ranges::find(stages, stage, &Measurement::stage);
  return found == stages.end() ? nullptr : &*found;
}

std::optional<DType> PlacementState::storage_of(Stage stage, const std::string& device) const {
  if (stage == Stage::Vad || options_.storage) {
    return stage == Stage::Vad ? std::nullopt : options_.storage;  // a detector has one type
  }
  const Measurement* const said = profiled(stage);
  if (said != nullptr && said->device == device) {
    return said->storage;
  }
  return device.empty() ? std::nullopt : fast_storage(options_.precision, device);
}

StageDevice PlacementState::usual_place(const ModelFile& file, const std::string& device) const {
  return {.device = device,
          .storage = storage_of(stages_of(place::group_of(file)).front(), device)};
}

std::vector<const Measurement*> PlacementState::profiled_on(const ModelFile& file,
                                                            const std::string& device) const {
  std::vector<const Measurement*> all;
  for (const Stage stage : stages_of(group_of(file))) {
    const Measurement* const said = options_.storage ? nullptr : profiled(stage);
    if (said != nullptr && said->device == device) {
      all.push_back(said);
    }
  }
  return all;
}

// Where memory is a device's own int8 follows what is usual there: what is smaller still would be
// further from the processor's values than a device may be.
std::vector<std::optional<DType>> PlacementState::types_on(const ModelFile& file,
                                                           const std::string& device) const {
  std::vector<std::optional<DType>> types;
  for (const Measurement* const said : profiled_on(file, device)) {
    if (std::ranges::find(types, said->storage) == types.end()) {
      types.push_back(said->storage);
    }
  }
  if (!types.empty()) {
    return types;
  }
  types = {usual_place(file, device).storage};
  const bool may_be_smaller = group_of(file) != StageGroup::Vad && !options_.storage &&
                              options_.precision == Precision::Fast;
  if (!is_processor(device) && may_be_smaller && types.front() != DType::I8) {
    types.emplace_back(DType::I8);
  }
  return types;
}

PlacementState::Tried PlacementState::measure_as(const ModelFile& file, const StageDevice& where,
                                                 PlanInput& input) {
  const StageGroup group = group_of(file);
  Tried tried;
  tried.refusal = why_excluded(group, where, tried.no_room);
  if (tried.refusal.empty()) {
    DeviceProof proof =
        prover_.of_device(file, where, identity(where.device),
                          is_named(group, where.device) ? ProofWish::Asked : ProofWish::IfTrusted);
    tried.refusal = std::move(proof.refusal);
    if (tried.refusal.empty()) {
      std::ranges::move(proof.measurements, std::back_inserter(input.measurements));
    }
    if (proof.no_room) {
      tried.no_room = true;
      note_no_room(group, where, *std::move(proof.no_room));
    }
  }
  return tried;
}

// A device's measurements, or why it is not to be chosen: as each of the types that a profile names
// there, which no other stands in for; else as the first that has room.
void PlacementState::measure_device(const ModelFile& file, const std::string& device,
                                    PlanInput& input) {
  if (const StagePlaces apart = profiled_apart(file);
      !is_processor(device) && !apart.empty() && !profiled_on(file, device).empty()) {
    measure_profiled_apart(file, apart, device, input);
    return;
  }
  const std::vector<const Measurement*> said = profiled_on(file, device);
  const auto is_said = [&](Stage stage, std::optional<DType> type) {
    return std::ranges::any_of(
        said, [&](const Measurement* one) { return one->stage == stage && one->storage == type; });
  };
  std::map<Stage, std::string> refusals;  // the first of each
  bool full = false;                      // with the last type that was tried
  std::optional<DType> last;
  std::vector<TooLarge> too_large;
  for (const std::optional<DType>& type : types_on(file, device)) {
    if (std::ranges::any_of(input.measurements, [&](const Measurement& measured) {
          return is_said(measured.stage, type) && measured.device == device &&
                 measured.storage == type;
        })) {
      continue;  // the processor was measured as this already
    }
    const Tried tried = measure_as(file, {.device = device, .storage = type}, input);
    if (tried.refusal.empty() && said.empty()) {
      refusals.clear();
      std::ranges::move(too_large, std::back_inserter(input.too_large));
      break;
    }
    for (const Stage stage : stages_of(group_of(file))) {
      if (!tried.refusal.empty() && (said.empty() || is_said(stage, type))) {
        refusals.try_emplace(stage, tried.refusal);
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

// Of the devices that a model was measured on, but the processor, the types that were not needed so
// far.
void PlacementState::measure_smaller_types(const ModelFile& file, PlanInput& input) {
  const Stage first = stages_of(group_of(file)).front();
  std::set<StageDevice> measured;
  for (const Measurement& one : input.measurements) {
    if (one.stage == first) {
      measured.insert({.device = one.device, .storage = one.storage});
    }
  }
  for (const StageDevice& where : measured) {
    for (const std::optional<DType>& type : types_on(file, where.device)) {
      const StageDevice smaller{.device = where.device, .storage = type};
      if (!is_processor(where.device) && !measured.contains(smaller)) {
        static_cast<void>(measure_as(file, smaller, input));
      }
    }
  }
}

// Measures a model's stages where any of them may be; whether a card is among those places.
Result<bool> PlacementState::measure(const ModelFile& file, PlanInput& input) {
  const StageGroup group = group_of(file);
  MYNAH_TRY(const bool profiled_here, has_profile(file));
  for (const Stage stage : stages_of(group)) {
    // What a profile says is where it goes; the processor is there when that fails.
    if (const Measurement* const said = profiled_here ? profiled(stage) : nullptr) {
      StageDevices devices{.automatic = false, .devices = {said->device}};
      if (said->device != "cpu") {
        devices.devices.emplace_back("cpu");
      }
      const std::lock_guard lock(mutex_);
      request_.of(stage) = std::move(devices);
    }
  }
  std::set<std::string> devices;
  bool elsewhere = false;
  for (const Stage stage : stages_of(group)) {
    input.stages.push_back(
        {.stage = stage,
         .storage = storage_of(stage, ""),
         .profile = profiled(stage) != nullptr ? profiled_.at(group)->name : std::string()});
    input.request.of(stage) = wanted(stage);
    for (std::string& device : candidates(stage)) {
      elsewhere = elsewhere || !is_processor(device);
      devices.insert(std::move(device));
    }
  }
  if (!elsewhere) {
    return false;  // nothing to compare: the processor is what there is
  }
  for (const std::string& device : devices) {
    if (device == "cpu") {
      const auto measured = prover_.of_cpu(file);
      // Where no process can be had to measure in, it computes all the same.
      if (!measured && !is_of_device(measured.error().code)) {
        return std::unexpected(measured.error());
      }
      if (measured) {
        std::ranges::copy(*measured, std::back_inserter(input.measurements));
      }
    }
    if (!is_processor(device) || (device == "cpu" && !profiled_on(file, device).empty())) {
      measure_device(file, device, input);
    }
  }
  return std::ranges::any_of(devices,
                             [](const auto& device) { return card_index(device).has_value(); });
}

// What is open stays where it is while another group is planned, with what was measured of it: its
// memory is taken. Where it has no room there any more it is no reason to refuse the other. False:
// the group is not open.
bool PlacementState::stays(StageGroup group, PlanInput& input) const {
  const std::lock_guard lock(mutex_);
  const auto places = places_.find(group);
  if (places == places_.end()) {
    return false;
  }
  for (const auto& [stage, where] : places->second) {
    StageDevices& devices = input.request.of(stage);
    devices = {.automatic = false, .devices = {where.device}};
    if (where.device != "cpu") {
      devices.devices.emplace_back("cpu");
    }
    input.stages.push_back({.stage = stage, .storage = {}, .profile = {}});
    const auto& choice = choices_[static_cast<size_t>(stage)];
    if (choice && choice->measured && choice->measured->device == where.device) {
      input.measurements.push_back(*choice->measured);
    }
  }
  return true;
}

Result<StagePlaces> PlacementState::plan(StageGroup group) {
  const std::lock_guard planning(planning_);
  PlanInput input;
  input.max_vram = options_.max_vram;
  input.batch = options_.batch;
  input.together = true;
  std::vector<ModelFile> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  std::erase_if(files, [&](const ModelFile& file) {
    return group_of(file) != group && stays(group_of(file), input);
  });
  bool cards = std::ranges::any_of(input.measurements, [](const Measurement& one) {
    return card_index(one.device).has_value();
  });
  const bool ends = options_.stop.stop_requested();  // a plan of where it could have gone on
  for (const ModelFile& file : files) {
    MYNAH_TRY(const bool card, measure(file, input));
    cards = cards || card;
  }
  if (!ends && options_.stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");  // proofs may have been cut short
  }
  if (const auto of_stt = profiled_.find(StageGroup::Stt); of_stt != profiled_.end()) {
    input.batch = std::min(input.batch, of_stt->second->batch);
  }
  input.devices = memory(cards);
  if (std::ranges::any_of(input.stages, [&input](const StageWish& wish) {
        return input.request.of(wish.stage).devices.empty();
      })) {
    input.unusable = unusable_cards();
  }
  if (wants_smaller_types(input)) {
    for (const ModelFile& file : files) {
      measure_smaller_types(file, input);
    }
  }
  Result<Plan> made = plan_apart(files, input);
  if (!made) {
    const bool full = made.error().code == ErrorCode::Device && no_room(group).has_value();
    return fail(full ? ErrorCode::OutOfMemory : made.error().code, std::move(made).error().message);
  }
  const Plan& plan = *made;
  StagePlaces places;
  std::vector<StageChoice> choices;
  for (const StagePlan& stage : plan.stages) {
    if (group_of(stage.stage) != group) {
      continue;  // it stays where it is, for the reasons that it went there
    }
    StageChoice choice{.plan = stage, .measured = std::nullopt};
    for (const Measurement& measured : input.measurements) {
      if (measured.stage == stage.stage && measured.device == stage.device &&
          measured.storage == stage.storage && measured.passed) {
        choice.measured = measured;
      }
    }
    if (const Measurement* const apart = measured_apart(input, plan, stage.stage)) {
      choice.measured = *apart;
    }
    const bool unknown = !stage.storage && !choice.measured;
    places[stage.stage] = {
        .device = stage.device,
        .storage = unknown ? storage_of(stage.stage, stage.device) : stage.storage};
    choice.plan.storage = places[stage.stage].storage;
    choices.push_back(std::move(choice));
  }
  const std::lock_guard lock(mutex_);
  for (StageChoice& choice : choices) {
    choices_[static_cast<size_t>(choice.plan.stage)] = std::move(choice);
  }
  auto windows = static_cast<size_t>(plan.batch);
  for (const auto& [stage, where] : places) {
    if (const auto most = most_windows_.find({group, where.device}); most != most_windows_.end()) {
      windows = std::min(windows, most->second);
    }
  }
  windows_together_[group] = windows;
  return places;
}

}  // namespace mynah::place
