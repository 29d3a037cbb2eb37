#include "text/phonemes/english_lexicon.h"

#include <algorithm>
#include <array>

#include "text/phonemes/digits_in_words.h"
#include "text/phonemes/letters.h"
#include "text/phonemes/stretched_words.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A sign that is a word: its name.
constexpr std::array<std::pair<std::u32string_view, std::u32string_view>, 4> kSigns = {
    {{U"%", U"percent"}, {U"&", U"and"}, {U"+", U"plus"}, {U"@", U"at"}}};

// Behind a number: what its words end with.
constexpr std::array<std::u32string_view, 9> kNumberEndings = {U"ing", U"'d", U"ed", U"'s", U"st",
                                                               U"nd",  U"rd", U"th", U"s"};

bool is_sign(std::u32string_view word) {
  return std::ranges::find(kSigns, word, [](const auto& sign) { return sign.first; }) !=
         kSigns.end();
}

bool is_plain_word(std::u32string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](char32_t c) { return c < 0x80 && is_alphabetic(c); });
}

// The lexicons' names for families of tags.
std::string_view family(std::string_view tag) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFamilies = {
      {{"VB", "VERB"},
       {"NN", "NOUN"},
       {"ADV", "ADV"},
       {"RB", "ADV"},
       {"ADJ", "ADJ"},
       {"JJ", "ADJ"}}};
  for (const auto& [begin, name] : kFamilies) {
    if (tag.starts_with(begin)) {
      return name;
    }
  }
  return tag;
}

bool is_ordinal_ending(std::u32string_view ending) {
  return ending == U"st" || ending == U"nd" || ending == U"rd" || ending == U"th";
}

// Digits, commas and dots with at most one ending behind them.
bool is_number(std::u32string_view word, bool begins_word) {
  if (std::ranges::none_of(word, is_ascii_digit)) {
    return false;
  }
  for (const std::u32string_view ending : kNumberEndings) {
    if (word.ends_with(ending)) {
      word.remove_suffix(ending.size());
      break;
    }
  }
  if (begins_word && word.starts_with(U'-')) {
    word.remove_prefix(1);
  }
  return std::ranges::all_of(
      word, [](char32_t c) { return is_ascii_digit(c) || c == U',' || c == U'.'; });
}

// Straight apostrophes, compatibility forms taken apart, ASCII digits.
std::u32string plain_spelling(std::u32string_view text) {
  std::u32string word(text);
  std::ranges::replace_if(word, is_apostrophe, U'\'');
  if (std::ranges::any_of(word, [](char32_t c) { return c >= 0x80; })) {
    word = nfkc(word);
    for (char32_t& c : word) {
      c = U'0' + static_cast<char32_t>(decimal_digit(c).value_or(static_cast<int>(c) - U'0'));
    }
  }
  return word;
}

// Letters and apostrophes alone, and not too many: what a dictionary of names may have.
bool is_name_like(std::u32string_view word) {
  constexpr size_t kLongest = 64;
  return word.size() <= kLongest &&
         std::ranges::all_of(word, [](char32_t c) { return c == U'\'' || is_alphabetic(c); });
}

// Letters between dots, one or two of them at a time: "U.S.", "Ph.D".
bool is_dotted_abbreviation(std::u32string_view word) {
  const size_t begin = word.find_first_not_of(U'.');
  if (begin == std::u32string_view::npos) {
    return false;
  }
  const std::u32string_view inside = word.substr(begin, word.find_last_not_of(U'.') + 1 - begin);
  if (inside.find(U'.') == std::u32string_view::npos) {
    return false;
  }
  size_t run = 0;
  return std::ranges::all_of(word, [&run](char32_t c) {
    run = c == U'.' ? 0 : run + 1;
    return c == U'.' || (is_alphabetic(c) && run < 3);
  });
}

}  // namespace

std::optional<std::u32string> EnglishLexicon::operator()(const LexiconWord& word,
                                                         const WordContext& context) const {
  if (auto own_phonemes = own(word.text)) {
    return own_phonemes;
  }
  const std::u32string spelling = plain_spelling(word.text);
  std::optional<Stress> stress;
  if (!has_no_capitals(spelling)) {
    stress = has_no_small_letters(spelling) ? Stress::Primary : Stress::AtLeastSecondary;
  }
  auto found =
      find_spelling({.word = spelling, .tag = word.tag, .stress = stress, .context = &context});
  if (found) {
    // The "million" of "$5 million".
    if (const auto unit = unit_of_currency(word.currency); !unit.empty()) {
      const auto name = look_up({.word = unit, .tag = {}, .stress = std::nullopt});
      *found += U' ' + inflected(name.value_or(U""), Inflection::S, british_).value_or(U"");
    }
    return found;
  }
  if (!is_number(spelling, word.begins_word)) {
    return std::nullopt;
  }
  return number(spelling, word.currency, word.begins_word);
}

std::optional<std::u32string> EnglishLexicon::own(std::u32string_view word) const {
  if (own_ == nullptr) {
    return std::nullopt;
  }
  const auto found = own_->find(plain_spelling(word));
  return found ? std::optional(std::u32string(*found)) : std::nullopt;
}

EnglishLexicon::Phonemes EnglishLexicon::gold(std::u32string_view word,
                                              std::string_view tag) const {
  const auto found = gold_.find(word);
  const auto reading = found ? found->reading(tag) : std::nullopt;
  return reading ? std::optional(to_code_points(*reading)) : std::nullopt;
}

EnglishLexicon::Phonemes EnglishLexicon::find_spelling(const Query& query) const {
  if (names_ && !gold_.find(query.word)) {
    if (const auto sound = interjection(query.word, british_)) {
      return std::u32string(*sound);
    }
  }
  Phonemes found = find(query);
  if (!found && names_) {
    found = find_stretched(query);
  }
  if (!found && names_) {
    if (const std::u32string plain = without_marks(query.word);
        plain != query.word && query.word.size() > 1) {
      Query unmarked = query;
      unmarked.word = plain;
      found = find(unmarked);
    }
  }
  return found;
}

EnglishLexicon::Phonemes EnglishLexicon::find(const Query& query) const {
  if (auto found = function_word(query)) {
    return found;
  }
  const bool may_be_name = names_ && is_name_like(query.word);
  if (may_be_name) {
    if (auto listed = names_->listed(query.word)) {
      return with_stress(*listed, query.stress);
    }
    if (auto found = possessive(query)) {
      return found;
    }
  }
  Query own = query;
  std::u32string small;
  if (is_word_in_capitals(query)) {
    small = lower(query.word);
    own.word = small;
  }
  // A name before what it might be an ending of; any other word behind its stem: the voice learned
  // how misaki's lexicons have that.
  own.with_names = may_be_name && !has_no_capitals(query.word);
  Phonemes found = find_form(own);
  constexpr size_t kShortestWord = 4;  // the dictionary's "de" and "que" are letters and names
  if (!found && may_be_name && !own.with_names && query.word.size() >= kShortestWord) {
    own.with_names = true;
    found = find_form(own);
  }
  return found;
}

EnglishLexicon::Phonemes EnglishLexicon::find_form(const Query& query) const {
  if (is_known(query)) {
    return look_up(query);
  }
  Query own = query;
  // The possessive of a plural, and a last apostrophe that means nothing.
  for (const std::u32string_view ending : {U"s'", U"'"}) {
    if (query.word.ends_with(ending)) {
      std::u32string stem(query.word.substr(0, query.word.size() - ending.size()));
      stem += ending.size() == 2 ? U"'s" : U"";
      own.word = stem;
      if (is_known(own)) {
        return look_up(own);
      }
    }
  }
  for (const Inflection kind : {Inflection::S, Inflection::Ed, Inflection::Ing}) {
    Query inflected_word = query;
    if (kind == Inflection::Ing && !query.stress) {
      inflected_word.stress = Stress::AtLeastSecondary;
    }
    if (auto found = inflection(inflected_word, kind)) {
      return found;
    }
  }
  return std::nullopt;
}

bool EnglishLexicon::is_word_in_capitals(const Query& query) const {
  const std::u32string_view word = query.word;
  std::u32string letters(word);
  std::erase(letters, U'\'');
  if (word.size() < 2 || !is_alphabetic(letters) || has_no_capitals(word) ||
      (query.tag == "NNP" && word.size() < 8) || gold_.find(word) || silver_.find(word) ||
      (!has_no_small_letters(word) && !has_no_capitals(word.substr(1)))) {
    return false;
  }
  const std::u32string small = lower(word);
  Query own = query;
  own.word = small;
  const auto has_stem = [&](Inflection kind) {
    const auto found = inflection(own, kind);
    return found && !found->empty();
  };
  return gold_.find(small) || silver_.find(small) || has_stem(Inflection::S) ||
         has_stem(Inflection::Ed) || has_stem(Inflection::Ing);
}

EnglishLexicon::Phonemes EnglishLexicon::function_word(const Query& query) const {
  const std::u32string_view word = query.word;
  const std::string_view tag = query.tag;
  const std::optional<bool> vowel = query.context->vowel_follows;
  const auto is_one_of = [word](std::u32string_view a, std::u32string_view b,
                                std::u32string_view c = {}) {
    return word == a || word == b || (!c.empty() && word == c);
  };
  if (tag == "ADD" && is_one_of(U".", U"/")) {
    return look_up({.word = word == U"." ? U"dot" : U"slash",
                    .tag = {},
                    .stress = Stress::Weak,
                    .context = query.context});
  }
  if (is_sign(word)) {
    const auto sign = std::ranges::find(kSigns, word, [](const auto& s) { return s.first; });
    return look_up(
        {.word = sign->second, .tag = {}, .stress = std::nullopt, .context = query.context});
  }
  if (is_dotted_abbreviation(word)) {
    return spelled_out(word);
  }
  if (is_one_of(U"a", U"A")) {
    return tag == "DT" ? U"ɐ" : U"ˈA";
  }
  if (is_one_of(U"am", U"Am", U"AM")) {
    if (names_ && word == U"Am" && tag == "NNP") {
      return with_stress(*gold(U"am"), Stress::Primary);  // "Pan Am"
    }
    if (tag.starts_with("NN")) {
      return spelled_out(word);
    }
    if (!vowel || word != U"am" || query.stress) {
      return gold(U"am");
    }
    return U"ɐm";
  }
  if (is_one_of(U"an", U"An", U"AN")) {
    return word == U"AN" && tag.starts_with("NN") ? spelled_out(word) : U"ɐn";
  }
  if (word == U"I" && tag == "PRP") {
    return U"ˌI";
  }
  if (is_one_of(U"by", U"By", U"BY") && family(tag) == "ADV") {
    return U"bˈI";
  }
  if (is_one_of(U"to", U"To") || (word == U"TO" && (tag == "TO" || tag == "IN"))) {
    return !vowel ? gold(U"to") : Phonemes(*vowel ? U"tʊ" : U"tə");
  }
  if (is_one_of(U"in", U"In") || (word == U"IN" && tag != "NNP")) {
    return !vowel || tag != "IN" ? U"ˈɪn" : U"ɪn";
  }
  if (is_one_of(U"the", U"The") || (word == U"THE" && tag == "DT")) {
    return vowel.value_or(false) ? U"ði" : U"ðə";
  }
  if (tag == "IN" && word.size() < 4 && (lower(word) == U"vs" || lower(word) == U"vs.")) {
    return look_up(
        {.word = U"versus", .tag = {}, .stress = std::nullopt, .context = query.context});
  }
  if (is_one_of(U"used", U"Used", U"USED")) {
    const bool habit = (tag == "VBD" || tag == "JJ") && query.context->to_follows;
    return gold(U"used", habit ? "VBD" : "DEFAULT");
  }
  return std::nullopt;
}

bool EnglishLexicon::is_known(const Query& query) const {
  const std::u32string_view word = query.word;
  if (word.empty()) {
    return false;
  }
  if (own(word) || gold_.find(word) || is_sign(word) || silver_.find(word) || name(query)) {
    return true;
  }
  if (!is_plain_word(word)) {
    return false;
  }
  return word.size() == 1 || has_no_small_letters(word.substr(1));
}

EnglishLexicon::Phonemes EnglishLexicon::look_up(Query query) const {
  if (auto own_phonemes = own(query.word)) {
    return own_phonemes;
  }
  if (auto known = name(query)) {
    return with_stress(*known, query.stress);
  }
  std::u32string small;
  bool is_name = false;
  if (has_no_small_letters(query.word) && !gold_.find(query.word)) {
    small = lower(query.word);
    query.word = small;
    is_name = query.tag == "NNP";
  }
  auto entry = gold_.find(query.word);
  if (!entry && !is_name) {
    entry = silver_.find(query.word);
  }
  Phonemes phonemes;
  if (entry) {
    std::string_view tag = query.tag;
    if (query.context != nullptr && !query.context->vowel_follows && entry->has("None")) {
      tag = "None";
    } else if (!entry->has(tag)) {
      tag = family(tag);
    }
    if (const auto reading = entry->reading(tag)) {
      phonemes = to_code_points(*reading);
    }
  }
  if (!phonemes || (is_name && phonemes->find(kPrimaryStress) == std::u32string::npos)) {
    if (auto letters = spelled_out(query.word)) {
      return letters;
    }
  }
  return phonemes ? Phonemes(with_stress(*phonemes, query.stress)) : std::nullopt;
}

EnglishLexicon::Phonemes EnglishLexicon::inflection(const Query& query, Inflection kind) const {
  for (const std::u32string& stem : stems(query.word, kind)) {
    Query own = query;
    own.word = stem;
    if (!stem.empty() && is_known(own)) {
      const Phonemes phonemes = look_up(own);
      return phonemes ? inflected(*phonemes, kind, british_) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::u32string> EnglishLexicon::spelled_out(std::u32string_view word) const {
  std::u32string names;
  for (const char32_t c : word) {
    if (is_alphabetic(c)) {
      const auto name = gold(upper(std::u32string_view(&c, 1)));
      if (!name) {
        return std::nullopt;
      }
      names += *name;
    }
  }
  names = with_stress(names, Stress::Secondary);
  const size_t last = names.rfind(kSecondaryStress);
  if (last != std::u32string::npos) {
    names[last] = kPrimaryStress;
  }
  return names;
}

std::optional<std::u32string> EnglishLexicon::number(std::u32string_view word, char32_t currency,
                                                     bool begins_word) const {
  const std::u32string spelling = plain_spelling(word);
  const size_t digits = spelling.find_last_not_of(U"abcdefghijklmnopqrstuvwxyz'") + 1;
  const std::u32string ending = spelling.substr(digits);
  std::u32string phonemes;
  for (const NumberWord& part :
       words_of_digits(std::u32string_view(spelling).substr(0, digits), is_ordinal_ending(ending),
                       {.currency = currency, .begins_word = begins_word})) {
    Phonemes said =
        look_up({.word = part.word,
                 .tag = {},
                 .stress = part.form == NumberWord::Form::Unstressed ? std::optional(Stress::None)
                                                                     : std::nullopt,
                 .context = nullptr});
    if (said && part.form == NumberWord::Form::Plural) {
      said = inflected(*said, Inflection::S, british_);
    }
    if (!phonemes.empty()) {
      phonemes += U' ';
    }
    phonemes += said.value_or(U"");
  }
  if (phonemes.empty()) {
    return std::nullopt;
  }
  if (ending == U"s" || ending == U"'s") {
    return inflected(phonemes, Inflection::S, british_);
  }
  if (ending == U"ed" || ending == U"'d") {
    return inflected(phonemes, Inflection::Ed, british_);
  }
  if (ending == U"ing") {
    return inflected(phonemes, Inflection::Ing, british_);
  }
  return phonemes;
}

}  // namespace mynah
