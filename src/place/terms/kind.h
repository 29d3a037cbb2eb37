// Kind: all that placement knows of one kind of model. Each is a row of the table kinds(), which
// stands in kinds/ with what is done of it; everything else loops over the rows.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "place/terms/stage.h"
#include "place/terms/workload.h"

namespace mynah::place {

class HostedModel;
class HostServices;
class WorkerLane;

// What is known of one stage of a kind.
struct StageFacts {
  std::string_view name;  // "stt.encoder"

  // How much work its probe is, in its unit (Measurement::step_work): so much sound, of windows of
  // `window_s` (0: it has none).
  double (*probe_work)(double sound_s, double window_s);

  // How far its values may be from the exact ones however exact the processor is: what nobody
  // hears, in a probe of so much sound (bound_of() in place/proofs/reference.h).
  double (*least_error)(double sound_s);

  // Its memory grows with the windows that are heard together.
  bool keeps_windows = false;

  // It has work of its own only where its model's stages are apart: elsewhere that is the last
  // one's, and this one is where that is.
  bool only_apart = false;
};

struct Kind {
  std::string_view name;  // "stt"
  std::span<const StageFacts> stages;

  // What its measured times are for, to be read behind "3 ms for".
  std::string_view unit = "a second of sound";

  // Its weights can be of several storage types; else they are of the one that the file has.
  bool has_types = true;

  // It goes along with a model that was asked for: a profile that is named need not place it.
  bool goes_along = false;

  // Another mynah may do it (another_mynah.h).
  bool elsewhere = false;

  // Whether a model of it may have its stages apart; null: each may. Where this says so they are
  // apart as they were proven apart, also where they are named: a device need not have room for
  // the whole.
  bool (*may_be_apart)(const ModelFile& file) = nullptr;

  // A model of the kind in a worker, where it answers what is asked of the kind alone. None is open
  // yet.
  std::unique_ptr<HostedModel> (*host)(HostServices& services);

  // Has a worker open the model of this kind, each stage in its place. Throws DeviceError.
  Status (*open_in)(WorkerLane& worker, const ModelFile& file, const StagePlaces& places);
};

// By StageGroup. Defined in kinds/kinds.cpp.
[[nodiscard]] std::span<const Kind* const> kinds();

[[nodiscard]] const Kind& kind_of(StageGroup group);
[[nodiscard]] const StageFacts& facts_of(Stage stage);

// Whether its work is in windows, several of which are heard together.
[[nodiscard]] bool hears_windows(StageGroup group);

// Whether its stages stay together wherever it is.
[[nodiscard]] bool is_whole(const ModelFile& file);

}  // namespace mynah::place
