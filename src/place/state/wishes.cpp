#include "place/state/wishes.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "store/sha256.h"

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

std::optional<DType> fast_storage(Precision precision, const std::string& device) {
  if (precision == Precision::Exact) {
    return std::nullopt;
  }
  if (device == "cpu") {
    return DType::I8;
  }
  return card_index(device) ? std::optional(DType::F16) : std::nullopt;
}

// What a profile says is where it goes; the processor is there when that fails.
StageDevices Wishes::wanted(ModelId model, Stage stage) const {
  if (std::optional<StageDevices> only = context_.only(model)) {
    return *std::move(only);
  }
  const Measurement* const said = profiled(model, stage);
  if (said == nullptr) {
    const auto file = context_.file(model);
    const bool goes_along = facts_of(stage).only_apart && file && is_whole(*file);
    return context_.options().request.of(goes_along ? stages_of(model.group).back() : stage);
  }
  StageDevices devices{.automatic = false, .devices = {said->device}};
  if (said->device != "cpu") {
    devices.devices.emplace_back("cpu");
  }
  return devices;
}

bool Wishes::are_automatic(ModelId model, const StagePlaces& places) const {
  return std::ranges::all_of(
      places, [&](const auto& entry) { return wanted(model, entry.first).automatic; });
}

bool Wishes::is_named(ModelId model, const std::string& device) const {
  return std::ranges::any_of(stages_of(model.group), [&](Stage stage) {
    const StageDevices said = wanted(model, stage);
    return !said.automatic && std::ranges::find(said.devices, device) != said.devices.end();
  });
}

std::vector<std::string> Wishes::candidates(ModelId model, Stage stage) const {
  if (StageDevices said = wanted(model, stage); !said.devices.empty()) {
    return std::move(said.devices);
  }
  std::vector<std::string> names;
  for (const DeviceFacts& device : context_.discovery().devices) {
    if (!device.name.empty() && !device.absence && is_for_auto(device.name)) {
      names.push_back(device.name);
    }
  }
  return names;
}

bool Wishes::may_be_on(ModelId model, const std::string& device) const {
  return std::ranges::any_of(stages_of(model.group), [&](Stage stage) {
    const std::vector<std::string> allowed = candidates(model, stage);
    return std::ranges::find(allowed, device) != allowed.end();
  });
}

std::optional<DType> Wishes::storage_of(ModelId model, Stage stage,
                                        const std::string& device) const {
  const bool may_be_profiled =
      kind_of(model.group).has_types && !is_mynah(device) && !context_.options().storage;
  const Measurement* const said = may_be_profiled ? profiled(model, stage) : nullptr;
  return said != nullptr && said->device == device ? said->storage
                                                   : usual_storage(model.group, device);
}

std::optional<DType> Wishes::usual_storage(StageGroup group, const std::string& device) const {
  const PlacerOptions& options = context_.options();
  if (!kind_of(group).has_types || is_mynah(device)) {
    return std::nullopt;
  }
  if (options.storage) {
    return options.storage;
  }
  return device.empty() ? std::nullopt : fast_storage(options.precision, device);
}

StageDevice Wishes::usual_place(ModelId model, const std::string& device) const {
  return {.device = device, .storage = storage_of(model, stages_of(model.group).front(), device)};
}

// Where memory is a device's own int8 follows what is usual there: what is smaller still would be
// further from the processor's values than a device may be.
std::vector<std::optional<DType>> Wishes::types_on(ModelId model, const std::string& device) const {
  std::vector<std::optional<DType>> types;
  for (const Measurement* const said : profiled_on(model, device)) {
    if (std::ranges::find(types, said->storage) == types.end()) {
      types.push_back(said->storage);
    }
  }
  if (!types.empty()) {
    return types;
  }
  types = {usual_place(model, device).storage};
  const PlacerOptions& options = context_.options();
  const bool may_be_smaller =
      kind_of(model.group).has_types && !options.storage && options.precision == Precision::Fast;
  if (!is_processor(device) && !is_mynah(device) && may_be_smaller && types.front() != DType::I8) {
    types.emplace_back(DType::I8);
  }
  return types;
}

Status Wishes::check_profile(StageGroup group) const {
  const PlacerOptions& options = context_.options();
  if (options.request.profile.empty() || options.profiles.empty() ||
      has_stages(options.profiles.front(), group)) {
    return {};
  }
  return refuse_profile(options.profiles.front(),
                        fmt::format("which has no {}", group_name(group)));
}

const Profile* Wishes::profile_of(const ModelFile& file, const std::string& digest) const {
  const PlacerOptions& options = context_.options();
  const Profile* by_name = nullptr;
  for (const Profile& profile : options.profiles) {
    if (!has_stages(profile, group_of(file))) {
      continue;
    }
    if (profile.model_sha256 == digest) {
      return &profile;
    }
    if (!options.request.profile.empty() || is_called(path_of(file), profile.model)) {
      by_name = &profile;
    }
  }
  return by_name;
}

ProfileFacts Wishes::profile_facts(const Profile& profile, std::string digest) const {
  ProfileFacts facts{.build = context_.options().discovery.build,
                     .model_sha256 = std::move(digest),
                     .devices = {}};
  for (const DeviceIdentity& device : profile.devices) {
    facts.devices.push_back(context_.identity(device.device));
  }
  return facts;
}

Status Wishes::check_readable(const ModelFile& file) {
  const PlacerOptions& options = context_.options();
  for (const UnreadableProfile& profile : options.unreadable_profiles) {
    const bool known = !profile.model.empty();
    // `mynah tune` calls a profile as its model.
    bool is_own = is_called(path_of(file), known ? profile.model : profile.name);
    if (known && !is_own) {
      MYNAH_TRY(const std::string digest, model_digest(path_of(file), options.cache_folder));
      is_own = digest == profile.model_sha256;
    }
    if (is_own) {
      return fail(ErrorCode::Device, fmt::format("the profile in use, {}, cannot be read: {}",
                                                 profile.name, profile.why));
    }
    const auto is_new = [&] {
      const std::lock_guard lock(mutex_);
      return told_unreadable_.insert(profile.name).second;
    };
    if (!known && options.say && is_new()) {
      options.say(fmt::format(
          "the profile in use, {}, cannot be read, so nobody knows of which model it is: {} is "
          "placed by auto; {}",
          profile.name, group_name(group_of(file)), profile.why));
    }
  }
  return {};
}

Result<const Profile*> Wishes::find_profile(const ExpectedModel& model) {
  const PlacerOptions& options = context_.options();
  const auto& [id, file] = model;
  const StageGroup group = id.group;
  MYNAH_TRY_STATUS(check_readable(file));
  if (!kind_of(group).goes_along) {
    MYNAH_TRY_STATUS(check_profile(group));
  }
  const auto of_group = std::ranges::find_if(
      options.profiles, [group](const Profile& profile) { return has_stages(profile, group); });
  if (of_group == options.profiles.end()) {
    return nullptr;
  }
  MYNAH_TRY(const std::string digest, model_digest(path_of(file), options.cache_folder));
  const Profile* const found = profile_of(file, digest);
  if (found == nullptr) {
    const auto is_new = [&] {
      const std::lock_guard lock(mutex_);
      return told_of_profile_.insert(id).second;
    };
    if (options.say && is_new()) {
      options.say(
          fmt::format("the profile in use, {}, is of {} and not of {}: {} is placed by auto",
                      of_group->name, of_group->model, path_of(file), group_name(group)));
    }
    return nullptr;
  }
  const Profile& profile = *found;
  if (profile.model_sha256 != digest && !is_called(path_of(file), profile.model)) {
    return refuse_profile(profile, fmt::format("not of {}", path_of(file)));
  }
  MYNAH_TRY_STATUS(check_holds(profile, profile_facts(profile, digest)));
  return found;
}

Status Wishes::apply_profile(const ExpectedModel& model) {
  MYNAH_TRY(const Profile* const found, find_profile(model));
  if (found != nullptr) {
    const std::lock_guard lock(mutex_);
    profiled_[model.id] = found;
  }
  return {};
}

const Profile* Wishes::profile(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = profiled_.find(model);
  return found == profiled_.end() ? nullptr : found->second;
}

const Measurement* Wishes::profiled(ModelId model, Stage stage) const {
  const Profile* const of_model = profile(model);
  if (of_model == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find(of_model->stages, stage, &Measurement::stage);
  return found == of_model->stages.end() ? nullptr : &*found;
}

std::vector<const Measurement*> Wishes::profiled_on(ModelId model,
                                                    const std::string& device) const {
  std::vector<const Measurement*> all;
  for (const Stage stage : stages_of(model.group)) {
    const Measurement* const said = context_.options().storage ? nullptr : profiled(model, stage);
    if (said != nullptr && said->device == device) {
      all.push_back(said);
    }
  }
  return all;
}

StagePlaces Wishes::said_apart(ModelId model) const {
  StagePlaces places = profiled_apart(model);
  if (!places.empty() || kind_of(model.group).may_be_apart == nullptr) {
    return places;
  }
  for (const Stage stage : stages_of(model.group)) {
    const StageDevices said = wanted(model, stage);
    if (said.automatic) {
      return {};
    }
    const std::string& device = said.devices.front();
    places[stage] = {.device = device, .storage = storage_of(model, stage, device)};
  }
  return is_apart(places) ? places : StagePlaces();
}

StagePlaces Wishes::profiled_apart(ModelId model) const {
  StagePlaces places;
  for (const Stage stage : stages_of(model.group)) {
    const Measurement* const said = context_.options().storage ? nullptr : profiled(model, stage);
    if (said == nullptr) {
      return {};
    }
    places[stage] = {.device = said->device, .storage = said->storage};
  }
  return is_apart(places) ? places : StagePlaces();
}

}  // namespace mynah::place
