// What the bench has models do: recordings heard, a clause spoken.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "text/phonemes/phonemizer.h"

namespace mynah::bench {

// A recording, mono at 16 kHz.
[[nodiscard]] Result<std::vector<float>> read_sound(const std::string& file);

// A sentence of some three seconds in Kokoro's alphabet, which is hibari's too.
[[nodiscard]] std::vector<PhonemeWord> sentence();

}  // namespace mynah::bench
