// The user's words before a phonemizer that has no lexicon of its own.
#pragma once

#include <memory>
#include <string>

#include "text/phonemes/phonemizer.h"

namespace mynah {

// Says the words of the lexicon at `path` (user_lexicon.h) as it has them, and leaves the rest to
// `rest`, which must follow given phonemes; `rest` alone where the path is empty. A word is looked
// up with and without the marks and hyphens around and within it, the longest first; what was given
// in the text itself comes before it. Errors are UserLexicon::read's.
[[nodiscard]] Result<std::shared_ptr<const Phonemizer>> own_words_first(
    const std::string& path, std::shared_ptr<const Phonemizer> rest);

}  // namespace mynah
