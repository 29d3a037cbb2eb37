#include "text/phonemes/json_cursor.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "text/utf8.h"

namespace mynah {
namespace {

constexpr bool is_high_surrogate(char32_t c) {
  return c >= 0xD800 && c <= 0xDBFF;
}

constexpr bool is_low_surrogate(char32_t c) {
  return c >= 0xDC00 && c <= 0xDFFF;
}

}  // namespace

void JsonCursor::skip_white_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonCursor::take(char c) {
  skip_white_space();
  if (at_ < text_.size() && text_[at_] == c) {
    ++at_;
    return true;
  }
  return false;
}

Status JsonCursor::expect(char c) {
  if (!take(c)) {
    return fail_here(fmt::format("wanted '{}'", c));
  }
  return {};
}

std::unexpected<Error> JsonCursor::fail_here(std::string_view message) const {
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("{}, byte {}: {}: the file is damaged, or another file", file_, at_, message));
}

char JsonCursor::peek() {
  skip_white_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

Status JsonCursor::object(FunctionRef<Status(std::string_view key)> member) {
  MYNAH_TRY_STATUS(expect('{'));
  if (take('}')) {
    return {};
  }
  std::string key;
  do {
    MYNAH_TRY(key, string());
    MYNAH_TRY_STATUS(expect(':'));
    MYNAH_TRY_STATUS(member(key));
  } while (take(','));
  return expect('}');
}

Status JsonCursor::array(FunctionRef<Status()> element) {
  MYNAH_TRY_STATUS(expect('['));
  if (take(']')) {
    return {};
  }
  do {
    MYNAH_TRY_STATUS(element());
  } while (take(','));
  return expect(']');
}

Result<std::string_view> JsonCursor::string() {
  if (!take('"')) {
    return fail_here("wanted a string");
  }
  size_t stop = at_;
  while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\') {
    ++stop;
  }
  if (stop == text_.size()) {
    return fail_here("wanted the end of a string");
  }
  if (text_[stop] == '\\') {
    return escaped_string();
  }
  const std::string_view found = text_.substr(at_, stop - at_);
  at_ = stop + 1;
  return found;
}

Result<std::string_view> JsonCursor::escaped_string() {
  unescaped_.clear();
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\') {
      ++at_;
      MYNAH_TRY(const char32_t c, escaped_code_point());
      append_utf8(unescaped_, c);
    } else {
      unescaped_ += text_[at_++];
    }
  }
  if (at_ == text_.size()) {
    return fail_here("wanted the end of a string");
  }
  ++at_;
  return std::string_view(unescaped_);
}

Result<char32_t> JsonCursor::escaped_code_point() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ < text_.size() ? text_[at_] : '\0';
  if (letter != 'u') {
    const size_t which = kLetters.find(letter);
    if (which == std::string_view::npos) {
      return fail_here("wanted one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
    }
    ++at_;
    return static_cast<char32_t>(kMeanings[which]);
  }
  ++at_;
  MYNAH_TRY(const char32_t first, hex4());
  if (is_high_surrogate(first) && text_.substr(at_, 2) == "\\u") {
    const size_t before = at_;
    at_ += 2;
    MYNAH_TRY(const char32_t second, hex4());
    if (is_low_surrogate(second)) {
      return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
    at_ = before;
  }
  return is_high_surrogate(first) || is_low_surrogate(first) ? kReplacementCharacter : first;
}

Result<char32_t> JsonCursor::hex4() {
  const std::string_view digits = text_.substr(at_, 4);
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + digits.size()) {
    return fail_here("wanted four hexadecimal digits");
  }
  at_ += 4;
  return value;
}

Result<double> JsonCursor::number() {
  skip_white_space();
  double value = 0.0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc()) {
    return fail_here("wanted a number");
  }
  at_ += static_cast<size_t>(end - begin);
  return value;
}

bool JsonCursor::null() {
  constexpr std::string_view kNull = "null";
  skip_white_space();
  if (text_.substr(at_, kNull.size()) != kNull) {
    return false;
  }
  at_ += kNull.size();
  return true;
}

Status JsonCursor::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) {
    return fail_here("wanted a value");
  }
  at_ += word.size();
  return {};
}

Status JsonCursor::skip() {
  if (depth_ == kMaxDepth) {
    return fail_here(fmt::format("wanted at most {} levels of nesting", kMaxDepth));
  }
  ++depth_;
  Status status;
  switch (peek()) {
    case '{':
      status = object([this](std::string_view) { return skip(); });
      break;
    case '[':
      status = array([this] { return skip(); });
      break;
    case '"':
      if (const auto text = string(); !text) {
        status = std::unexpected(text.error());
      }
      break;
    case 't':
      status = literal("true");
      break;
    case 'f':
      status = literal("false");
      break;
    case 'n':
      status = literal("null");
      break;
    default:
      if (const auto value = number(); !value) {
        status = std::unexpected(value.error());
      }
  }
  --depth_;
  return status;
}

Status JsonCursor::end() {
  skip_white_space();
  if (at_ != text_.size()) {
    return fail_here("wanted the end");
  }
  return {};
}

}  // namespace mynah
