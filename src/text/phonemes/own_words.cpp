#include "text/phonemes/own_words.h"

#include <algorithm>
#include <utility>

#include "text/phonemes/letters.h"
#include "text/phonemes/user_lexicon.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Parts of what stands between two spaces that are looked at together.
constexpr size_t kMostParts = 16;

bool is_in_word(char32_t c) {
  return is_letter(c) || is_mark(c) || is_number(c) || is_apostrophe(c);
}

// Where parts of a text begin: words, and every other character for itself. The text's end is the
// last.
std::vector<size_t> parts_of(std::string_view text) {
  std::vector<size_t> begins;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = next_code_point(text.substr(at));
    const bool word = step.valid && is_in_word(step.code_point);
    if (!word || !in_word) {
      begins.push_back(at);
    }
    in_word = word;
    at += step.bytes;
  }
  begins.push_back(text.size());
  return begins;
}

bool has_space(std::string_view part) {
  const Utf8Step step = next_code_point(part);
  return step.valid && is_white_space(step.code_point);
}

void add_own(std::string_view text, size_t begin, size_t end, const UserLexicon& lexicon,
             std::vector<GivenPhonemes>& all) {
  for (GivenPhonemes& own : own_words_in(text.substr(begin, end - begin), lexicon)) {
    own.begin += begin;
    own.end += begin;
    all.push_back(std::move(own));
  }
}

class OwnWordsFirst final : public Phonemizer {
 public:
  OwnWordsFirst(UserLexicon lexicon, std::shared_ptr<const Phonemizer> rest)
      : lexicon_(std::move(lexicon)), rest_(std::move(rest)) {}

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    std::vector<GivenPhonemes> all;
    size_t at = 0;
    for (const GivenPhonemes& range : given) {
      if (range.begin >= at && range.end <= text.size()) {
        add_own(text, at, range.begin, lexicon_, all);
        at = range.end;
      }
      all.push_back(range);  // one out of order is refused by the other
    }
    add_own(text, at, text.size(), lexicon_, all);
    return rest_->phonemes(text, all);
  }

  [[nodiscard]] const UserLexicon* own_words() const override { return &lexicon_; }

 private:
  UserLexicon lexicon_;
  std::shared_ptr<const Phonemizer> rest_;
};

}  // namespace

std::vector<GivenPhonemes> own_words_in(std::string_view text, const UserLexicon& lexicon) {
  std::vector<GivenPhonemes> found;
  const std::vector<size_t> parts = parts_of(text);
  for (size_t i = 0; i + 1 < parts.size();) {
    size_t last = i;
    while (last + 1 < parts.size() && last - i < kMostParts &&
           !has_space(text.substr(parts[last]))) {
      ++last;
    }
    for (; last > i; --last) {
      const std::string_view word = text.substr(parts[i], parts[last] - parts[i]);
      if (const auto own = lexicon.find(word)) {
        found.push_back({.begin = parts[i], .end = parts[last], .phonemes = to_utf8(*own)});
        break;
      }
    }
    i = std::max(last, i + 1);
  }
  return found;
}

Result<std::shared_ptr<const Phonemizer>> own_words_first(const std::string& path,
                                                          std::shared_ptr<const Phonemizer> rest) {
  if (path.empty()) {
    return rest;
  }
  MYNAH_TRY(UserLexicon lexicon, UserLexicon::read(path, LexiconPhonemes::AsWritten));
  return std::make_shared<const OwnWordsFirst>(std::move(lexicon), std::move(rest));
}

}  // namespace mynah
