// Which stops end a sentence: those of abbreviations, initials and measures may not.
#include <algorithm>
#include <array>

#include "text/spoken/calendar.h"
#include "text/spoken/characters.h"
#include "text/spoken/languages/language_stops.h"
#include "text/spoken/phrases.h"
#include "text/spoken/roman.h"
#include "text/spoken/scripture.h"
#include "text/spoken/sentence_stop.h"
#include "text/spoken/text_around.h"
#include "text/spoken/word_tables.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What is looked at around a stop is bounded, so that no text takes more than its length in time.
constexpr size_t kRunBytes = 64;  // stops and closing quotes in one run

// Whether the number that the text ends with is a year, or the day behind its month: what follows
// is no unit then. "In 1990 A. Smith left", "On March 3 J. Lee spoke".
bool is_date_number(std::string_view text, std::string_view number) {
  if (!std::ranges::all_of(number, is_ascii_digit)) {
    return false;
  }
  if (number.size() == 4) {
    return number >= "1000" && number < "2100";
  }
  const std::string_view month =
      word_before(text, 0, text.size() - std::min(text.size(), number.size() + 1));
  return number.size() <= 2 && !calendar_name(month).empty();
}

}  // namespace

SentenceSplitter::Stop SentenceSplitter::Stop::at(std::string_view text, size_t begin) {
  Stop stop;
  stop.begin = begin;
  stop.end = begin;
  stop.text = text;
  size_t count = 0;
  bool others = false;
  const auto step_over = [&](auto&& counts) {
    while (stop.end < text.size() && stop.end - begin < kRunBytes) {
      const Utf8Step step = next_code_point(text.substr(stop.end));
      if (!step.valid || !counts(step.code_point)) {
        return;
      }
      stop.end += step.bytes;
    }
    stop.complete = stop.end < text.size() || stop.end - begin >= kRunBytes;
  };
  step_over([&](char32_t c) {
    if (!is_spaced_stop(c) && !is_free_stop(c)) {
      return false;
    }
    ++count;
    stop.free = stop.free || is_free_stop(c);
    others = others || (c != '.' && c != 0x2026);
    stop.dots = stop.dots || c == 0x2026;
    return true;
  });
  stop.single = count == 1 && !others && !stop.dots;
  stop.dots = !others && !stop.single;
  step_over([&](char32_t c) {
    stop.closed = stop.closed || is_closer(c);
    return is_closer(c);
  });
  // A reference to a note, as encyclopedias have it: "so it was.[12] Then".
  if (stop.end < text.size() && text[stop.end] == '[') {
    stop.note_cut = text.size() < stop.end + 6;
    const size_t close = text.substr(0, stop.end + 6).find_first_not_of("0123456789", stop.end + 1);
    if (close != std::string_view::npos && close > stop.end + 1 && text[close] == ']') {
      stop.end = close + 1;
    }
  }
  return stop;
}

// "1 Cor. 13:4"
bool SentenceSplitter::Stop::next_is_verse() const {
  const size_t behind = next + next_word.size();
  return next_is_digit() && next_word.size() < 4 &&
         std::ranges::all_of(next_word, is_ascii_digit) && behind < text.size() &&
         text[behind] == ':';
}

// What goes on behind a direction that follows a number: "12 W. 5th St.", "I-5 N. to Seattle".
bool SentenceSplitter::Stop::next_is_direction_of() const {
  const bool ordinal = next_is_digit() && next_word.size() > 2 && is_ascii_lower(next_word.back());
  return ordinal || is_lower_case(next_char) || (is_capital(next_char) && !next_is_starter());
}

// A stop with white space behind it and something on the same or the next line.
SentenceSplitter::Verdict SentenceSplitter::judge_single_stop(const Stop& stop) const {
  if (std::u32string_view(U",;:-)=&\u2013\u2014").find(stop.next_char) !=
      std::u32string_view::npos) {
    return Verdict::Goes;
  }
  const bool lower = is_lower_case(stop.next_char);
  if (!stop.single) {
    // "Really?" he said. Well... perhaps.
    return lower && (stop.closed || stop.dots) ? Verdict::Goes : Verdict::Ends;
  }
  if (stop.closed && lower) {
    return Verdict::Goes;
  }
  const std::string_view word = last_abbreviated(word_before(stop.text, start_, stop.begin));
  const auto word_begin =
      word.empty() ? stop.begin : static_cast<size_t>(word.data() - stop.text.data());
  const bool line_begins = static_cast<ptrdiff_t>(word_begin) == line_;
  if (const auto goes = goes_on_behind(options_.language, {.text = stop.text.substr(start_),
                                                           .stop = stop.begin - start_,
                                                           .next = stop.next - start_,
                                                           .next_word = stop.next_word,
                                                           .line_begins = line_begins})) {
    return *goes ? Verdict::Goes : Verdict::Ends;
  }
  if (word.empty()) {
    return Verdict::Ends;
  }
  const PhraseStop phrase = phrase_stop(stop.text, start_, stop.begin, stop.next_word);
  if (phrase == PhraseStop::Inside) {
    return Verdict::Goes;
  }
  if (phrase == PhraseStop::Last) {
    return is_capital(stop.next_char) && stop.next_is_starter() ? Verdict::Ends : Verdict::Goes;
  }
  if (std::ranges::all_of(word, is_ascii_digit)) {
    return (line_begins && word.size() <= 3) || (ordinal_stops_ && word.size() <= 2)
               ? Verdict::Goes
               : Verdict::Ends;
  }
  // "II. The End": a chapter's number; greater ones may be words ("MIX").
  constexpr unsigned kMostChapters = 89;
  const unsigned chapter = word.size() > 1 ? roman_value(word) : 0;
  if (line_begins && chapter > 0 && chapter <= kMostChapters) {
    return Verdict::Goes;
  }
  if (word.size() == 1 && is_ascii_upper(word[0])) {
    return judge_initial(stop, word);
  }
  const std::string folded = ascii_lower(word);
  // "$5/mo. and", "See pt. 3"
  const bool below = word_begin > start_ && stop.text[word_begin - 1] == '/' && word.size() < 4;
  if ((lower && below) ||
      ((word == "pt" || word == "col" || word == "ln") && stop.next_is_digit()) ||
      (lower && (word == "Div" || folded == "est"))) {
    return Verdict::Goes;
  }
  // "Djokovic d. Alcaraz"
  const std::string_view winner =
      word_before(stop.text, start_, word_begin - (word_begin > start_ ? 1 : 0));
  if (word == "d" && is_capital(stop.next_char) && winner.size() > 1 && is_title_case(winner) &&
      !stop.next_is_starter()) {
    return Verdict::Goes;
  }
  // "5 ft. 6 in.", "2 lb. 3 oz."
  constexpr auto kLarger =
      std::to_array<std::string_view>({"ft", "lb", "lbs", "hr", "hrs", "yd", "gal", "min", "qt"});
  const bool larger = stop.next_is_digit() && std::ranges::find(kLarger, folded) != kLarger.end() &&
                      is_number_before(stop.text, start_, word_begin);
  // "the 20th-c. writer"
  const std::string_view rest = stop.text.substr(stop.next);
  const bool era = among(WordList{"eras"}, stop.next_word) || rest.starts_with("B.") ||
                   rest.starts_with("A.") || rest.starts_with("C.");
  const bool century = (folded.ends_with("th-c") || folded.ends_with("st-c") || folded == "c") &&
                       (folded != "c" || era);
  // "a 65-in. 4K screen": a measure that describes goes on with a number too.
  const bool hyphened =
      word_begin > start_ && stop.text[word_begin - 1] == '-' && !stop.next_is_starter();
  if (larger || ((lower || era) && century) ||
      ((lower || hyphened) && is_measure_at(stop, folded, word_begin))) {
    return Verdict::Goes;
  }
  if (stop.next_is_verse() &&
      is_short_bible_book(word, is_number_before(stop.text, start_, word_begin))) {
    return Verdict::Goes;
  }
  const bool dotted = word.find('.') != std::string_view::npos;
  const Abbreviation* known = find_abbreviation(folded);
  // "John's. 5 people"
  const bool tail = word_begin > start_ && stop.text[word_begin - 1] == '\'';
  if (known != nullptr && (tail || is_other_word(*known, word, stop.text.substr(0, word_begin)))) {
    known = nullptr;
  }
  // Something short that nobody can say ends no sentence before a small letter.
  const bool sayable = word.size() > 4 || std::ranges::any_of(word, is_vowel_letter) ||
                       !std::ranges::all_of(word, is_ascii_letter);
  if (known == nullptr && !dotted) {
    // "the Cmdt. Lee's": a title or a place that nobody can say.
    const bool title = !sayable && word.size() > 1 && is_title_case(word) &&
                       is_capital(stop.next_char) && !stop.next_is_starter();
    return (lower && !sayable) || title ? Verdict::Goes : Verdict::Ends;
  }
  if (known == nullptr && !are_single_letters(word)) {
    return lower && has_capital_parts(word) ? Verdict::Goes : Verdict::Ends;
  }
  AbbreviationStop kind = AbbreviationStop::AtStarter;
  if (known != nullptr) {
    kind = known->stop;
  } else if (is_ascii_lower(word[0])) {
    kind = AbbreviationStop::AtCapital;
  }
  const bool capital = is_capital(stop.next_char);
  switch (kind) {
    case AbbreviationStop::Never: {
      // "on Elm St. The": a street, not a saint.
      const std::string_view before =
          word_before(stop.text, start_, word_begin - (word_begin > start_ ? 1 : 0));
      const bool name_before = !before.empty() && is_ascii_upper(before[0]);
      return known->spoken.empty() && name_before && !lower && stop.next_is_starter()
                 ? Verdict::Ends
                 : Verdict::Goes;
    }
    case AbbreviationStop::BeforeNumber: {
      // "Mar. sales", "the Jan.-Mar. quarter"
      const bool dated = lower && !calendar_name(word).empty();
      // "My no. is 5"
      const bool number =
          lower && folded == "no" && is_ascii_lower(word[0]) &&
          among(WordList{"before-numbers"},
                ascii_lower(
                    word_before(stop.text, start_, word_begin - (word_begin > start_ ? 1 : 0))));
      // "the 3rd ed. is out"
      const std::string_view earlier =
          word_before(stop.text, start_, word_begin - (word_begin > start_ ? 1 : 0));
      const bool edition =
          (word == "ed" || folded == "fl" || folded == "amend" || folded == "dist" ||
           folded == "div" || folded == "cong" || folded == "bn") &&
          !earlier.empty() && is_ascii_digit(earlier[0]) &&
          !(is_capital(stop.next_char) && stop.next_is_starter());
      return dated || number || edition || is_numbered(folded, stop.next_char, stop.next_word) ||
                     (lower && !sayable)
                 ? Verdict::Goes
                 : Verdict::Ends;
    }
    case AbbreviationStop::AtCapital: {
      // "3 p.m. EST", "9 a.m. Monday", "6 p.m. Tue.-Sat."
      const Abbreviation* const after = find_abbreviation(ascii_lower(stop.next_word.substr(0, 3)));
      const bool day = (after != nullptr && stop.next_word.size() > 5 &&
                        (stop.next_word.ends_with("day") || after->spoken == stop.next_word)) ||
                       (folded.ends_with(".m") && !day_name(stop.next_word).empty());
      return !capital || day || (is_all_capitals(stop.next_word) && !is_all_capitals(word))
                 ? Verdict::Goes
                 : Verdict::Ends;
    }
    case AbbreviationStop::AtStarter:
      return capital && stop.next_is_starter() ? Verdict::Ends : Verdict::Goes;
  }
  return Verdict::Ends;
}

// "5 in. drill", "12-in. pan", "2 c. milk", "100 cu. in. engine": a measure cut short behind a
// number or behind "square" and "cubic".
bool SentenceSplitter::is_measure_at(const Stop& stop, std::string_view folded,
                                     size_t word_begin) const {
  const size_t digits = folded.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || !is_measure(folded.substr(digits))) {
    return false;
  }
  const size_t hyphen = word_begin > start_ && stop.text[word_begin - 1] == '-' ? 1 : 0;
  const size_t gap =
      word_begin > start_ && stop.text[word_begin - 1] == ' ' ? word_begin - 1 : word_begin;
  const std::string_view before = word_before(stop.text, start_, gap);
  return digits > 0 || is_number_before(stop.text, start_, word_begin - hyphen) ||
         before == "cu." || before == "sq." || before == "Sq.";
}

// "J. K. Rowling", "George W. Bush", but "vitamin C. It", "you and I. Then".
SentenceSplitter::Verdict SentenceSplitter::judge_initial(const Stop& stop,
                                                          std::string_view word) const {
  const size_t behind = stop.next + stop.next_word.size();
  const bool initial_next = stop.next_word.size() == 1 && is_capital(stop.next_char) &&
                            behind < stop.text.size() && stop.text[behind] == '.';
  if (initial_next) {
    return Verdict::Goes;
  }
  const auto begin = static_cast<size_t>(word.data() - stop.text.data());
  if (static_cast<ptrdiff_t>(begin) == line_) {
    return Verdict::Goes;  // "A. First" of a list, and an initial that begins the line
  }
  if (std::string_view("NSEW").find(word) != std::string_view::npos &&
      stop.next_is_direction_of() && is_number_before(stop.text, start_, begin)) {
    return Verdict::Goes;
  }
  // "Smith, J. (2019)"
  if (stop.next_is_digit() && stop.next > 0 && stop.text[stop.next - 1] == '(') {
    return Verdict::Goes;
  }
  // "in D minor, K. 466": K\u00F6chel's catalogue.
  const std::string_view earlier_text = trimmed(stop.text.substr(start_, begin - start_));
  if (word == "K" && stop.next_is_digit() &&
      (earlier_text.ends_with(',') || earlier_text.ends_with('(') ||
       earlier_text.ends_with("and"))) {
    return Verdict::Goes;
  }
  // "H.R. 1319 and S. 2226": bills of the Senate.
  const std::string_view front = stop.text.substr(start_, begin - start_);
  constexpr auto kBills = std::to_array<std::string_view>({"H.R.", "bill", "Senate", "Congress"});
  if (word == "S" && stop.next_is_digit() &&
      std::ranges::any_of(kBills, [&](std::string_view bill) { return front.contains(bill); })) {
    return Verdict::Goes;
  }
  // "blew at 10 A. at night"
  if (is_lower_case(stop.next_char) && is_number_before(stop.text, start_, begin)) {
    return Verdict::Goes;
  }
  // "Ave. & E. 61st"
  if (std::string_view("NSEW").find(word) != std::string_view::npos && stop.next_is_digit() &&
      is_ascii_lower(stop.next_word.back())) {
    return Verdict::Goes;
  }
  // "in S. Korea", "5 km N. of it"
  if ((among(WordList{"compass-places"}, stop.next_word) || stop.next_word == "of") &&
      std::string_view("NSEW").find(word) != std::string_view::npos) {
    return Verdict::Goes;
  }
  if (word == "I" || stop.next_is_starter()) {
    return Verdict::Ends;
  }
  size_t end = begin;
  while (end > start_ && is_ascii_space(stop.text[end - 1])) {
    --end;
  }
  const size_t stopped = end > start_ && stop.text[end - 1] == '.' ? end - 1 : end;
  const std::string_view before = word_before(stop.text, start_, stopped);
  if (!is_capital(stop.next_char)) {
    // "See S. aureus": a genus before its species, but "plan B. maybe not".
    const bool species = is_lower_case(stop.next_char) && stop.next_word.size() > 2 &&
                         !is_lettered(ascii_lower(before));
    return species ? Verdict::Goes : Verdict::Ends;
  }
  // "Group B. Then", "from A to Z. Grade"
  const std::string_view earlier =
      word_before(stop.text, start_, stopped - std::min(stopped - start_, before.size() + 1));
  const bool letter = (before != "Class" && is_lettered(ascii_lower(before))) ||
                      (before == "to" && earlier.size() == 1);
  const bool name = !letter && (before.empty() || is_ascii_upper(before[0]) ||
                                among(WordList{"before-initials"}, before) ||
                                is_date_number(stop.text.substr(start_, stopped - start_), before));
  return name ? Verdict::Goes : Verdict::Ends;
}

}  // namespace mynah
