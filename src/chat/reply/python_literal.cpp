#include "chat/reply/python_literal.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "chat/reply/reply_markers.h"
#include "chat/reply/tool_schemas.h"
#include "formats/json.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr auto kEscapes = std::to_array<std::pair<char, char>>({{'n', '\n'},
                                                                {'t', '\t'},
                                                                {'r', '\r'},
                                                                {'b', '\b'},
                                                                {'f', '\f'},
                                                                {'a', '\a'},
                                                                {'v', '\v'},
                                                                {'0', '\0'},
                                                                {'\\', '\\'},
                                                                {'\'', '\''},
                                                                {'"', '"'}});

constexpr auto kWords =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"True", "true"},
                                                                  {"False", "false"},
                                                                  {"None", "null"},
                                                                  {"true", "true"},
                                                                  {"false", "false"},
                                                                  {"null", "null"}});

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    std::string json;
    if (!value(json, 0)) {
      return std::nullopt;
    }
    skip_space();
    return text_.empty() ? std::optional(std::move(json)) : std::nullopt;
  }

 private:
  void skip_space() { text_ = without_leading_space(text_); }

  bool skip(char byte) {
    skip_space();
    if (!text_.starts_with(byte)) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  bool value(std::string& json, int depth) {
    skip_space();
    if (text_.empty() || depth > kMaxJsonDepth) {
      return false;
    }
    switch (text_.front()) {
      case '[':
        return sequence(json, ']', depth);
      case '(':
        return sequence(json, ')', depth);
      case '{':
        return dictionary(json, depth);
      default:
        return is_string_next() ? strings(json) : word(json);
    }
  }

  bool sequence(std::string& json, char end, int depth) {
    text_.remove_prefix(1);
    json += '[';
    bool first = true;
    while (!skip(end)) {
      if (!first) {
        json += ", ";
      }
      first = false;
      if (!value(json, depth + 1)) {
        return false;
      }
      skip_space();
      if (!skip(',') && !text_.starts_with(end)) {
        return false;
      }
    }
    json += ']';
    return true;
  }

  bool dictionary(std::string& json, int depth) {
    text_.remove_prefix(1);
    json += '{';
    bool first = true;
    while (!skip('}')) {
      if (!first) {
        json += ", ";
      }
      first = false;
      skip_space();
      if (!is_string_next() || !strings(json) || !skip(':')) {
        return false;
      }
      json += ": ";
      if (!value(json, depth + 1)) {
        return false;
      }
      skip_space();
      if (!skip(',') && !text_.starts_with('}')) {
        return false;
      }
    }
    json += '}';
    return true;
  }

  // The bytes of a prefix such as r or b before a quote.
  [[nodiscard]] size_t prefix_bytes() const {
    const size_t end = text_.find_first_not_of("rRbBuU");
    return end <= 2 ? end : 0;
  }

  [[nodiscard]] bool is_string_next() const {
    const std::string_view rest = text_.substr(prefix_bytes());
    return rest.starts_with('"') || rest.starts_with('\'');
  }

  bool strings(std::string& json) {
    std::string decoded;
    while (is_string_next()) {
      const std::string_view prefix = text_.substr(0, prefix_bytes());
      const bool raw = prefix.contains('r') || prefix.contains('R');
      text_.remove_prefix(prefix.size());
      if (!one_string(decoded, raw)) {
        return false;
      }
      skip_space();
    }
    json += json_quoted(decoded);
    return true;
  }

  bool one_string(std::string& decoded, bool raw) {
    std::string end(1, text_.front());
    if (text_.starts_with(std::string(3, end.front()))) {
      end.assign(3, end.front());
    }
    text_.remove_prefix(end.size());
    while (!text_.starts_with(end)) {
      if (text_.empty()) {
        return false;
      }
      const char byte = text_.front();
      text_.remove_prefix(1);
      if (byte != '\\') {
        decoded += byte;
      } else if (raw) {
        decoded += byte;
        decoded += text_.substr(0, 1);
        text_.remove_prefix(text_.empty() ? 0 : 1);
      } else if (!escape(decoded)) {
        return false;
      }
    }
    text_.remove_prefix(end.size());
    return true;
  }

  bool escape(std::string& decoded) {
    if (text_.empty()) {
      return false;
    }
    const char byte = text_.front();
    text_.remove_prefix(1);
    const size_t digits = byte == 'x' ? 2 : byte == 'u' ? 4 : byte == 'U' ? 8 : 0;
    if (digits > 0) {
      return code_point(decoded, digits);
    }
    for (const auto& [letter, meaning] : kEscapes) {
      if (letter == byte) {
        decoded += meaning;
        return true;
      }
    }
    if (byte != '\n') {  // a line that goes on
      decoded += '\\';
      decoded += byte;
    }
    return true;
  }

  bool code_point(std::string& decoded, size_t digits) {
    char32_t value = 0;
    if (!hexadecimal(digits, value)) {
      return false;
    }
    // A pair of surrogates, as JSON writes what stands behind U+FFFF.
    if (value >= 0xD800 && value < 0xDC00 && text_.starts_with("\\u")) {
      text_.remove_prefix(2);
      char32_t low = 0;
      if (!hexadecimal(4, low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
      }
      value = 0x10000 + ((value - 0xD800) << 10U) + (low - 0xDC00);
    }
    const bool is_scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    append_utf8(decoded, is_scalar ? value : kReplacementCharacter);
    return true;
  }

  bool hexadecimal(size_t digits, char32_t& value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (text_.size() < digits) {
      return false;
    }
    for (const char byte : text_.substr(0, digits)) {
      const size_t digit = kDigits.find(ascii_lower(byte));
      if (digit == std::string_view::npos) {
        return false;
      }
      value = value * 16 + static_cast<char32_t>(digit);
    }
    text_.remove_prefix(digits);
    return true;
  }

  bool word(std::string& json) {
    const size_t end = std::min(text_.find_first_of(",:)]} \t\r\n"), text_.size());
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    for (const auto& [python, same] : kWords) {
      if (word == python) {
        json += same;
        return true;
      }
    }
    const auto number = parse_json(word, "number");
    if (!number || !number->is_number()) {
      return false;
    }
    json += word;
    return true;
  }

  std::string_view text_;
};

}  // namespace

std::optional<std::string> python_literal_as_json(std::string_view text) {
  return LiteralReader(text).read();
}

PythonScan::Step PythonScan::next(char byte) {
  if (byte == kControlBegin) {
    return Step::Broken;
  }
  if (opening_) {
    if (byte == quote_) {
      triple_ = ++run_ == 3;
      opening_ = !triple_;
      run_ = triple_ ? 0 : run_;
      return Step::Inside;
    }
    opening_ = false;
    if (run_ == 2) {  // an empty string
      quote_ = 0;
    }
    run_ = 0;
  }
  return quote_ == 0 ? outside(byte) : inside_string(byte);
}

PythonScan::Step PythonScan::outside(char byte) {
  switch (byte) {
    case '"':
    case '\'':
      quote_ = byte;
      opening_ = true;
      triple_ = false;
      run_ = 1;
      return Step::Inside;
    case '[':
    case '(':
    case '{':
      return ++depth_ > kMaxJsonDepth ? Step::Broken : Step::Inside;
    case ']':
    case ')':
    case '}':
      return --depth_ < 0 ? Step::Before : Step::Inside;
    case ',':
      return depth_ == 0 ? Step::Before : Step::Inside;
    default:
      return Step::Inside;
  }
}

PythonScan::Step PythonScan::inside_string(char byte) {
  const bool is_quote = byte == quote_ && !escaped_;
  run_ = is_quote ? run_ + 1 : 0;
  escaped_ = byte == '\\' && !escaped_;
  if (is_quote && (!triple_ || run_ == 3)) {
    quote_ = 0;
    run_ = 0;
  }
  return Step::Inside;
}

}  // namespace mynah
