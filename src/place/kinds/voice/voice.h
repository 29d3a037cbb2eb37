// The kind of voices: "tts", an acoustic model and a vocoder.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "place/kinds/stage_backend.h"
#include "place/terms/kind.h"
#include "place/terms/workload.h"
#include "place/workers/step_limit.h"
#include "speech/probe.h"
#include "speech/voice_model.h"

namespace mynah::place {

class PlacementState;

inline constexpr StageGroup kTtsGroup = group_of_files<VoiceModelFile>();
inline constexpr Stage kTtsAcoustic{kTtsGroup, 0};
inline constexpr Stage kTtsVocoder{kTtsGroup, 1};

// Its row of kinds().
[[nodiscard]] const Kind& voice_kind();

// The model of whichever family (place/kinds/families.h), wherever the backends are.
[[nodiscard]] Result<std::unique_ptr<const VoiceModel>> load_voice(const VoiceModelFile& file,
                                                                   const StageBackend& acoustic,
                                                                   const StageBackend& vocoder);

// Two short words. Where the phonemes are (tts.acoustic) and how loud it is from one piece of 10 ms
// to the next (tts.vocoder): voices draw noise, and phases of near-silence mean nothing, so samples
// themselves cannot be compared. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_voice(const VoiceModel& voice);

// Phonemes of a clause, or somewhat more: bytes of their text.
[[nodiscard]] double phonemes_in(std::span<const PhonemeWord> words);

// No voice is open yet.
[[nodiscard]] std::unique_ptr<HostedModel> host_voice(HostServices& services);

// A voice that computes in a worker process; a worker that fails is a DeviceError.
[[nodiscard]] Result<std::shared_ptr<const VoiceModel>> open_remote_voice(
    std::shared_ptr<WorkerLane> worker, const VoiceModelFile& file, const StageDevice& acoustic,
    const StageDevice& vocoder, StepPace pace);

// A voice that computes where it is best and goes on elsewhere when that fails. Refused with the
// reason where no device that is allowed can be used.
[[nodiscard]] Result<std::unique_ptr<const VoiceModel>> place_voice(
    std::shared_ptr<PlacementState> state, const VoiceModelFile& file);

}  // namespace mynah::place
