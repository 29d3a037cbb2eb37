#include "place/state/planner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/plans/stages_apart.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "place/terms/time_text.h"

namespace mynah::place {

Planner::Planner(PlacementContext& context, Wishes& wishes, Trust& trust, const Openings& openings)
    : context_(context),
      wishes_(wishes),
      trust_(trust),
      openings_(openings),
      measurer_(context, wishes, trust),
      memory_(context, [this](const CardMemory& card) { return held_here(card); }) {}

std::optional<StageChoice> Planner::choice(ModelId model, Stage stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find({.model = model, .stage = stage});
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

ChosenStages Planner::choices(ModelId model) const {
  ChosenStages all;
  for (const Stage stage : stages_of(model.group)) {
    if (auto chosen = choice(model, stage)) {
      all.emplace(stage, *std::move(chosen));
    }
  }
  return all;
}

size_t Planner::windows_together(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = windows_together_.find(model);
  return found == windows_together_.end() ? 1 : found->second;
}

StepPace Planner::step_pace(ModelId model) const {
  StepPace pace;
  for (const auto& [stage, chosen] : choices(model)) {
    if (chosen.measured) {
      pace.measured(stage, chosen.measured->longest_step_ms, chosen.measured->step_work);
    }
  }
  return pace;
}

std::string Planner::pace_text(ModelId model, const StageChoice& chosen) const {
  double ms = 0;
  const ChosenStages whole = choices(model);
  for (const auto& [stage, one] : whole) {
    // Times of stages that are together are told as their sums.
    if (chosen.plan.together || stage == chosen.plan.stage) {
      ms += one.plan.ms_per_unit.value_or(0);
    }
  }
  return ms > 0 ? fmt::format(" for a second of sound, {} {} ms", chosen.plan.device,
                              milliseconds_text(ms))
                : std::string();
}

std::string Planner::why_not_preferred(ModelId model, const StagePlaces& places) const {
  for (const auto& [stage, where] : places) {
    const StageDevices wanted = wishes_.wanted(model, stage);
    const std::optional<StageChoice> chosen = choice(model, stage);
    if ((wanted.automatic && !wanted.fastest) || !chosen || chosen->plan.device != where.device) {
      continue;
    }
    std::vector<std::string> whys;
    for (const std::string& device : wanted.devices) {
      if (wanted.fastest && !is_mynah(device)) {
        continue;
      }
      if (device == where.device) {
        break;
      }
      const std::vector<OtherDevice>& others =
          chosen->plan.together ? chosen->plan.together->others : chosen->plan.others;
      const auto other = std::ranges::find(others, device, &OtherDevice::device);
      if (other != others.end()) {
        whys.push_back(fmt::format("{} was preferred, but it {}{}", device, other->why,
                                   other->slower ? pace_text(model, *chosen) : std::string()));
      }
    }
    if (!whys.empty()) {
      return fmt::format("{}", fmt::join(whys, "; "));
    }
  }
  return {};
}

std::vector<DeviceMemory> Planner::memory(bool cards) {
  const std::lock_guard turn(turn_);
  std::vector<DeviceMemory> all = memory_.now(cards);
  for (DeviceMemory& memory : all) {
    memory.kept_bytes = card_index(memory.device) ? planned_on(memory.device, {}) : 0;
  }
  return all;
}

// Models of all kinds are planned together, those that are loaded too: what workers have is there
// to be used, but for the share of what a plan leaves out (DeviceMemory::kept_bytes).
uint64_t Planner::held_here(const CardMemory& card) const {
  const std::vector<int> workers = openings_.worker_pids();
  uint64_t told = 0;
  for (const gpu::NvmlProcess& process : card.processes) {
    const bool ours =
        std::ranges::any_of(workers, [&](int pid) { return std::cmp_equal(pid, process.pid); });
    told += ours ? process.bytes.value_or(0) : 0;
  }
  return told > 0 ? told : planned_on(card.device, {});
}

uint64_t Planner::planned_on(const std::string& device,
                             const std::vector<ExpectedModel>& left_out) const {
  uint64_t planned = 0;
  for (const auto& [model, places] : openings_.open_places()) {
    if (std::ranges::find(left_out, model, &ExpectedModel::id) != left_out.end()) {
      continue;
    }
    for (const auto& [stage, where] : places) {
      const auto chosen = choice(model, stage);
      planned += where.device == device && chosen ? chosen->plan.bytes : 0;
    }
  }
  return planned;
}

// With what was measured of it there: its memory is taken. Where it has no room there any more it
// is no reason to refuse the other.
bool Planner::stays(ModelId model, PlanInput& input) const {
  const auto open = openings_.open_places();
  const auto places = open.find(model);
  if (places == open.end()) {
    return false;
  }
  for (const auto& [stage, where] : places->second) {
    StageDevices& devices = input.request.of(stage);
    devices = {.automatic = false, .devices = {where.device}};
    if (where.device != "cpu") {
      devices.devices.emplace_back("cpu");
    }
    input.stages.push_back({.stage = stage, .storage = {}, .profile = {}});
    const auto chosen = choice(model, stage);
    if (chosen && chosen->measured && chosen->measured->device == where.device) {
      input.measurements.push_back(*chosen->measured);
      const auto growing = context_.growing(model, stage);
      // What it may still grow by is kept for it.
      input.measurements.back().bytes +=
          growing ? growing->work_bytes + chosen->plan.grown_bytes : 0;
    }
  }
  return true;
}

Result<Plan> Planner::plan_apart(const std::vector<ExpectedModel>& models, PlanInput& input) {
  int left = 2;
  return make_plan(input, [&](const StagesApart& imagined) -> std::optional<StagesApart> {
    const auto model = std::ranges::find(models, group_of(imagined.front().stage),
                                         [](const ExpectedModel& one) { return one.id.group; });
    return model == models.end() ? std::nullopt
                                 : measurer_.measure_apart(*model, places_of(imagined), left);
  });
}

std::vector<ExpectedModel> Planner::planned_with(ModelId model) const {
  std::vector<ExpectedModel> models = context_.models();
  std::map<StageGroup, ModelId> newest;
  for (const ExpectedModel& one : models) {
    newest[one.id.group] = one.id;
  }
  newest[model.group] = model;
  std::erase_if(models, [&](const ExpectedModel& one) { return one.id != newest[one.id.group]; });
  return models;
}

Result<StagePlaces> Planner::plan(ModelId model) {
  const std::lock_guard turn(turn_);
  const PlacerOptions& options = context_.options();
  PlanInput input;
  input.max_vram = options.max_vram;
  input.batch = options.batch;
  input.together = true;
  const std::vector<ExpectedModel> planned = planned_with(model);
  std::vector<ExpectedModel> measured = planned;
  std::erase_if(measured,
                [&](const ExpectedModel& one) { return one.id != model && stays(one.id, input); });
  bool cards = std::ranges::any_of(input.measurements, [](const Measurement& one) {
    return card_index(one.device).has_value();
  });
  const bool ends = options.stop.stop_requested();  // a plan of where it could have gone on
  for (const ExpectedModel& one : measured) {
    MYNAH_TRY(const bool card, measurer_.measure(one, input));
    cards = cards || card;
  }
  if (!ends && options.stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");  // proofs may have been cut short
  }
  // Of others that are not open there is to be room for what was measured, and no more: none is
  // refused for what another may grow by.
  for (StageWish& wish : input.stages) {
    if (group_of(wish.stage) == model.group) {
      wish.growing = context_.growing(model, wish.stage);
    }
  }
  for (const ExpectedModel& one : planned) {
    const Profile* const profile = hears_windows(one.id.group) ? wishes_.profile(one.id) : nullptr;
    input.batch = profile == nullptr ? input.batch : std::min(input.batch, profile->batch);
  }
  input.devices = memory_.now(cards);
  for (DeviceMemory& memory : input.devices) {
    // What is loaded in the processor's memory is not free there to begin with.
    memory.kept_bytes = card_index(memory.device) ? planned_on(memory.device, planned) : 0;
  }
  if (std::ranges::any_of(input.stages, [&input](const StageWish& wish) {
        return input.request.of(wish.stage).devices.empty();
      })) {
    input.unusable = trust_.unusable_cards();
  }
  if (wants_smaller_types(input)) {
    for (const ExpectedModel& one : measured) {
      measurer_.measure_smaller_types(one, input);
    }
  }
  Result<Plan> made = plan_apart(measured, input);
  if (!made) {
    const bool full = made.error().code == ErrorCode::Device && trust_.no_room(model).has_value();
    return fail(full ? ErrorCode::OutOfMemory : made.error().code, std::move(made).error().message);
  }
  return keep(model, *made, input);
}

// The other models stay where they are, for the reasons that they went there.
StagePlaces Planner::keep(ModelId model, const Plan& plan, const PlanInput& input) {
  StagePlaces places;
  ChosenStages choices;
  for (const StagePlan& stage : plan.stages) {
    if (group_of(stage.stage) != model.group) {
      continue;
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
        .storage = unknown ? wishes_.storage_of(model, stage.stage, stage.device) : stage.storage};
    choice.plan.storage = places[stage.stage].storage;
    choices[stage.stage] = std::move(choice);
  }
  const size_t windows = trust_.most_windows(model, places, static_cast<size_t>(plan.batch));
  const std::lock_guard lock(mutex_);
  for (auto& [stage, choice] : choices) {
    choices_[{.model = model, .stage = stage}] = std::move(choice);
  }
  windows_together_[model] = windows;
  return places;
}

}  // namespace mynah::place
