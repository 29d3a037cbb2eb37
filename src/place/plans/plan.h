// Plan: which stage is computed on which device, with which storage type, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/plans/budget.h"
#include "place/terms/device_request.h"
#include "place/terms/growing_memory.h"
#include "place/terms/measurement.h"
#include "place/terms/stage.h"
#include "tensor/dtype.h"

namespace mynah::place {

// A stage that is to be placed.
struct StageWish {
  Stage stage;
  std::optional<DType> storage;            // the user's; none: whichever was measured
  std::string profile{};                   // that says where it goes; "": none does
  std::optional<GrowingMemory> growing{};  // beside what was measured
  bool whole = false;                      // on the device of the stage before it, also by name
};

// What a stage may not be computed on for now, whatever was measured.
struct Exclusion {
  Stage stage;
  std::string device;
  std::string reason;  // "failed just now: no sign of life for 2 s"
  // It is a model as a whole that had no room there: one of its stages alone may have.
  bool of_whole = false;
  std::optional<DType> storage{};  // then: the smallest type that it was tried as
};

// A device that had no room for a stage's model when it was tried with a larger storage type.
struct TooLarge {
  Stage stage;
  std::string device;
};

// A device that a stage is not on.
struct OtherDevice {
  std::string device;
  std::string why;      // "takes 34 ms as f16", to be read behind its name
  bool slower = false;  // that time alone is why
};

// A model's stages apart, in the order of Stage: what they took on these devices at once. Those
// whose measurements all passed are proven as such.
using StagesApart = std::vector<Measurement>;

struct PlanInput {
  DeviceRequest request;  // of a profile: what the profile says, as a request
  std::vector<StageWish> stages;
  // Of one stage, device and storage type the last counts. A card without one is not used; the
  // processor and what checks others need no proof, and without one are of unknown speed.
  std::vector<Measurement> measurements;
  std::vector<DeviceMemory> devices;  // those that are there, the processor among them
  std::vector<OtherDevice> unusable;  // the others: told of where a stage may be on any device
  std::vector<Exclusion> excluded;
  std::vector<TooLarge> too_large;  // of devices that were measured with another type
  uint64_t max_vram = 0;            // the most bytes of any device but the processor; 0: no limit
  int batch = 1;                    // windows that are computed together where memory allows
  // Automatic stages of a group are on one device, or as one of `apart` was proven.
  bool together = false;
  std::vector<StagesApart> apart;
};

// Why something is where it is, and why not elsewhere.
struct Reasons {
  std::string why;
  std::vector<OtherDevice> others;
};

struct StagePlan {
  Stage stage;
  std::string device;
  std::optional<DType> storage;  // none: the file's own
  // Resident, with the whole batch and all that grows; 0 where nobody knows.
  uint64_t bytes = 0;
  uint64_t grown_bytes = 0;           // of it, what grows
  int64_t units = 0;                  // of what grows, that there is room for; 0: nothing grows
  std::optional<double> ms_per_unit;  // milliseconds for a second of sound, where measured
  std::string reason;                 // "cuda:0 is 11x cpu (3.1 ms for a second of sound, 34 ms)"
  std::vector<OtherDevice> others;
  // Of the first of a model's automatic stages that are together: the same of all of them, with the
  // sums of their times.
  std::optional<Reasons> together{};
};

struct Plan {
  std::vector<StagePlan> stages;  // in the order of Stage
  int batch = 1;
};

// Automatic stages get what makes the whole fastest by the measurements, whatever kind of device it
// is; named ones the first device of theirs that works and fits. Where memory does not suffice for
// that, the batch is halved as often as needed; then smaller storage types are taken on the same
// devices, or there is room for less that grows (GrowingMemory::units), unless that makes a group
// slower than the processor is; then the stages move that lose least. The same input gives the same
// plan, in whatever order its parts stand. Device, with the reasons: a stage cannot be computed
// where it may be, or nothing fits.
[[nodiscard]] Result<Plan> make_plan(const PlanInput& input);

// Whether what is fastest by the measurements does not fit even one window at a time: smaller
// storage types are worth measuring.
[[nodiscard]] bool wants_smaller_types(const PlanInput& input);

}  // namespace mynah::place
