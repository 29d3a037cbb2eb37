#include "place/proofs/prove.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "place/terms/device_name.h"
#include "place/workers/load_limit.h"
#include "place/workers/operation_cases.h"
#include "store/files.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;

// An operation of a probe: a fraction of a second of sound on a simulated card at worst.
constexpr milliseconds kStep{20000};

// Devices that are tried: of stages apart those that are not the processor.
std::set<std::string> devices_to_try(const StagePlaces& places) {
  std::set<std::string> devices;
  for (const auto& [stage, where] : places) {
    // Another mynah proved its own devices: of it the model's probe tells.
    if (!is_mynah(where.device) && (where.device != "cpu" || !is_apart(places))) {
      devices.insert(where.device);
    }
  }
  return devices;
}

// One proof.
class Attempt {
 public:
  Attempt(const ModelFile& file, const StagePlaces& places) : file_(file), places_(places) {}

  DeviceProof run(const Reference& reference, const WorkerSpec& spec, const ProofStarted& started,
                  WorkerLane* living) {
    try {
      name_ = spec.device;
      const auto worker = living != nullptr ? living->next(spec.device) : WorkerLane::start(spec);
      if (!worker) {
        return failed(worker.error());
      }
      if (started) {
        started(*worker);
      }
      DeviceProof proof = run_in_worker(reference, **worker);
      if (living != nullptr) {
        (*worker)->close(group_of(file_));
      }
      return proof;
    } catch (const DeviceError& error) {
      return failed(error.error());
    }
  }

 private:
  DeviceProof run_in_worker(const Reference& reference, WorkerLane& worker) {
    for (const std::string& device : devices_to_try(places_)) {
      const auto outcomes = worker.ask_for<std::vector<OperationOutcome>>(
          Ask::Operations, load_limit(""), {}, device);
      if (!outcomes) {
        return failed(outcomes.error());
      }
      if (const std::string wrong = compare_with_definition(*outcomes); !wrong.empty()) {
        return failed({ErrorCode::Device, "it computes wrongly: " + wrong});
      }
    }
    read_memory(worker);
    const auto run = run_probe(worker, file_, places_, kStep);
    if (!run) {
      return failed(run.error());
    }
    DeviceProof proof;
    proof.measurements = measurements_of(*run, group_of(file_), places_);
    proof.waited_share = run->waited_share;
    for (Measurement& measured : proof.measurements) {
      const ProbeVerdict verdict = judge(measured.stage, run->report.probe, reference);
      measured.worst_error = verdict.worst_error;
      measured.error_bound = verdict.error_bound;
      measured.passed = verdict.failure.empty();
      measured.failure = measured.passed ? "" : "it " + verdict.failure;
    }
    return proof;
  }

  void read_memory(WorkerLane& worker) {
    const auto told = worker.ask_for<std::vector<StageReport>>(Ask::Report, kStep, {});
    if (told && !told->empty()) {
      memory_ = {.free = told->front().memory_free, .total = told->front().memory_total};
    }
  }

  [[nodiscard]] DeviceProof failed(const Error& error) const {
    const StageGroup group = group_of(file_);
    if (error.code != ErrorCode::OutOfMemory) {
      return {.measurements = not_passed(group, places_, without_name(error.message, name_)),
              .refusal = {},
              .no_room = {}};
    }
    NoRoom no_room{.error = error, .memory = memory_};
    const std::string why = no_room_text(group, no_room);
    return {.measurements = not_passed(group, places_, "it " + why),
            .refusal = why,
            .no_room = std::move(no_room)};
  }

  const ModelFile& file_;
  const StagePlaces& places_;
  std::string name_;  // of the devices, as their worker calls itself
  mynah::DeviceMemory memory_;
};

}  // namespace

std::string no_room_text(StageGroup group, const NoRoom& no_room) {
  const std::string_view name = group_name(group);
  if (no_room.memory.total == 0) {
    return fmt::format("has too little memory for {}: {}", name, no_room.error.message);
  }
  return fmt::format("has too little memory for {}: {} of {} are free", name,
                     human_bytes(no_room.memory.free), human_bytes(no_room.memory.total));
}

std::vector<Measurement> not_passed(StageGroup group, const StagePlaces& places,
                                    const std::string& failure) {
  std::vector<Measurement> measurements;
  for (const Stage stage : stages_of(group)) {
    Measurement measured;
    measured.stage = stage;
    measured.device = places.at(stage).device;
    measured.storage = places.at(stage).storage;
    measured.failure = failure;
    measurements.push_back(std::move(measured));
  }
  return measurements;
}

DeviceProof prove(const ModelFile& file, const StagePlaces& places, const Reference& reference,
                  const WorkerSpec& spec, const ProofStarted& started,
                  const std::shared_ptr<WorkerLane>& living) {
  return Attempt(file, places).run(reference, spec, started, living.get());
}

}  // namespace mynah::place
