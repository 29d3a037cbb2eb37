#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "speech/voice_loading.h"

namespace mynah {

struct PiperFiles {
  std::string network;  // NAME.onnx
  std::string config;   // "": NAME.onnx.json
};

// Opens a Piper voice.
Result<std::unique_ptr<const VoiceModel>> load_piper(const PiperFiles& files,
                                                     const VoiceLoadOptions& options,
                                                     Backend& backend);

}  // namespace mynah
