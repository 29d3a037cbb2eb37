#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "text/english_numbers.h"
#include "text/english_spellings.h"
#include "text/normalizer_steps.h"
#include "text/text_normalizer.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A phrase and what it becomes, where it ends a word and, if `begins`, begins one too: the
// pattern \bphrase\b, or phrase\b.
struct Replacement {
  std::u32string_view phrase;
  std::u32string_view by;
  bool begins = true;
};

// Hesitations, removed (english.py, ignore_patterns).
constexpr std::array<Replacement, 6> kHesitations = {
    {{U"hmm", U""}, {U"mm", U""}, {U"mhm", U""}, {U"mmm", U""}, {U"uh", U""}, {U"um", U""}}};

// Applied in this order (english.py, replacers).
constexpr std::array<Replacement, 53> kReplacements = {{
    {U"won't", U"will not"},
    {U"can't", U"can not"},
    {U"let's", U"let us"},
    {U"ain't", U"aint"},
    {U"y'all", U"you all"},
    {U"wanna", U"want to"},
    {U"kinda", U"kind of"},
    {U"sorta", U"sort of"},
    {U"dunno", U"do not know"},
    {U"gotta", U"got to"},
    {U"gonna", U"going to"},
    {U"i'ma", U"i am going to"},
    {U"imma", U"i am going to"},
    {U"woulda", U"would have"},
    {U"coulda", U"could have"},
    {U"shoulda", U"should have"},
    {U"cause", U"because"},
    {U"ma'am", U"madam"},
    {U"mr", U"mister "},
    {U"mrs", U"missus "},
    {U"st", U"saint "},
    {U"dr", U"doctor "},
    {U"prof", U"professor "},
    {U"capt", U"captain "},
    {U"gov", U"governor "},
    {U"ald", U"alderman "},
    {U"gen", U"general "},
    {U"sen", U"senator "},
    {U"rep", U"representative "},
    {U"pres", U"president "},
    {U"rev", U"reverend "},
    {U"hon", U"honorable "},
    {U"asst", U"assistant "},
    {U"assoc", U"associate "},
    {U"lt", U"lieutenant "},
    {U"col", U"colonel "},
    {U"jr", U"junior "},
    {U"sr", U"senior "},
    {U"esq", U"esquire "},
    {U"'d been", U" had been", false},
    {U"'s been", U" has been", false},
    {U"'d gone", U" had gone", false},
    {U"'s gone", U" has gone", false},
    {U"'d done", U" had done", false},
    {U"'s got", U" has got", false},
    {U"n't", U" not", false},
    {U"'re", U" are", false},
    {U"'s", U" is", false},
    {U"'d", U" would", false},
    {U"'ll", U" will", false},
    {U"'t", U" not", false},
    {U"'ve", U" have", false},
    {U"'m", U" am", false},
}};

bool stands_as_word(std::u32string_view text, size_t at, const Replacement& replacement) {
  const size_t end = at + replacement.phrase.size();
  return (!replacement.begins || at == 0 || !is_word_character(text[at - 1])) &&
         (end == text.size() || !is_word_character(text[end]));
}

std::u32string replace_all(std::u32string_view text, const Replacement& replacement) {
  std::u32string replaced;
  size_t copied = 0;
  for (size_t at = text.find(replacement.phrase); at != std::u32string_view::npos;
       at = text.find(replacement.phrase, at)) {
    if (!stands_as_word(text, at, replacement)) {
      ++at;
      continue;
    }
    replaced.append(text.substr(copied, at - copied)).append(replacement.by);
    at += replacement.phrase.size();
    copied = at;
  }
  return replaced.append(text.substr(copied));
}

// \s+' becomes '.
std::u32string attach_apostrophes(std::u32string_view text) {
  std::u32string attached;
  size_t spaces = 0;
  for (const char32_t c : text) {
    if (c == U'\'') {
      attached.resize(attached.size() - spaces);
    }
    spaces = is_python_space(c) ? spaces + 1 : 0;
    attached += c;
  }
  return attached;
}

// (\d),(\d) loses its comma. A digit that ended one match cannot begin the next.
std::u32string join_thousands(std::u32string_view text) {
  std::u32string joined;
  size_t free_from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between = text[i] == U',' && i > free_from && i + 1 < text.size() &&
                         decimal_digit(text[i - 1]) && decimal_digit(text[i + 1]);
    if (between) {
      free_from = i + 2;
    } else {
      joined += text[i];
    }
  }
  return joined;
}

// \.([^0-9]|$) becomes a space and the character, which is not looked at again.
std::u32string remove_periods(std::u32string_view text) {
  std::u32string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool at_end = i + 1 == text.size();
    if (text[i] != U'.' || (!at_end && is_ascii_digit(text[i + 1]))) {
      kept += text[i];
      continue;
    }
    kept += U' ';
    if (!at_end) {
      kept += text[++i];
    }
  }
  return kept;
}

// [.$¢€£]([^0-9]) and ([^0-9])%: signs that belong to no number become spaces.
std::u32string remove_stray_signs(std::u32string_view text) {
  constexpr std::u32string_view kSigns = U".$¢€£";
  std::u32string without_leading;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool stray = kSigns.find(text[i]) != std::u32string_view::npos && i + 1 < text.size() &&
                       !is_ascii_digit(text[i + 1]);
    without_leading += stray ? U' ' : text[i];
    if (stray) {
      without_leading += text[++i];
    }
  }
  std::u32string clean;
  for (size_t i = 0; i < without_leading.size(); ++i) {
    clean += without_leading[i];
    if (!is_ascii_digit(without_leading[i]) && i + 1 < without_leading.size() &&
        without_leading[i + 1] == U'%') {
      clean += U' ';
      ++i;
    }
  }
  return clean;
}

class EnglishNormalizer final : public TextNormalizer {
 public:
  EnglishNormalizer() {
    std::string_view table = kAmericanSpellings;
    for (size_t end = table.find(' '); end != std::string_view::npos; end = table.find(' ')) {
      const size_t equals = table.find('=');
      american_.emplace(table.substr(0, equals), table.substr(equals + 1, end - equals - 1));
      table.remove_prefix(end + 1);
    }
  }

  [[nodiscard]] std::string normalize(std::string_view text) const override {
    std::u32string clean = remove_bracketed(to_lower(to_code_points(text)));
    for (const Replacement& hesitation : kHesitations) {
      clean = replace_all(clean, hesitation);
    }
    clean = attach_apostrophes(clean);
    for (const Replacement& replacement : kReplacements) {
      clean = replace_all(clean, replacement);
    }
    clean = remove_periods(join_thousands(clean));
    clean = remove_symbols_and_diacritics(clean, U".%$¢€£");
    clean = spell_american(numbers_.normalize(clean));
    return to_utf8(collapse_spaces(remove_stray_signs(clean)));
  }

 private:
  [[nodiscard]] std::u32string spell_american(std::u32string_view text) const {
    std::string joined;
    for (const std::u32string& word : split_words(text)) {
      const std::string british = to_utf8(word);
      const auto found = american_.find(british);
      joined.append(joined.empty() ? "" : " ");
      joined.append(found == american_.end() ? british : found->second);
    }
    return to_code_points(joined);
  }

  EnglishNumbers numbers_;
  std::unordered_map<std::string_view, std::string_view> american_;
};

}  // namespace

std::unique_ptr<TextNormalizer> english_text_normalizer() {
  return std::make_unique<EnglishNormalizer>();
}

}  // namespace mynah
