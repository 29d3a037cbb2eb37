#include "text/documents/pdf_words.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "text/documents/document_words.h"
#include "text/documents/drop_capital.h"
#include "text/documents/raised.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A letter that is so much higher than those beside it is a capital that begins a chapter.
constexpr double kCapital = 1.5;
// In heights of the line: what is smaller is a number above or below it, how far such a number
// stands from its word at most, and how much higher its lower edge is where it stands above.
constexpr double kSmall = 0.85;
constexpr double kClose = 0.15;
constexpr double kRaise = 0.12;

template <typename Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// "st" behind the digit of "1st".
bool is_ordinal_ending(std::string_view before, std::string_view text) {
  return !before.empty() && is_ascii_digit(before.back()) && text.size() <= 2 &&
         std::ranges::all_of(text, is_ascii_letter);
}

// What a small word becomes behind a text; "" where it is a word of its own.
std::string attached(std::string_view before, const PdfWord& word, bool above) {
  if (above) {
    if (auto number = raised(word.text)) {
      return std::move(*number);
    }
    const bool symbol = note_label(word.text).kind == NoteLabel::Kind::Symbol;
    return symbol || is_ordinal_ending(before, word.text) ? word.text : std::string();
  }
  const bool formula = !before.empty() && (is_ascii_letter(before.back()) || before.back() == ')');
  return formula && std::ranges::all_of(word.text, is_ascii_digit) ? word.text : std::string();
}

// The hyphen at a line's end, in bytes; 0 where none is.
size_t hyphen_length(std::string_view text) {
  for (const std::string_view hyphen : {"-", "\u2010", "\u00AD"}) {
    if (text.ends_with(hyphen) && text.size() > hyphen.size()) {
      const char before = text[text.size() - hyphen.size() - 1];
      return is_ascii_alnum(before) || static_cast<unsigned char>(before) >= 0x80 ? hyphen.size()
                                                                                  : 0;
    }
  }
  return 0;
}

std::string small_letters(std::string_view text) {
  std::u32string points = to_lower(to_code_points(text));
  while (!points.empty() && points.back() < 0x80 && !is_ascii_letter(points.back())) {
    points.pop_back();
  }
  while (!points.empty() && points.front() < 0x80 && !is_ascii_letter(points.front())) {
    points.erase(0, 1);
  }
  return to_utf8(points);
}

}  // namespace

bool begins_small(std::string_view text) {
  const std::u32string points = to_code_points(text.substr(0, 8));
  return !points.empty() &&
         (is_ascii_lower(points[0]) ||
          (points[0] >= 0xC0 && to_lower(points.substr(0, 1)) == points.substr(0, 1)));
}

void fill_line(PdfLine& line, const std::vector<PdfWord>& words) {
  if (words.empty()) {
    return;
  }
  std::vector<double> heights;
  heights.reserve(words.size());
  for (const PdfWord& word : words) {
    heights.push_back(word.height);
  }
  line.height = median(heights);
  std::vector<double> edges;
  for (const PdfWord& word : words) {
    if (word.height >= kSmall * line.height) {
      edges.push_back(word.y1);
    }
  }
  const double base = median(edges);
  bool below = false;  // the word before is a number below the line
  for (size_t i = 0; i < words.size(); ++i) {
    const PdfWord& word = words[i];
    const bool close = i > 0 && word.x0 - words[i - 1].x1 < kClose * line.height;
    const bool small = word.height < kSmall * line.height;
    const bool above = small && word.y1 < base - kRaise * line.height;
    if (i == 1 && line.text.size() == words[0].text.size() && is_lone_capital(words[0].text) &&
        words[0].height > kCapital * word.height && word.x0 - words[0].x1 < word.height) {
      line.text = join_capital(words[0].text, word.text);
      continue;
    }
    std::string joined = small && close ? attached(line.text, word, above) : std::string();
    if (i == 0 && above) {
      joined = raised(word.text).value_or(std::string());
    }
    if (!joined.empty()) {
      line.text += joined;
      below = !above;
      continue;
    }
    const bool mark = close && !word.text.empty() && !is_ascii_letter(word.text.front()) &&
                      !is_ascii_digit(word.text.front()) &&
                      words[i - 1].height < kSmall * line.height;
    const bool goes_on = line.text.empty() || mark || (below && close);
    line.text += (goes_on ? "" : " ") + word.text;
    below = false;
  }
}

void join_raised(const std::vector<PdfLine>& lines, std::vector<std::vector<PdfWord>>& words) {
  constexpr size_t kMostBytes = 4;
  constexpr size_t kNear = 6;  // lines before and behind it
  for (size_t i = 0; i < lines.size(); ++i) {
    if (words[i].size() != 1 || words[i][0].text.size() > kMostBytes ||
        note_label(words[i][0].text).kind == NoteLabel::Kind::Letters ||
        !note_label(words[i][0].text)) {
      continue;
    }
    const PdfWord number = words[i][0];
    for (size_t k = i < kNear ? 0 : i - kNear; k < std::min(lines.size(), i + kNear + 1); ++k) {
      if (k == i || words[k].empty()) {
        continue;
      }
      const PdfWord& tallest = *std::ranges::max_element(words[k], {}, &PdfWord::height);
      const double height = tallest.height;
      const double lower = tallest.y1;
      const bool above = number.height < kSmall * height && number.y1 < lower - kRaise * height &&
                         number.y1 > lower - height;
      const bool within = number.x0 > lines[k].x0 - 2 * height && number.x0 < lines[k].x1 + height;
      if (above && within) {
        const auto place = std::ranges::find_if(
            words[k], [&](const PdfWord& word) { return word.x0 > number.x0; });
        words[k].insert(place, number);
        words[i].clear();
        break;
      }
    }
  }
}

PdfLineJoiner::PdfLineJoiner(const std::vector<PdfPage>& pages, KnownWord is_word) {
  for (const PdfPage& page : pages) {
    for (const PdfLine& line : page.lines) {
      add(line);
    }
  }
  if (!is_word) {
    return;
  }
  // A dictionary of another language knows names of this one.
  constexpr size_t kEnough = 1000;
  constexpr size_t kShort = 3;
  size_t asked = 0;
  size_t known = 0;
  for (const std::string& word : words_) {
    if (asked < kEnough && word.size() > kShort && !word.contains('-')) {
      ++asked;
      known += is_word(word) ? 1 : 0;
    }
  }
  if (known * 10 >= asked * 6) {
    is_word_ = std::move(is_word);
  }
}

void PdfLineJoiner::add(const PdfLine& line) {
  constexpr size_t kMostWords = 200'000;
  const std::u32string text = to_lower(to_code_points(line.text));
  std::u32string word;
  const auto end_word = [&](bool last) {
    // What a line is cut at is no word.
    const bool whole = !word.empty() && word.back() != U'-' && word.front() != U'-';
    if (whole && words_.size() < kMostWords && !(last && line.text.ends_with('-'))) {
      words_.insert(to_utf8(word));
    }
    word.clear();
  };
  for (const char32_t c : text) {
    const bool letter = is_ascii_lower(c) || (c >= 0xC0 && c < 0x2000) || c == U'-' || c == U'\'';
    if (letter) {
      word += c;
    } else {
      end_word(false);
    }
  }
  end_word(true);
}

bool PdfLineJoiner::is_compound(const std::string& first, const std::string& second) const {
  if (!is_word_ || first.size() < 2 || second.size() < 2 || is_word_(first + second)) {
    return false;
  }
  const size_t hyphen = second.find('-');
  if (hyphen != std::string::npos) {
    return is_word_(first) && is_word_(second.substr(0, hyphen));  // "mother-" "in-law"
  }
  return !is_document_word(DocumentWord::Prefix, first) &&
         !is_document_word(DocumentWord::Ending, second) && is_word_(first) && is_word_(second);
}

bool PdfLineJoiner::keeps_hyphen(std::string_view before, std::string_view behind) const {
  if (!begins_small(behind)) {
    return true;
  }
  const std::string cut(before.substr(before.find_last_of(' ') + 1));
  if (cut.contains('-')) {
    return true;
  }
  const std::string first = small_letters(cut);
  const std::string second = small_letters(behind.substr(0, behind.find(' ')));
  const bool with = has(first + "-" + second);
  const bool without = has(first + second);
  return with != without ? with : is_compound(first, second);
}

void PdfLineJoiner::append(std::string& text, std::string_view line,
                           std::string_view between) const {
  const size_t hyphen = hyphen_length(text);
  if (hyphen == 0) {
    text += between;
  } else {
    const std::string_view before = std::string_view(text).substr(0, text.size() - hyphen);
    const bool soft = text.ends_with("\u00AD");
    if (soft || !keeps_hyphen(before.substr(before.find_last_of('\n') + 1), line)) {
      text.erase(text.size() - hyphen);
    }
  }
  text += line;
}

}  // namespace mynah
