// What PlacementState tells of its stages, those that ended among them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "place/discovery/possible.h"
#include "place/placement_state.h"
#include "place/plain_text.h"

namespace mynah::place {

StageReport PlacementState::report_here(Stage stage) const {
  const HereStage& here = stages_[static_cast<size_t>(stage)];
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

std::vector<StageReport> PlacementState::ask_for_report(
    const std::shared_ptr<WorkerProcess>& worker) {
  constexpr size_t kLongestName = 500;
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
    last_reports_[{report.stage, report.device}] = {.report = report, .worker = worker};
  }
  return reports;
}

std::vector<StageReport> PlacementState::ask_for_reports() {
  std::vector<StageReport> reports;
  for (const auto& worker : workers_.all()) {
    std::ranges::move(ask_for_report(worker), std::back_inserter(reports));
  }
  return reports;
}

void PlacementState::keep_last_sign(StageGroup group) {
  const auto worker = workers_.of(group);
  const std::lock_guard lock(mutex_);
  for (auto& [which, last] : last_reports_) {
    if (worker != nullptr && last.worker.lock() == worker) {
      worker->add_last_sign(last.report);
    }
  }
}

std::vector<StageReport> PlacementState::reports() {
  static_cast<void>(ask_for_reports());
  std::vector<StageReport> reports;
  const std::lock_guard lock(mutex_);
  for (const Stage stage : kStages) {
    if (const HereStage& here = stages_[static_cast<size_t>(stage)]; here.timed != nullptr) {
      last_reports_[{stage, here.device}] = {.report = report_here(stage), .worker = {}};
    }
  }
  for (auto& [which, last] : last_reports_) {
    if (const auto worker = last.worker.lock()) {
      worker->add_last_sign(last.report);
    }
    reports.push_back(last.report);
  }
  return reports;
}

}  // namespace mynah::place
