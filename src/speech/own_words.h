// own_words: whether what is heard is what is being said.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

// A transcript beside the words that are played around then.
struct OwnWords {
  size_t heard = 0;  // words of the transcript
  size_t own = 0;    // of them: those that are played, in their order
  // Whether it is the machine's own voice.
  bool is_own = false;
};

// Finds the run of `heard` that is most like a run of `played` (local alignment, Smith and Waterman
// 1981: a word that is the same counts 1, one that is other, missing or more takes off a half).
// Words are compared as word errors count them (TextScorer; characters in languages without
// spaces), and are the same where at most one letter in four is another: a recogniser writes what
// is left of an echo with such errors.
//
// `heard` is the machine's own where two thirds of its words, and two at least, are in that run. So
// a word alone never is ("stop", while the machine speaks of stops), and neither is a sentence that
// takes up what was just said but goes on with as much of its own.
[[nodiscard]] OwnWords own_words(std::string_view heard, std::string_view played,
                                 std::string_view language_code = "en");

}  // namespace mynah
