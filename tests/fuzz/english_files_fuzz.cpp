// Any bytes as each of the files that English is read by, and what is read then.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/phonemes/pronunciations.h"
#include "text/phonemes/tagger.h"
#include "text/phonemes/tokenizer.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah {
namespace {

constexpr std::u32string_view kText = U"Can't the dog's a-b (c) 12?";

void use(const EnglishTokenizer& tokenizer) {
  size_t end = 0;
  for (const TextToken& token : tokenizer(kText)) {
    MYNAH_CHECK(token.at >= end && token.length > 0, "tokens overlap or are empty");
    end = token.at + token.length;
  }
  MYNAH_CHECK(end == kText.size(), "the text's end is no token");
}

void use(const Tagger& tagger) {
  const std::vector<std::u32string_view> words = {U"the", U"Dog", U"-b", U"1984", U"?"};
  MYNAH_CHECK(tagger(words).size() == words.size(), "a word has no tag");
}

void use(const Pronunciations& lexicon, std::string_view json) {
  for (const std::u32string_view word : {U"a", U"Dog", U"dog", U""}) {
    if (const auto found = lexicon.find(word)) {
      const auto reading = found->reading("NOUN");
      MYNAH_CHECK(!reading || reading->size() <= json.size(), "phonemes from nowhere");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto tokenizer = EnglishTokenizer::parse(text, "fuzz")) {
    use(*tokenizer);
  }
  if (auto packed = Tagger::pack(text, "fuzz")) {
    const auto tagger = Tagger::open(StringTable::of(*std::move(packed)));
    MYNAH_CHECK(tagger.has_value(), "what was packed cannot be read");
    use(*tagger);
  }
  if (auto packed = Pronunciations::pack(text, "fuzz")) {
    use(Pronunciations(StringTable::of(*std::move(packed))), text);
  }
  if (const auto own = UserLexicon::parse(text, "fuzz", static_cast<LexiconPhonemes>(size % 3))) {
    MYNAH_CHECK(own->size() <= size, "more words than bytes");
    const auto words = lexicon_words(text, "fuzz");
    MYNAH_CHECK(words && words->size() >= own->size(), "all words of a whole lexicon are heard");
  }
  return 0;
}

}  // namespace mynah
