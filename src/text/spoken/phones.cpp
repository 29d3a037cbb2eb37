// Telephone numbers and other groups of digits that are read digit by digit: ISBNs, card numbers,
// social security numbers.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

struct Groups {
  size_t end = 0;
  std::vector<std::string_view> digits;
  bool hyphens = false;  // the first separator was a hyphen

  [[nodiscard]] size_t count() const {
    size_t sum = 0;
    for (const std::string_view group : digits) {
      sum += group.size();
    }
    return sum;
  }
};

constexpr size_t kMostGroups = 8;

// One past what separates two groups: "-", ".", a space, ") ", " - "; `at` where nothing does.
size_t behind_separator(const Tokens& tokens, size_t at) {
  size_t end = at;
  if (tokens.is(end, ")")) {
    ++end;
  }
  if (tokens.is(end, "-") || tokens.is(end, ".") || tokens.is_space(end) ||
      tokens.is(end, "\u2013")) {
    ++end;
  }
  if (tokens.is(end, "(")) {
    ++end;
  }
  return end;
}

Groups groups_at(const Tokens& tokens, size_t at) {
  Groups groups{.end = at, .digits = {}, .hyphens = tokens.is(at + 1, "-")};
  size_t next = at;
  while (tokens.is_digits(next, 1, 8) && groups.digits.size() < kMostGroups) {
    groups.digits.push_back(tokens.text(next));
    groups.end = next + 1;
    next = behind_separator(tokens, groups.end);
    if (next == groups.end) {
      break;
    }
  }
  return groups;
}

// "800" of a free number is "eight hundred".
std::string group_words(std::string_view digits, EnglishDialect dialect) {
  const bool hundred = digits.size() == 3 && digits.ends_with("00") && digits[0] != '0';
  return hundred ? cardinal_words(digits, dialect) : digit_words(digits);
}

std::string words_of(const Groups& groups, EnglishDialect dialect) {
  std::string words;
  for (const std::string_view group : groups.digits) {
    words += (words.empty() ? "" : ", ") + group_words(group, dialect);
  }
  return words;
}

bool same_separators(const Tokens& tokens, size_t at, size_t end, std::string_view separator) {
  for (size_t i = at + 1; i < end; i += 2) {
    if (!tokens.is(i, separator)) {
      return false;
    }
  }
  return true;
}

bool sizes_are(const Groups& groups, std::initializer_list<size_t> sizes) {
  return std::ranges::equal(groups.digits, sizes, {}, [](std::string_view d) { return d.size(); });
}

// Shapes that are numbers to be dialled without a word that says so.
bool is_phone_shape(const Tokens& tokens, size_t at, const Groups& groups) {
  const bool bracket = at > 0 && tokens.is(at - 1, "(");
  if (sizes_are(groups, {3, 3, 4}) || sizes_are(groups, {1, 3, 3, 4})) {
    return bracket || same_separators(tokens, at, groups.end, "-") ||
           same_separators(tokens, at, groups.end, ".") || groups.hyphens ||
           same_separators(tokens, at, groups.end, " ");
  }
  if (sizes_are(groups, {3, 4})) {
    return groups.hyphens;
  }
  // "62704-1234", a ZIP code with its four digits more (USPS, publication 28, section 214).
  if (sizes_are(groups, {5, 4})) {
    return groups.hyphens;
  }
  if (sizes_are(groups, {4, 4, 4, 4})) {
    return true;
  }
  // "020 7946 0958", "01632 960 001", "(02) 9876 5432"
  return groups.digits.size() > 1 && groups.digits[0].size() >= 2 && groups.digits[0][0] == '0' &&
         groups.count() >= 9 && groups.count() <= 12;
}

bool is_announced(const Tokens& tokens, size_t at) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"call", "phone", "tel", "fax", "dial", "text", "telephone", "cell", "mobile", "isbn", "issn",
       "number", "contact", "ssn"});
  size_t word = at;
  // "Tel.: 12 34", "ISBN-13: 978"
  for (int skipped = 0; skipped < 4 && word > 0 && !tokens.is_word(word - 1); ++skipped) {
    --word;
  }
  return word > 0 && std::ranges::find(kWords, ascii_lower(tokens.text(word - 1))) != kWords.end();
}

}  // namespace

std::optional<Reading> read_phone(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  // "(555) 123-4567" and "(02) 9876 5432" lose their brackets.
  const bool area = tokens.is_digits(at + 1, 3, 5) ||
                    (tokens.is_digits(at + 1, 2, 2) && tokens.text(at + 1)[0] == '0');
  const bool bracket =
      tokens.is(at, "(") && area && tokens.is(at + 2, ")") && tokens.begins_word(at);
  const bool plus = tokens.is(at, "+") && tokens.is_digits(at + 1, 1, 4) && tokens.begins_word(at);
  const size_t first = bracket || plus ? at + 1 : at;
  if (!tokens.is_digits(first, 1, 8) || (first == at && !tokens.begins_word(at))) {
    return std::nullopt;
  }
  Groups groups = groups_at(tokens, first);
  if (groups.digits.size() < 2 || tokens.is_word(groups.end)) {
    return std::nullopt;
  }
  const size_t count = groups.count();
  const bool international = plus && count >= 8 && count <= 15;
  // Three groups with hyphens are no arithmetic: "123-45-6789".
  const bool serial = groups.hyphens && groups.digits.size() >= 3 && count >= 7 &&
                      same_separators(tokens, first, groups.end, "-");
  const bool announced = is_announced(tokens, first) && count >= 6 && count <= 16;
  if (!international && !serial && !announced && !is_phone_shape(tokens, first, groups)) {
    return std::nullopt;
  }
  // An ISBN's last digit may be X.
  std::string words = (plus ? "plus " : "") + words_of(groups, options.dialect);
  if (tokens.is(groups.end, "-") && tokens.is(groups.end + 1, "X")) {
    return Reading{groups.end + 2, words + ", " + spell("X")};
  }
  return Reading{groups.end, words};
}

}  // namespace mynah
