#include "place/state/placement_context.h"

#include <algorithm>
#include <utility>

#include "place/elsewhere/mynah_client.h"
#include "place/terms/device_name.h"

namespace mynah::place {

PlacementContext::PlacementContext(PlacerOptions options)
    : options_(std::move(options)),
      prover_({.worker_program = options_.worker_program,
               .settings = options_.settings,
               .cache_folder = options_.cache_folder,
               .build = options_.discovery.build,
               .faults = {},
               .tell = options_.tell,
               .times = options_.times,
               .stop = options_.stop}),
      on_stop_(options_.stop, [this] { leave_mynahs(); }) {}

const Discovery& PlacementContext::discovery() {
  std::call_once(discovered_, [this] {
    discovery_ = discover(options_.discovery);
    discovered_at_ = std::chrono::steady_clock::now();
  });
  return discovery_;
}

Result<MynahFacts> PlacementContext::mynah(const std::string& device) {
  const auto named = std::ranges::find(options_.request.mynahs, device, &AnotherMynah::name);
  if (named == options_.request.mynahs.end()) {
    return fail(ErrorCode::Device, "was not named");
  }
  const std::lock_guard lock(mynahs_mutex_);
  auto known = mynahs_.find(device);
  if (known == mynahs_.end()) {
    auto told = MynahClient(*named).facts(mynahs_end_.get_token());
    if (!told && told.error().code == ErrorCode::Cancelled) {
      return told;
    }
    known = mynahs_.emplace(device, std::move(told)).first;
  }
  return known->second;
}

void PlacementContext::forget_mynah(const std::string& device) {
  const std::lock_guard lock(mynahs_mutex_);
  mynahs_.erase(device);
}

DeviceIdentity PlacementContext::identity(const std::string& device) {
  if (is_mynah(device)) {
    const auto named = std::ranges::find(options_.request.mynahs, device, &AnotherMynah::name);
    const auto told = mynah(device);
    const bool is_named = named != options_.request.mynahs.end();
    // With another key it is another device: what it refused to one it may do for the next.
    return {.device = device,
            .name = is_named ? named->address() : device,
            .driver = told ? told->build : std::string(),
            .uuid = is_named ? key_digest(*named) : std::string()};
  }
  return card_index(device) ? identity_of(device, discovery()) : identity_without_discovery(device);
}

std::vector<DeviceIdentity> PlacementContext::identities(const StagePlaces& places) {
  std::vector<DeviceIdentity> all;
  all.reserve(places.size());
  for (const auto& [stage, where] : places) {
    all.push_back(identity(where.device));
  }
  return all;
}

ModelId PlacementContext::expect(const ModelFile& file, const std::optional<StageDevices>& only) {
  const std::lock_guard lock(mutex_);
  auto known = models_.end();
  for (auto one = models_.begin(); one != models_.end(); ++one) {
    const auto own = only_.find(one->id);
    const bool is_it = one->file == file && (!only || (own != only_.end() && own->second == *only));
    if (is_it && (known == models_.end() || one->id < known->id)) {
      known = one;
    }
  }
  if (known != models_.end()) {
    std::rotate(known, known + 1, models_.end());
    return models_.back().id;
  }
  const auto number = std::ranges::count(models_, group_of(file),
                                         [](const ExpectedModel& one) { return one.id.group; });
  const ModelId id{.group = group_of(file), .number = static_cast<uint32_t>(number)};
  models_.push_back({.id = id, .file = file});
  if (only) {
    only_.emplace(id, *only);
  }
  return id;
}

void PlacementContext::note_growing(ModelId model, std::map<Stage, GrowingMemory> growing) {
  const std::lock_guard lock(mutex_);
  growing_[model] = std::move(growing);
}

std::optional<GrowingMemory> PlacementContext::growing(ModelId model, Stage stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(model);
  if (found == growing_.end() || !found->second.contains(stage)) {
    return std::nullopt;
  }
  return found->second.at(stage);
}

std::vector<ExpectedModel> PlacementContext::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::optional<ModelFile> PlacementContext::file(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(models_, model, &ExpectedModel::id);
  return found == models_.end() ? std::nullopt : std::optional(found->file);
}

std::optional<StageDevices> PlacementContext::only(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = only_.find(model);
  return found == only_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ModelId> PlacementContext::beside(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(models_, model, &ExpectedModel::id);
  std::vector<ModelId> all;
  for (const ExpectedModel& one : models_) {
    if (found != models_.end() && one.file == found->file) {
      all.push_back(one.id);
    }
  }
  if (all.empty()) {
    all.push_back(model);  // nobody expects it
  }
  std::ranges::sort(all);
  return all;
}

Result<Reference> PlacementContext::reference(ModelId model) {
  const std::optional<ModelFile> expected = file(model);
  if (!expected) {
    return fail(ErrorCode::NotFound, "no model of this kind is open");
  }
  return prover_.reference(*expected);
}

}  // namespace mynah::place
