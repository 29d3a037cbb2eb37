// Words as people speak them keep their apostrophes, which are quotes elsewhere: 'tis, o', nothin'.
#include "text/phonemes/dialect.h"

#include <string>

#include "text/spoken/reading.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool is_part(const Tokens& tokens, size_t at) {
  return tokens.is_word(at) || tokens.is(at, "'");
}

}  // namespace

std::optional<Reading> read_dialect(const Tokens& tokens, size_t at, const SpokenOptions&) {
  constexpr size_t kMostParts = 3;  // "'n'"; apostrophes inside a word are the word's
  if (!is_part(tokens, at) || !is_part(tokens, at + 1) || !tokens.begins_word(at) ||
      (at > 0 && is_part(tokens, at - 1))) {
    return std::nullopt;
  }
  size_t end = at;
  while (end < at + kMostParts && is_part(tokens, end)) {
    ++end;
  }
  const std::u32string word = to_code_points(tokens.text(at, end));
  const auto found = dialect_words(word, false);
  const bool whole = found.size() == 1 && found[0].begin == 0 && found[0].end == word.size();
  return whole && !is_part(tokens, end) && !tokens.is_digits(end)
             ? std::optional(Reading{end, std::string(tokens.text(at, end))})
             : std::nullopt;
}

}  // namespace mynah
