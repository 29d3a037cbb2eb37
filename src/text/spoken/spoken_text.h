// Text as it is spoken: words instead of digits, signs and short forms, each with the source it
// came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mynah {

enum class EnglishDialect : uint8_t {
  American,  // 3/1/2024 is March first; "one hundred five"
  British,   // 3/1/2024 is the third of January; "one hundred and five"
};

enum class EmojiReading : uint8_t {
  Names,   // by what Unicode calls them; those without a name are silent
  Silent,  // none is read
};

struct SpokenOptions {
  bool normalize = true;  // false: the text as it is, in the same type
  EnglishDialect dialect = EnglishDialect::American;
  EmojiReading emoji = EmojiReading::Names;
  std::string language;  // of other text than English: its BCP 47 tag; empty: numbers stay digits
};

// What a stretch of the source is to be, whatever the normaliser would make of it.
struct TextMark {
  enum class Kind : uint8_t {
    Phonemes,    // value: IPA
    Substitute,  // value: what is said instead, itself read as text
    SayAs,       // value: SSML's interpret-as, format: its format
  };

  Kind kind = Kind::Phonemes;
  size_t begin = 0;  // bytes of the text that is marked; marks are in order and do not overlap
  size_t end = 0;
  std::string value;
  std::string format;
};

// A stretch of the spoken text and where it came from. Pieces are in order, do not overlap, and
// leave out only spaces; the sources of two neighbours are in order and may be the same ("$5" is
// "five dollars" in one piece, "7 p.m." is "seven" and "P M" of one source).
struct SpokenPiece {
  size_t begin = 0;  // bytes of SpokenText::text
  size_t end = 0;
  size_t source_begin = 0;  // bytes of the source
  size_t source_end = 0;
  bool letters = false;  // single letters to be read by name: "A" is the letter, not the article
  std::string phonemes;  // IPA that a mark asks for; empty: none does
};

struct SpokenText {
  std::string text;
  std::vector<SpokenPiece> pieces;
};

}  // namespace mynah
