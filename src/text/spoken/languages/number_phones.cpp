// Telephone numbers and other digits that are no amount.
#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "text/spoken/languages/number_reader.h"

namespace mynah {
namespace {

// More digits that stand together are no amount but a number of something.
constexpr size_t kMostPlainDigits = 15;

// What may stand between "Tel." and its number.
constexpr size_t kBetween = 3;

}  // namespace

// Whether a telephone's number begins at `at`: a word for it stands before, or it is written so
// ("98765-4321").
bool NumberReader::is_phone_at(size_t at) const {
  const std::string_view first = digits_at(text_, at, 5);
  const std::string_view second = digits_at(text_, at + first.size() + 1, 4);
  if (first.size() >= 4 && second.size() == 4 && text_[at + first.size()] == '-' &&
      is_border(text_, at + first.size() + 5) && text_.substr(0, at).ends_with(") ")) {
    return true;
  }
  size_t end = at;
  for (size_t i = 0; i < kBetween && end > 0; ++i) {
    end -= std::string_view(" .:(").find(text_[end - 1]) != std::string_view::npos ? 1 : 0;
  }
  return language_.phone_before.contains(folded(word_before(text_, end)));
}

// A number of something: its digits, in the groups that it is written in. It begins with a zero or
// a plus, or is longer than an amount.
std::optional<SaidNumber> NumberReader::read_digits(size_t at) const {
  const bool plus = text_.substr(at).starts_with("+");
  size_t end = at + (plus ? 1 : 0);
  const std::string_view first = digits_at(text_, end, 64);
  const bool many = first.size() > kMostPlainDigits;
  // "0 800 123 456"
  const bool zero = !first.empty() && first[0] == '0' &&
                    (first.size() > 1 || (end + 2 < text_.size() && text_[end + 1] == ' ' &&
                                          is_ascii_digit(text_[end + 2])));
  const bool phone = is_phone_at(at);
  if (first.empty() || (!plus && !many && !zero && !phone)) {
    return std::nullopt;
  }
  // E.164: a telephone number has at most 15 digits.
  constexpr size_t kFewestOfPhone = 7;
  constexpr size_t kMostOfPhone = 15;
  std::vector<std::string_view> groups = {first};
  size_t total = first.size();
  for (size_t next = end + first.size(); next < text_.size();) {
    // "8 (800) 555"
    const size_t bracket =
        text_.substr(next).starts_with(" (") || text_.substr(next).starts_with(") ") ? 1 : 0;
    next += bracket;
    const std::string_view digits = digits_at(text_, next + 1, kMostOfPhone);
    // "06.12.34.56.78"
    const bool dot =
        language_.phone_pairs && text_[next] == '.' && digits.size() == 2 && first.size() == 2;
    if ((!dot && std::string_view(" -/()").find(text_[next]) == std::string_view::npos) ||
        digits.size() < (plus ? 1U : 2U) || total + digits.size() > kMostOfPhone) {
      break;
    }
    groups.push_back(digits);
    total += digits.size();
    next += digits.size() + 1;
  }
  if (total < kFewestOfPhone) {
    // "+5" is an amount, "007" stands alone.
    groups.resize(1);
    if (plus || (phone && !zero) || first.size() == 1) {
      return std::nullopt;
    }
  }
  end = static_cast<size_t>(groups.back().data() + groups.back().size() - text_.data());
  if (!is_border(text_, end) ||
      (end + 1 < text_.size() && text_[end] == '.' && is_ascii_digit(text_[end + 1]))) {
    return std::nullopt;
  }
  const bool pairs = language_.phone_pairs &&
                     std::ranges::all_of(groups, [](auto group) { return group.size() == 2; });
  std::string words = plus ? sign("+") : "";
  for (const std::string_view group : groups) {
    words += words.empty() || group.data() == first.data() ? "" : ",";
    const bool pair = pairs && group[0] != '0';
    for (size_t i = 0; i < group.size(); i += pair ? 2 : 1) {
      const auto number = scan_number(group.substr(i, pair ? 2 : 1), 0, language_);
      words += " " + (number ? cardinal(*number, "").value_or("") : "");
    }
  }
  words.erase(0, words.starts_with(' ') ? 1 : 0);
  return SaidNumber{end, words};
}

}  // namespace mynah
