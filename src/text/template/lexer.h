// Tokens of a template, as jinja2's lexer.py cuts it with trim_blocks and lstrip_blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/template/value.h"

namespace mynah::jinja {

enum class TokenKind : uint8_t {
  Data,  // text outside tags
  OutputBegin,
  OutputEnd,
  BlockBegin,
  BlockEnd,
  Name,
  String,
  Whole,  // a number
  Real,
  Operator,
  End
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text{};  // the name, the operator, or what a string or data says
  size_t line = 0;
  Integer integer = 0;
  double real = 0;

  [[nodiscard]] bool is_name(std::string_view name) const {
    return kind == TokenKind::Name && text == name;
  }

  [[nodiscard]] bool is_operator(std::string_view name) const {
    return kind == TokenKind::Operator && text == name;
  }
};

// How a token is named in messages.
[[nodiscard]] std::string described(const Token& token);

// All tokens, the last of kind End. Syntax where a tag, a comment or a string has no end, where a
// bracket has no partner, or where a character can begin nothing.
[[nodiscard]] TemplateResult<std::vector<Token>> tokenize(std::string_view text);

}  // namespace mynah::jinja
