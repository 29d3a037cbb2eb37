#include "speech/phoneme_clause.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/utf8.h"

namespace mynah {

PhonemeClause::PhonemeClause(std::span<const PhonemeWord> words, const IdOf& id_of)
    : words_(words.size()) {
  for (size_t i = 0; i < words.size(); ++i) {
    for (const char32_t character : to_code_points(words[i].phonemes)) {
      add(id_of(character), character, i, false);
    }
    if (words[i].space_after && i + 1 < words.size()) {
      add(id_of(U' '), U' ', i, true);
    }
  }
}

void PhonemeClause::add(std::optional<int32_t> id, char32_t character, size_t word, bool space) {
  if (!id) {
    return;
  }
  std::string symbol;
  if (!space) {
    append_utf8(symbol, character);
  }
  ids_.push_back(*id);
  places_.push_back({.word = word, .symbol = std::move(symbol)});
}

ClauseSound PhonemeClause::silence() const {
  ClauseSound sound;
  sound.words.resize(words_);
  return sound;
}

ClauseSound PhonemeClause::sound(std::vector<float> samples, std::span<const int32_t> units,
                                 size_t unit_samples, int32_t early) const {
  MYNAH_CHECK(units.size() == ids_.size() + 2, "a duration for each id and both pauses");
  ClauseSound sound = silence();
  sound.samples = std::move(samples);
  size_t at = static_cast<size_t>(std::max(0, units.front() - early)) * unit_samples;
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t end = at + static_cast<size_t>(units[i + 1]) * unit_samples;
    if (const auto& [word, symbol] = places_[i]; !symbol.empty()) {
      sound.words[word].push_back({.symbol = symbol, .span = {.begin = at, .end = end}});
    }
    at = end;
  }
  return sound;
}

}  // namespace mynah
