// Reference: what the processor makes of a model's probe, and how long it takes, computed once:
// what every other device is compared with.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/terms/measurement.h"
#include "place/terms/workload.h"
#include "place/workers/worker_lane.h"
#include "speech/probe.h"

namespace mynah::place {

// One run of a probe, and what the model needs meanwhile.
struct ProbeRun {
  ProbeReport report;
  std::vector<StageReport> stages;
  std::optional<FullWindow> window{};  // of windows on a device of its own
  double waited_share = 0;             // of the probes' time that the worker waited for a core
};

// Opens the model in the worker, each stage in its place, and probes it twice: the first time what
// is only done once (caches, compiled kernels) is done too, and the second one counts. `step`: the
// longest that an operation may take. Of windows on any device but the processor a full one is
// heard besides: what it needs, and how long its steps are. Throws DeviceError.
[[nodiscard]] Result<ProbeRun> run_probe(WorkerLane& worker, const ModelFile& file,
                                         const StagePlaces& places, std::chrono::milliseconds step);

// The model's stages as the run measured them; values are not compared yet.
[[nodiscard]] std::vector<Measurement> measurements_of(const ProbeRun& run, StageGroup group,
                                                       const StagePlaces& places);

struct Reference {
  Probe exact;                   // in f32 arithmetic, with the file's own weights
  std::vector<Measurement> cpu;  // of the types that the processor computes fast with
  std::vector<Measurement> cpu_exact;
  std::vector<double> error_bound;  // by stage of the probe: see bound_of()
};

// Whether it can be one (place/wire/possible.h).
[[nodiscard]] bool is_possible(const Reference& reference, StageGroup group);

// How far a stage may be from the exact values on a device: twice as far as the processor itself is
// in its own fast types (int8 and bf16), and never less than what is heard by nobody: a thousandth
// of a probability, two frames of 25 ms for the ends of phonemes, a fiftieth of the loudness (0.2
// dB), five thousandths of states and logits.
[[nodiscard]] double bound_of(Stage stage, double cpu_error, double sound_s);

// A stage's values in a probe, compared with the reference's.
struct ProbeVerdict {
  double worst_error = 0;
  double error_bound = 0;
  std::string failure;  // "is 0.2 from what the processor computes ..."; "": it is right
};

[[nodiscard]] ProbeVerdict judge(Stage stage, const Probe& found, const Reference& reference);

// Computes it in a worker on the processor, so that a file that breaks the program breaks that.
[[nodiscard]] Result<Reference> compute_reference(const ModelFile& file, const WorkerSpec& cpu);

// The reference that was kept in `folder` for this model, program, processor and number of threads;
// none: nobody computed it.
[[nodiscard]] std::optional<Reference> kept_reference(const ModelFile& file,
                                                      const DeviceSettings& settings,
                                                      const std::string& folder,
                                                      const std::string& build);

// The reference that was kept in `folder` for this model, program, processor and number of threads,
// or a new one, which is kept.
// `folder` empty: nothing is kept.
[[nodiscard]] Result<Reference> find_reference(const ModelFile& file, const WorkerSpec& cpu,
                                               const std::string& folder, const std::string& build);

}  // namespace mynah::place
