// The kind of voice detectors: "vad", one stage.
#pragma once

#include <memory>

#include "base/result.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"
#include "speech/probe.h"
#include "speech/voice_detector.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kVadGroup = group_of_files<DetectorFile>();
inline constexpr Stage kVadStage{kVadGroup, 0};

// Its row of kinds().
[[nodiscard]] const Kind& detector_kind();

// The model, wherever the backend is.
[[nodiscard]] Result<std::shared_ptr<const VoiceDetector>> load_detector(const DetectorFile& file,
                                                                         Backend& backend);

// A second of sound. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_detector(const VoiceDetector& detector);

// No detector is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_detector(HostServices& services);

// A detector that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const VoiceDetector>> open_remote_detector(
    std::shared_ptr<WorkerLane> worker, const DetectorFile& file, const StageDevice& where,
    StepPace pace);

// A detector that computes where it is best and goes on elsewhere when that fails. Refused with the
// reason where no device that is allowed can be used.
[[nodiscard]] Result<std::shared_ptr<const VoiceDetector>> place_detector(
    std::shared_ptr<PlacementState> state, const DetectorFile& file);

}  // namespace mynah::place
