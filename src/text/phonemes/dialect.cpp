#include "text/phonemes/dialect.h"

#include <algorithm>
#include <unordered_map>

#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(phoneme_dialect, MYNAH_PHONEME_DATA "/dialect.tsv")

namespace mynah {
namespace {

constexpr size_t kLongest = 24;

struct Said {
  std::u32string american;
  std::u32string british;
};

const std::unordered_map<std::u32string, Said>& listed_words() {
  static const std::unordered_map<std::u32string, Said> words = [] {
    std::unordered_map<std::u32string, Said> read;
    for_each_tsv_line<3>(phoneme_dialect(), [&read](const auto& fields) {
      read.emplace(to_code_points(fields[0]), Said{.american = to_code_points(fields[1]),
                                                   .british = to_code_points(fields[2])});
    });
    return read;
  }();
  return words;
}

bool is_part(char32_t c) {
  return is_apostrophe(c) || is_word_letter(c);
}

}  // namespace

std::vector<DialectWord> dialect_words(std::u32string_view text, bool british) {
  std::vector<DialectWord> found;
  for (size_t at = 0; at < text.size();) {
    if (!is_part(text[at])) {
      ++at;
      continue;
    }
    const auto behind = std::ranges::find_if_not(text.substr(at), is_part);
    const size_t end = static_cast<size_t>(behind - text.begin());
    const std::u32string_view run = text.substr(at, end - at);
    if (run.size() <= kLongest && std::ranges::any_of(run, is_apostrophe)) {
      std::u32string word = lower(run);
      std::ranges::replace_if(word, is_apostrophe, U'\'');
      const auto listed = listed_words().find(word);
      if (listed != listed_words().end()) {
        const Said& said = listed->second;
        found.push_back(
            {.begin = at, .end = end, .ing = {}, .listed = british ? said.british : said.american});
      } else if (word.size() > 4 && word.ends_with(U"in'") && !is_apostrophe(word[0])) {
        word.back() = U'g';
        found.push_back({.begin = at, .end = end, .ing = std::move(word), .listed = std::nullopt});
      }
    }
    at = end;
  }
  return found;
}

void repair_apostrophes(std::u32string& text) {
  // Acute and grave accent, prime, modifier letters, a high reversed comma, the fullwidth form.
  constexpr std::u32string_view kMeant = U"\u00B4`\u2032\u02BC\u02B9\u201B\uFF07";
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (kMeant.contains(text[i]) && is_word_letter(text[i - 1]) && is_word_letter(text[i + 1])) {
      text[i] = U'\'';
    }
  }
}

}  // namespace mynah
