// Whether what was said so far is a whole clause, by its last words and marks.
#pragma once

#include <cstdint>
#include <string_view>

namespace mynah {

enum class ClauseState : uint8_t {
  Unknown,  // nothing was said, or nothing tells
  Open,     // it ends in a comma, a dash, a filler, an article, a conjunction
  Whole     // a mark ends it behind a word that may be the last
};

// `text`: a transcript, which may change yet; `language`: its tag ("en", "pt-BR"), whose words are
// those of open_words/; "" or one without words: marks alone. A question or exclamation mark ends a
// clause whatever stands before it; a full stop, which recognisers put behind anything, does not.
[[nodiscard]] ClauseState clause_state(std::string_view text, std::string_view language);

}  // namespace mynah
