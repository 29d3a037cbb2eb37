#include "text/grammar/cursor.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/ascii.h"
#include "text/grammar/code_points.h"
#include "text/utf8.h"

namespace mynah::grammar {

bool Cursor::take(std::string_view wanted) {
  if (!rest().starts_with(wanted)) {
    return false;
  }
  at_ += wanted.size();
  return true;
}

std::optional<char32_t> Cursor::take_code_point() {
  const Utf8Step step = next_code_point(rest());
  if (!step.valid) {
    return std::nullopt;
  }
  at_ += step.bytes;
  return step.code_point;
}

std::optional<char32_t> Cursor::take_hex(size_t digits) {
  const std::string_view text = rest().substr(0, digits);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != digits || error != std::errc() || end != text.data() + text.size() ||
      value > kLastCodePoint) {
    return std::nullopt;
  }
  at_ += digits;
  return value;
}

std::optional<int> Cursor::take_number(int most) {
  const std::string_view text = rest();
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > most || !is_ascii_digit(peek())) {
    return std::nullopt;
  }
  at_ += static_cast<size_t>(end - text.data());
  return value;
}

size_t Cursor::line_of(size_t offset) const {
  return 1 + static_cast<size_t>(std::ranges::count(text_.substr(0, offset), '\n'));
}

}  // namespace mynah::grammar
