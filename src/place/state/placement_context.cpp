#include "place/state/placement_context.h"

#include <algorithm>
#include <utility>

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
               .stop = options_.stop}) {}

const Discovery& PlacementContext::discovery() {
  std::call_once(discovered_, [this] {
    discovery_ = discover(options_.discovery);
    discovered_at_ = std::chrono::steady_clock::now();
  });
  return discovery_;
}

DeviceIdentity PlacementContext::identity(const std::string& device) {
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

void PlacementContext::expect(const ModelFile& file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(models_, [&](const ModelFile& other) { return group_of(other) == group_of(file); });
  models_.push_back(file);
}

std::vector<ModelFile> PlacementContext::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::optional<ModelFile> PlacementContext::model(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find(models_, group, [](const ModelFile& one) { return group_of(one); });
  return found == models_.end() ? std::nullopt : std::optional(*found);
}

Result<Reference> PlacementContext::reference(StageGroup group) {
  const std::optional<ModelFile> file = model(group);
  if (!file) {
    return fail(ErrorCode::NotFound, "no model of this kind is open");
  }
  return prover_.reference(*file);
}

}  // namespace mynah::place
