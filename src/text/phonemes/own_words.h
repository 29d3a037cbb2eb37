// The user's words in a text, and before a phonemizer that has no lexicon of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/phonemes/phonemizer.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah {

// The user's words in a text, in order. A word is looked up with and without the marks and hyphens
// around and within it, the longest first.
[[nodiscard]] std::vector<GivenPhonemes> own_words_in(std::string_view text,
                                                      const UserLexicon& lexicon);

// Says the words of the lexicon at `path` (user_lexicon.h) as it has them, and leaves the rest to
// `rest`, which must follow given phonemes; `rest` alone where the path is empty. What was
// given in the text itself comes before it. Errors are UserLexicon::read's.
[[nodiscard]] Result<std::shared_ptr<const Phonemizer>> own_words_first(
    const std::string& path, std::shared_ptr<const Phonemizer> rest);

}  // namespace mynah
