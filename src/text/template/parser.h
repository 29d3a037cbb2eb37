// The parser of templates: jinja2's parser.py, with the statements that chat templates use.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/template/lexer.h"
#include "text/template/syntax.h"

namespace mynah::jinja {

// How far expressions and statements may stand in each other.
inline constexpr size_t kMaximumHeight = 200;

struct OperatorName {
  std::string_view text;
  BinaryOperator operation;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens);

  [[nodiscard]] TemplateResult<TemplateTree> run();

 private:
  template <class T>
  using Parsed = TemplateResult<T>;

  // Expressions, by rising precedence: parse_expressions.cpp
  Parsed<ExpressionRef> expression();
  Parsed<ExpressionRef> disjunction();
  Parsed<ExpressionRef> conjunction();
  Parsed<ExpressionRef> negation();
  Parsed<ExpressionRef> comparison();
  // Operands with some of these operators between them, from the left.
  Parsed<ExpressionRef> left_chain(std::span<const OperatorName> operators,
                                   Parsed<ExpressionRef> (Parser::*operand)());
  Parsed<ExpressionRef> sum();
  Parsed<ExpressionRef> concatenation();
  Parsed<ExpressionRef> product();
  Parsed<ExpressionRef> power();
  Parsed<ExpressionRef> plain_unary();
  Parsed<ExpressionRef> unary(bool with_filters);
  Parsed<ExpressionRef> primary();
  Parsed<ExpressionRef> parenthesised();
  Parsed<ExpressionRef> list();
  Parsed<ExpressionRef> mapping();
  Parsed<ExpressionRef> postfix(ExpressionRef object);
  Parsed<ExpressionRef> attribute(ExpressionRef object);
  Parsed<ExpressionRef> item(ExpressionRef object);
  Parsed<ExpressionRef> slice(ExpressionRef object, ExpressionRef begin);
  Parsed<ExpressionRef> call(ExpressionRef callee);
  Parsed<ExpressionRef> filters(ExpressionRef operand);
  Parsed<ExpressionRef> filter(ExpressionRef operand);
  Parsed<ExpressionRef> test(ExpressionRef operand);
  Parsed<CallArguments> call_arguments();
  // One expression or, with commas, a tuple of them.
  Parsed<ExpressionRef> tuple(bool with_conditional = true, bool in_parentheses = false);

  // Statements: parser.cpp
  Parsed<Body> body(std::initializer_list<std::string_view> ends);
  // What stands between a statement's tag and one of `ends`, at which it stops.
  Parsed<Body> inner_body(std::initializer_list<std::string_view> ends);
  Parsed<Body> whole_inner_body(std::string_view end);
  Parsed<Statement> statement();
  Parsed<Statement> if_statement();
  Parsed<Statement> for_statement();
  Parsed<Statement> set_statement();
  Parsed<Statement> macro_statement();
  Parsed<Statement> call_statement();
  Parsed<Statement> filter_statement();
  Parsed<Statement> with_statement();
  Parsed<Statement> generation_statement();
  Parsed<Target> target();
  Parsed<Target> single_target();
  Parsed<Symbol> parameter_name();
  Parsed<void> signature(MacroDefinition& macro);
  Parsed<void> macro_body(MacroDefinition& macro, std::string_view end);

  [[nodiscard]] const Token& current() const { return tokens_[position_]; }

  [[nodiscard]] const Token& next() const {
    return tokens_[std::min(position_ + 1, tokens_.size() - 1)];
  }

  [[nodiscard]] bool at_operator(std::string_view text) const {
    return current().is_operator(text);
  }

  [[nodiscard]] bool at_name(std::string_view text) const { return current().is_name(text); }

  [[nodiscard]] bool at_tuple_end() const;

  void skip() { position_ += position_ + 1 < tokens_.size() ? 1 : 0; }

  bool skip_operator(std::string_view text);
  bool skip_name(std::string_view text);
  Parsed<void> expect_operator(std::string_view text);
  Parsed<void> expect(TokenKind kind);
  Parsed<std::string> expect_name();
  [[nodiscard]] std::unexpected<TemplateError> wrong(std::string message) const;

  Symbol symbol(const std::string& name);
  // A node of this height above its highest child; Syntax where that is too high.
  template <class Node>
  Parsed<ExpressionRef> made(Node node, size_t line, size_t below);

  std::vector<Token> tokens_;
  size_t position_ = 0;
  size_t depth_ = 0;
  size_t loops_ = 0;  // around here, within the innermost macro
  TemplateTree tree_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::vector<MacroDefinition*> macros_;  // around here
  // Filters and tests that do not exist, outside of conditions so far.
  std::vector<TemplateError> unknown_;
};

// How high the trees are; 0 where there is none.
[[nodiscard]] size_t height_of(const ExpressionRef& expression);
[[nodiscard]] size_t height_of(const std::vector<ExpressionRef>& expressions);
[[nodiscard]] size_t height_of(const CallArguments& arguments);

template <class Node>
TemplateResult<ExpressionRef> Parser::made(Node node, size_t line, size_t below) {
  if (below >= kMaximumHeight) {
    return wrong(fmt::format("expressions stand in each other more than {} deep", kMaximumHeight));
  }
  auto expression = std::make_unique<Expression>();
  expression->node = std::move(node);
  expression->line = line;
  expression->height = below + 1;
  return expression;
}

}  // namespace mynah::jinja
