// The ends of a spoken clause: cut to where it is heard, and faded, so that clauses can be joined
// with silence of any length.
#pragma once

#include "speech/voice_model.h"

namespace mynah {

// Cuts what nobody hears off both ends, but for a short rest, and fades it there; the words' places
// move with it. A clause without anything to be heard becomes empty.
void trim_clause(ClauseSound& sound, int rate_hz);

}  // namespace mynah
