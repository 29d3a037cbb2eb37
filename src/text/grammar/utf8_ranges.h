// Sets of code points as ranges of bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "text/grammar/code_points.h"

namespace mynah::grammar {

struct ByteRange {
  uint8_t first = 0;
  uint8_t last = 0;  // included

  auto operator<=>(const ByteRange&) const = default;
};

// One to four ranges: every choice of a byte of each is the UTF-8 of a code point.
struct Utf8Ranges {
  std::array<ByteRange, 4> bytes;
  int length = 0;

  [[nodiscard]] std::span<const ByteRange> span() const {
    return std::span(bytes).first(static_cast<size_t>(length));
  }
};

// The set's code points, each in exactly one of them.
[[nodiscard]] std::vector<Utf8Ranges> utf8_ranges(const CodePoints& set);

}  // namespace mynah::grammar
