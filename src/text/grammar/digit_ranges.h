// Ranges of numbers as grammars of their digits.
#pragma once

#include <cstdint>

#include "text/grammar/grammar.h"

namespace mynah::grammar {

// How numbers are written.
struct Digits {
  uint64_t base = 10;  // 10, or 16 with letters in either case
  int count = 0;       // digits, leading zeros included
};

// The numbers first to last, both included. Requires first <= last < base ^ count.
[[nodiscard]] ExprId digit_range(Grammar& grammar, uint64_t first, uint64_t last, Digits digits);

// Decimal numbers without leading zeros, first to last, both included. Requires first <= last.
[[nodiscard]] ExprId decimal_range(Grammar& grammar, uint64_t first, uint64_t last);

// Decimal numbers from `first` up, of at most `most` digits in all (more where `first` has more).
[[nodiscard]] ExprId decimals_from(Grammar& grammar, uint64_t first, int most);

}  // namespace mynah::grammar
