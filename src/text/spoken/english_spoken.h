// Written English as it is spoken.
#pragma once

#include <span>
#include <string_view>

#include "text/spoken/spoken_text.h"

namespace mynah {

// A sentence, or any text, in the words that a reader would say: numbers, dates, money, units,
// times, short forms, addresses, signs and emoji in words; capitals in running text are words in
// small letters, initialisms are letters. docs/spoken-text.md lists what is read how.
//
// The spoken text holds words, the marks . , ; : ! ? - ( ) and quotes and dashes, and nothing that
// would be read otherwise: normalising it again changes nothing. Any bytes are taken, in time in
// proportion to their number. Without `normalize` the text stays as it is but for the marks.
[[nodiscard]] SpokenText spoken_english(std::string_view text, const SpokenOptions& options = {},
                                        std::span<const TextMark> marks = {});

// For other languages: numbers in the words of `options.language` where mynah has its rules
// (languages/language_numbers.h), else and where their sense is not sure as they stand, for a voice
// that reads digits itself (espeak-ng does). Digits of other scripts become ASCII's, links keep
// what can be said of them (no "https://", no query), emoji go.
[[nodiscard]] SpokenText spoken_other(std::string_view text, const SpokenOptions& options = {},
                                      std::span<const TextMark> marks = {});

}  // namespace mynah
