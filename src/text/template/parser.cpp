#include "text/template/parser.h"

#include <array>

#include <fmt/format.h>

namespace mynah::jinja {

size_t height_of(const ExpressionRef& expression) {
  return expression == nullptr ? 0 : expression->height;
}

size_t height_of(const std::vector<ExpressionRef>& expressions) {
  size_t height = 0;
  for (const ExpressionRef& one : expressions) {
    height = std::max(height, height_of(one));
  }
  return height;
}

size_t height_of(const CallArguments& arguments) {
  size_t height = std::max({height_of(arguments.positional), height_of(arguments.spread),
                            height_of(arguments.named_spread)});
  for (const auto& [name, value] : arguments.named) {
    height = std::max(height, height_of(value));
  }
  return height;
}

Parser::Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
  for (const std::string_view name : kBoundNames) {
    symbol(std::string(name));
  }
}

std::unexpected<TemplateError> Parser::wrong(std::string message) const {
  return std::unexpected(
      TemplateError{TemplateError::Kind::Syntax, current().line, std::move(message)});
}

bool Parser::skip_operator(std::string_view text) {
  const bool here = at_operator(text);
  position_ += here ? 1 : 0;
  return here;
}

bool Parser::skip_name(std::string_view text) {
  const bool here = at_name(text);
  position_ += here ? 1 : 0;
  return here;
}

TemplateResult<void> Parser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) {
    return wrong(fmt::format("'{}' is wanted, not {}", text, described(current())));
  }
  return {};
}

TemplateResult<void> Parser::expect(TokenKind kind) {
  if (current().kind != kind) {
    return wrong(
        fmt::format("{} is wanted, not {}", described({.kind = kind}), described(current())));
  }
  skip();
  return {};
}

TemplateResult<std::string> Parser::expect_name() {
  if (current().kind != TokenKind::Name) {
    return wrong(fmt::format("a name is wanted, not {}", described(current())));
  }
  std::string name = current().text;
  skip();
  return name;
}

Symbol Parser::symbol(const std::string& name) {
  const auto [place, is_new] = symbols_.try_emplace(name, static_cast<Symbol>(tree_.names.size()));
  if (is_new) {
    tree_.names.push_back(name);
  }
  return place->second;
}

TemplateResult<TemplateTree> Parser::run() {
  MYNAH_TRY(tree_.body, body({}));
  if (!unknown_.empty()) {
    return std::unexpected(unknown_.front());
  }
  return std::move(tree_);
}

TemplateResult<Body> Parser::body(std::initializer_list<std::string_view> ends) {
  ++depth_;
  if (depth_ > kMaximumHeight) {
    return wrong(fmt::format("blocks stand in each other more than {} deep", kMaximumHeight));
  }
  Body body;
  while (current().kind != TokenKind::End) {
    const Token& token = current();
    const size_t line = token.line;
    if (token.kind == TokenKind::Data) {
      body.push_back({Data{Value(std::make_shared<const String>(MarkedText(token.text)))}, line});
      skip();
    } else if (token.kind == TokenKind::OutputBegin) {
      skip();
      MYNAH_TRY(auto value, tuple());
      body.push_back({Output{std::move(value)}, line});
      MYNAH_TRY_STATUS(expect(TokenKind::OutputEnd));
    } else {
      MYNAH_TRY_STATUS(expect(TokenKind::BlockBegin));
      if (std::ranges::any_of(ends, [&](std::string_view end) { return at_name(end); })) {
        --depth_;
        return body;
      }
      MYNAH_TRY(auto one, statement());
      one.line = line;
      body.push_back(std::move(one));
      MYNAH_TRY_STATUS(expect(TokenKind::BlockEnd));
    }
  }
  if (ends.size() > 0) {
    return wrong(fmt::format("the template ends where {{% {} %}} is wanted", *(ends.end() - 1)));
  }
  --depth_;
  return body;
}

TemplateResult<Body> Parser::inner_body(std::initializer_list<std::string_view> ends) {
  skip_operator(":");
  MYNAH_TRY_STATUS(expect(TokenKind::BlockEnd));
  return body(ends);
}

TemplateResult<Body> Parser::whole_inner_body(std::string_view end) {
  MYNAH_TRY(auto inner, inner_body({end}));
  skip();
  return inner;
}

TemplateResult<Statement> Parser::statement() {
  using Read = Parsed<Statement> (Parser::*)();
  static constexpr std::array<std::pair<std::string_view, Read>, 8> kStatements = {{
      {"if", &Parser::if_statement},
      {"for", &Parser::for_statement},
      {"set", &Parser::set_statement},
      {"macro", &Parser::macro_statement},
      {"call", &Parser::call_statement},
      {"filter", &Parser::filter_statement},
      {"with", &Parser::with_statement},
      {"generation", &Parser::generation_statement},
  }};
  const std::string name = current().text;
  if (current().kind != TokenKind::Name) {
    return wrong(fmt::format("a statement's name is wanted, not {}", described(current())));
  }
  for (const auto& [known, read] : kStatements) {
    if (name == known) {
      skip();
      return (this->*read)();
    }
  }
  if (name == "break" || name == "continue") {
    if (loops_ == 0) {
      return wrong(fmt::format("'{}' stands outside of a loop", name));
    }
    skip();
    return name == "break" ? Statement{Break{}} : Statement{Continue{}};
  }
  if (name == "include" || name == "import" || name == "from" || name == "extends" ||
      name == "block" || name == "autoescape" || name == "do") {
    return std::unexpected(TemplateError{
        TemplateError::Kind::Unsupported, current().line,
        fmt::format("{{% {} %}} is no part of chat templates as mynah reads them", name)});
  }
  return wrong(fmt::format("there is no statement {{% {} %}} that could stand here", name));
}

TemplateResult<Statement> Parser::if_statement() {
  If branches;
  const size_t unknown = unknown_.size();
  bool is_last = false;
  while (!is_last) {
    If::Branch branch;
    MYNAH_TRY(branch.test, tuple(false));
    MYNAH_TRY(branch.body, inner_body({"elif", "else", "endif"}));
    branches.branches.push_back(std::move(branch));
    if (skip_name("else")) {
      If::Branch last;
      MYNAH_TRY(last.body, whole_inner_body("endif"));
      branches.branches.push_back(std::move(last));
      is_last = true;
    } else if (!skip_name("elif")) {
      skip();  // endif
      is_last = true;
    }
  }
  unknown_.resize(std::min(unknown, unknown_.size()));
  return Statement{std::move(branches)};
}

TemplateResult<Statement> Parser::for_statement() {
  For loop;
  MYNAH_TRY(loop.target, target());
  if (!skip_name("in")) {
    return wrong(fmt::format("'in' is wanted, not {}", described(current())));
  }
  MYNAH_TRY(loop.values, tuple(false));
  if (skip_name("if")) {
    MYNAH_TRY(loop.test, expression());
  }
  loop.recursive = skip_name("recursive");
  ++loops_;
  MYNAH_TRY(loop.body, inner_body({"else", "endfor"}));
  --loops_;
  const bool has_else = at_name("else");
  skip();
  if (has_else) {
    MYNAH_TRY(loop.otherwise, whole_inner_body("endfor"));
  }
  return Statement{std::move(loop)};
}

TemplateResult<Statement> Parser::set_statement() {
  MYNAH_TRY(auto to, target());
  if (skip_operator("=")) {
    MYNAH_TRY(auto value, tuple());
    return Statement{Set{std::move(to), std::move(value)}};
  }
  SetBlock block{.target = std::move(to), .filter = {}, .body = {}};
  while (skip_operator("|")) {
    MYNAH_TRY(block.filter, filter(std::move(block.filter)));
  }
  MYNAH_TRY(block.body, whole_inner_body("endset"));
  return Statement{std::move(block)};
}

TemplateResult<Statement> Parser::macro_statement() {
  auto definition = std::make_shared<MacroDefinition>();
  MYNAH_TRY(definition->name, expect_name());
  const Symbol name = symbol(definition->name);
  MYNAH_TRY_STATUS(signature(*definition));
  MYNAH_TRY_STATUS(macro_body(*definition, "endmacro"));
  return Statement{Macro{name, std::move(definition)}};
}

TemplateResult<Statement> Parser::call_statement() {
  auto caller = std::make_shared<MacroDefinition>();
  caller->name = "caller";
  if (at_operator("(")) {
    MYNAH_TRY_STATUS(signature(*caller));
  }
  MYNAH_TRY(auto call, expression());
  if (!std::holds_alternative<Call>(call->node)) {
    return wrong("a call is wanted in {% call %}");
  }
  MYNAH_TRY_STATUS(macro_body(*caller, "endcall"));
  return Statement{CallBlock{std::move(call), std::move(caller)}};
}

TemplateResult<void> Parser::macro_body(MacroDefinition& macro, std::string_view end) {
  macros_.push_back(&macro);
  const size_t loops = std::exchange(loops_, 0);
  MYNAH_TRY(macro.body, whole_inner_body(end));
  loops_ = loops;
  macros_.pop_back();
  return {};
}

TemplateResult<void> Parser::signature(MacroDefinition& macro) {
  MYNAH_TRY_STATUS(expect_operator("("));
  while (!at_operator(")")) {
    MYNAH_TRY(const Symbol name, parameter_name());
    ExpressionRef value;
    if (skip_operator("=")) {
      MYNAH_TRY(value, expression());
    } else if (!macro.parameters.empty() && macro.parameters.back().second != nullptr) {
      return wrong("a parameter without a default stands behind one with");
    }
    macro.parameters.emplace_back(name, std::move(value));
    if (!at_operator(")")) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
  }
  skip();
  return {};
}

TemplateResult<Statement> Parser::filter_statement() {
  FilterBlock block;
  MYNAH_TRY(block.filter, filter(nullptr));
  while (skip_operator("|")) {
    MYNAH_TRY(block.filter, filter(std::move(block.filter)));
  }
  MYNAH_TRY(block.body, whole_inner_body("endfilter"));
  return Statement{std::move(block)};
}

TemplateResult<Statement> Parser::with_statement() {
  With with;
  while (current().kind != TokenKind::BlockEnd) {
    if (!with.bindings.empty()) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
    MYNAH_TRY(auto to, single_target());
    MYNAH_TRY_STATUS(expect_operator("="));
    MYNAH_TRY(auto value, expression());
    with.bindings.emplace_back(std::move(to), std::move(value));
  }
  MYNAH_TRY(with.body, whole_inner_body("endwith"));
  return Statement{std::move(with)};
}

TemplateResult<Statement> Parser::generation_statement() {
  With with;
  const size_t loops = std::exchange(loops_, 0);
  MYNAH_TRY(with.body, whole_inner_body("endgeneration"));
  loops_ = loops;
  return Statement{std::move(with)};
}

TemplateResult<Symbol> Parser::parameter_name() {
  MYNAH_TRY(const std::string name, expect_name());
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (name == constant) {
      return wrong(fmt::format("'{}' cannot be given a value", name));
    }
  }
  return symbol(name);
}

TemplateResult<Target> Parser::single_target() {
  if (skip_operator("(")) {
    ++depth_;
    if (depth_ > kMaximumHeight) {
      return wrong(fmt::format("targets stand in each other more than {} deep", kMaximumHeight));
    }
    MYNAH_TRY(auto inner, target());
    MYNAH_TRY_STATUS(expect_operator(")"));
    --depth_;
    return inner;
  }
  Target one;
  MYNAH_TRY(one.symbol, parameter_name());
  if (skip_operator(".")) {
    MYNAH_TRY(one.attribute, expect_name());
  }
  return one;
}

TemplateResult<Target> Parser::target() {
  MYNAH_TRY(auto first, single_target());
  if (!at_operator(",")) {
    return first;
  }
  Target all{.is_tuple = true};
  all.parts.push_back(std::move(first));
  while (skip_operator(",")) {
    if (at_name("in") || at_operator("=") || at_operator(")") ||
        current().kind == TokenKind::BlockEnd) {
      break;
    }
    MYNAH_TRY(auto one, single_target());
    all.parts.push_back(std::move(one));
  }
  return all;
}

}  // namespace mynah::jinja
