// Models loaded where they are told to be, in whichever process.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "place/terms/workload.h"
#include "speech/voice_detector.h"
#include "speech/voice_model.h"
#include "speech/window_model.h"

namespace mynah::place {

// One stage's backend, which must outlive the model, and its weights' type.
struct StageBackend {
  Backend& backend;
  std::optional<DType> storage;
};

Result<std::shared_ptr<const VoiceDetector>> load_detector(const DetectorFile& file,
                                                           Backend& backend);
// `opened` is the file.
Result<std::shared_ptr<const WindowModel>> load_windows(const HearingFile& opened,
                                                        const WindowsFile& file,
                                                        const StageBackend& encoder,
                                                        const StageBackend& decoder);
Result<std::unique_ptr<const VoiceModel>> load_voice(const VoiceModelFile& file,
                                                     const StageBackend& acoustic,
                                                     const StageBackend& vocoder);

}  // namespace mynah::place
