// What the loaders of voice models take (speech/kokoro, speech/piper, speech/hibari).
#pragma once

#include <optional>
#include <string>

#include "speech/stage_place.h"
#include "speech/voice_model.h"
#include "tensor/backend.h"

namespace mynah {

// A voice that has a file of its own, and where it lies.
struct VoiceFile {
  VoiceFacts facts;
  std::string path;  // of its voice pack

  bool operator==(const VoiceFile&) const = default;
};

struct VoiceLoadOptions {
  std::string name;                       // what the model is called
  std::optional<DType> storage;           // none: the file's own
  Precision precision = Precision::Fast;  // Exact: f32 arithmetic whatever the storage
  std::string cache_folder;               // for packed weights; empty: none
  // Of the stage that makes sound (kokoro/model.h, piper/model.h, hibari/model.h); none: as the
  // rest, which is as the options say and on the backend that is given with them.
  std::optional<StagePlace> vocoder = std::nullopt;
};

}  // namespace mynah
