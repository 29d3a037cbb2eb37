#include "talk/turns/short_words.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/text_normalizer.h"

MYNAH_EMBEDDED_FILE(talk_short_words, MYNAH_SHORT_WORDS)

namespace mynah::talk {

namespace {

using WordList = std::vector<std::string>;

struct ShortPhrase {
  WordList words;
  bool stops = false;
};

WordList split_words(std::string_view text) {
  WordList words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      words.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Small letters, and spaces for marks.
WordList plain_words(std::string_view text) {
  static const auto kNormalizer = basic_text_normalizer({.preserve_marks = true});
  return split_words(kNormalizer->normalize(text));
}

// Of each language; "": of all. The longest first, so that "stop it" is found before "stop".
const std::map<std::string, std::vector<ShortPhrase>, std::less<>>& phrases() {
  static const auto kPhrases = [] {
    std::map<std::string, std::vector<ShortPhrase>, std::less<>> all;
    for_each_tsv_line<3>(talk_short_words(), [&](const auto& fields) {
      const ShortPhrase phrase{.words = split_words(fields[2]), .stops = fields[0] == "stop"};
      all[std::string(fields[1])].push_back(phrase);
      all[""].push_back(phrase);
    });
    for (auto& [language, list] : all) {
      std::ranges::sort(
          list, [](const auto& a, const auto& b) { return a.words.size() > b.words.size(); });
    }
    return all;
  }();
  return kPhrases;
}

}  // namespace

SaidOver said_over(std::string_view text, std::string_view language) {
  const WordList words = plain_words(text);
  if (words.empty()) {
    return SaidOver::Nothing;
  }
  const auto own = phrases().find(language);
  const auto& known = own == phrases().end() ? phrases().find("")->second : own->second;
  bool stops = false;
  for (auto at = words.begin(); at != words.end();) {
    const auto phrase = std::ranges::find_if(known, [&](const ShortPhrase& candidate) {
      return static_cast<size_t>(words.end() - at) >= candidate.words.size() &&
             std::equal(candidate.words.begin(), candidate.words.end(), at);
    });
    if (phrase == known.end()) {
      return SaidOver::Words;
    }
    stops |= phrase->stops;
    at += static_cast<ptrdiff_t>(phrase->words.size());
  }
  return stops ? SaidOver::Stop : SaidOver::Listening;
}

bool says_the_same(std::string_view text, std::string_view other) {
  return plain_words(text) == plain_words(other);
}

}  // namespace mynah::talk
