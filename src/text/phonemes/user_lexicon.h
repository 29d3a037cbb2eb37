// The user's own words: a text file with a word and its phonemes on each line. Speaking wants the
// phonemes, hearing the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace mynah {

// What a lexicon's phonemes are turned into.
enum class LexiconPhonemes : uint8_t {
  American,  // Kokoro's for American English (alphabet.h); what is neither those nor IPA is refused
  British,   // the same for British English
  AsWritten  // for other phonemizers, which take them as they take GivenPhonemes
};

class UserLexicon {
 public:
  // Lines "word<TAB>phonemes" in UTF-8; phonemes are Kokoro's or IPA. Empty lines, what follows a #
  // at the start of a line and words that stand alone (for hearing) are passed over. A word with
  // capitals is meant as it is written, one without however it is. Errors name the file, the line
  // and what was wanted there.
  static Result<UserLexicon> parse(std::string_view text, std::string_view name,
                                   LexiconPhonemes wanted);
  static Result<UserLexicon> read(const std::string& path, LexiconPhonemes wanted);

  // Phonemes of a word: of the entry that is written so, else of the one in small letters.
  [[nodiscard]] std::optional<std::u32string_view> find(std::string_view word) const;
  [[nodiscard]] std::optional<std::u32string_view> find(std::u32string_view word) const;

  [[nodiscard]] size_t size() const { return words_.size(); }

 private:
  std::unordered_map<std::u32string, std::u32string> words_;
  size_t longest_ = 0;
};

// All words of a lexicon's text, with phonemes or alone, as they are written and in their order.
// Phonemes are not looked at. Errors as those of UserLexicon::parse().
[[nodiscard]] Result<std::vector<std::string>> lexicon_words(std::string_view text,
                                                             std::string_view name);
// Of a file; none of "".
[[nodiscard]] Result<std::vector<std::string>> read_lexicon_words(const std::string& path);

}  // namespace mynah
