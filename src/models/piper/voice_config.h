// What the .onnx.json file beside a Piper voice says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::piper {

// What a voice calls a phoneme: "espeak" voices those of espeak-ng, "text" ones the letters.
enum class PhonemeKind : uint8_t { Espeak, Text };

struct VoiceConfig {
  int rate_hz = 0;
  std::string language;      // "en-us": lower case, BCP 47
  std::string espeak_voice;  // "en-us": what espeak-ng calls it
  std::string dataset;       // "joe"; "" where the file has none
  PhonemeKind kind = PhonemeKind::Espeak;
  // The voice's own choice (piper: inference).
  float length_scale = 1.0F;
  float noise_scale = 0.667F;
  float noise_w = 0.8F;
  std::map<char32_t, std::vector<int32_t>> ids;  // of a character
  std::vector<std::string> speakers;             // names in order; empty: one, or unnamed ones
};

// What a network is given for a text's characters (piper, phoneme_ids): a beginning, each
// character's ids with a pause after it, an end.
struct PhonemeIds {
  std::vector<int32_t> ids;

  // Of each character that was given, the run of its ids with the pause after it; length 0 where
  // the voice does not know the character.
  struct Run {
    size_t begin = 0;
    size_t length = 0;
  };

  std::vector<Run> runs;
};

// Errors: what is missing or not as it should be; voices of another phoneme_type.
[[nodiscard]] Result<VoiceConfig> read_voice_config(std::string_view json, std::string_view file);

// Whether all ids are below `symbols`, and no more speakers are named than there are.
[[nodiscard]] Status check_voice_config(const VoiceConfig& config, int64_t symbols,
                                        int64_t speakers);

// Characters in their decomposed form (NFD), as the voices were trained.
[[nodiscard]] PhonemeIds phoneme_ids(const VoiceConfig& config, std::u32string_view characters);

}  // namespace mynah::piper
