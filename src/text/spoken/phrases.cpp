#include "text/spoken/phrases.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/spoken/text_around.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct Phrase {
  std::string_view written;
  std::string_view spoken;
};

// By their first words or numbers, the longest first.
const std::unordered_map<std::string_view, std::vector<Phrase>>& phrases() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<Phrase>>();
    for (const auto& [written, row] : table_rows(WordTable::Phrases)) {
      const auto* const end = is_ascii_digit(written[0])
                                  ? std::ranges::find_if_not(written, is_ascii_digit)
                                  : std::ranges::find_if_not(written, [](char c) {
                                      return is_ascii_letter(c) || c == '\'';
                                    });
      (*map)[written.substr(0, static_cast<size_t>(end - written.begin()))].push_back(
          {written, row[1]});
    }
    for (auto& [first, all] : *map) {
      std::ranges::sort(all, std::ranges::greater(),
                        [](const Phrase& p) { return p.written.size(); });
    }
    return map;
  }();
  return *table;
}

// What stands before a stop of a phrase, and behind it.
struct Around {
  std::string_view front;
  std::string_view rest;
};

// The letters, digits and apostrophes that a text ends with.
std::string_view last_word(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < kWordBytes &&
         (is_word_byte(text[begin - 1]) || text[begin - 1] == '\'')) {
    --begin;
  }
  return text.substr(begin);
}

// The stops of all phrases, by the words before them.
const std::unordered_map<std::string_view, std::vector<Around>>& stops() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<Around>>();
    for (const auto& [written, row] : table_rows(WordTable::Phrases)) {
      for (size_t at = written.find('.'); at != std::string_view::npos;
           at = written.find('.', at + 1)) {
        const std::string_view front = written.substr(0, at);
        (*map)[last_word(front)].push_back({front, written.substr(at + 1)});
      }
    }
    return map;
  }();
  return *table;
}

}  // namespace

// The longest one at `at`, exactly as it is written. The stop that ends the text too is left.
std::optional<Reading> read_phrase(const Tokens& tokens, size_t at, const SpokenOptions&) {
  if (!tokens.is_value(at) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const auto found = phrases().find(tokens.text(at));
  if (found == phrases().end()) {
    return std::nullopt;
  }
  const size_t begin = tokens.at(at).begin;
  for (const Phrase& phrase : found->second) {
    if (!tokens.source().substr(begin).starts_with(phrase.written)) {
      continue;
    }
    size_t end = at + 1;
    while (!tokens.is_end(end) && tokens.at(end).end < begin + phrase.written.size()) {
      ++end;
    }
    if (tokens.at(end).end != begin + phrase.written.size() || !tokens.ends_word(end + 1)) {
      continue;
    }
    const bool stop = tokens.is(end, ".") && tokens.ends_text(end + 1);
    return Reading{stop ? end : end + 1, with_letter_names(phrase.spoken)};
  }
  return std::nullopt;
}

PhraseStop phrase_stop(std::string_view text, size_t begin, size_t stop, std::string_view next) {
  const std::string_view before = text.substr(begin, stop - begin);
  const auto found = stops().find(last_word(before));
  PhraseStop verdict = PhraseStop::None;
  if (found == stops().end()) {
    return verdict;
  }
  for (const auto& [front, rest] : found->second) {
    if (!before.ends_with(front) ||
        (before.size() > front.size() && is_word_byte(before[before.size() - front.size() - 1]))) {
      continue;
    }
    if (rest.starts_with(' ') && !next.empty() && word_at(rest, 1) == next) {
      return PhraseStop::Inside;
    }
    verdict = rest.empty() ? PhraseStop::Last : verdict;
  }
  return verdict;
}

}  // namespace mynah
