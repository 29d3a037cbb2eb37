// read_phrase says short forms of several words, as courts, citations and titles have them: "Fed.
// R. Civ. P.", "Rt Hon". data/phrases.tsv has them.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

// Where a stop stands in one.
enum class PhraseStop { None, Inside, Last };

// What the stop at `stop` is to the phrase around it, none of which begins before `begin`. `next`:
// the word that follows the stop.
[[nodiscard]] PhraseStop phrase_stop(std::string_view text, size_t begin, size_t stop,
                                     std::string_view next);

}  // namespace mynah
