// Kokoro's alphabet of phonemes (misaki 0.9.4, EN_PHONES.md) and what people write instead of it:
// the international phonetic alphabet as dictionaries and espeak print it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

// Phonemes in Kokoro's alphabet, out of those or out of IPA: eɪ becomes A, tʃ ʧ, r ɹ, and so on;
// ties and syllable marks go. British keeps the long vowels' ː. InvalidInput names what is neither.
[[nodiscard]] Result<std::string> to_kokoro_phonemes(std::string_view text, bool british);

}  // namespace mynah
