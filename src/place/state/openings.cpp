#include "place/state/openings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "place/terms/plain_text.h"
#include "place/wire/possible.h"
#include "place/workers/driver_asker.h"
#include "tensor/device_error.h"

namespace mynah::place {

Result<std::shared_ptr<Backend>> Openings::open_here(ModelId model, Stage stage,
                                                     const StageDevice& where) {
  const std::lock_guard lock(mutex_);
  if (!devices_.contains(where.device)) {
    MYNAH_TRY(OpenedDevice opened, open_device(where.device, context_.options().settings));
    devices_.emplace(where.device, std::move(opened));
  }
  auto timed = std::make_shared<HereBackend>(devices_.at(where.device));
  here_[{.model = model, .stage = stage}] = {.device = where.device, .timed = timed};
  Backend* const backend = &timed->backend;
  return std::shared_ptr<Backend>(std::move(timed), backend);
}

WorkerSpec Openings::worker_on(const std::string& devices) const {
  const PlacerOptions& options = context_.options();
  return {.program = options.worker_program,
          .device = devices,
          .settings = options.settings,
          .faults = options.faults,
          .stop = options.stop};
}

Result<std::shared_ptr<WorkerLane>> Openings::worker_for(ModelId model, const StagePlaces& places) {
  return workers_.lend(worker_on(worker_key(places)), model);
}

// Its own worker asks the driver, which may never come back from being started.
Status Openings::check_named(const std::string& device) {
  Status there = ask_whether_there(device);
  // For want of what, a driver say, its message tells.
  if (!there && there.error().code == ErrorCode::Environment) {
    there.error().code = ErrorCode::Device;
  }
  return there;
}

Status Openings::ask_whether_there(const std::string& device) {
  if (!card_index(device) || context_.options().worker_program.empty()) {
    return check_there(device, context_.options().settings);
  }
  try {
    MYNAH_TRY(const auto worker, workers_.lend(worker_on(device), std::nullopt));
    return worker->tell(Ask::Check, kDriverStarts, device);
  } catch (const DeviceError& error) {
    return std::unexpected(Error(error.error()).while_doing("--device " + device));
  }
}

bool Openings::opened(ModelId model, const StagePlaces& places, const ChosenStages& choices) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = !last_places_.contains(model) &&
               std::ranges::find(moves_, model, &Move::model) == moves_.end();
    places_[model] = places;
    last_places_[model] = places;
    for (const Stage stage : stages_of(model.group)) {
      choices_.erase({.model = model, .stage = stage});
    }
    for (const auto& [stage, choice] : choices) {
      choices_.emplace(ModelStage{.model = model, .stage = stage}, choice);
    }
  }
  ask_worker_of(model);
  return is_first;
}

void Openings::left(ModelId model) {
  ask_worker_of(model);
  give_back(model);
}

void Openings::gone(ModelId model) {
  const auto is_of = [model](const ModelHooks& hook) {
    return hook.model == model && !hook.of.expired();
  };
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(hooks_, is_of)) {
      return;
    }
  }
  keep_last_sign(model);
  give_back(model);
}

void Openings::give_back(ModelId model) {
  {
    const std::lock_guard lock(mutex_);
    places_.erase(model);
    for (const Stage stage : stages_of(model.group)) {
      const ModelStage own{.model = model, .stage = stage};
      if (const auto here = here_.find(own); here != here_.end()) {
        last_reports_[{own, here->second.device}] = {.report = report_of(stage, here->second),
                                                     .worker = {}};
        here_.erase(here);
      }
    }
  }
  workers_.give_back(model);
}

bool Openings::lose_worker(ModelId model, const StagePlaces& places, const std::string& reason) {
  std::vector<std::string> devices;
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      devices.push_back(where.device);
    }
  }
  // A worker names its devices itself.
  std::string why = reason;
  for (const std::string& name : {devices_of(places), worker_key(places)}) {
    if (why.starts_with(name + " ")) {
      why.erase(0, name.size() + 1);
    }
  }
  keep_last_sign(model);
  return workers_.lose(model, devices, why);
}

void Openings::share_loss(ModelId model, const StagePlaces& places) {
  const std::lock_guard lock(mutex_);
  for (const auto& [other, where] : places_) {
    if (other != model && !is_here(where) && worker_key(where) == worker_key(places)) {
      lost_workers_.insert(other);
    }
  }
}

bool Openings::take_lost_worker(ModelId model) {
  const std::lock_guard lock(mutex_);
  return lost_workers_.erase(model) > 0;
}

StagePlaces Openings::places(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_places_.find(model);
  return found == last_places_.end() ? StagePlaces{} : found->second;
}

std::map<ModelId, StagePlaces> Openings::open_places() const {
  const std::lock_guard lock(mutex_);
  return places_;
}

std::optional<StageChoice> Openings::choice(ModelId model, Stage stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find({.model = model, .stage = stage});
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

// What computes the same beside a model that could go nowhere; "": nothing.
std::string Openings::beside(ModelId model) const {
  std::vector<std::string> devices;
  const auto open = open_places();
  for (const ModelId other : context_.beside(model)) {
    const auto places = open.find(other);
    if (other != model && places != open.end()) {
      devices.push_back(devices_of(places->second));
    }
  }
  return fmt::format("{}", fmt::join(devices, "+"));
}

void Openings::moved(Move move) {
  if (move.to.empty()) {
    move.to = beside(move.model);
  }
  // Where it goes nowhere the error that ends the request says why.
  if (const auto& say = context_.options().say; say && !move.to.empty()) {
    const std::string_view group = group_name(move.model.group);
    say(move.redone
            ? fmt::format("{}; {} goes on on {}", move.reason, group, move.to)
            : fmt::format("{}; what {} is asked next goes to {}", move.reason, group, move.to));
  }
  const std::lock_guard lock(mutex_);
  moves_.push_back(std::move(move));
}

std::vector<Move> Openings::moves() const {
  const std::lock_guard lock(mutex_);
  return moves_;
}

void Openings::name_work(ModelId model, std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  work_names_[model] = std::move(names);
}

std::vector<std::string> Openings::work_names(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto found = work_names_.find(model);
  return found == work_names_.end() ? std::vector<std::string>() : found->second;
}

void Openings::keep_alive(ModelId model, std::optional<std::chrono::steady_clock::duration> idle) {
  const std::lock_guard lock(mutex_);
  if (idle) {
    keep_alive_[model] = *idle;
  } else {
    keep_alive_.erase(model);
  }
}

std::optional<std::chrono::steady_clock::duration> Openings::keep_alive_of(ModelId model) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = keep_alive_.find(model); found != keep_alive_.end()) {
    return found->second;
  }
  return context_.options().keep_alive;
}

void Openings::add(ModelHooks hooks) {
  const std::lock_guard lock(mutex_);
  std::erase_if(hooks_, [](const ModelHooks& other) { return other.of.expired(); });
  hooks_.push_back(std::move(hooks));
}

std::vector<ModelHooks> Openings::hooks() const {
  const std::lock_guard lock(mutex_);
  return hooks_;
}

StageReport Openings::report_of(Stage stage, const HereStage& here) {
  return {.stage = stage,
          .device = here.device,
          .architecture = here.timed->backend.description(),
          .bytes = here.timed->backend.memory_held(),
          .operations = here.timed->backend.operations(),
          .launches = here.timed->backend.launches(),
          .milliseconds = here.timed->clock.milliseconds(),
          .memory_free = 0,
          .memory_total = 0};
}

std::vector<StageReport> Openings::ask_for_report(const LentLane& lent) {
  constexpr size_t kLongestName = 500;
  const auto& [model, worker] = lent;
  std::vector<StageReport> reports;
  try {
    if (worker->alive()) {
      auto told = worker->ask_if_prompt<std::vector<StageReport>>(Ask::Report, kLeastStep);
      if (told && !is_possible(*told)) {
        worker->refuse_answer();
      }
      if (told) {
        reports = *std::move(told);
      }
    }
  } catch (const DeviceError&) {
    return {};  // it is told of when it is needed again
  }
  const std::lock_guard lock(mutex_);
  for (StageReport& report : reports) {
    report.architecture = made_plain(report.architecture, kLongestName);
    last_reports_[{{.model = model, .stage = report.stage}, report.device}] = {.report = report,
                                                                               .worker = worker};
  }
  return reports;
}

void Openings::ask_worker_of(ModelId model) {
  if (auto worker = workers_.of(model)) {
    static_cast<void>(ask_for_report({.model = model, .lane = std::move(worker)}));
  }
}

std::vector<StageReport> Openings::ask_workers() {
  std::vector<StageReport> reports;
  for (const LentLane& lent : workers_.all()) {
    std::ranges::move(ask_for_report(lent), std::back_inserter(reports));
  }
  return reports;
}

void Openings::keep_last_sign(ModelId model) {
  const auto worker = workers_.of(model);
  const std::lock_guard lock(mutex_);
  for (auto& [which, last] : last_reports_) {
    if (worker != nullptr && last.worker.lock() == worker) {
      worker->add_last_sign(last.report);
    }
  }
}

std::vector<ModelReport> Openings::reports() {
  static_cast<void>(ask_workers());
  std::vector<ModelReport> reports;
  const std::lock_guard lock(mutex_);
  for (const auto& [stage, here] : here_) {
    last_reports_[{stage, here.device}] = {.report = report_of(stage.stage, here), .worker = {}};
  }
  for (auto& [which, last] : last_reports_) {
    if (const auto worker = last.worker.lock()) {
      worker->add_last_sign(last.report);
    }
    reports.push_back({.model = which.first.model, .told = last.report});
  }
  return reports;
}

std::vector<LoadedStage> Openings::loaded() const {
  std::vector<LoadedStage> all;
  for (const ModelHooks& hook : hooks()) {
    const auto idle = hook.idle();
    const std::lock_guard lock(mutex_);
    const auto places = places_.find(hook.model);
    if (!idle || places == places_.end()) {
      continue;
    }
    for (const auto& [stage, where] : places->second) {
      if (facts_of(stage).only_apart && !is_apart(places->second)) {
        continue;
      }
      const ModelStage own{.model = hook.model, .stage = stage};
      const auto here = here_.find(own);
      all.push_back({.stage = own,
                     .where = where,
                     .held_here = here == here_.end()
                                      ? std::nullopt
                                      : std::optional(here->second.timed->backend.memory_held()),
                     .idle = *idle});
    }
  }
  return all;
}

}  // namespace mynah::place
