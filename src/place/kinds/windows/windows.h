// The kind of models that hear in windows: "stt", an encoder and a decoder.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "place/kinds/stage_backend.h"
#include "place/terms/device_request.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"
#include "speech/window_model.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kSttGroup = group_of_files<WindowsFile>();
inline constexpr Stage kSttEncoder{kSttGroup, 0};
inline constexpr Stage kSttDecoder{kSttGroup, 1};

// Its row of kinds().
[[nodiscard]] const Kind& windows_kind();

// The model, wherever the backends are. `opened` is the file.
[[nodiscard]] Result<std::shared_ptr<const WindowModel>> load_windows(const HearingFile& opened,
                                                                      const WindowsFile& file,
                                                                      const StageBackend& encoder,
                                                                      const StageBackend& decoder);

// No model is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_windows(HostServices& services);

// A model that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const WindowModel>> open_remote_windows(
    std::shared_ptr<WorkerLane> worker, const WindowsFile& file,
    std::shared_ptr<const HearingHeader> header, const StageDevice& encoder,
    const StageDevice& decoder, StepPace pace);

// A model that computes where it is best and goes on elsewhere when that fails. Refused with the
// reason where no device that is allowed can be used. `only`: there alone.
[[nodiscard]] Result<std::shared_ptr<const WindowModel>> place_windows_on(
    const std::shared_ptr<PlacementState>& state, const WindowsFile& file,
    const std::optional<StageDevices>& only);

// The same, beside each other on several devices where the request says so.
[[nodiscard]] Result<std::shared_ptr<const WindowModel>> place_windows(
    const std::shared_ptr<PlacementState>& state, const WindowsFile& file);

}  // namespace mynah::place
