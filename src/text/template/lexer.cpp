#include "text/template/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/strings.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

constexpr std::array<std::string_view, 6> kLongOperators = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kShortOperators = "+-/*%~[](){}><=.:|,;";

// Newlines as jinja2 has them, without one at the end of the text.
std::string normalized_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
    }
  }
  if (out.ends_with('\n')) {
    out.pop_back();
  }
  return out;
}

// How many bytes a string's escape takes from behind its backslash on, and what it says; Python's
// "unicode-escape" codec, without \N{...}.
struct Escape {
  size_t bytes = 0;
  std::string text;
};

// The escape of `digits` digits of a base, at most.
Escape numbered_escape(std::string_view text, size_t begin, size_t digits, int base) {
  const std::string_view number = text.substr(begin, digits);
  uint32_t code = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), code, base);
  const auto length = static_cast<size_t>(read.ptr - number.data());
  if (length == 0 || (base == 16 && length != digits) || code > 0x10FFFF ||
      (code >= 0xD800 && code < 0xE000)) {
    return {};
  }
  Escape escape{.bytes = begin + length, .text = {}};
  append_utf8(escape.text, code);
  return escape;
}

// Of text behind a backslash, which is not empty. No bytes: it is wrong.
Escape read_escape(std::string_view text) {
  static constexpr std::string_view kLetters = "\\'\"abfnrtv";
  static constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  if (const size_t letter = kLetters.find(text.front()); letter != std::string_view::npos) {
    return {.bytes = 1, .text = std::string(1, kMeanings[letter])};
  }
  switch (text.front()) {
    case '\n':
      return {.bytes = 1, .text = {}};
    case 'x':
      return numbered_escape(text, 1, 2, 16);
    case 'u':
      return numbered_escape(text, 1, 4, 16);
    case 'U':
      return numbered_escape(text, 1, 8, 16);
    case 'N':
      return {};
    default:
      break;
  }
  if (text.front() >= '0' && text.front() <= '7') {
    return numbered_escape(text, 0, 3, 8);
  }
  return {.bytes = 1, .text = "\\" + std::string(1, text.front())};
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : source_(normalized_newlines(text)) {}

  TemplateResult<std::vector<Token>> run();

  // Where it has come to.
  [[nodiscard]] size_t line() const { return line_; }

 private:
  [[nodiscard]] std::string_view rest() const {
    return std::string_view(source_).substr(position_);
  }

  [[nodiscard]] std::unexpected<TemplateError> wrong(std::string message) const {
    return std::unexpected(TemplateError{TemplateError::Kind::Syntax, line_, std::move(message)});
  }

  void advance(size_t bytes);

  void add(TokenKind kind, std::string text = {}) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_});
  }

  void add_data(std::string_view data, char sign, bool strips_line);
  TemplateResult<void> comment();
  TemplateResult<void> raw(size_t begin);
  TemplateResult<void> tag(std::string_view close, bool is_block);
  TemplateResult<void> inner_token();
  TemplateResult<void> string();
  TemplateResult<bool> number();
  TemplateResult<void> one_operator();

  std::string source_;
  size_t position_ = 0;
  size_t line_ = 1;
  bool line_starting_ = true;  // what was read last ended a line
  std::string brackets_;       // those open within a tag, by what closes them
  std::vector<Token> tokens_;
};

// How long the end of a tag is with the sign before it and the blanks behind that it eats; 0 where
// the text does not begin with one.
size_t tag_end_length(std::string_view text, std::string_view close, bool is_block) {
  if (text.starts_with('-') && text.substr(1).starts_with(close)) {
    const size_t end = 1 + close.size();
    return end + leading_space(text.substr(end));
  }
  if (is_block && text.starts_with('+') && text.substr(1).starts_with(close)) {
    return 1 + close.size();
  }
  if (!text.starts_with(close)) {
    return 0;
  }
  return close.size() + (is_block && text.substr(close.size()).starts_with('\n') ? 1 : 0);
}

// The sign behind the two characters that begin a tag, or NUL.
char sign_of(std::string_view tag) {
  return tag.size() > 2 && (tag[2] == '-' || tag[2] == '+') ? tag[2] : '\0';
}

// How long "{% raw %}" is without what it eats, or "{% endraw %}" with it; 0 where the text does
// not begin with it.
size_t raw_tag_length(std::string_view text, std::string_view word) {
  if (!text.starts_with("{%")) {
    return 0;
  }
  size_t at = sign_of(text) != '\0' ? 3 : 2;
  at += leading_space(text.substr(at));
  if (!text.substr(at).starts_with(word)) {
    return 0;
  }
  at += word.size();
  at += leading_space(text.substr(at));
  const bool ends = word == "endraw";
  if (!ends && text.substr(at).starts_with('+')) {
    return 0;
  }
  size_t end = tag_end_length(text.substr(at), "%}", ends);
  return end == 0 ? 0 : at + end;
}

void Lexer::advance(size_t bytes) {
  line_ += static_cast<size_t>(std::ranges::count(rest().substr(0, bytes), '\n'));
  position_ += bytes;
  line_starting_ = position_ > 0 && source_[position_ - 1] == '\n';
}

// Text before a tag, without what the tag's sign and lstrip_blocks take of its end.
void Lexer::add_data(std::string_view data, char sign, bool strips_line) {
  if (sign == '-') {
    data.remove_suffix(trailing_space(data));
  } else if (sign != '+' && strips_line) {
    const size_t line = data.rfind('\n') + 1;  // 0 where there is none
    if ((line > 0 || line_starting_) && leading_space(data.substr(line)) == data.size() - line) {
      data = data.substr(0, line);
    }
  }
  if (!data.empty()) {
    add(TokenKind::Data, std::string(data));
  }
}

TemplateResult<std::vector<Token>> Lexer::run() {
  while (position_ < source_.size()) {
    size_t begin = 0;
    while (begin < rest().size()) {
      begin = rest().find('{', begin);
      if (begin == std::string_view::npos) {
        break;
      }
      const char next = begin + 1 < rest().size() ? rest()[begin + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') {
        break;
      }
      ++begin;
    }
    if (begin >= rest().size()) {
      add(TokenKind::Data, std::string(rest()));
      break;
    }
    const std::string_view from = rest().substr(begin);
    const char kind = from[1];
    const char sign = sign_of(from);
    add_data(rest().substr(0, begin), sign, kind != '{');
    advance(begin);
    if (kind == '#') {
      MYNAH_TRY_STATUS(comment());
    } else if (const size_t length = raw_tag_length(rest(), "raw"); length > 0) {
      MYNAH_TRY_STATUS(raw(length));
    } else {
      add(kind == '{' ? TokenKind::OutputBegin : TokenKind::BlockBegin);
      advance(sign == '\0' ? 2 : 3);
      MYNAH_TRY_STATUS(kind == '{' ? tag("}}", false) : tag("%}", true));
    }
  }
  add(TokenKind::End);
  return std::move(tokens_);
}

TemplateResult<void> Lexer::comment() {
  const std::string_view text = rest();
  size_t end = text.find("#}", sign_of(text) == '\0' ? 2 : 3);
  if (end == std::string_view::npos) {
    return wrong("a comment has no end: #} is missing");
  }
  const char before = text[end - 1];
  if ((before == '-' || before == '+') && end > 3) {
    --end;
  }
  advance(end + tag_end_length(text.substr(end), "#}", true));
  return {};
}

TemplateResult<void> Lexer::raw(size_t begin) {
  advance(begin);
  const std::string_view text = rest();
  for (size_t at = text.find("{%"); at != std::string_view::npos; at = text.find("{%", at + 1)) {
    if (const size_t length = raw_tag_length(text.substr(at), "endraw"); length > 0) {
      add_data(text.substr(0, at), sign_of(text.substr(at)), true);
      advance(at + length);
      return {};
    }
  }
  return wrong("{% raw %} has no {% endraw %}");
}

TemplateResult<void> Lexer::tag(std::string_view close, bool is_block) {
  while (position_ < source_.size()) {
    if (brackets_.empty()) {
      if (const size_t end = tag_end_length(rest(), close, is_block); end > 0) {
        add(is_block ? TokenKind::BlockEnd : TokenKind::OutputEnd);
        advance(end);
        return {};
      }
    }
    if (const size_t blanks = leading_space(rest()); blanks > 0) {
      advance(blanks);
      continue;
    }
    MYNAH_TRY_STATUS(inner_token());
  }
  return wrong(fmt::format("a tag has no end: {} is missing", close));
}

TemplateResult<void> Lexer::inner_token() {
  MYNAH_TRY(const bool is_number, number());
  if (is_number) {
    return {};
  }
  size_t length = 0;
  while (length < rest().size()) {
    const Utf8Step step = next_code_point(rest().substr(length));
    if (!is_word_character(step.code_point) && !is_mark(step.code_point)) {
      break;
    }
    length += step.bytes;
  }
  if (length > 0) {
    add(TokenKind::Name, std::string(rest().substr(0, length)));
    advance(length);
    return {};
  }
  return rest().front() == '\'' || rest().front() == '"' ? string() : one_operator();
}

// A run of digits, single "_" between them left out; advances `at`.
std::string digits_at(std::string_view text, size_t& at) {
  std::string out;
  while (at < text.size()) {
    const bool separated = text[at] == '_' && !out.empty() && at + 1 < text.size();
    const char c = separated ? text[at + 1] : text[at];
    if (!is_ascii_digit(c)) {
      break;
    }
    out += c;
    at += separated ? 2 : 1;
  }
  return out;
}

// A whole number; nothing where it does not fit.
TemplateResult<Integer> whole_number(std::string_view digits, int base) {
  Integer value = 0;
  for (const char c : digits) {
    const int digit = is_ascii_digit(c) ? c - '0' : ascii_lower(c) - 'a' + 10;
    if (__builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return unsupported("a number is too large: whole numbers have 127 bits here");
    }
  }
  return value;
}

TemplateResult<bool> Lexer::number() {
  const std::string_view text = rest();
  if (!is_ascii_digit(text.front())) {
    return false;
  }
  Token token{.kind = TokenKind::Whole, .line = line_};
  size_t at = 0;
  if (text.size() > 2 && text[0] == '0' && std::string_view("bBoOxX").contains(text[1])) {
    const char kind = ascii_lower(text[1]);
    const int base = kind == 'b' ? 2 : (kind == 'o' ? 8 : 16);
    std::string digits;
    for (at = 2; at < text.size(); ++at) {
      const char c = ascii_lower(text[at]);
      if (c == '_') {
        continue;
      }
      const int digit = is_ascii_digit(c) ? c - '0' : (c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99);
      if (digit >= base) {
        break;
      }
      digits += c;
    }
    MYNAH_TRY(token.integer, whole_number(digits, base));
    tokens_.push_back(std::move(token));
    advance(at);
    return true;
  }
  std::string digits = digits_at(text, at);
  const bool behind_dot = position_ > 0 && source_[position_ - 1] == '.';
  if (!behind_dot) {
    size_t end = at;
    if (end + 1 < text.size() && text[end] == '.' && is_ascii_digit(text[end + 1])) {
      ++end;
      digits += "." + digits_at(text, end);
      token.kind = TokenKind::Real;
    }
    if (end < text.size() && ascii_lower(text[end]) == 'e') {
      size_t exponent = end + 1;
      std::string sign;
      if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) {
        sign = text[exponent] == '-' ? "-" : "";
        ++exponent;
      }
      if (const std::string power = digits_at(text, exponent); !power.empty()) {
        digits += "e" + sign + power;
        token.kind = TokenKind::Real;
        end = exponent;
      }
    }
    at = end;
  }
  if (token.kind == TokenKind::Real) {
    token.real = std::strtod(digits.c_str(), nullptr);
  } else {
    MYNAH_TRY(token.integer, whole_number(digits, 10));
  }
  tokens_.push_back(std::move(token));
  advance(at);
  return true;
}

TemplateResult<void> Lexer::string() {
  const std::string_view text = rest();
  std::string out;
  for (size_t at = 1; at < text.size();) {
    if (text[at] == text[0]) {
      add(TokenKind::String, std::move(out));
      advance(at + 1);
      return {};
    }
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      ++at;
      continue;
    }
    const Escape escape = read_escape(text.substr(at + 1));
    if (escape.bytes == 0) {
      return wrong("a string has a wrong escape behind its backslash");
    }
    out += escape.text;
    at += 1 + escape.bytes;
  }
  return wrong("a string has no end");
}

TemplateResult<void> Lexer::one_operator() {
  const std::string_view text = rest();
  for (const std::string_view known : kLongOperators) {
    if (text.starts_with(known)) {
      add(TokenKind::Operator, std::string(known));
      advance(known.size());
      return {};
    }
  }
  const char c = text.front();
  if (!kShortOperators.contains(c)) {
    const size_t length = std::max<size_t>(next_code_point(text).bytes, 1);
    return wrong(fmt::format("'{}' cannot stand here", text.substr(0, length)));
  }
  if (const size_t open = std::string_view("([{").find(c); open != std::string_view::npos) {
    brackets_ += ")]}"[open];
  } else if (std::string_view(")]}").contains(c)) {
    if (brackets_.empty() || brackets_.back() != c) {
      return wrong(fmt::format("'{}' closes nothing that is open", c));
    }
    brackets_.pop_back();
  }
  add(TokenKind::Operator, std::string(1, c));
  advance(1);
  return {};
}

}  // namespace

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::Data:
      return "text";
    case TokenKind::OutputBegin:
      return "{{";
    case TokenKind::OutputEnd:
      return "}}";
    case TokenKind::BlockBegin:
      return "{%";
    case TokenKind::BlockEnd:
      return "%}";
    case TokenKind::String:
      return "a string";
    case TokenKind::Whole:
    case TokenKind::Real:
      return "a number";
    case TokenKind::Name:
    case TokenKind::Operator:
      return "'" + token.text + "'";
    case TokenKind::End:
      break;
  }
  return "the template's end";
}

TemplateResult<std::vector<Token>> tokenize(std::string_view text) {
  Lexer lexer(text);
  auto tokens = lexer.run();
  if (!tokens && tokens.error().line == 0) {
    tokens.error().line = lexer.line();
  }
  return tokens;
}

}  // namespace mynah::jinja
