#include "place/proofs/reference.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "place/discovery/host.h"
#include "place/proofs/kept_file.h"
#include "place/proofs/kept_types.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "place/wire/possible.h"
#include "place/workers/operation_cases.h"
#include "place/workers/watchdog.h"
#include "store/sha256.h"

namespace mynah::place {

namespace {

// The types that the processor is fast with, where any is chosen.
std::vector<std::optional<DType>> fast_types(const ModelFile& file) {
  if (!kind_of(group_of(file)).has_types) {
    return {std::nullopt};
  }
  return {DType::I8, DType::BF16};
}

// Whether any stage is on a card, whose memory is its own.
bool has_card(const StagePlaces& places) {
  return std::ranges::any_of(
      places, [](const auto& entry) { return card_index(entry.second.device).has_value(); });
}

// The stage's values in a probe.
const std::vector<float>* values_of(const Probe& probe, Stage stage) {
  const auto found = std::ranges::find(probe.stages, stage_name(stage), &ProbeStage::stage);
  return found == probe.stages.end() ? nullptr : &found->values;
}

std::string file_of(const std::string& folder, const std::string& key) {
  const std::string digest = sha256_hex(std::as_bytes(std::span(key)));
  return (std::filesystem::path(folder) / (digest.substr(0, 32) + ".reference")).string();
}

// Where a reference is kept, and what it is of.
struct KeptReference {
  std::string file;
  std::string key;
};

Result<KeptReference> where_kept(const ModelFile& file, const DeviceSettings& settings,
                                 const std::string& folder, const std::string& build) {
  MYNAH_TRY(const std::string digest, model_digest(path_of(file), folder));
  // Its times decide where stages go: they are those of this processor with these threads.
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", digest, group_name(group_of(file)), build,
                                processor_name(), cpu_instruction_sets().back(), settings.threads);
  std::string path = file_of((std::filesystem::path(folder) / "proofs").string(), key);
  return KeptReference{.file = std::move(path), .key = std::move(key)};
}

std::optional<Reference> read_kept(const KeptReference& kept, StageGroup group) {
  Reference found;
  const bool right =
      read_kept_file(kept.file, kReferenceKind, kept.key, found) && is_possible(found, group);
  return right ? std::optional(std::move(found)) : std::nullopt;
}

// The shorter of two runs, stage by stage: what held one of them up (another program, a first use)
// says nothing of the device, and a deadline is made of the longest step.
void take_shorter_times(std::vector<ProbeTime>& times, const std::vector<ProbeTime>& others) {
  for (ProbeTime& time : times) {
    const auto other = std::ranges::find(others, time.stage, &ProbeTime::stage);
    if (other != others.end()) {
      time.milliseconds = std::min(time.milliseconds, other->milliseconds);
      time.longest_step_ms = std::min(time.longest_step_ms, other->longest_step_ms);
    }
  }
}

void take_longest_step(Measurement& measurement, const ProbeTime& time) {
  measurement.longest_step_ms = time.longest_step_ms;
  measurement.step_work = time.step_work;
}

Result<FullWindow> hear_full_window(WorkerLane& worker) {
  // An operation on all of a window: minutes on a simulated card, of a large model.
  constexpr std::chrono::milliseconds kWindowLimit{300000};
  MYNAH_TRY(FullWindow window, worker.ask_for<FullWindow>(Ask::FullWindow, kWindowLimit, {}));
  if (!is_possible(window)) {
    worker.refuse_answer();
  }
  return window;
}

// What is no number is near to everything.
bool is_finite(const Probe& probe) {
  return std::ranges::all_of(probe.stages, [](const ProbeStage& stage) {
    return std::ranges::all_of(stage.values, [](float value) { return std::isfinite(value); });
  });
}

}  // namespace

bool is_possible(const Reference& reference, StageGroup group) {
  const auto stages = stages_of(group);
  const auto fits = [&](const Measurement& measured) {
    return measured.device == "cpu" && is_possible(measured) &&
           std::ranges::find(stages, measured.stage) != stages.end();
  };
  const auto is_bound = [](double bound) { return bound >= 0 && std::isfinite(bound); };
  return is_within(reference.exact.sound_s, 0, kLongestSound_s) && is_finite(reference.exact) &&
         std::ranges::all_of(reference.cpu, fits) &&
         std::ranges::all_of(reference.cpu_exact, fits) &&
         reference.error_bound.size() == stages.size() &&
         std::ranges::all_of(reference.error_bound, is_bound);
}

Result<ProbeRun> run_probe(WorkerLane& worker, const ModelFile& file, const StagePlaces& places,
                           std::chrono::milliseconds step) {
  const StageGroup group = group_of(file);
  MYNAH_TRY_STATUS(kind_of(group).open_in(worker, file, places));
  const WaitedShare waited(worker.pid());
  MYNAH_TRY(const auto first, worker.ask_for<ProbeReport>(Ask::Probe, step, {}, group));
  ProbeRun run;
  MYNAH_TRY(run.report, worker.ask_for<ProbeReport>(Ask::Probe, step, {}, group));
  run.waited_share = waited.until_now();
  MYNAH_TRY(run.stages, worker.ask_for<std::vector<StageReport>>(Ask::Report, step, {}));
  if (!is_possible(first) || !is_possible(run.report) || !is_possible(run.stages)) {
    worker.refuse_answer();
  }
  take_shorter_times(run.report.times, first.times);
  if (hears_windows(group) && !is_here(places)) {
    MYNAH_TRY(run.window, hear_full_window(worker));
    if (has_card(places)) {  // kernels of its sizes are compiled the first time
      MYNAH_TRY(const FullWindow again, hear_full_window(worker));
      take_shorter_times(run.window->times, again.times);
    }
  }
  return run;
}

std::vector<Measurement> measurements_of(const ProbeRun& run, StageGroup group,
                                         const StagePlaces& places) {
  std::vector<Measurement> measurements;
  for (const Stage stage : stages_of(group)) {
    const StageDevice& where = places.at(stage);
    const auto on_it = static_cast<uint64_t>(std::ranges::count_if(places, [&](const auto& entry) {
      return entry.second.device == where.device &&
             std::ranges::find(run.stages, entry.first, &StageReport::stage) != run.stages.end();
    }));
    Measurement measurement;
    measurement.stage = stage;
    measurement.device = where.device;
    measurement.storage = where.storage;
    const auto time = std::ranges::find(run.report.times, stage, &ProbeTime::stage);
    if (time != run.report.times.end() && run.report.probe.sound_s > 0) {
      measurement.ms_per_unit = time->milliseconds / run.report.probe.sound_s;
      take_longest_step(measurement, *time);
    }
    const auto report = std::ranges::find(run.stages, stage, &StageReport::stage);
    if (report != run.stages.end()) {
      // What the device's pool holds is of all stages on it: each counts for its share.
      measurement.bytes = report->bytes / on_it;
    }
    if (run.window) {
      const auto full = std::ranges::find(run.window->times, stage, &ProbeTime::stage);
      if (full != run.window->times.end()) {
        take_longest_step(measurement, *full);
      }
    }
    if (run.window && !is_processor(where.device)) {
      // The encoder hears one window after the other; the decoder keeps what they all need. What
      // the memory was asked of is the decoder's device.
      const WindowMemory& memory = run.window->memory;
      measurement.bytes = on_it > 1 ? memory.bytes / on_it : measurement.bytes;
      measurement.window_bytes = facts_of(stage).keeps_windows ? memory.window_bytes : 0;
    }
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

double bound_of(Stage stage, double cpu_error, double sound_s) {
  return std::max(facts_of(stage).least_error(sound_s), 2 * cpu_error);
}

ProbeVerdict judge(Stage stage, const Probe& found, const Reference& reference) {
  const auto* const expected = values_of(reference.exact, stage);
  const auto* const values = values_of(found, stage);
  if (expected == nullptr || values == nullptr) {
    return {.worst_error = 0, .error_bound = 0, .failure = "was not computed"};
  }
  const auto stages = stages_of(group_of(stage));
  const auto place = static_cast<size_t>(std::ranges::find(stages, stage) - stages.begin());
  ProbeVerdict verdict;
  verdict.error_bound = place < reference.error_bound.size() ? reference.error_bound[place] : 0;
  verdict.worst_error = worst_difference(*values, *expected);
  if (!std::isfinite(verdict.worst_error)) {
    verdict.failure = "computes numbers that are none, or not as many as the processor";
  } else if (verdict.worst_error > verdict.error_bound) {
    verdict.failure =
        fmt::format("is {:.2g} from what the processor computes (at most {:.2g} is allowed)",
                    verdict.worst_error, verdict.error_bound);
  }
  return verdict;
}

Result<Reference> compute_reference(const ModelFile& file, const WorkerSpec& cpu) {
  // Nothing else limits the processor's own time: it is what everything falls back on.
  constexpr std::chrono::milliseconds kProbeLimit{60000};
  const StageGroup group = group_of(file);
  try {
    MYNAH_TRY(const auto worker, WorkerLane::start(cpu));
    Reference reference;
    const StagePlaces as_it_is = all_on(group, {.device = "cpu", .storage = {}});
    MYNAH_TRY(ProbeRun exact,
              run_probe(*worker, with_precision(file, Precision::Exact), as_it_is, kProbeLimit));
    reference.cpu_exact = measurements_of(exact, group, as_it_is);
    for (Measurement& measured : reference.cpu_exact) {
      measured.passed = true;
    }
    reference.exact = std::move(exact.report.probe);
    std::map<Stage, double> worst;
    for (const std::optional<DType>& type : fast_types(file)) {
      const StagePlaces places = all_on(group, {.device = "cpu", .storage = type});
      MYNAH_TRY(const ProbeRun run,
                run_probe(*worker, with_precision(file, Precision::Fast), places, kProbeLimit));
      for (Measurement& measured : measurements_of(run, group, places)) {
        const auto* const exact_values = values_of(reference.exact, measured.stage);
        const auto* const values = values_of(run.report.probe, measured.stage);
        measured.passed = exact_values != nullptr && values != nullptr;
        measured.worst_error = measured.passed ? worst_difference(*values, *exact_values) : 0;
        if (std::isfinite(measured.worst_error)) {
          auto& most = worst[measured.stage];
          most = std::max(most, measured.worst_error);
        }
        reference.cpu.push_back(std::move(measured));
      }
    }
    for (const Stage stage : stages_of(group)) {
      reference.error_bound.push_back(bound_of(stage, worst[stage], reference.exact.sound_s));
    }
    return reference;
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
}

std::optional<Reference> kept_reference(const ModelFile& file, const DeviceSettings& settings,
                                        const std::string& folder, const std::string& build) {
  const auto kept = folder.empty() ? Result<KeptReference>(fail(ErrorCode::NotFound, ""))
                                   : where_kept(file, settings, folder, build);
  return kept ? read_kept(*kept, group_of(file)) : std::nullopt;
}

Result<Reference> find_reference(const ModelFile& file, const WorkerSpec& cpu,
                                 const std::string& folder, const std::string& build) {
  if (folder.empty()) {
    return compute_reference(file, cpu);
  }
  MYNAH_TRY(const KeptReference kept, where_kept(file, cpu.settings, folder, build));
  if (auto found = read_kept(kept, group_of(file))) {
    return *std::move(found);
  }
  MYNAH_TRY(Reference reference, compute_reference(file, cpu));
  write_kept_file(kept.file, kReferenceKind, kept.key, reference);
  return reference;
}

}  // namespace mynah::place
