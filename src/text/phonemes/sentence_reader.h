// Gives each part of a sentence its phonemes (misaki 0.9.4, en.py, G2P.__call__ and
// resolve_tokens).
#pragma once

#include <span>
#include <string>

#include "text/phonemes/english_lexicon.h"
#include "text/phonemes/phonemizer.h"
#include "text/phonemes/word_parts.h"

namespace mynah {

class SentenceReader {
 public:
  // `unknown` may be null: what the lexicon does not know is spelled out.
  SentenceReader(const EnglishLexicon& lexicon, const UnknownWords* unknown)
      : lexicon_(lexicon), unknown_(unknown) {}

  // Afterwards every part has phonemes. Time grows with the number of parts alone.
  void read(WordParts& words);

 private:
  void read_one(WordPart& part);
  void read_group(std::span<WordPart> parts);
  // Says all the parts as one word; false where no lexicon knows it.
  bool read_together(std::span<WordPart> parts, bool begins_word);
  // A word that no lexicon has: letters by the network or one by one, digits, signs by their names.
  [[nodiscard]] std::u32string unknown(std::u32string_view text) const;
  [[nodiscard]] std::u32string unknown_letters(std::u32string_view letters) const;
  // What the words before a part that was just read have to know of it.
  void look_back(std::u32string_view phonemes, std::u32string_view text, std::string_view tag);

  const EnglishLexicon& lexicon_;
  const UnknownWords* unknown_;
  WordContext context_;
};

// The phonemes of parts that stand together, in Kokoro's alphabet.
[[nodiscard]] std::u32string said_together(std::span<const WordPart> parts);

}  // namespace mynah
