// Voices mixed of others: "af_bella(2)+af_sky(1)".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "models/kokoro/voice_pack.h"

namespace mynah::kokoro {

// A voice's part in a mix.
struct VoiceShare {
  std::string name;
  float weight = 1.0F;  // of 1; below 0 where the voice is taken away
};

// Reads "af_bella", "af_bella+af_sky", "af_bella(2)+af_sky(1)", "af_bella-af_sky(0.5)" as
// Kokoro-FastAPI does (remsky/Kokoro-FastAPI tts_service.py, get_voices_path()): a weight stands in
// brackets, 1 without them; all are divided by their sum; "-" takes a voice away. "," is "+", as
// in hexgrad/kokoro's pipeline.py, load_voice(). Spaces around names and weights do not count.
// InvalidInput for an empty name, weights behind ":", "*" or "=", brackets that do not close and
// weights that are not above 0.
[[nodiscard]] Result<std::vector<VoiceShare>> parse_voice_mix(std::string_view text);

// The sum of the packs times their weights, row by row; a pack with fewer rows goes on with its
// last. As many weights as packs, one at least.
[[nodiscard]] VoicePack mix_voices(std::span<const VoicePack> packs,
                                   std::span<const float> weights);

}  // namespace mynah::kokoro
