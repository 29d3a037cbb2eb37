// Pauses that a text has by its signs and not by its words: at brackets, and around what somebody
// does between asterisks.
#pragma once

#include <string_view>
#include <vector>

#include "text/phonemes/phonemizer.h"

namespace mynah {

// Says a comma at each bracket and around each action ("*sighs* I do not know.") of the sentence,
// unless another mark stands there, or no word does: models were taught commas, and some of them
// brackets as well, at which they pause less or not at all. Brackets within a word ("f(x)") are
// none. Places of words are bytes of `sentence`.
void add_pauses(std::string_view sentence, std::vector<PhonemeWord>& words);

}  // namespace mynah
