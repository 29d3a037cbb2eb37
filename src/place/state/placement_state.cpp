#include "place/state/placement_state.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "place/terms/device_name.h"

namespace mynah::place {

std::string types_that_change(const StagePlaces& before, const StagePlaces& after) {
  if (before == after || devices_of(before) != devices_of(after)) {
    return {};
  }
  const auto types = [](const StagePlaces& places) {
    std::set<std::string_view> names;
    for (const auto& [stage, where] : places) {
      names.insert(where.storage ? name(*where.storage) : "the file's own type");
    }
    return fmt::format("{}", fmt::join(names, " and "));
  };
  return fmt::format("; as {} instead of {}", types(after), types(before));
}

PlacementState::PlacementState(PlacerOptions options) : context_(std::move(options)) {
  // A card that one process alone may have is had by our worker: nobody else could prove there.
  context_.prover().prove_in([this](const StagePlaces& places) -> std::shared_ptr<WorkerLane> {
    const bool alone = std::ranges::any_of(
        places, [this](const auto& entry) { return is_exclusive(entry.second.device); });
    return alone ? openings_.living_worker(places) : nullptr;
  });
}

bool PlacementState::is_exclusive(const std::string& device) {
  if (!card_index(device)) {
    return false;
  }
  const std::vector<DeviceFacts>& devices = context_.discovery().devices;
  const auto facts = std::ranges::find(devices, device, &DeviceFacts::name);
  return facts != devices.end() && facts->card &&
         facts->card->device.compute_mode == gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
}

PlacementState::~PlacementState() {
  stop_tending();
}

void PlacementState::stop_tending() {
  context_.prover().cancel();
  context_.leave_mynahs();
  housekeeper_.stop();
}

void PlacementState::opened(ModelId model, const StagePlaces& places) {
  const bool is_first = openings_.opened(model, places, planner_.choices(model));
  // What it moved for was told.
  const std::string why = is_first ? planner_.why_not_preferred(model, places) : std::string();
  if (const auto& say = context_.options().say; say && !why.empty()) {
    say(fmt::format("{} on {}: {}", group_name(model.group), devices_of(places), why));
  }
  housekeeper_.start([this] {
    constexpr std::chrono::milliseconds kTend{1000};
    tend();
    return kTend;
  });
}

bool PlacementState::failed(ModelId model, const StagePlaces& places, const Error& reason,
                            const std::string& doubts) {
  if (!openings_.lose_worker(model, places, reason.message)) {
    return false;
  }
  trust_.distrust(places, {reason.code, reason.message + doubts});
  return true;
}

void PlacementState::had_no_room(ModelId model, const StagePlaces& places, const Error& error) {
  if (is_apart(places) && wishes_.are_automatic(model, places)) {
    trust_.note_no_room_apart(model, places, error);
    return;
  }
  const std::vector<StageReport> told = openings_.ask_workers();
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      NoRoom no_room{.error = error, .memory = {}};
      if (const auto report = std::ranges::find(told, where.device, &StageReport::device);
          report != told.end()) {
        no_room.memory = {.free = report->memory_free, .total = report->memory_total};
      }
      trust_.note_no_room(model, where, std::move(no_room));
    }
  }
}

std::string PlacementState::ran_out(ModelId model, const StagePlaces& places, const Error& error,
                                    size_t windows) {
  const size_t half = windows / 2;
  if (half == 0) {
    had_no_room(model, places, error);  // it asks the worker how much there is
  } else {
    trust_.limit_windows(model, places, half);
  }
  openings_.share_loss(model, places);
  openings_.lose_worker(model, places, error.message);
  return half == 0 ? std::string()
                   : fmt::format("; {} of {} windows together from now on", half, windows);
}

Status PlacementState::settle() {
  Status right;
  for (const ModelHooks& hook : openings_.hooks()) {
    if (Status one = hook.settle(); right) {
      right = std::move(one);
    }
  }
  return right;
}

std::optional<int64_t> PlacementState::proven_at(ModelId model, Stage stage) {
  const std::optional<ModelFile> file = context_.file(model);
  const StagePlaces where = openings_.places(model);
  const auto found = where.find(stage);
  if (!file || found == where.end() || is_here(where)) {
    return std::nullopt;
  }
  if (is_apart(where)) {
    if (const auto kept = context_.prover().kept_apart(*file, where, context_.identities(where))) {
      return kept->made_at;
    }
  }
  return context_.prover().proven_at(*file, found->second, context_.identity(found->second.device));
}

void PlacementState::tend() {
  if (!page_) {
    if (auto made = StatusPage::create()) {
      page_ = *std::move(made);
    }
  }
  const bool unload = page_ && page_->take_unload_request();
  for (const ModelHooks& hook : openings_.hooks()) {
    if (const auto idle = openings_.keep_alive_of(hook.model); unload || idle) {
      hook.unload_after(unload ? std::chrono::milliseconds() : *idle);
    }
  }
  trust_.prove_again();
  if (page_) {
    page_->write(status_text());
  }
}

std::string PlacementState::status_text() const {
  nlohmann::ordered_json json = {{"pid", ::getpid()}, {"stages", nlohmann::ordered_json::array()}};
  std::map<std::string, ModelStage> pools;  // of this process, by device: their first stages
  for (const LoadedStage& loaded : openings_.loaded()) {
    const auto& [model, stage] = loaded.stage;
    const std::optional<ModelFile> file = context_.file(model);
    if (!file) {
      continue;
    }
    const StageDevice& where = loaded.where;
    const auto choice = planner_.choice(model, stage);
    // Of a worker each stage has its share, by measurement; a pool of this process is of all.
    const auto pool =
        loaded.held_here ? pools.try_emplace(where.device, loaded.stage).first : pools.end();
    const bool shares = pool != pools.end() && pool->second != loaded.stage;
    json["stages"].push_back(
        {{"stage", stage_name(stage)},
         {"device", where.device},
         {"storage", where.storage ? nlohmann::ordered_json(name(*where.storage))
                                   : nlohmann::ordered_json(nullptr)},
         {"model", path_of(*file)},
         {"bytes", shares ? 0 : loaded.held_here.value_or(choice ? choice->plan.bytes : 0)},
         {"memory_with", shares ? nlohmann::ordered_json(stage_name(pool->second.stage)) : nullptr},
         {"idle_s", std::chrono::duration<double>(loaded.idle).count()}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mynah::place
