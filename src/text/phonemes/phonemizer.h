// Text to phonemes: what a voice is given to say.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "text/phonemes/string_table.h"

namespace mynah {

// A word, a mark, or several that stand together without a space ("well-known").
struct PhonemeWord {
  std::string text;      // of the input
  std::string phonemes;  // UTF-8 in Kokoro's alphabet (misaki's); empty: nothing is said for it
  bool space_after = false;
  size_t begin = 0;  // bytes of the input
  size_t end = 0;
};

// A range of the input, in bytes, that is said as given: `[word](/phonemes/)` in the user's text.
struct GivenPhonemes {
  size_t begin = 0;
  size_t end = 0;
  std::string phonemes;  // as people write them: Kokoro's or IPA
};

class UserLexicon;

class Phonemizer {
 public:
  virtual ~Phonemizer() = default;

  // The words of a text whose numbers are in words already. Any bytes are text: what is no UTF-8
  // counts as a character that nobody can read, and what no rule can read has empty phonemes.
  // `given` are ranges in order, none into the next; else InvalidInput.
  [[nodiscard]] virtual Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const = 0;

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(std::string_view text) const {
    return phonemes(text, {});
  }

  // The user's words, which are to be left as they are before the text is said in words; null:
  // none.
  [[nodiscard]] virtual const UserLexicon* own_words() const { return nullptr; }
};

// The string that a model is given: the words' phonemes, a space where the text had one.
[[nodiscard]] std::string joined(std::span<const PhonemeWord> words);

// Says words that no lexicon has. Never throws; thread-safe.
class UnknownWords {
 public:
  virtual ~UnknownWords() = default;

  // Phonemes of one word, letters and apostrophes; empty where it knows none of the letters.
  [[nodiscard]] virtual std::string pronounce(std::string_view word) const = 0;
};

// Where the files of English are: lexicons {word: phonemes}, tagger and tokenizer exceptions as the
// hibari-tts wheel has them, as .json or .json.gz.
struct EnglishFiles {
  std::string gold;
  std::string silver;
  std::string tagger;
  std::string tokenizer_exceptions;
  std::string dictionary = {};  // pronouncing_table.h; empty: none, and the network reads names
};

// The files of one accent in a folder with the wheel's names (lexicon_us_gold.json.gz, ...), each
// with or without .gz.
[[nodiscard]] EnglishFiles english_files_in(const std::string& folder, bool british);

// The table of a file, which `pack` makes of it: where tables are kept, that one. It may be called
// from several threads at once.
using TableSource = std::function<Result<StringTable>(const std::string& path,
                                                      FunctionRef<Result<std::string>()> pack)>;

struct EnglishOptions {
  // The user's words (user_lexicon.h), which come before everything else; may be null.
  std::shared_ptr<const UserLexicon> own_words = nullptr;
  // Reads every word as misaki 0.9.4 does, where its lexicons are wrong too: no homographs, names,
  // stretched words or dialect of ours.
  bool as_misaki = false;
  TableSource tables = nullptr;  // null: they are made anew
};

// English, American or British. Without `unknown`, words that no lexicon has are spelled out letter
// by letter. Constant after it was made; any number of threads may use it.
[[nodiscard]] Result<std::unique_ptr<Phonemizer>> english_phonemizer(
    const EnglishFiles& files, bool british, std::shared_ptr<const UnknownWords> unknown,
    const EnglishOptions& options = {});

}  // namespace mynah
