// Who speaks a text whose language is not the voice's that was chosen.
#pragma once

#include <string>

#include "speech/synthesizer.h"

namespace mynah {

// The options by which a text of that language is spoken (BCP 47; "": the voice's own). They are
// as they were where `chosen`, which is their voice, speaks it. Else another voice of the model
// does that speaks it, in its own way; where there is none, or nothing here reads to it, the same
// voice with an accent; and where even that is not to be had, as if the text were its own language.
[[nodiscard]] SpeakOptions options_in(const std::string& language, const Synthesizer& synthesizer,
                                      const VoiceFacts& chosen, SpeakOptions options);

}  // namespace mynah
