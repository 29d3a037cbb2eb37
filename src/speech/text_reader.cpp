#include "speech/text_reader.h"

#include <algorithm>
#include <utility>

#include "speech/languages.h"
#include "speech/written_pauses.h"
#include "text/phonemes/own_words.h"
#include "text/spoken/english_spoken.h"

namespace mynah {
namespace {

// The letter, where the word would be the article (misaki's lexicon has both).
constexpr std::string_view kLetterA = "\u02C8A";

// How pieces of the spoken text are to be said, where it says so itself.
std::vector<GivenPhonemes> given_in(const SpokenText& spoken) {
  std::vector<GivenPhonemes> given;
  for (const SpokenPiece& piece : spoken.pieces) {
    if (!piece.phonemes.empty()) {
      given.push_back({.begin = piece.begin, .end = piece.end, .phonemes = piece.phonemes});
      continue;
    }
    for (size_t at = piece.begin; piece.letters && at < piece.end; ++at) {
      const bool alone = (at == piece.begin || spoken.text[at - 1] == ' ') &&
                         (at + 1 == piece.end || spoken.text[at + 1] == ' ');
      if (spoken.text[at] == 'A' && alone) {
        given.push_back({.begin = at, .end = at + 1, .phonemes = std::string(kLetterA)});
      }
    }
  }
  return given;
}

// The user's own words are said as he has them, whatever is a short form or a number in them; what
// the text marks itself comes before them.
std::vector<TextMark> with_own_words(std::string_view sentence, std::span<const TextMark> marks,
                                     const UserLexicon& lexicon) {
  std::vector<TextMark> all;
  auto next = marks.begin();
  for (GivenPhonemes& own : own_words_in(sentence, lexicon)) {
    while (next != marks.end() && next->begin < own.end) {
      all.push_back(*next++);
    }
    if (all.empty() || all.back().end <= own.begin) {
      all.push_back({.kind = TextMark::Kind::Phonemes,
                     .begin = own.begin,
                     .end = own.end,
                     .value = std::move(own.phonemes),
                     .format = {}});
    }
  }
  all.insert(all.end(), next, marks.end());
  return all;
}

}  // namespace

TextReader::TextReader(std::shared_ptr<const Phonemizer> phonemizer, const std::string& language,
                       const ReadingOptions& options)
    : phonemizer_(std::move(phonemizer)),
      english_(is_english(language)),
      // Open_jtalk reads numbers and signs itself, and spaces around them would be pauses.
      spoken_({.normalize = options.normalize && primary_language(language) != "ja",
               .dialect = is_british(language) ? EnglishDialect::British : EnglishDialect::American,
               .emoji = options.emoji,
               .language = english_ ? std::string() : language}) {}

Result<std::vector<PhonemeWord>> TextReader::read(std::string_view sentence,
                                                  std::span<const TextMark> marks,
                                                  ForeignWords& foreign, bool first_time) const {
  std::vector<TextMark> with_own;
  if (const UserLexicon* const own = phonemizer_->own_words()) {
    with_own = with_own_words(sentence, marks, *own);
    marks = with_own;
  }
  const SpokenText spoken =
      english_ ? spoken_english(sentence, spoken_, marks) : spoken_other(sentence, spoken_, marks);
  const std::vector<GivenPhonemes> given = given_in(spoken);
  MYNAH_TRY(std::vector<PhonemeWord> words, phonemizer_->phonemes(spoken.text, given));
  if (english_) {
    foreign.read(words, given, first_time);
  }
  auto piece = spoken.pieces.begin();
  for (PhonemeWord& word : words) {
    while (piece != spoken.pieces.end() && piece->end <= word.begin) {
      ++piece;
    }
    const auto last = std::find_if(piece, spoken.pieces.end(),
                                   [&word](const SpokenPiece& p) { return p.end >= word.end; });
    // Between two pieces stand spaces alone, which are no words.
    const size_t begin = piece == spoken.pieces.end() ? sentence.size() : piece->source_begin;
    const size_t end = last == spoken.pieces.end() ? sentence.size() : last->source_end;
    word.begin = std::min(begin, end);
    word.end = end;
  }
  add_pauses(sentence, words);
  return words;
}

}  // namespace mynah
