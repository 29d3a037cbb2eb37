// Running heads and feet, and the numbers of pages.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "text/documents/document_words.h"
#include "text/documents/pdf_layout.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Rows at an edge that are looked at.
constexpr size_t kMostRows = 3;
// Letters of a head are at most so much larger than the text's; titles are larger.
constexpr double kMostHeight = 1.2;
// In heights of letters: how exact a place is kept, and how far a head is from the text beyond the
// usual distance of lines.
constexpr double kSamePlace = 0.6;
constexpr double kGap = 0.5;
// Where the lower margin begins, in heights of the page, for numbers that nothing else tells; a
// page that is alone may be a letter with little text.
constexpr double kFoot = 0.88;
constexpr double kFootOfOne = 0.8;

struct PageNumber {
  long value = 0;
  bool roman = false;

  auto operator<=>(const PageNumber&) const = default;
};

std::optional<long> roman_value(std::string_view text) {
  constexpr std::string_view kDigits = "ivxlcdm";
  constexpr std::array<long, 7> kValues = {1, 5, 10, 50, 100, 500, 1000};
  constexpr size_t kMost = 9;
  if (text.empty() || text.size() > kMost) {
    return std::nullopt;
  }
  const bool small = text[0] >= 'a';
  long value = 0;
  long before = 0;
  for (size_t i = text.size(); i-- > 0;) {
    const char c = text[i] >= 'a' ? text[i] : static_cast<char>(text[i] + ('a' - 'A'));
    const size_t at = kDigits.find(c);
    if (at == std::string_view::npos || (text[i] >= 'a') != small) {
      return std::nullopt;
    }
    value += kValues[at] < before ? -kValues[at] : kValues[at];
    before = std::max(before, kValues[at]);
  }
  return value;
}

std::optional<PageNumber> number_of(std::string_view text) {
  constexpr size_t kMostDigits = 4;
  if (!text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, is_ascii_digit)) {
    long value = 0;
    for (const char c : text) {
      value = value * 10 + (c - '0');
    }
    return PageNumber{.value = value};
  }
  if (const auto value = roman_value(text)) {
    return PageNumber{.value = *value, .roman = true};
  }
  return std::nullopt;
}

// A row's words, without marks around numbers: "- 3 -", "[3]", "3 | Page".
std::vector<std::string> words_of(std::string_view text) {
  constexpr std::u32string_view kMarks =
      U"-\u2010\u2011\u2012\u2013\u2014\u2015|\u2022\u00B7\u25CF\u25C6[](){}~*_=.,:;/<>\u2044";
  std::vector<std::string> words(1);
  const std::u32string points = to_code_points(text);
  for (size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i];
    const bool space = c <= U' ' || c == 0xA0;
    if (space || kMarks.contains(c)) {
      if (!words.back().empty()) {
        words.emplace_back();
      }
      if (c == U'/' || c == U'|') {
        words.back() = c == U'/' ? "/" : "|";
        words.emplace_back();
      }
    } else {
      append_utf8(words.back(), c);
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

// What a row at an edge says.
struct Head {
  std::string title;  // without the number
  std::optional<PageNumber> number;
  bool apart = false;  // the number is a line of its own, beside the title or alone
};

// "Page 3 of 12", "3 THE STORM", "THE STORM 3".
Head head_of(std::string_view text) {
  std::vector<std::string> words = words_of(text);
  Head head;
  const auto is_word = [](DocumentWord kind, const std::string& word) {
    return is_document_word(kind, word);
  };
  // "of 12" behind the number says no more.
  const size_t n = words.size();
  if (n >= 3 && is_word(DocumentWord::Of, words[n - 2]) && number_of(words[n - 1]) &&
      number_of(words[n - 3])) {
    words.resize(n - 2);
  }
  std::erase_if(words, [](const std::string& word) { return word == "/" || word == "|"; });
  const auto take = [&](size_t at) {
    head.number = number_of(words[at]);
    if (!head.number) {
      return false;
    }
    words.erase(words.begin() + static_cast<long>(at));
    if (at > 0 && is_word(DocumentWord::Page, words[at - 1])) {
      words.erase(words.begin() + static_cast<long>(at - 1));
    } else if (at < words.size() && words.size() == 1 && is_word(DocumentWord::Page, words[at])) {
      words.erase(words.begin() + static_cast<long>(at));
    }
    return true;
  };
  // "Chapter 3" has no page's number.
  const bool chapter = words.size() == 2 && is_word(DocumentWord::Chapter, words[0]);
  if (!words.empty() && !chapter && !take(words.size() - 1)) {
    take(0);
  }
  for (const std::string& word : words) {
    head.title += (head.title.empty() ? "" : " ") + word;
  }
  return head;
}

// Lines beside each other.
struct Row {
  std::vector<size_t> lines;
  double y0 = 0;
  double y1 = 0;
  double height = 0;
  double gap = 0;  // to the next row towards the middle
  Head head;
  bool out = false;

  [[nodiscard]] double middle() const { return (y0 + y1) / 2; }
};

std::vector<Row> rows_of(const PdfPage& page) {
  std::vector<size_t> order(page.lines.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return page.lines[i].y0; });
  std::vector<Row> rows;
  for (const size_t i : order) {
    const PdfLine& line = page.lines[i];
    const double middle = (line.y0 + line.y1) / 2;
    if (!rows.empty() && middle < rows.back().y1 &&
        line.y1 - line.y0 < 2 * (rows.back().y1 - rows.back().y0) &&
        rows.back().middle() > line.y0) {
      rows.back().lines.push_back(i);
      rows.back().y1 = std::max(rows.back().y1, line.y1);
      rows.back().height = std::max(rows.back().height, line.height);
    } else {
      rows.push_back(
          {.lines = {i}, .y0 = line.y0, .y1 = line.y1, .height = line.height, .head = {}});
    }
  }
  return rows;
}

Head head_of_row(const PdfPage& page, Row& row) {
  std::ranges::sort(row.lines, {}, [&](size_t i) { return page.lines[i].x0; });
  std::string text;
  std::optional<PageNumber> alone;
  for (const size_t i : row.lines) {
    const Head head = head_of(page.lines[i].text);
    if (head.title.empty() && head.number && row.lines.size() > 1 && !alone) {
      alone = head.number;
    } else {
      text += (text.empty() ? "" : " ") + page.lines[i].text;
    }
  }
  if (alone) {
    Head head{.title = {}, .number = alone, .apart = true};
    for (const std::string& word : words_of(text)) {
      head.title += (head.title.empty() ? "" : " ") + word;
    }
    return head;
  }
  Head head = head_of(text);
  head.apart = head.title.empty() && head.number;
  return head;
}

// The pages whose numbers count from the same, by whether they are Roman and what they count from.
using PagesOfNumbers = std::map<std::pair<bool, long>, std::set<size_t>>;

// The rows of one edge, the outermost of each page first.
class Edge {
 public:
  Edge(std::vector<PdfPage>& pages, bool top, double height, double gap)
      : pages_(pages), height_(height), gap_(gap), rows_(pages.size()) {
    for (size_t page = 0; page < pages.size(); ++page) {
      std::vector<Row> rows = rows_of(pages[page]);
      if (!top) {
        std::ranges::reverse(rows);
      }
      for (size_t k = 0; k < rows.size() && k < kMostRows; ++k) {
        Row& row = rows[k];
        const bool last = k + 1 == rows.size();
        row.gap = last ? 1e6 : top ? rows[k + 1].y0 - row.y1 : row.y0 - rows[k + 1].y1;
        row.head = head_of_row(pages[page], row);
        rows_[page].push_back(std::move(row));
      }
    }
  }

  // The numbers that stand apart in the outermost rows.
  [[nodiscard]] PagesOfNumbers numbers() const {
    PagesOfNumbers numbers;
    for (size_t page = 0; page < rows_.size(); ++page) {
      if (!rows_[page].empty()) {
        const Row& row = rows_[page].front();
        if (row.head.apart && row.head.number && is_small(row)) {
          numbers[key_of(page, *row.head.number)].insert(page);
        }
      }
    }
    return numbers;
  }

  // Beginnings of chapters have their numbers at the other edge: `others` are that one's.
  void leave_out(const PagesOfNumbers& others) {
    // A row is looked at when those outside of it are left out.
    for (size_t depth = 0; depth < kMostRows; ++depth) {
      count_numbers(depth, others);
      count_titles(depth);
      find_places(depth);
      for (size_t page = 0; page < rows_.size(); ++page) {
        if (Row* const row = reached(page, depth)) {
          row->out = is_head(page, *row);
        }
      }
    }
    for (size_t page = 0; page < rows_.size(); ++page) {
      for (const Row& row : rows_[page]) {
        for (const size_t line : row.lines) {
          pages_[page].lines[line].left_out = pages_[page].lines[line].left_out || row.out;
        }
      }
    }
  }

 private:
  struct Title {
    size_t count = 0;
    double sum = 0;     // of places
    bool near = false;  // one stood close to the text
    std::set<size_t> pages;
  };

  Row* reached(size_t page, size_t depth) {
    auto& rows = rows_[page];
    if (depth >= rows.size()) {
      return nullptr;
    }
    for (size_t k = 0; k < depth; ++k) {
      if (!rows[k].out) {
        return nullptr;
      }
    }
    return &rows[depth];
  }

  [[nodiscard]] bool is_apart(const Row& row) const { return row.gap > gap_ + kGap * height_; }

  [[nodiscard]] bool is_small(const Row& row) const { return row.height <= kMostHeight * height_; }

  static std::pair<bool, long> key_of(size_t page, PageNumber number) {
    return {number.roman, number.value - static_cast<long>(page)};
  }

  void count_numbers(size_t depth, const PagesOfNumbers& others) {
    numbers_ = others;
    for (size_t page = 0; page < rows_.size(); ++page) {
      const Row* const row = reached(page, depth);
      if (row != nullptr && row->head.number && is_small(*row)) {
        numbers_[key_of(page, *row->head.number)].insert(page);
      }
    }
    number_places_.clear();
    for (size_t page = 0; page < rows_.size(); ++page) {
      const Row* const row = reached(page, depth);
      if (row != nullptr && counts(page, *row)) {
        number_places_.push_back(row->middle());
      }
    }
    std::ranges::sort(number_places_);
  }

  // Whether a row's number counts with the pages.
  [[nodiscard]] bool counts(size_t page, const Row& row) const {
    if (!row.head.number || !is_small(row)) {
      return false;
    }
    const auto found = numbers_.find(key_of(page, *row.head.number));
    return found != numbers_.end() && found->second.size() > 1;
  }

  [[nodiscard]] std::string title_of(size_t page, const Row& row) const {
    if (row.head.number && !counts(page, row)) {
      return std::to_string(row.head.number->value) + " " + row.head.title;
    }
    return row.head.title;
  }

  void count_titles(size_t depth) {
    titles_.clear();
    for (size_t page = 0; page < rows_.size(); ++page) {
      const Row* const row = reached(page, depth);
      if (row == nullptr) {
        continue;
      }
      const std::string title = title_of(page, *row);
      if (!title.empty()) {
        Title& known =
            titles_[{title, std::lround(row->middle() / (2 * kSamePlace * height_ + 1))}];
        ++known.count;
        known.near = known.near || !is_apart(*row);
      }
    }
  }

  // How often a row's title stands at its place; a place at the border of two is of both.
  [[nodiscard]] size_t times(const std::string& title, const Row& row, bool& near) const {
    const long place = std::lround(row.middle() / (2 * kSamePlace * height_ + 1));
    size_t count = 0;
    for (const long at : {place - 1, place, place + 1}) {
      const auto known = titles_.find({title, at});
      if (known != titles_.end()) {
        count += known->second.count;
        near = near || known->second.near;
      }
    }
    return count;
  }

  [[nodiscard]] bool comes_again(size_t page, const Row& row) const {
    const std::string title = title_of(page, row);
    if (title.empty()) {
      return false;
    }
    bool near = false;
    const size_t count = times(title, row, near);
    const size_t all = pages_.size();
    if (!is_small(row)) {
      return count > 2 && count * 2 > all && !near;
    }
    // Heads of left and right pages differ, and chapters' titles change.
    constexpr size_t kFewPages = 12;
    const bool few = count == 2 && all <= kFewPages && !near;
    const bool numbered = count == 2 && counts(page, row) && !near;
    return few || numbered || (count > 2 && (!near || count * 4 > all));
  }

  // Where heads stand: a row at the place of many is one.
  void find_places(size_t depth) {
    places_.clear();
    size_t heads = 0;
    for (size_t page = 0; page < rows_.size(); ++page) {
      const Row* const row = reached(page, depth);
      if (row != nullptr && is_small(*row) && is_apart(*row) && comes_again(page, *row)) {
        ++heads;
        places_.push_back({row->middle(), row->height});
      }
    }
    if (heads < 3 || heads * 5 < pages_.size() * 2) {
      places_.clear();
    }
    std::ranges::sort(places_);
  }

  [[nodiscard]] bool stands_at_heads_place(const Row& row) const {
    const auto near =
        std::ranges::lower_bound(places_, std::pair(row.middle() - kSamePlace * height_ / 2, 0.0));
    return near != places_.end() && near->first <= row.middle() + kSamePlace * height_ / 2 &&
           std::abs(near->second - row.height) < 0.1 * near->second && is_apart(row);
  }

  // A number alone, such as the only Roman one, where others count with the pages.
  [[nodiscard]] bool stands_at_numbers_place(const Row& row) const {
    const double reach = kSamePlace * height_ / 2;
    const auto near = std::ranges::lower_bound(number_places_, row.middle() - reach);
    return number_places_.size() > 2 && near != number_places_.end() &&
           *near <= row.middle() + reach && is_apart(row) && is_small(row);
  }

  [[nodiscard]] bool is_head(size_t page, const Row& row) const {
    if (row.head.title.empty() && row.head.number) {
      // What no other page counts with, as the only page or one behind plates without numbers does.
      const double margin = (pages_.size() == 1 ? kFootOfOne : kFoot) * pages_[page].height;
      const bool foot = !row.head.number->roman && is_apart(row) && row.middle() > margin;
      return counts(page, row) || foot || stands_at_numbers_place(row);
    }
    // "THE HARBOUR          3", of a document too short for the title to come again.
    if (row.head.apart && counts(page, row) && is_apart(row)) {
      return true;
    }
    return comes_again(page, row) || stands_at_heads_place(row);
  }

  std::vector<PdfPage>& pages_;
  double height_;
  double gap_;  // between lines of text
  std::vector<std::vector<Row>> rows_;
  PagesOfNumbers numbers_;
  std::map<std::pair<std::string, long>, Title> titles_;  // by place
  std::vector<double> number_places_;
  std::vector<std::pair<double, double>> places_;  // and heights
};

// The usual gap between rows.
double usual_gap(const std::vector<PdfPage>& pages) {
  std::vector<double> gaps;
  for (const PdfPage& page : pages) {
    const std::vector<Row> rows = rows_of(page);
    for (size_t i = 1; i < rows.size(); ++i) {
      gaps.push_back(std::max(0.0, rows[i].y0 - rows[i - 1].y1));
    }
  }
  if (gaps.empty()) {
    return 0;
  }
  const auto middle = gaps.begin() + static_cast<long>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return *middle;
}

}  // namespace

void leave_out_edges(std::vector<PdfPage>& pages) {
  const double height = text_height(pages);
  const double gap = usual_gap(pages);
  Edge above(pages, true, height, gap);
  Edge below(pages, false, height, gap);
  above.leave_out(below.numbers());
  below.leave_out(above.numbers());
}

}  // namespace mynah
