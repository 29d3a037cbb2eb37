#include "speech/open_clause.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "base/embedded_file.h"
#include "text/unicode.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(open_words_de, MYNAH_OPEN_WORDS "/de.txt")
MYNAH_EMBEDDED_FILE(open_words_en, MYNAH_OPEN_WORDS "/en.txt")
MYNAH_EMBEDDED_FILE(open_words_es, MYNAH_OPEN_WORDS "/es.txt")
MYNAH_EMBEDDED_FILE(open_words_fr, MYNAH_OPEN_WORDS "/fr.txt")
MYNAH_EMBEDDED_FILE(open_words_it, MYNAH_OPEN_WORDS "/it.txt")
MYNAH_EMBEDDED_FILE(open_words_ja, MYNAH_OPEN_WORDS "/ja.txt")
MYNAH_EMBEDDED_FILE(open_words_ko, MYNAH_OPEN_WORDS "/ko.txt")
MYNAH_EMBEDDED_FILE(open_words_pt, MYNAH_OPEN_WORDS "/pt.txt")
MYNAH_EMBEDDED_FILE(open_words_zh, MYNAH_OPEN_WORDS "/zh.txt")

namespace mynah {
namespace {

struct OpenWords {
  std::string_view language;
  bool spaced = true;  // words have blanks between them
  std::unordered_set<std::u32string> words;
  size_t longest = 0;  // characters
};

OpenWords read_open_words(std::string_view language, bool spaced, std::string_view file) {
  OpenWords words{.language = language, .spaced = spaced, .words = {}};
  while (!file.empty()) {
    const size_t end = std::min(file.find('\n'), file.size());
    const std::string_view line = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    if (!line.empty() && !line.starts_with('#')) {
      const std::u32string word = to_code_points(line);
      words.longest = std::max(words.longest, word.size());
      words.words.insert(word);
    }
  }
  return words;
}

const OpenWords* open_words_of(std::string_view language) {
  static const std::array kWords = {
      read_open_words("de", true, open_words_de()), read_open_words("en", true, open_words_en()),
      read_open_words("es", true, open_words_es()), read_open_words("fr", true, open_words_fr()),
      read_open_words("it", true, open_words_it()), read_open_words("ja", false, open_words_ja()),
      read_open_words("ko", true, open_words_ko()), read_open_words("pt", true, open_words_pt()),
      read_open_words("zh", false, open_words_zh())};
  const std::string_view tag = language.substr(0, language.find_first_of("-_"));
  const auto* const found = std::ranges::find(kWords, tag, &OpenWords::language);
  return found == kWords.end() ? nullptr : found;
}

constexpr std::u32string_view kBlanks = U" \t\r\n\u00a0\u3000";
constexpr std::u32string_view kClosing = U"\"')]}\u201d\u2019\u00bb\u300d\u300f";
constexpr std::u32string_view kPauses = U",;:-\u2013\u2014\u2026\u3001\uff0c\uff1b\uff1a\u060c";
constexpr std::u32string_view kStops = U".\u3002\uff0e\u0964";
constexpr std::u32string_view kCalls = U"?!\uff1f\uff01\u061f";

bool is_in(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

// Cuts what is of `set` from the end.
void trim(std::u32string_view& text, std::u32string_view set) {
  while (!text.empty() && is_in(text.back(), set)) {
    text.remove_suffix(1);
  }
}

// Whether the text ends in one of the words, or two of them, blanks between words being one.
bool ends_open(std::u32string_view text, const OpenWords& words) {
  for (size_t length = 1; length <= std::min(words.longest, text.size()); ++length) {
    const size_t begin = text.size() - length;
    const bool at_word = !words.spaced || begin == 0 || is_in(text[begin - 1], kBlanks);
    if (at_word && words.words.contains(std::u32string(text.substr(begin)))) {
      return true;
    }
  }
  return false;
}

}  // namespace

ClauseState clause_state(std::string_view text, std::string_view language) {
  const std::u32string lower = to_lower(to_code_points(text));
  std::u32string_view said = lower;
  trim(said, kBlanks);
  trim(said, kClosing);
  if (said.empty()) {
    return ClauseState::Unknown;
  }
  constexpr std::u32string_view kEllipsis = U"...";
  if (is_in(said.back(), kPauses) || said.ends_with(kEllipsis)) {
    return ClauseState::Open;
  }
  if (is_in(said.back(), kCalls)) {
    return ClauseState::Whole;
  }
  const bool stopped = is_in(said.back(), kStops);
  trim(said, kStops);
  trim(said, kBlanks);
  const OpenWords* const words = open_words_of(language);
  if (said.empty() || (words != nullptr && ends_open(said, *words))) {
    return said.empty() ? ClauseState::Unknown : ClauseState::Open;
  }
  return stopped ? ClauseState::Whole : ClauseState::Unknown;
}

}  // namespace mynah
