#include "doctor/recipes/setup_script.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

enum class TokenKind : uint8_t { Name, Text, Sign, Other };

struct Token {
  TokenKind kind = TokenKind::Other;
  std::string_view text;  // of a text what stands between its quotes
  uint64_t line = 0;
  bool plain = false;  // of a text: it is what stands there
};

bool begins_name(char c) {
  return is_small_letter(small_letter(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Cuts Python into tokens ("Lexical analysis" of its reference), without indentation and comments.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> cut() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c) || c == '\\') {
        take(1);
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        MYNAH_TRY_STATUS(quoted(""));
      } else if (begins_name(c) || is_digit(c)) {
        MYNAH_TRY_STATUS(word());
      } else {
        add(TokenKind::Sign, text_.substr(at_, 1));
        take(1);
      }
    }
    return std::move(tokens_);
  }

 private:
  void take(size_t count) {
    const std::string_view taken = text_.substr(at_, count);
    line_ += static_cast<uint64_t>(std::ranges::count(taken, '\n'));
    at_ += taken.size();
  }

  void add(TokenKind kind, std::string_view text, bool plain = false) {
    tokens_.push_back({.kind = kind, .text = text, .line = line_, .plain = plain});
  }

  // A name or a number, or the letters in front of a text's quotes.
  Status word() {
    const auto end = std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(),
                                      [](char c) { return begins_name(c) || is_digit(c); });
    const std::string_view word = text_.substr(at_, static_cast<size_t>(end - text_.begin()) - at_);
    const char next = end == text_.end() ? '\0' : *end;
    const bool letters =
        word.size() <= 2 && small_letters(word).find_first_not_of("rbuft") == std::string::npos;
    if ((next == '"' || next == '\'') && letters) {
      take(word.size());
      return quoted(word);
    }
    add(is_digit(word.front()) ? TokenKind::Other : TokenKind::Name, word);
    take(word.size());
    return {};
  }

  Status quoted(std::string_view letters) {
    const std::string kind = small_letters(letters);
    const std::string_view three = text_.substr(at_, 3);
    const bool longer = three == "\"\"\"" || three == "'''";
    const std::string_view quote = three.substr(0, longer ? 3 : 1);
    size_t end = at_ + quote.size();
    while (end < text_.size() && !text_.substr(end).starts_with(quote) &&
           (longer || text_[end] != '\n')) {
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size() || !text_.substr(end).starts_with(quote)) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("a text that begins at line {} does not end", line_));
    }
    const size_t begin = at_ + quote.size();
    const std::string_view inner = text_.substr(begin, end - begin);
    add(TokenKind::Text, inner,
        inner.find_first_of("\\\n") == std::string_view::npos &&
            kind.find_first_of("bft") == std::string::npos);
    take(end + quote.size() - at_);
    return {};
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint64_t line_ = 1;
};

// Reads the arguments of the call.
class CallReader {
 public:
  CallReader(std::span<const Token> tokens, size_t at) : tokens_(tokens), at_(at) {}

  Result<SetupArguments> read() {
    while (!ends()) {
      if (sign('*')) {
        return fail(ErrorCode::Unsupported,
                    fmt::format("setup() is given more by a '*' at line {}", tokens_[at_].line));
      }
      if (tokens_[at_].kind == TokenKind::Name && sign('=', 1) && !sign('=', 2)) {
        const Token& name = tokens_[at_];
        at_ += 2;
        MYNAH_TRY_STATUS(argument(name));
      }
      pass_argument();
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool sign(char c, size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].kind == TokenKind::Sign &&
           tokens_[at_ + ahead].text.front() == c;
  }

  // Behind the last argument.
  [[nodiscard]] bool ends() const { return at_ >= tokens_.size() || sign(')'); }

  // Whether a value is over: nothing is done with it.
  [[nodiscard]] bool value_ends() const { return sign(',') || sign(')'); }

  Status argument(const Token& name) {
    if (name.text == "install_requires") {
      auto list = texts();
      if (!list || !value_ends()) {
        return fail(
            ErrorCode::Unsupported,
            fmt::format("install_requires at line {} is no plain list of texts", name.line));
      }
      found_.install_requires = *std::move(list);
    } else if (name.text == "extras_require") {
      if (!extras() || !value_ends()) {
        found_.extras_require.clear();
        found_.unread_extras = name.line;
      }
    } else if (name.text == "python_requires" && is_text()) {
      const Token& value = tokens_[at_++];
      if (value_ends()) {
        found_.python_requires = SetupText{.text = value.text, .line = value.line};
      }
    } else if (name.text == "pbr") {
      return fail(ErrorCode::Unsupported,
                  fmt::format("pbr makes what it asks for (line {})", name.line));
    }
    return {};
  }

  // Up to behind the comma of an argument; brackets within it are passed.
  void pass_argument() {
    size_t open = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (sign('(') || sign('[') || sign('{')) {
        ++open;
      } else if (open == 0 && sign(')')) {
        return;
      } else if (open > 0 && (sign(')') || sign(']') || sign('}'))) {
        --open;
      } else if (open == 0 && sign(',')) {
        ++at_;
        return;
      }
    }
  }

  [[nodiscard]] bool is_text() const {
    return at_ < tokens_.size() && tokens_[at_].kind == TokenKind::Text && tokens_[at_].plain;
  }

  // A list or tuple of texts, with commas between them. None: it is anything else.
  std::optional<std::vector<SetupText>> texts() {
    const bool list = sign('[');
    if (!list && !sign('(')) {
      return std::nullopt;
    }
    ++at_;
    std::vector<SetupText> all;
    while (!sign(list ? ']' : ')')) {
      if (!is_text()) {
        return std::nullopt;
      }
      all.push_back({.text = tokens_[at_].text, .line = tokens_[at_].line});
      ++at_;
      if (sign(',')) {
        ++at_;
      } else if (!sign(list ? ']' : ')')) {
        return std::nullopt;
      }
    }
    ++at_;
    return all;
  }

  // A table of texts and lists of texts.
  bool extras() {
    if (!sign('{')) {
      return false;
    }
    ++at_;
    while (!sign('}')) {
      if (!is_text() || !sign(':', 1)) {
        return false;
      }
      const SetupText name{.text = tokens_[at_].text, .line = tokens_[at_].line};
      at_ += 2;
      auto list = texts();
      // "gpu:sys_platform=='linux'" holds a condition.
      if (!list || name.text.contains(':')) {
        return false;
      }
      found_.extras_require.push_back({.name = name, .requirements = *std::move(list)});
      if (sign(',')) {
        ++at_;
      } else if (!sign('}')) {
        return false;
      }
    }
    ++at_;
    return true;
  }

  std::span<const Token> tokens_;
  size_t at_ = 0;
  SetupArguments found_;
};

// Where a call of setup() opens its bracket: "setup(", "setuptools.setup(".
bool calls_setup(std::span<const Token> tokens, size_t at) {
  static constexpr std::array<std::string_view, 3> kModules = {"setuptools", "core", "skbuild"};
  const auto is = [&](size_t back, TokenKind kind, std::string_view text) {
    return back <= at && tokens[at - back].kind == kind && tokens[at - back].text == text;
  };
  if (!is(0, TokenKind::Sign, "(") || !is(1, TokenKind::Name, "setup") ||
      is(2, TokenKind::Name, "def")) {
    return false;
  }
  return !is(2, TokenKind::Sign, ".") ||
         std::ranges::any_of(kModules, [&](auto name) { return is(3, TokenKind::Name, name); });
}

}  // namespace

Result<SetupArguments> read_setup_call(std::string_view text) {
  MYNAH_TRY(const std::vector<Token> tokens, Tokens(text).cut());
  std::optional<size_t> call;
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (!calls_setup(tokens, at)) {
      continue;
    }
    if (call) {
      return fail(ErrorCode::Unsupported, fmt::format("it calls setup() at line {} and at line {}",
                                                      tokens[*call].line, tokens[at].line));
    }
    call = at;
  }
  if (!call) {
    return fail(ErrorCode::Unsupported, "no call of setup() stands in it");
  }
  return CallReader(tokens, *call + 1).read();
}

}  // namespace mynah::doctor
