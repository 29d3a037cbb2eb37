// What stands behind a value: attributes, items, calls, filters and tests.
#include <algorithm>

#include <fmt/format.h>

#include "text/template/builtins.h"
#include "text/template/parser.h"

namespace mynah::jinja {

TemplateResult<ExpressionRef> Parser::postfix(ExpressionRef object) {
  while (true) {
    if (at_operator(".")) {
      MYNAH_TRY(object, attribute(std::move(object)));
    } else if (at_operator("[")) {
      MYNAH_TRY(object, item(std::move(object)));
    } else if (at_operator("(")) {
      MYNAH_TRY(object, call(std::move(object)));
    } else {
      return object;
    }
  }
}

TemplateResult<ExpressionRef> Parser::attribute(ExpressionRef object) {
  const size_t line = current().line;
  const size_t below = object->height;
  skip();
  const Token name = current();
  skip();
  if (name.kind == TokenKind::Name) {
    return made(Attribute{std::move(object), name.text}, line, below);
  }
  if (name.kind != TokenKind::Whole) {
    return wrong(fmt::format("a name or a number is wanted behind '.', not {}", described(name)));
  }
  MYNAH_TRY(auto index, made(Literal{Value::integer(name.integer)}, line, 0));
  return made(Item{std::move(object), std::move(index)}, line, below);
}

TemplateResult<ExpressionRef> Parser::item(ExpressionRef object) {
  const size_t line = current().line;
  skip();
  Sequence indices{.items = {}, .tuple = true};
  while (!at_operator("]")) {
    if (!indices.items.empty()) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
    ExpressionRef index;
    if (!at_operator(":")) {
      MYNAH_TRY(index, expression());
    }
    if (at_operator(":")) {
      if (!indices.items.empty()) {
        return wrong("a slice among several indices is nothing that any value takes");
      }
      return slice(std::move(object), std::move(index));
    }
    indices.items.push_back(std::move(index));
  }
  skip();
  const size_t below = std::max(object->height, height_of(indices.items));
  ExpressionRef index;
  if (indices.items.size() == 1) {
    index = std::move(indices.items.front());
  } else {
    const size_t within = height_of(indices.items);
    MYNAH_TRY(index, made(std::move(indices), line, within));
  }
  return made(Item{std::move(object), std::move(index)}, line, below + 1);
}

TemplateResult<ExpressionRef> Parser::slice(ExpressionRef object, ExpressionRef begin) {
  const size_t line = current().line;
  skip();
  Slice slice{.object = std::move(object), .begin = std::move(begin), .end = {}, .step = {}};
  if (!at_operator(":") && !at_operator("]")) {
    MYNAH_TRY(slice.end, expression());
  }
  if (skip_operator(":") && !at_operator("]")) {
    MYNAH_TRY(slice.step, expression());
  }
  MYNAH_TRY_STATUS(expect_operator("]"));
  const size_t below = std::max({height_of(slice.object), height_of(slice.begin),
                                 height_of(slice.end), height_of(slice.step)});
  return made(std::move(slice), line, below);
}

TemplateResult<ExpressionRef> Parser::call(ExpressionRef callee) {
  const size_t line = current().line;
  MYNAH_TRY(auto arguments, call_arguments());
  const size_t below = std::max(callee->height, height_of(arguments));
  return made(Call{std::move(callee), std::move(arguments)}, line, below);
}

TemplateResult<ExpressionRef> Parser::filters(ExpressionRef operand) {
  while (true) {
    if (at_operator("|")) {
      skip();
      MYNAH_TRY(operand, filter(std::move(operand)));
    } else if (at_name("is")) {
      MYNAH_TRY(operand, test(std::move(operand)));
    } else if (at_operator("(")) {
      MYNAH_TRY(operand, call(std::move(operand)));
    } else {
      return operand;
    }
  }
}

TemplateResult<ExpressionRef> Parser::filter(ExpressionRef operand) {
  const size_t line = current().line;
  Filter filter{.operand = std::move(operand), .name = {}, .function = nullptr, .arguments = {}};
  MYNAH_TRY(filter.name, expect_name());
  filter.function = find_filter(filter.name);
  if (filter.function == nullptr) {
    unknown_.push_back({TemplateError::Kind::Unsupported, line,
                        fmt::format("there is no filter named '{}'", filter.name)});
  }
  if (at_operator("(")) {
    MYNAH_TRY(filter.arguments, call_arguments());
  }
  const size_t below = std::max(height_of(filter.operand), height_of(filter.arguments));
  return made(std::move(filter), line, below);
}

TemplateResult<ExpressionRef> Parser::test(ExpressionRef operand) {
  const size_t line = current().line;
  skip();
  const bool negated = skip_name("not");
  Test test{.operand = std::move(operand), .name = {}, .function = nullptr, .arguments = {}};
  MYNAH_TRY(test.name, expect_name());
  test.function = find_test(test.name);
  if (test.function == nullptr) {
    unknown_.push_back({TemplateError::Kind::Unsupported, line,
                        fmt::format("there is no test named '{}'", test.name)});
  }
  const TokenKind kind = current().kind;
  if (at_operator("(")) {
    MYNAH_TRY(test.arguments, call_arguments());
  } else if ((kind == TokenKind::Name && !at_name("else") && !at_name("or") && !at_name("and")) ||
             kind == TokenKind::String || kind == TokenKind::Whole || kind == TokenKind::Real ||
             at_operator("[") || at_operator("{")) {
    if (at_name("is")) {
      return wrong("tests cannot be chained with 'is'");
    }
    MYNAH_TRY(auto argument, primary());
    MYNAH_TRY(argument, postfix(std::move(argument)));
    test.arguments.positional.push_back(std::move(argument));
  }
  const size_t below = std::max(height_of(test.operand), height_of(test.arguments));
  MYNAH_TRY(auto value, made(std::move(test), line, below));
  if (!negated) {
    return value;
  }
  return made(Unary{UnaryOperator::Not, std::move(value)}, line, below + 1);
}

TemplateResult<CallArguments> Parser::call_arguments() {
  MYNAH_TRY_STATUS(expect_operator("("));
  CallArguments arguments;
  while (!at_operator(")")) {
    const bool starred = at_operator("*");
    if (starred || at_operator("**")) {
      ExpressionRef& spread = starred ? arguments.spread : arguments.named_spread;
      if (spread != nullptr || arguments.named_spread != nullptr) {
        return wrong("a call has its * or ** twice or in the wrong order");
      }
      skip();
      MYNAH_TRY(spread, expression());
    } else if (current().kind == TokenKind::Name && next().is_operator("=")) {
      if (arguments.named_spread != nullptr) {
        return wrong("nothing may stand behind ** in a call");
      }
      std::string name = current().text;
      skip();
      skip();
      MYNAH_TRY(auto value, expression());
      arguments.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (!arguments.named.empty() || arguments.spread != nullptr ||
          arguments.named_spread != nullptr) {
        return wrong("a value without a name stands behind a named one in a call");
      }
      MYNAH_TRY(auto value, expression());
      arguments.positional.push_back(std::move(value));
    }
    if (!at_operator(")")) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
  }
  skip();
  return arguments;
}

}  // namespace mynah::jinja
