// Prove: a device is tried with a model, in a process of its own, before anybody relies on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "place/proofs/reference.h"
#include "place/terms/measurement.h"
#include "place/terms/workload.h"
#include "place/workers/worker_lane.h"
#include "tensor/device.h"

namespace mynah::place {

// Memory did not suffice for what was tried: that is no fault of the device, since others may hold
// what is missing.
struct NoRoom {
  Error error;
  mynah::DeviceMemory memory;  // of the device, before it was tried; 0 and 0: it is not known
};

// What a device gave when it was to be proven.
struct DeviceProof {
  std::vector<Measurement> measurements;  // of all of the model's stages: passed, or why not
  // Where it was not tried, or tried in vain by no fault of its own: why, to be read behind its
  // name
  // ("failed 4 s ago: ..."); else "".
  std::string refusal;
  std::optional<NoRoom> no_room;
  // How much of the time of a proof that was made now its worker waited for a core, which others
  // had: what it took then says little.
  double waited_share = 0;
};

// "has too little memory for stt: ...", to be read behind the device's name.
[[nodiscard]] std::string no_room_text(StageGroup group, const NoRoom& no_room);

// Measurements of a group's stages, none of which passed.
[[nodiscard]] std::vector<Measurement> not_passed(StageGroup group, const StagePlaces& places,
                                                  const std::string& failure);

using ProofStarted = std::function<void(const std::shared_ptr<WorkerLane>&)>;

// Opens the devices, runs on each but the processor a case of each family of operations, compared
// with their definition, then a probe of the model with each stage in its place, compared with
// `reference` and timed. Each of the model's stages gets its measurement: passed, or why not. The
// worker may hang, crash or lie: this comes back in the time that loading may take and a few
// operations more. `started` hears of the worker, so that another thread can end it. `living`: a
// lane of a worker that computes there, which is asked for one more; null: a process is started.
[[nodiscard]] DeviceProof prove(const ModelFile& file, const StagePlaces& places,
                                const Reference& reference, const WorkerSpec& spec,
                                const ProofStarted& started = {},
                                const std::shared_ptr<WorkerLane>& living = nullptr);

}  // namespace mynah::place
