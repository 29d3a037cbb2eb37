// English abbreviations that are written with a full stop: how they are said, and whether the stop
// can end a sentence. One table for the sentence splitter and for the words that are spoken.
#pragma once

#include <string_view>

namespace mynah {

// What a stop behind the abbreviation says about the sentence.
enum class AbbreviationStop {
  Never,         // "Dr.", "e.g.": more of the sentence follows
  BeforeNumber,  // "No. 5", "Fig. 3": an abbreviation only where a number follows
  AtCapital,     // "etc.", "p.m.": it ends one where a capital follows
  AtStarter,     // "U.S.", "Inc.": it ends one where a word follows that begins sentences
};

struct Abbreviation {
  std::string_view written;  // lower case, without the last stop; inner stops stay ("e.g")
  std::string_view spoken;   // empty: it is spelled, or its reading depends on its neighbours
  AbbreviationStop stop = AbbreviationStop::Never;
  // Said like this without its stop too ("Mr Smith", "vs"); else "co" and "fig" are words.
  bool bare = false;
};

// The abbreviation, by its lower-case letters without the last stop; null where there is none.
[[nodiscard]] const Abbreviation* find_abbreviation(std::string_view lower);

// Whether a capitalised word is one that often begins a sentence ("The", "It", "However"): what
// tells "in the U.S. The law" from "the U.S. Senate". Lower case.
[[nodiscard]] bool is_sentence_starter(std::string_view lower);

}  // namespace mynah
