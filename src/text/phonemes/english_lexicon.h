// Words of English to phonemes: two lexicons, what a word's neighbours and its part of speech make
// of it, endings, capitals, letters spelled out. The rules are those of misaki 0.9.4 (en.py,
// Lexicon), by which the text was read that Kokoro-82M learned from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/phonemes/inflections.h"
#include "text/phonemes/name_lexicon.h"
#include "text/phonemes/pronunciations.h"
#include "text/phonemes/stress.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah {

// What comes after a word.
struct WordContext {
  // Whether the next sound is a vowel; none: a pause, or the end.
  std::optional<bool> vowel_follows;
  bool to_follows = false;
};

// A word, or a part of one, as it stands in the text.
struct LexiconWord {
  std::u32string_view text;
  std::string_view tag;  // Penn Treebank
  char32_t currency = U'\0';
  bool begins_word = true;
};

class EnglishLexicon {
 public:
  // `gold` was read by people, `silver` was not; `own` are the user's words, which come before
  // both, and may be null. `names` are for what neither has; without them words are read as misaki
  // reads them.
  EnglishLexicon(Pronunciations gold, Pronunciations silver, std::optional<NameLexicon> names,
                 std::shared_ptr<const UserLexicon> own, bool british)
      : gold_(std::move(gold)),
        silver_(std::move(silver)),
        names_(std::move(names)),
        own_(std::move(own)),
        british_(british) {}

  // The phonemes; none where neither a lexicon nor a rule knows the word. May be empty: said
  // silently.
  [[nodiscard]] std::optional<std::u32string> operator()(const LexiconWord& word,
                                                         const WordContext& context) const;

  // Digits with what may stand among and behind them; none where the word is no number.
  [[nodiscard]] std::optional<std::u32string> number(std::u32string_view word, char32_t currency,
                                                     bool begins_word) const;

  [[nodiscard]] bool has_own() const { return own_ != nullptr; }

  // False where words are read as misaki reads them.
  [[nodiscard]] bool has_names() const { return names_.has_value(); }

  // The user's own phonemes of a word as it stands in the text.
  [[nodiscard]] std::optional<std::u32string> own(std::u32string_view word) const;

  // Of "nothing": as "nothin'" is said; none where it is no such word.
  [[nodiscard]] std::optional<std::u32string> without_g(std::u32string_view ing) const;

  // Whether the word is said otherwise as a verb than as a noun.
  [[nodiscard]] bool depends_on_class(std::u32string_view word) const;

  // The names of the letters, the last one stressed; none where one has no name.
  [[nodiscard]] std::optional<std::u32string> spelled_out(std::u32string_view word) const;

 private:
  using Phonemes = std::optional<std::u32string>;

  struct Query {
    std::u32string_view word;
    std::string_view tag;  // empty: none
    std::optional<Stress> stress;
    const WordContext* context = nullptr;  // null: said for itself
    bool with_names = false;               // whether the dictionary of names is asked, too
  };

  // The word, without the marks on its letters where only that is known.
  [[nodiscard]] Phonemes find_spelling(const Query& query) const;
  [[nodiscard]] Phonemes find(const Query& query) const;
  // Of a word with a capital and 's: as the word without it.
  [[nodiscard]] Phonemes possessive(const Query& query) const;
  // The word that a stretched one is: "Sooo".
  [[nodiscard]] Phonemes find_stretched(const Query& query) const;
  // The word itself, one with an apostrophe, or one with an ending behind it.
  [[nodiscard]] Phonemes find_form(const Query& query) const;
  // Words of which the neighbours decide, or that stand for another: a, the, to, in, vs, %.
  [[nodiscard]] Phonemes function_word(const Query& query) const;
  [[nodiscard]] Phonemes look_up(Query query) const;
  [[nodiscard]] Phonemes inflection(const Query& query, Inflection inflection) const;
  [[nodiscard]] bool is_known(const Query& query) const;
  // Of the list of names and, for a word that neither of misaki's lexicons has, the dictionary.
  [[nodiscard]] Phonemes name(const Query& query) const;
  // Whether a word with capitals is the one of small letters: "HOUSE", "House".
  [[nodiscard]] bool is_word_in_capitals(const Query& query) const;
  [[nodiscard]] Phonemes gold(std::u32string_view word, std::string_view tag = {}) const;

  Pronunciations gold_;
  Pronunciations silver_;
  std::optional<NameLexicon> names_;
  std::shared_ptr<const UserLexicon> own_;
  bool british_;
};

}  // namespace mynah
