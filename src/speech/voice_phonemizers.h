// What puts text into phonemes for a voice model, chosen by what the model says of itself.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/synthesizer.h"
#include "speech/voice_model.h"

namespace mynah {

// Whether the lexicons of english-phonemes are read for it.
[[nodiscard]] bool reads_by_lexicons(const VoiceReading& reading);

// The phonemizers of a model of one language that needs no lexicons; `name` is what messages call
// it. Words of the user's own are read from `lexicon` (its path; "": none), except by a model that
// takes letters. A language that the model was not taught is refused.
[[nodiscard]] PhonemizerSource own_phonemizers(std::string name, const VoiceReading& reading,
                                               const std::string& lexicon);

// The phonemizers of a model that reads_by_lexicons(); the rest as in kokoro_phonemizers().
[[nodiscard]] PhonemizerSource lexicon_phonemizers(std::string name, const VoiceReading& reading,
                                                   const EnglishPlaces& places,
                                                   const std::string& lexicon, Backend& backend);

}  // namespace mynah
