// The text of a transcript as the pieces that subtitles are laid out of, each with its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "speech/transcript.h"

namespace mynah {

// What stands behind a piece of text.
enum class TextEnd : uint8_t { Word, Clause, Sentence };

// Text that no line is broken in: a word, or one character of a script without spaces.
struct CueAtom {
  std::string text = {};    // without spaces at its ends
  bool spaced = false;      // a space stands before it
  bool opens_line = false;  // a line begins with it, where the layout has said so
  bool timed = false;       // its word's time is known; else its share of the segment's
  size_t columns = 0;       // characters, wide ones twice
  int64_t start_ms = 0;     // never before the one ahead of it
  int64_t end_ms = 0;       // not before its start, nor after the next one's
  size_t segment = 0;       // which it is of
  TextEnd ends = TextEnd::Word;
};

// Characters of a text as a reader of subtitles counts them: wide ones (Han, kana, Hangul) twice.
[[nodiscard]] size_t column_count(std::string_view text);

// All text of the segments in its order, nothing left out. A segment whose words do not spell its
// text has its time shared out by length, and so have words that are longer than `width` columns,
// which are cut between letters. Words without a time of their own (they begin together) get shares
// of what there is until the next one.
[[nodiscard]] std::vector<CueAtom> cue_atoms(const std::vector<Segment>& segments, size_t width);

}  // namespace mynah
