#include "text/spoken/languages/language_stops.h"

#include <algorithm>
#include <array>

#include "text/spoken/characters.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/languages/number_scan.h"
#include "text/spoken/languages/number_stops.h"
#include "text/spoken/languages/short_forms.h"
#include "text/spoken/roman.h"
#include "text/spoken/text_around.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What is looked at before a stop: longer than a short form with the words that it goes with.
constexpr size_t kBytesBefore = 40;

// Letters of a word that may be a short form nobody has listed.
constexpr size_t kLongestUnknown = 4;

// Chapters' and centuries' numerals; greater ones may be words.
constexpr unsigned kMostRoman = 89;

char32_t first_of(std::string_view text) {
  return text.empty() ? 0 : next_code_point(text).code_point;
}

class StopJudge {
 public:
  StopJudge(std::string_view language, const LanguageNumbers& numbers, const StopPlace& place)
      : language_(language),
        numbers_(numbers),
        place_(place),
        // No further than what is there in any pieces: a word and a byte behind it.
        text_(place.text.substr(0, place.next + place.next_word.size() + 1)) {
    next_char_ = first_of(text_.substr(std::min(place.next, text_.size())));
    lower_ = is_lower_case(next_char_);
    capital_ = is_capital(next_char_);
    starter_ = numbers.starters.contains(folded(letters_at(text_, place.next)));
  }

  bool goes_on() const {
    if (is_stop_at_number(language_, place_.text, place_.stop, place_.next)) {
      return true;
    }
    if (const auto form = by_short_form()) {
      return *form;
    }
    const std::string_view word = mynah::word_before(text_, place_.stop);
    if (const auto number = by_number()) {
      return *number;
    }
    if (const auto roman = by_roman(word)) {
      return *roman;
    }
    if (const auto initial = by_initial(word)) {
      return *initial;
    }
    return lower_ && !is_informal() && is_short(word);
  }

 private:
  // What a short form that the stop belongs to says; nothing where it belongs to none.
  [[nodiscard]] std::optional<bool> by_short_form() const {
    size_t begin = place_.stop - std::min(place_.stop, kBytesBefore);
    for (; begin < place_.stop; ++begin) {
      const bool inside = (static_cast<unsigned char>(text_[begin]) & 0xC0U) == 0x80U;
      if (inside || !is_border_before(text_, begin)) {
        continue;
      }
      const auto form = short_form_at(language_, text_, begin);
      if (!form || form->end <= place_.stop) {
        continue;
      }
      if (form->cut || form->end > place_.stop + 1) {
        return true;
      }
      switch (form->kind) {
        case ShortFormKind::On:
          return true;
        case ShortFormKind::End:
          return !capital_;
        case ShortFormKind::Starter:
          return !(capital_ && starter_);
        case ShortFormKind::Name:
        case ShortFormKind::Day:
        case ShortFormKind::Number:
          // "В 1945 г. Сталин"
          if (numbers_.year_short.contains(text_.substr(begin, form->end - begin)) && capital_ &&
              is_number_before(text_, 0, begin)) {
            return !starter_;
          }
          if (has_its_neighbours(*form, text_, begin)) {
            return true;
          }
      }
    }
    return std::nullopt;
  }

  // "3. Oktober", "150. rocznica"
  [[nodiscard]] std::optional<bool> by_number() const {
    size_t begin = place_.stop;
    while (begin > 0 && is_ascii_digit(text_[begin - 1])) {
      --begin;
    }
    const size_t digits = place_.stop - begin;
    if (digits == 0 || !is_border_before(text_, begin)) {
      return std::nullopt;
    }
    constexpr size_t kMostOfItem = 3;
    constexpr size_t kMostOfOrdinal = 4;
    if (place_.line_begins && digits <= kMostOfItem) {
      return true;
    }
    if (!numbers_.ordinal_stop || digits > kMostOfOrdinal) {
      return false;
    }
    constexpr size_t kMostOfDay = 2;
    const bool named = numbers_.ordinal_before.contains(folded(mynah::word_before(text_, begin)));
    const bool begins = capital_ && starter_;
    return lower_ || (digits <= kMostOfDay ? named || !begins : named && !begins);
  }

  // "Friedrich II. war", "im XX. Jahrhundert"; at a line's begin a chapter's number.
  [[nodiscard]] std::optional<bool> by_roman(std::string_view word) const {
    const unsigned value = roman_value(word);
    if (value == 0 || value > kMostRoman || word == "C" || word == "L") {
      return std::nullopt;
    }
    if (place_.line_begins && word.size() > 1) {
      return true;
    }
    if (!numbers_.roman_stop) {
      // "Пётр I. Потом": no initial.
      return lower_ || word != "I" ? std::nullopt : std::optional(false);
    }
    const auto begin = static_cast<size_t>(word.data() - text_.data());
    const std::string_view before = mynah::word_before(text_, begin);
    const bool named = is_capital(first_of(before)) || before.empty() ||
                       numbers_.ordinal_before.contains(folded(before));
    return (named || word.size() > 1) && !(capital_ && starter_);
  }

  // "А. С. Пушкин", "D. H. Lawrence", "U. S. A."; "vitamina C. Luego" ends.
  [[nodiscard]] std::optional<bool> by_initial(std::string_view word) const {
    const size_t first = word.empty() ? 0 : next_code_point(word).bytes;
    if (first == 0 || first != word.size()) {
      return std::nullopt;
    }
    const auto begin = static_cast<size_t>(word.data() - text_.data());
    const bool dotted = begin > 1 && text_[begin - 1] == '.';
    if (!is_capital(first_of(word)) && !dotted) {
      return std::nullopt;
    }
    const size_t behind = place_.next + place_.next_word.size();
    const bool initial_next = capital_ && behind < text_.size() && text_[behind] == '.' &&
                              next_code_point(place_.next_word).bytes == place_.next_word.size();
    if (initial_next || lower_) {
      return true;
    }
    if (starter_ || !capital_) {
      return false;
    }
    const size_t gap = begin > 0 && text_[begin - 1] == ' ' ? begin - 1 : begin;
    const bool initial_before = gap > 0 && text_[gap - 1] == '.';
    const std::string_view before = mynah::word_before(text_, begin);
    return dotted || initial_before || place_.line_begins ||
           !numbers_.lettered.contains(folded(before));
  }

  // A text that begins sentences with small letters.
  [[nodiscard]] bool is_informal() const {
    const char32_t first = first_of(text_);
    return is_lower_case(first);
  }

  [[nodiscard]] static bool is_short(std::string_view word) {
    const auto letters = to_code_points(word).size();
    return letters > 0 && letters <= kLongestUnknown;
  }

  std::string_view language_;
  const LanguageNumbers& numbers_;
  const StopPlace& place_;
  std::string_view text_;
  char32_t next_char_ = 0;
  bool lower_ = false;
  bool capital_ = false;
  bool starter_ = false;
};

}  // namespace

bool writes_ordinals_with_stops(std::string_view language) {
  constexpr auto kLanguages =
      std::to_array<std::string_view>({"de", "da", "no", "nb", "nn", "fi", "cs", "sk", "hu", "et",
                                       "lv", "sl", "hr", "sr", "bs", "is", "pl", "tr"});
  return std::ranges::find(kLanguages, language.substr(0, language.find('-'))) != kLanguages.end();
}

std::optional<bool> goes_on_behind(std::string_view language, const StopPlace& place) {
  const LanguageNumbers* const numbers = language_numbers(language);
  return numbers == nullptr ? std::nullopt
                            : std::optional(StopJudge(language, *numbers, place).goes_on());
}

}  // namespace mynah
