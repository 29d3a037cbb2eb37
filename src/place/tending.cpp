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
  if (const auto worker = workers_.of(group)) {
    static_cast<void>(ask_for_report(worker));
  }
  {
    const std::lock_guard lock(mutex_);
    places_.erase(group);
    for (const Stage stage : stages_of(group)) {
      HereStage& here = stages_[static_cast<size_t>(stage)];
      if (here.timed != nullptr) {
        last_reports_[{stage, here.device}] = {.report = report_here(stage), .worker = {}};
      }
      here = {};
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
  try_full_again();
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

DeviceProof PlacementState::prove_behind(const ModelFile& file, const StageDevice& where) {
  return prover_.of_device(file, where, identity(where.device), ProofWish::Behind);
}

std::string PlacementState::why_still_excluded(const std::string& device) {
  std::vector<ModelFile> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  bool passed = false;
  std::string why;
  for (const ModelFile& file : files) {
    if (!may_be_on(file, device)) {
      continue;
    }
    const StageDevice where = usual_place(file, device);
    DeviceProof proof = prove_behind(file, where);
    if (proof.no_room) {
      note_no_room(place::group_of(file), where, *std::move(proof.no_room));
      why = "it " + proof.refusal;
      continue;
    }
    const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
    if (bad != proof.measurements.end()) {
      return bad->failure;
    }
    passed = true;
  }
  return passed ? std::string() : why;
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

// Whoever held the memory may be gone: a proof in the background tells, before anybody leaves what
// works for it.
void PlacementState::try_full_again() {
  std::map<std::pair<StageGroup, StageDevice>, FullDevice> all;
  {
    const std::lock_guard lock(mutex_);
    all = no_room_;
    std::erase_if(all, [this](const auto& entry) {
      const auto failed = excluded_.find(entry.first.second.device);  // proven by prove_again()
      return failed != excluded_.end() && failed->second.is_open();
    });
  }
  for (const auto& [which, full] : all) {
    const auto& [group, where] = which;
    const std::optional<ModelFile> file = file_of(group);
    if (!file || !full.since.is_open() || full.since.waits(options_.times.seconds())) {
      continue;
    }
    DeviceProof proof = prove_behind(*file, where);
    if (proof.no_room) {
      note_no_room(group, where, *std::move(proof.no_room));
      continue;
    }
    const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
    const int64_t now = options_.times.seconds();
    const std::lock_guard lock(mutex_);
    no_room_[which].since.trusted(now);
    if (bad == proof.measurements.end()) {
      most_windows_.erase({group, where.device});
      trust_.fetch_add(1);
    } else {
      excluded_[where.device].failed(now, bad->failure);
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
  std::map<std::string, std::string_view> pools;  // of this process, by device: their first stages
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
      // Of a worker each stage has its share, by measurement; a pool of this process is of all.
      const auto pool =
          here.timed ? pools.try_emplace(where.device, stage_name(stage)).first : pools.end();
      const bool shares = pool != pools.end() && pool->second != stage_name(stage);
      json["stages"].push_back(
          {{"stage", stage_name(stage)},
           {"device", where.device},
           {"storage", where.storage ? nlohmann::ordered_json(name(*where.storage))
                                     : nlohmann::ordered_json(nullptr)},
           {"model", path_of(*file)},
           {"bytes", shares       ? 0
                     : here.timed ? here.timed->backend.memory_held()
                                  : planned},
           {"memory_with", shares ? nlohmann::ordered_json(pool->second) : nullptr},
           {"idle_s", std::chrono::duration<double>(*idle).count()}});
    }
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mynah::place
