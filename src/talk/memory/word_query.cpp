#include "talk/memory/word_query.h"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::talk {
namespace {

// As FTS5's unicode61 has them, and marks, which it takes off: none of these needs an escape.
bool is_of_a_word(char32_t code_point) {
  return is_letter(code_point) || is_number(code_point) || is_mark(code_point);
}

}  // namespace

std::vector<std::string> query_words(std::string_view text) {
  text = text.substr(0, kMostQueryBytes);
  std::vector<std::u32string> words;
  std::u32string word;
  const auto end_word = [&] {
    word = to_lower(word);
    if (!word.empty() && words.size() < kMostQueryWords &&
        std::ranges::find(words, word) == words.end()) {
      words.push_back(word);
    }
    word.clear();
  };
  while (!text.empty() && words.size() < kMostQueryWords) {
    const Utf8Step step = next_code_point(text);
    if (step.valid && is_of_a_word(step.code_point)) {
      word += step.code_point;
    } else {
      end_word();
    }
    text.remove_prefix(step.bytes);
  }
  end_word();
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::u32string& one : words) {
    quoted.push_back('"' + to_utf8(one) + '"');
  }
  return quoted;
}

std::string any_of(std::span<const std::string> query_words) {
  return fmt::format("{}", fmt::join(query_words, " OR "));
}

}  // namespace mynah::talk
