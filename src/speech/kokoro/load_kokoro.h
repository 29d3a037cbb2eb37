#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "speech/voice_loading.h"

namespace mynah {

// Opens Kokoro: the packed file as `mynah pull` writes it, or an ONNX export.
Result<std::unique_ptr<const VoiceModel>> load_kokoro(const std::string& path,
                                                      std::vector<VoiceFile> voices,
                                                      const VoiceLoadOptions& options,
                                                      Backend& backend);

// Whether its weights can be loaded: no voice need be here for it.
[[nodiscard]] Status check_kokoro(const std::string& path, Backend& backend);

}  // namespace mynah
