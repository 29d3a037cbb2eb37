#include "place/state/planner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/plans/stages_apart.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"

namespace mynah::place {

Planner::Planner(PlacementContext& context, Wishes& wishes, Trust& trust, const Openings& openings)
    : context_(context),
      wishes_(wishes),
      trust_(trust),
      openings_(openings),
      measurer_(context, wishes, trust),
      memory_(context, [this](const CardMemory& card) { return held_here(card); }) {}

std::optional<StageChoice> Planner::choice(Stage stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find(stage);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

ChosenStages Planner::choices(StageGroup group) const {
  ChosenStages all;
  for (const Stage stage : stages_of(group)) {
    if (auto chosen = choice(stage)) {
      all.emplace(stage, *std::move(chosen));
    }
  }
  return all;
}

size_t Planner::windows_together(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found = windows_together_.find(group);
  return found == windows_together_.end() ? 1 : found->second;
}

StepPace Planner::step_pace(StageGroup group) const {
  StepPace pace;
  for (const auto& [stage, chosen] : choices(group)) {
    if (chosen.measured) {
      pace.measured(stage, chosen.measured->longest_step_ms, chosen.measured->step_work);
    }
  }
  return pace;
}

std::string Planner::why_not_preferred(const StagePlaces& places) const {
  for (const auto& [stage, where] : places) {
    const StageDevices wanted = wishes_.wanted(stage);
    const std::optional<StageChoice> chosen = choice(stage);
    if (wanted.automatic || !chosen || chosen->plan.device != where.device) {
      continue;
    }
    std::vector<std::string> whys;
    for (const std::string& device : wanted.devices) {
      if (device == where.device) {
        break;
      }
      const auto other = std::ranges::find(chosen->plan.others, device, &OtherDevice::device);
      if (other != chosen->plan.others.end()) {
        whys.push_back(fmt::format("{} was preferred, but it {}", device, other->why));
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
  return memory_.now(cards);
}

// All that is expected is planned together, what is loaded too: its memory is there to be used.
uint64_t Planner::held_here(const CardMemory& card) const {
  const std::vector<int> workers = openings_.worker_pids();
  uint64_t told = 0;
  for (const gpu::NvmlProcess& process : card.processes) {
    const bool ours =
        std::ranges::any_of(workers, [&](int pid) { return std::cmp_equal(pid, process.pid); });
    told += ours ? process.bytes.value_or(0) : 0;
  }
  uint64_t planned = 0;
  for (const auto& [group, places] : openings_.open_places()) {
    for (const auto& [stage, where] : places) {
      const auto chosen = choice(stage);
      planned += where.device == card.device && chosen ? chosen->plan.bytes : 0;
    }
  }
  return told > 0 ? told : planned;
}

// With what was measured of it there: its memory is taken. Where it has no room there any more it
// is no reason to refuse the other.
bool Planner::stays(StageGroup group, PlanInput& input) const {
  const auto open = openings_.open_places();
  const auto places = open.find(group);
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
    const auto chosen = choice(stage);
    if (chosen && chosen->measured && chosen->measured->device == where.device) {
      input.measurements.push_back(*chosen->measured);
    }
  }
  return true;
}

Result<Plan> Planner::plan_apart(const std::vector<ModelFile>& files, PlanInput& input) {
  int left = 2;
  return make_plan(input, [&](const StagesApart& imagined) -> std::optional<StagesApart> {
    const StageGroup group = group_of(imagined.front().stage);
    const auto file =
        std::ranges::find(files, group, [](const ModelFile& one) { return group_of(one); });
    return file == files.end() ? std::nullopt
                               : measurer_.measure_apart(*file, places_of(imagined), left);
  });
}

Result<StagePlaces> Planner::plan(StageGroup group) {
  const std::lock_guard turn(turn_);
  const PlacerOptions& options = context_.options();
  PlanInput input;
  input.max_vram = options.max_vram;
  input.batch = options.batch;
  input.together = true;
  std::vector<ModelFile> files = context_.models();
  std::erase_if(files, [&](const ModelFile& file) {
    return group_of(file) != group && stays(group_of(file), input);
  });
  bool cards = std::ranges::any_of(input.measurements, [](const Measurement& one) {
    return card_index(one.device).has_value();
  });
  const bool ends = options.stop.stop_requested();  // a plan of where it could have gone on
  for (const ModelFile& file : files) {
    MYNAH_TRY(const bool card, measurer_.measure(file, input));
    cards = cards || card;
  }
  if (!ends && options.stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");  // proofs may have been cut short
  }
  for (const StageGroup one : all_groups()) {
    const Profile* const profile = hears_windows(one) ? wishes_.profile(one) : nullptr;
    input.batch = profile == nullptr ? input.batch : std::min(input.batch, profile->batch);
  }
  input.devices = memory_.now(cards);
  if (std::ranges::any_of(input.stages, [&input](const StageWish& wish) {
        return input.request.of(wish.stage).devices.empty();
      })) {
    input.unusable = trust_.unusable_cards();
  }
  if (wants_smaller_types(input)) {
    for (const ModelFile& file : files) {
      measurer_.measure_smaller_types(file, input);
    }
  }
  Result<Plan> made = plan_apart(files, input);
  if (!made) {
    const bool full = made.error().code == ErrorCode::Device && trust_.no_room(group).has_value();
    return fail(full ? ErrorCode::OutOfMemory : made.error().code, std::move(made).error().message);
  }
  return keep(group, *made, input);
}

// The other groups stay where they are, for the reasons that they went there.
StagePlaces Planner::keep(StageGroup group, const Plan& plan, const PlanInput& input) {
  StagePlaces places;
  ChosenStages choices;
  for (const StagePlan& stage : plan.stages) {
    if (group_of(stage.stage) != group) {
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
        .storage = unknown ? wishes_.storage_of(stage.stage, stage.device) : stage.storage};
    choice.plan.storage = places[stage.stage].storage;
    choices[stage.stage] = std::move(choice);
  }
  const size_t windows = trust_.most_windows(group, places, static_cast<size_t>(plan.batch));
  const std::lock_guard lock(mutex_);
  for (auto& [stage, choice] : choices) {
    choices_[stage] = std::move(choice);
  }
  windows_together_[group] = windows;
  return places;
}

}  // namespace mynah::place
