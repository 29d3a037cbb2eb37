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

// By their first words, the longest first.
const std::unordered_map<std::string_view, std::vector<Phrase>>& phrases() {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<Phrase>>();
    for (const auto& [written, row] : table_rows(WordTable::Phrases)) {
      const auto* const end =
          std::ranges::find_if_not(written, [](char c) { return is_ascii_letter(c) || c == '\''; });
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

}  // namespace

// The longest one at `at`, exactly as it is written. The stop that ends the text too is left.
std::optional<Reading> read_phrase(const Tokens& tokens, size_t at, const SpokenOptions&) {
  if (!tokens.is_word(at) || !tokens.begins_word(at)) {
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
  const std::string_view before = text.substr(begin, stop + 1 - begin);
  PhraseStop found = PhraseStop::None;
  for (const auto& [first, all] : phrases()) {
    for (const Phrase& phrase : all) {
      for (size_t at = phrase.written.find('.'); at != std::string_view::npos;
           at = phrase.written.find('.', at + 1)) {
        const std::string_view front = phrase.written.substr(0, at + 1);
        if (!before.ends_with(front) ||
            (before.size() > front.size() && is_word_byte(before[before.size() - at - 2]))) {
          continue;
        }
        const std::string_view rest = phrase.written.substr(at + 1);
        if (rest.starts_with(' ') && !next.empty() && word_at(rest, 1) == next) {
          return PhraseStop::Inside;
        }
        found = rest.empty() ? PhraseStop::Last : found;
      }
    }
  }
  return found;
}

}  // namespace mynah
