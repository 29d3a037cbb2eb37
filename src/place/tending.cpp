// What PlacementState does beside the work: lets go of what nobody uses, proves again what failed,
// tells `mynah ps` what is loaded.
#include <algorithm>
#include <map>
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

bool PlacementState::may_be_on(const ModelFile& file, const std::string& device) {
  return std::ranges::any_of(stages_of(place::group_of(file)), [&](Stage stage) {
    const std::vector<std::string> allowed = candidates(stage);
    return std::ranges::find(allowed, device) != allowed.end();
  });
}

DeviceProof PlacementState::prove_behind(const ModelFile& file, const std::string& device) {
  return prover_.of_device(file, usual_place(file, device), identity(device), ProofWish::Behind);
}

std::string PlacementState::why_still_excluded(const std::string& device) {
  std::vector<ModelFile> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  for (const ModelFile& file : files) {
    if (!may_be_on(file, device)) {
      continue;
    }
    const DeviceProof proof = prove_behind(file, device);
    const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
    if (bad != proof.measurements.end()) {
      return bad->failure;
    }
  }
  return {};
}

// A device that failed here is proven once its pause is over, whoever else proved it meanwhile, and
// whether or not files tell of it.
void PlacementState::prove_again() {
  std::map<std::string, Distrust> failed;
  {
    const std::lock_guard lock(mutex_);
    failed = excluded_;
  }
  for (const auto& [device, here] : failed) {
    const int64_t now = options_.times.seconds();
    const auto anywhere = prover_.store().distrust(identity(device));
    if (!here.is_open() || here.waits(now) || (anywhere && anywhere->waits(now))) {
      continue;
    }
    const std::string why = why_still_excluded(device);
    const std::lock_guard lock(mutex_);
    if (why.empty()) {
      excluded_[device].trusted(options_.times.seconds());
      trust_.fetch_add(1);
    } else {
      excluded_[device].failed(options_.times.seconds(), why);
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
