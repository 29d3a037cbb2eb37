#include "text/grammar/digit_ranges.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace mynah::grammar {
namespace {

constexpr int kDigitsOfUint64 = 20;

uint64_t power(uint64_t base, int exponent) {
  uint64_t result = 1;
  for (int i = 0; i < exponent; ++i) {
    result *= base;
  }
  return result;
}

ExprId digit(Grammar& grammar, uint64_t first, uint64_t last) {
  std::vector<CodePointRange> ranges;
  const auto add = [&](uint64_t low, uint64_t high, uint64_t zero, char32_t character) {
    const uint64_t from = std::max(first, low);
    const uint64_t to = std::min(last, high);
    if (from <= to) {
      ranges.push_back({character + static_cast<char32_t>(from - zero),
                        character + static_cast<char32_t>(to - zero)});
    }
  };
  add(0, 9, 0, U'0');
  add(10, 15, 10, U'a');
  add(10, 15, 10, U'A');
  return grammar.characters(CodePoints(ranges));
}

int length_of(uint64_t number) {
  int length = 1;
  for (; number >= 10; number /= 10) {
    ++length;
  }
  return length;
}

}  // namespace

// Splits off the first digit: those whose rest is free, and the first and last one's rest.
ExprId digit_range(Grammar& grammar, uint64_t first, uint64_t last, Digits digits) {
  if (digits.count == 0) {
    return grammar.literal("");
  }
  const Digits rest = {digits.base, digits.count - 1};
  const uint64_t unit = power(digits.base, rest.count);
  const uint64_t low = first / unit;
  const uint64_t high = last / unit;
  const auto with_rest = [&](uint64_t one, uint64_t from, uint64_t to) {
    return grammar.sequence(
        std::vector{digit(grammar, one, one), digit_range(grammar, from, to, rest)});
  };
  if (low == high) {
    return with_rest(low, first % unit, last % unit);
  }
  std::vector<ExprId> parts;
  const bool is_first_free = first % unit == 0;
  const bool is_last_free = last % unit == unit - 1;
  if (!is_first_free) {
    parts.push_back(with_rest(low, first % unit, unit - 1));
  }
  if (const uint64_t from = low + (is_first_free ? 0 : 1), to = high - (is_last_free ? 0 : 1);
      from <= to) {
    const ExprId any = digit(grammar, 0, digits.base - 1);
    parts.push_back(grammar.sequence(
        std::vector{digit(grammar, from, to), grammar.repeat(any, rest.count, rest.count)}));
  }
  if (!is_last_free) {
    parts.push_back(with_rest(high, 0, last % unit));
  }
  return grammar.choice(parts);
}

ExprId decimal_range(Grammar& grammar, uint64_t first, uint64_t last) {
  std::vector<ExprId> parts;
  for (int length = length_of(first); length <= length_of(last); ++length) {
    const uint64_t least = length == 1 ? 0 : power(10, length - 1);
    const uint64_t most =
        length == kDigitsOfUint64 ? std::numeric_limits<uint64_t>::max() : power(10, length) - 1;
    parts.push_back(digit_range(grammar, std::max(first, least), std::min(last, most),
                                {.base = 10, .count = length}));
  }
  return grammar.choice(parts);
}

ExprId decimals_from(Grammar& grammar, uint64_t first, int most) {
  const int length = length_of(first);
  const uint64_t last =
      length == kDigitsOfUint64 ? std::numeric_limits<uint64_t>::max() : power(10, length) - 1;
  std::vector<ExprId> parts = {decimal_range(grammar, first, last)};
  if (length < most) {
    parts.push_back(grammar.sequence(
        std::vector{digit(grammar, 1, 9), grammar.repeat(digit(grammar, 0, 9), length, most - 1)}));
  }
  return grammar.choice(parts);
}

}  // namespace mynah::grammar
