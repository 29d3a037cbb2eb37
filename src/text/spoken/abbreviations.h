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

// Whether the word is no abbreviation though its letters are one's: "one more rep.", as titles
// begin with a capital; "He was ill.", as a state has a comma or a hyphen before it. `before`: the
// text before the word.
[[nodiscard]] bool is_other_word(const Abbreviation& abbreviation, std::string_view word,
                                 std::string_view before);

// Whether what follows an abbreviation of the kind BeforeNumber, by its first character and word,
// is what it numbers: "No. 5", "vol. IV", "p. xii", "apt. #5C", "b. 1950"; "No. of items" counts
// them.
[[nodiscard]] bool is_numbered(std::string_view abbreviation, char32_t next,
                               std::string_view next_word);

// Whether a capital may number what the abbreviation stands for: "App. B", "Fig. C".
[[nodiscard]] bool is_letter_numbered(std::string_view abbreviation);

// Whether letters behind a number are a measure cut short ("in", "c", "mos"), so that their stop
// ends nothing before a small letter: "a 5 in. bit". Lower case, without the stop.
[[nodiscard]] bool is_measure(std::string_view lower);

// Whether a letter behind the word is its name, "plan B", and no genus cut short. Lower case.
[[nodiscard]] bool is_lettered(std::string_view lower);

// Whether a capitalised word is one that often begins a sentence ("The", "It", "However"): what
// tells "in the U.S. The law" from "the U.S. Senate". Lower case.
[[nodiscard]] bool is_sentence_starter(std::string_view lower);

}  // namespace mynah
