// What PlacementState does beside the work: lets go of what nobody uses, proves again what failed,
// tells `mynah ps` what is loaded.
#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "place/placement_state.h"

namespace mynah::place {

void PlacementState::add(GroupHooks hooks) {
  const std::lock_guard lock(mutex_);
  hooks_.push_back(std::move(hooks));
}

Status PlacementState::settle() {
  std::vector<GroupHooks> hooks;
  {
    const std::lock_guard lock(mutex_);
    hooks = hooks_;
  }
  Status right;
  for (const GroupHooks& hook : hooks) {
    if (Status one = hook.settle(); right) {
      right = std::move(one);
    }
  }
  return right;
}

void PlacementState::left(StageGroup group) {
  {
    const std::lock_guard lock(mutex_);
    places_.erase(group);
    for (const Stage stage : stages_of(group)) {
      stages_[static_cast<size_t>(stage)] = {};
    }
  }
  workers_.give_back(group);
}

void PlacementState::tend() {
  std::vector<GroupHooks> hooks;
  {
    const std::lock_guard lock(mutex_);
    hooks = hooks_;
  }
  if (!page_) {
    if (auto made = StatusPage::create()) {
      page_ = *std::move(made);
    }
  }
  if (page_ && page_->take_unload_request()) {
    for (const GroupHooks& hook : hooks) {
      hook.unload_after({});
    }
  } else if (options_.keep_alive) {
    for (const GroupHooks& hook : hooks) {
      hook.unload_after(*options_.keep_alive);
    }
  }
  prove_again();
  if (page_) {
    page_->write(status_text());
  }
}

// A device that failed here is proven once its pause is over; every model that may be there has to
// pass.
void PlacementState::prove_again() {
  std::set<std::string> failed;
  std::vector<ModelFile> files;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, reason] : excluded_) {
      failed.insert(device);
    }
    files = files_;
  }
  const auto now = static_cast<int64_t>(::time(nullptr));
  for (const std::string& device : failed) {
    const DeviceIdentity who = identity(device);
    const auto distrust = prover_.store().distrust(who);
    if (!distrust || now < distrust->again_at()) {
      continue;
    }
    const bool passed = std::ranges::all_of(files, [&](const ModelFile& file) {
      const Stage first = stages_of(place::group_of(file)).front();
      const std::vector<std::string> allowed = candidates(first);
      if (std::ranges::find(allowed, device) == allowed.end()) {
        return true;
      }
      const auto measured =
          prover_.of_device(file, usual_place(file, device), who, ProofWish::Behind);
      return std::ranges::all_of(measured.measurements, &Measurement::passed);
    });
    if (passed) {
      const std::lock_guard lock(mutex_);
      excluded_.erase(device);
      trust_.fetch_add(1);
    }
  }
}

std::string PlacementState::status_text() const {
  nlohmann::ordered_json json = {{"pid", ::getpid()}, {"stages", nlohmann::ordered_json::array()}};
  std::vector<GroupHooks> hooks;
  {
    const std::lock_guard lock(mutex_);
    hooks = hooks_;
  }
  for (const GroupHooks& hook : hooks) {
    const auto idle = hook.idle();
    if (!idle) {
      continue;
    }
    const std::lock_guard lock(mutex_);
    const auto places = places_.find(hook.group);
    const auto file = std::ranges::find(files_, hook.group,
                                        [](const ModelFile& one) { return place::group_of(one); });
    if (places == places_.end() || file == files_.end()) {
      continue;
    }
    for (const auto& [stage, where] : places->second) {
      const HereStage& here = stages_[static_cast<size_t>(stage)];
      const auto& choice = choices_[static_cast<size_t>(stage)];
      const uint64_t planned = choice ? choice->plan.bytes : 0;
      json["stages"].push_back(
          {{"stage", stage_name(stage)},
           {"device", where.device},
           {"storage", where.storage ? nlohmann::ordered_json(name(*where.storage))
                                     : nlohmann::ordered_json(nullptr)},
           {"model", path_of(*file)},
           {"bytes", here.backend ? here.backend->memory_held() : planned},
           {"idle_s", std::chrono::duration<double>(*idle).count()}});
    }
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mynah::place
