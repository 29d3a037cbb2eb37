// Any bytes as a text to be said, by a lexicon of eighty words; with phonemes given for some of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/phonemes/phonemizer.h"
#include "text/phonemes/user_lexicon.h"
#include "text/utf8.h"

namespace mynah {
namespace {

class LetterCounter : public UnknownWords {
 public:
  [[nodiscard]] std::string pronounce(std::string_view word) const override {
    MYNAH_CHECK(!word.empty() && replace_invalid_utf8(word) == word, "asked for no word");
    return word.size() % 2 == 0 ? "ˈA" : "";
  }
};

std::unique_ptr<Phonemizer> make() {
  const std::string folder = std::string(MYNAH_SOURCE_DIR) + "/tests/text/data/small_english";
  auto own = UserLexicon::parse("x-box\tˈɛks\nMynah\tmˈInə\n", "fuzz", LexiconPhonemes::American);
  MYNAH_CHECK(own.has_value(), "the lexicon is whole");
  auto phonemizer =
      english_phonemizer(english_files_in(folder, /*british=*/false), /*british=*/false,
                         std::make_shared<const LetterCounter>(),
                         {.own_words = std::make_shared<const UserLexicon>(std::move(*own))});
  MYNAH_CHECK(phonemizer.has_value(), "the files of tests/text/data/small_english are whole");
  return std::move(*phonemizer);
}

void check(std::string_view text, const std::vector<PhonemeWord>& words) {
  size_t end = 0;
  for (const PhonemeWord& word : words) {
    MYNAH_CHECK(end <= word.begin && word.begin < word.end && word.end <= text.size(),
                "words overlap, are empty or leave the text");
    MYNAH_CHECK(word.text == text.substr(word.begin, word.end - word.begin), "another text");
    MYNAH_CHECK(replace_invalid_utf8(word.phonemes) == word.phonemes, "not UTF-8");
    end = word.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Phonemizer> phonemizer = make();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto words = phonemizer->phonemes(text);
  MYNAH_CHECK(words.has_value(), "a text was refused");
  check(text, *words);
  if (size > 3) {
    const std::vector<GivenPhonemes> given = {
        {.begin = size / 4, .end = size / 2, .phonemes = "ˈO"},
        {.begin = size / 2, .end = size, .phonemes = ""}};
    const auto marked = phonemizer->phonemes(text, given);
    MYNAH_CHECK(marked.has_value(), "ranges of the text were refused");
    check(text, *marked);
  }
  return 0;
}

}  // namespace mynah
