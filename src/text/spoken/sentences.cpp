#include "text/spoken/sentences.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/spoken/abbreviations.h"
#include "text/spoken/characters.h"
#include "text/spoken/forgotten_space.h"
#include "text/spoken/languages/number_stops.h"
#include "text/spoken/roman.h"
#include "text/spoken/scripture.h"
#include "text/spoken/text_around.h"
#include "text/spoken/tokens.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What is looked at around a stop is bounded, so that no text takes more than its length in time.
constexpr size_t kRunBytes = 64;  // stops and closing quotes in one run

// A line that was not broken because it was full: a heading, a verse, an address.
constexpr ptrdiff_t kShortLine = 40;

}  // namespace

struct SentenceSplitter::Stop {
  size_t begin = 0;
  size_t end = 0;         // behind the run and its closing quotes and brackets
  bool free = false;      // a stop that needs no space
  bool single = false;    // one "." alone
  bool dots = false;      // an ellipsis
  bool closed = false;    // quotes or brackets close behind it
  bool complete = true;   // the run ends within the text
  bool note_cut = false;  // a note's reference may begin where the text ends
  size_t next = 0;        // the first character of what follows, behind opening quotes
  char32_t next_char = 0;
  std::string_view next_word;
  std::string_view text;  // all that is there

  [[nodiscard]] bool next_is_digit() const { return decimal_digit(next_char).has_value(); }

  [[nodiscard]] bool next_is_starter() const { return is_sentence_starter(ascii_lower(next_word)); }

  [[nodiscard]] bool next_is_verse() const;
  [[nodiscard]] bool next_is_direction_of() const;

  static Stop at(std::string_view text, size_t begin);
};

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

SentenceSplitter::SentenceSplitter(SentenceOptions options)
    : options_(std::move(options)), ordinal_stops_(writes_ordinals_with_stops(options_.language)) {}

std::vector<Sentence> SentenceSplitter::push(std::string_view text) {
  std::vector<Sentence> sentences;
  buffer_ += text;
  scan(sentences);
  forget();
  return sentences;
}

std::vector<Sentence> SentenceSplitter::finish() {
  std::vector<Sentence> sentences;
  final_ = true;
  scan(sentences);
  emit(buffer_.size(), Sentence::Break::Paragraph, sentences);
  *this = SentenceSplitter(std::move(options_));
  return sentences;
}

void SentenceSplitter::scan(std::vector<Sentence>& out) {
  while (at_ < buffer_.size()) {
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    if (!final_ && rest.size() < 4 && incomplete_utf8_tail(rest) == rest.size()) {
      return;
    }
    const size_t begin = at_;
    const Utf8Step step = next_code_point(rest);
    const char32_t c = step.code_point;
    if (at_line_begin_ && !is_white_space(c) && !look_at_line_begin()) {
      return;
    }
    size_t after = at_ + step.bytes;
    if (is_line_break(c)) {
      const Verdict verdict = judge_line_break(after);
      if (!apply(verdict, after, out)) {
        return;
      }
      at_line_begin_ = true;
    } else if (is_spaced_stop(c) || is_free_stop(c)) {
      const Verdict verdict = judge_stop(after);
      if (!apply(verdict, after, out)) {
        return;
      }
    } else {
      at_ = after;
    }
    // White space before a sentence is no part of its length, however it came.
    if (begin == start_ && is_white_space(c)) {
      start_ = at_;
    }
    if (at_ - start_ >= options_.max_bytes) {
      cut(out);
    }
  }
}

// Whether enough of the line is there to see whether it is a list's item.
bool SentenceSplitter::look_at_line_begin() {
  if (!final_ && buffer_.size() - at_ < kMarkBytes) {
    return false;
  }
  line_ = static_cast<ptrdiff_t>(at_);
  line_is_item_ = is_list_mark(std::string_view(buffer_).substr(at_));
  at_line_begin_ = false;
  return true;
}

// False where more text is needed first.
bool SentenceSplitter::apply(Verdict verdict, size_t after, std::vector<Sentence>& out) {
  if (verdict == Verdict::NeedsMore) {
    return false;
  }
  at_ = after;
  if (verdict != Verdict::Goes) {
    emit(after,
         verdict == Verdict::EndsParagraph ? Sentence::Break::Paragraph : Sentence::Break::Sentence,
         out);
  }
  return true;
}

SentenceSplitter::Verdict SentenceSplitter::judge_stop(size_t& after) const {
  const std::string_view text = buffer_;
  Stop stop = Stop::at(text, at_);
  after = stop.end;
  if (!stop.complete || stop.end == text.size()) {
    return final_ ? Verdict::EndsParagraph : Verdict::NeedsMore;
  }
  if (stop.note_cut && !final_) {
    return Verdict::NeedsMore;
  }
  const Gap gap = gap_at(text, stop.end);
  const std::string_view behind = text.substr(gap.end);
  if (!final_ && incomplete_utf8_tail(behind) == behind.size()) {
    return Verdict::NeedsMore;
  }
  if (gap.end == stop.end && !stop.free) {
    switch (forgotten_space(text, start_, {.begin = stop.begin, .end = stop.end}, final_)) {
      case ForgottenSpace::No:
        return Verdict::Goes;
      case ForgottenSpace::Yes:
        return Verdict::Ends;
      case ForgottenSpace::NeedsMore:
        return Verdict::NeedsMore;
    }
  }
  if (gap.paragraph || (final_ && gap.end == text.size())) {
    return Verdict::EndsParagraph;
  }
  if (gap.full) {
    return Verdict::Ends;
  }
  if (!final_ && text.size() - gap.end < kMarkBytes &&
      (gap.line_breaks > 0 || gap.end == text.size())) {
    return Verdict::NeedsMore;
  }
  if (stop.free || (gap.line_breaks > 0 && is_list_mark(text.substr(gap.end)))) {
    return Verdict::Ends;
  }
  stop.next = gap.end;
  Utf8Step next = next_code_point(text.substr(stop.next));
  for (int openers = 0; openers < 4 && next.valid && is_opener(next.code_point); ++openers) {
    stop.next += next.bytes;
    next = next_code_point(text.substr(stop.next));
  }
  stop.next_char = next.code_point;
  stop.next_word = word_at(text, stop.next);
  const size_t ahead = stop.next + stop.next_word.size();
  // One more byte than the word: "J. K." shows its second stop.
  if (!final_ && ahead + 1 >= text.size() && stop.next_word.size() < kWordBytes) {
    return Verdict::NeedsMore;
  }
  return judge_single_stop(stop);
}

// A stop with white space behind it and something on the same or the next line.
SentenceSplitter::Verdict SentenceSplitter::judge_single_stop(const Stop& stop) const {
  if (std::u32string_view(U",;:-)=\u2013\u2014").find(stop.next_char) !=
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
  if (is_stop_at_number(options_.language, stop.text, stop.begin, stop.next)) {
    return Verdict::Goes;
  }
  const std::string_view word = last_abbreviated(word_before(stop.text, start_, stop.begin));
  if (word.empty()) {
    return Verdict::Ends;
  }
  const auto word_begin = static_cast<size_t>(word.data() - stop.text.data());
  if (std::ranges::all_of(word, is_ascii_digit)) {
    const bool item = static_cast<ptrdiff_t>(word_begin) == line_ && word.size() <= 3;
    return item || (ordinal_stops_ && word.size() <= 2) ? Verdict::Goes : Verdict::Ends;
  }
  // "II. The End": a chapter's number; greater ones may be words ("MIX").
  constexpr unsigned kMostChapters = 89;
  const unsigned chapter = word.size() > 1 ? roman_value(word) : 0;
  if (static_cast<ptrdiff_t>(word_begin) == line_ && chapter > 0 && chapter <= kMostChapters) {
    return Verdict::Goes;
  }
  if (word.size() == 1 && is_ascii_upper(word[0])) {
    return judge_initial(stop, word);
  }
  const std::string folded = ascii_lower(word);
  // "5 ft. 6 in.", "2 lb. 3 oz."
  constexpr auto kLarger =
      std::to_array<std::string_view>({"ft", "lb", "lbs", "hr", "hrs", "yd", "gal", "min"});
  const bool larger = stop.next_is_digit() && std::ranges::find(kLarger, folded) != kLarger.end() &&
                      is_number_before(stop.text, start_, word_begin);
  if (larger || (lower && is_measure_at(stop, folded, word_begin))) {
    return Verdict::Goes;
  }
  if (stop.next_is_verse() &&
      is_short_bible_book(word, is_number_before(stop.text, start_, word_begin))) {
    return Verdict::Goes;
  }
  const bool dotted = word.find('.') != std::string_view::npos;
  const Abbreviation* known = find_abbreviation(folded);
  if (known != nullptr && is_other_word(*known, word, stop.text.substr(0, word_begin))) {
    known = nullptr;
  }
  // Something short that nobody can say ends no sentence before a small letter.
  const bool sayable = word.size() > 4 || std::ranges::any_of(word, is_vowel_letter) ||
                       !std::ranges::all_of(word, is_ascii_letter);
  if (known == nullptr && !dotted) {
    return lower && !sayable ? Verdict::Goes : Verdict::Ends;
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
    case AbbreviationStop::BeforeNumber:
      return is_numbered(folded, stop.next_char, stop.next_word) || (lower && !sayable)
                 ? Verdict::Goes
                 : Verdict::Ends;
    case AbbreviationStop::AtCapital: {
      // "3 p.m. EST", "9 a.m. Monday".
      const Abbreviation* const after = find_abbreviation(ascii_lower(stop.next_word.substr(0, 3)));
      const bool day = after != nullptr && stop.next_word.size() > 5 &&
                       (stop.next_word.ends_with("day") || after->spoken == stop.next_word);
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
  constexpr auto kBeforeNames = std::to_array<std::string_view>(
      {"by", "with", "and", "of", "to", "from", "for", "as", "or", "the"});
  const bool name = before.empty() || is_ascii_upper(before[0]) ||
                    std::ranges::find(kBeforeNames, before) != kBeforeNames.end();
  return name ? Verdict::Goes : Verdict::Ends;
}

SentenceSplitter::Verdict SentenceSplitter::judge_line_break(size_t& after) const {
  const std::string_view text = buffer_;
  const Gap gap = gap_at(text, at_);
  if (gap.paragraph) {
    after = gap.end;
    return Verdict::EndsParagraph;
  }
  if (!final_ && !gap.full && text.size() - gap.end < kMarkBytes) {
    return Verdict::NeedsMore;
  }
  if (gap.end == text.size()) {
    return Verdict::EndsParagraph;
  }
  if (gap.full || is_list_mark(text.substr(gap.end))) {
    return Verdict::Ends;
  }
  const Utf8Step next = next_code_point(text.substr(gap.end));
  const bool begins = is_capital(next.code_point) || is_opener(next.code_point) ||
                      decimal_digit(next.code_point).has_value();
  if (!begins) {
    return Verdict::Goes;
  }
  if (line_is_item_) {
    return Verdict::Ends;
  }
  size_t last = at_;
  while (last > start_ && is_ascii_space(text[last - 1])) {
    --last;
  }
  const char before = last > start_ ? text[last - 1] : ' ';
  if (before == ':') {
    return Verdict::Ends;
  }
  // A full line goes on, and so does one that ends in a comma or an abbreviation.
  const bool goes_on = std::string_view(",;-.&").find(before) != std::string_view::npos ||
                       static_cast<ptrdiff_t>(at_) - line_ >= kShortLine;
  return goes_on ? Verdict::Goes : Verdict::Ends;
}

void SentenceSplitter::emit(size_t end, Sentence::Break after, std::vector<Sentence>& out) {
  const size_t last = gap_before(buffer_, start_, end);
  const size_t first = gap_at(buffer_, start_).end;
  if (first < last) {
    out.push_back({.text = buffer_.substr(first, last - first),
                   .begin = base_ + first,
                   .end = base_ + last,
                   .after = after});
  }
  start_ = end;
  at_ = std::max(at_, end);
}

// The sentence is too long: it ends behind the last comma of its second half, else at the last
// space, else before the character that is next.
void SentenceSplitter::cut(std::vector<Sentence>& out) {
  const size_t half = start_ + options_.max_bytes / 2;
  size_t space = 0;
  size_t clause = 0;
  for (size_t i = at_; i > half; --i) {
    if (!is_ascii_space(buffer_[i - 1])) {
      continue;
    }
    space = std::max(space, i);
    if (std::string_view(",;:").find(buffer_[i - 2]) != std::string_view::npos) {
      clause = i;
      break;
    }
  }
  size_t end = at_;
  if (clause > 0 || space > 0) {
    end = clause > 0 ? clause : space;
  }
  const size_t looked = at_;
  emit(end, Sentence::Break::Sentence, out);
  at_ = looked;
}

void SentenceSplitter::forget() {
  if (start_ * 2 <= buffer_.size() && start_ < 4096) {
    return;
  }
  buffer_.erase(0, start_);
  base_ += start_;
  at_ -= start_;
  line_ -= static_cast<ptrdiff_t>(start_);
  start_ = 0;
}

std::vector<Sentence> split_sentences(std::string_view text, const SentenceOptions& options) {
  SentenceSplitter splitter(options);
  std::vector<Sentence> sentences = splitter.push(text);
  std::vector<Sentence> rest = splitter.finish();
  sentences.insert(sentences.end(), std::make_move_iterator(rest.begin()),
                   std::make_move_iterator(rest.end()));
  return sentences;
}

}  // namespace mynah
