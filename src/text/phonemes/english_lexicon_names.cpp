// What EnglishLexicon reads otherwise than misaki: names, possessives, stretched words, -in'.
#include "text/phonemes/english_lexicon.h"
#include "text/phonemes/letters.h"
#include "text/phonemes/stretched_words.h"
#include "text/utf8.h"

namespace mynah {

EnglishLexicon::Phonemes EnglishLexicon::find_stretched(const Query& query) const {
  for (const std::u32string& word : unstretched(query.word)) {
    if (word.size() > 1 && gold_.find(word)) {
      Query shorter = query;
      shorter.word = word;
      return look_up(shorter);
    }
  }
  return std::nullopt;
}

std::optional<std::u32string> EnglishLexicon::without_g(std::u32string_view ing) const {
  if (!names_ || gold_.find(ing.substr(0, ing.size() - 1))) {
    return std::nullopt;
  }
  const WordContext context;
  Phonemes said = find({.word = ing, .tag = "VBG", .stress = std::nullopt, .context = &context});
  if (!said || !said->ends_with(U'ŋ')) {
    return std::nullopt;
  }
  said->back() = U'n';
  return said;
}

bool EnglishLexicon::depends_on_class(std::u32string_view word) const {
  const auto entry = gold_.find(word);
  return entry && (entry->has("VERB") || entry->has("NOUN"));
}

EnglishLexicon::Phonemes EnglishLexicon::possessive(const Query& query) const {
  // Not "It's" and "Who's", which gold has; silver's "Matt's" ends with a z.
  constexpr size_t kEnding = 2;
  if (has_no_capitals(query.word)) {
    return std::nullopt;
  }
  const bool ends = query.word.ends_with(U"'s") || query.word.ends_with(U"'S");
  if (!ends || query.word.size() <= kEnding + 1 || gold_.find(query.word)) {
    return std::nullopt;
  }
  Query stem = query;
  stem.word = query.word.substr(0, query.word.size() - kEnding);
  const Phonemes said = find(stem);
  return said ? inflected(*said, Inflection::S, british_) : std::nullopt;
}

EnglishLexicon::Phonemes EnglishLexicon::name(const Query& query) const {
  // In capitals the shortest are letters: IRA, EVA.
  constexpr size_t kShortestInCapitals = 4;
  if (!names_) {
    return std::nullopt;
  }
  const bool in_capitals = query.word.size() > 1 && has_no_small_letters(query.word);
  if (!query.with_names || gold_.find(query.word) || query.word.size() < 2 ||
      (in_capitals && (query.word.size() < kShortestInCapitals || gold_.find(lower(query.word))))) {
    return std::nullopt;
  }
  if (const auto silver = silver_.find(in_capitals ? lower(query.word) : query.word)) {
    const auto reading = silver->reading(query.tag);
    return reading ? std::optional(to_code_points(*reading)) : std::nullopt;
  }
  return names_->find(query.word);
}

}  // namespace mynah
