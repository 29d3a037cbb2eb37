#include "text/grammar/utf8_ranges.h"

#include <string>

#include "text/utf8.h"

namespace mynah::grammar {
namespace {

// The last code points of one, two and three bytes (RFC 3629, section 3).
constexpr std::array<char32_t, 3> kLastOfLength = {0x7F, 0x7FF, 0xFFFF};
constexpr char32_t kBitsOfByte = 6;  // of one that continues

// Splits a range until all of its bytes vary apart from each other: at lengths, then wherever a
// lower byte does not run through all of its values.
void split(CodePointRange range, std::vector<Utf8Ranges>& ranges) {
  for (const char32_t last : kLastOfLength) {
    if (range.first <= last && range.last > last) {
      split({range.first, last}, ranges);
      split({last + 1, range.last}, ranges);
      return;
    }
  }
  for (char32_t byte = 1; byte < 4 && range.last > kLastOfLength[0]; ++byte) {
    const char32_t low = (1U << (kBitsOfByte * byte)) - 1;
    if ((range.first & ~low) == (range.last & ~low)) {
      continue;
    }
    if ((range.first & low) != 0) {
      split({range.first, range.first | low}, ranges);
      split({(range.first | low) + 1, range.last}, ranges);
      return;
    }
    if ((range.last & low) != low) {
      split({range.first, (range.last & ~low) - 1}, ranges);
      split({range.last & ~low, range.last}, ranges);
      return;
    }
  }
  std::string first;
  std::string last;
  append_utf8(first, range.first);
  append_utf8(last, range.last);
  Utf8Ranges bytes;
  for (size_t i = 0; i < first.size(); ++i) {
    bytes.bytes[i] = {static_cast<uint8_t>(first[i]), static_cast<uint8_t>(last[i])};
  }
  bytes.length = static_cast<int>(first.size());
  ranges.push_back(bytes);
}

}  // namespace

std::vector<Utf8Ranges> utf8_ranges(const CodePoints& set) {
  std::vector<Utf8Ranges> ranges;
  for (const CodePointRange range : set.ranges()) {
    split(range, ranges);
  }
  return ranges;
}

}  // namespace mynah::grammar
