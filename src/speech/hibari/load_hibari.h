#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "speech/voice_loading.h"

namespace mynah {

// Opens the voice of the hibari-tts wheel (hibari.onnx), whose phonemes are Kokoro's.
Result<std::unique_ptr<const VoiceModel>> load_hibari(const std::string& path,
                                                      const VoiceLoadOptions& options,
                                                      Backend& backend);

}  // namespace mynah
