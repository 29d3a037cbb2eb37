#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/parser.h"

namespace mynah::jinja {

namespace {

constexpr std::array<OperatorName, 2> kSums = {
    {{"+", BinaryOperator::Add}, {"-", BinaryOperator::Subtract}}};
constexpr std::array<OperatorName, 4> kProducts = {{{"*", BinaryOperator::Multiply},
                                                    {"/", BinaryOperator::Divide},
                                                    {"//", BinaryOperator::FloorDivide},
                                                    {"%", BinaryOperator::Modulo}}};
constexpr std::array<OperatorName, 1> kPowers = {{{"**", BinaryOperator::Power}}};

constexpr std::array<std::pair<std::string_view, Comparator>, 6> kComparators = {
    {{"==", Comparator::Equal},
     {"!=", Comparator::NotEqual},
     {"<", Comparator::Less},
     {"<=", Comparator::LessEqual},
     {">", Comparator::Greater},
     {">=", Comparator::GreaterEqual}}};

}  // namespace

bool Parser::at_tuple_end() const {
  return current().kind == TokenKind::OutputEnd || current().kind == TokenKind::BlockEnd ||
         at_operator(")") || at_name("recursive");
}

TemplateResult<ExpressionRef> Parser::tuple(bool with_conditional, bool in_parentheses) {
  const size_t line = current().line;
  Sequence sequence{.items = {}, .tuple = true};
  bool is_tuple = false;
  while (!at_tuple_end()) {
    MYNAH_TRY(auto one, with_conditional ? expression() : disjunction());
    sequence.items.push_back(std::move(one));
    if (!skip_operator(",")) {
      break;
    }
    is_tuple = true;
  }
  if (!is_tuple && !sequence.items.empty()) {
    return std::move(sequence.items.front());
  }
  if (!is_tuple && !in_parentheses) {
    return wrong(fmt::format("an expression is wanted, not {}", described(current())));
  }
  const size_t below = height_of(sequence.items);
  return made(std::move(sequence), line, below);
}

// a if b else c
TemplateResult<ExpressionRef> Parser::expression() {
  const size_t line = current().line;
  const size_t unknown = unknown_.size();
  MYNAH_TRY(auto value, disjunction());
  while (skip_name("if")) {
    Conditional conditional{.test = {}, .yes = std::move(value), .no = {}};
    MYNAH_TRY(conditional.test, disjunction());
    if (skip_name("else")) {
      MYNAH_TRY(conditional.no, expression());
    }
    unknown_.resize(std::min(unknown, unknown_.size()));
    const size_t below = std::max(
        {height_of(conditional.test), height_of(conditional.yes), height_of(conditional.no)});
    MYNAH_TRY(value, made(std::move(conditional), line, below));
  }
  return value;
}

TemplateResult<ExpressionRef> Parser::disjunction() {
  const size_t line = current().line;
  MYNAH_TRY(auto left, conjunction());
  while (skip_name("or")) {
    MYNAH_TRY(auto right, conjunction());
    const size_t below = std::max(left->height, right->height);
    MYNAH_TRY(left,
              made(Binary{BinaryOperator::Or, std::move(left), std::move(right)}, line, below));
  }
  return left;
}

TemplateResult<ExpressionRef> Parser::conjunction() {
  const size_t line = current().line;
  MYNAH_TRY(auto left, negation());
  while (skip_name("and")) {
    MYNAH_TRY(auto right, negation());
    const size_t below = std::max(left->height, right->height);
    MYNAH_TRY(left,
              made(Binary{BinaryOperator::And, std::move(left), std::move(right)}, line, below));
  }
  return left;
}

TemplateResult<ExpressionRef> Parser::negation() {
  const size_t line = current().line;
  size_t count = 0;
  while (skip_name("not")) {
    ++count;
  }
  MYNAH_TRY(auto value, comparison());
  for (; count > 0; --count) {
    const size_t below = value->height;
    MYNAH_TRY(value, made(Unary{UnaryOperator::Not, std::move(value)}, line, below));
  }
  return value;
}

TemplateResult<ExpressionRef> Parser::comparison() {
  const size_t line = current().line;
  MYNAH_TRY(auto first, sum());
  Comparison comparison{.first = std::move(first), .rest = {}};
  size_t below = comparison.first->height;
  while (true) {
    std::optional<Comparator> comparator;
    for (const auto& [text, value] : kComparators) {
      if (skip_operator(text)) {
        comparator = value;
        break;
      }
    }
    if (!comparator && skip_name("in")) {
      comparator = Comparator::In;
    } else if (!comparator && at_name("not") && next().is_name("in")) {
      skip();
      skip();
      comparator = Comparator::NotIn;
    }
    if (!comparator) {
      break;
    }
    MYNAH_TRY(auto operand, sum());
    below = std::max(below, operand->height);
    comparison.rest.emplace_back(*comparator, std::move(operand));
  }
  if (comparison.rest.empty()) {
    return std::move(comparison.first);
  }
  return made(std::move(comparison), line, below);
}

TemplateResult<ExpressionRef> Parser::left_chain(
    std::span<const OperatorName> operators, TemplateResult<ExpressionRef> (Parser::*operand)()) {
  const size_t line = current().line;
  MYNAH_TRY(auto left, (this->*operand)());
  while (true) {
    const auto found = std::ranges::find_if(
        operators, [&](const OperatorName& one) { return at_operator(one.text); });
    if (found == operators.end()) {
      return left;
    }
    skip();
    MYNAH_TRY(auto right, (this->*operand)());
    const size_t below = std::max(left->height, right->height);
    MYNAH_TRY(left, made(Binary{found->operation, std::move(left), std::move(right)}, line, below));
  }
}

TemplateResult<ExpressionRef> Parser::sum() {
  return left_chain(kSums, &Parser::concatenation);
}

TemplateResult<ExpressionRef> Parser::concatenation() {
  const size_t line = current().line;
  MYNAH_TRY(auto first, product());
  if (!at_operator("~")) {
    return first;
  }
  Concatenation concatenation;
  concatenation.parts.push_back(std::move(first));
  while (skip_operator("~")) {
    MYNAH_TRY(auto part, product());
    concatenation.parts.push_back(std::move(part));
  }
  const size_t below = height_of(concatenation.parts);
  return made(std::move(concatenation), line, below);
}

TemplateResult<ExpressionRef> Parser::product() {
  return left_chain(kProducts, &Parser::power);
}

TemplateResult<ExpressionRef> Parser::power() {
  return left_chain(kPowers, &Parser::plain_unary);
}

TemplateResult<ExpressionRef> Parser::plain_unary() {
  return unary(true);
}

// A sign binds tighter than a filter and looser than an attribute, but for one thing of jinja2's
// own: what follows a signed operand is of the signed value.
TemplateResult<ExpressionRef> Parser::unary(bool with_filters) {
  const size_t line = current().line;
  ++depth_;
  if (depth_ > kMaximumHeight) {
    return wrong(fmt::format("expressions stand in each other more than {} deep", kMaximumHeight));
  }
  ExpressionRef value;
  if (at_operator("-") || at_operator("+")) {
    const auto sign = at_operator("-") ? UnaryOperator::Minus : UnaryOperator::Plus;
    skip();
    MYNAH_TRY(auto operand, unary(false));
    const size_t below = operand->height;
    MYNAH_TRY(value, made(Unary{sign, std::move(operand)}, line, below));
  } else {
    MYNAH_TRY(value, primary());
  }
  MYNAH_TRY(value, postfix(std::move(value)));
  if (with_filters) {
    MYNAH_TRY(value, filters(std::move(value)));
  }
  --depth_;
  return value;
}

TemplateResult<ExpressionRef> Parser::primary() {
  const Token token = current();
  switch (token.kind) {
    case TokenKind::Name:
      skip();
      if (token.text == "true" || token.text == "True" || token.text == "false" ||
          token.text == "False") {
        return made(Literal{Value::boolean(ascii_lower(token.text) == "true")}, token.line, 0);
      }
      if (token.text == "none" || token.text == "None") {
        return made(Literal{Value::none()}, token.line, 0);
      }
      for (MacroDefinition* macro : macros_) {
        macro->takes_caller |= token.text == "caller";
        macro->takes_positional |= token.text == "varargs";
        macro->takes_named |= token.text == "kwargs";
      }
      return made(Name{symbol(token.text)}, token.line, 0);
    case TokenKind::String: {
      std::string text;
      while (current().kind == TokenKind::String) {
        text += current().text;
        skip();
      }
      return made(Literal{Value(std::make_shared<const String>(MarkedText(std::move(text))))},
                  token.line, 0);
    }
    case TokenKind::Whole:
      skip();
      return made(Literal{Value::integer(token.integer)}, token.line, 0);
    case TokenKind::Real:
      skip();
      return made(Literal{Value::real(token.real)}, token.line, 0);
    default:
      break;
  }
  if (at_operator("(")) {
    return parenthesised();
  }
  if (at_operator("[")) {
    return list();
  }
  if (at_operator("{")) {
    return mapping();
  }
  return wrong(fmt::format("an expression is wanted, not {}", described(token)));
}

TemplateResult<ExpressionRef> Parser::parenthesised() {
  skip();
  MYNAH_TRY(auto value, tuple(true, true));
  MYNAH_TRY_STATUS(expect_operator(")"));
  return value;
}

TemplateResult<ExpressionRef> Parser::list() {
  const size_t line = current().line;
  skip();
  Sequence sequence;
  while (!at_operator("]")) {
    MYNAH_TRY(auto one, expression());
    sequence.items.push_back(std::move(one));
    if (!at_operator("]")) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
  }
  skip();
  const size_t below = height_of(sequence.items);
  return made(std::move(sequence), line, below);
}

TemplateResult<ExpressionRef> Parser::mapping() {
  const size_t line = current().line;
  skip();
  Mapping mapping;
  size_t below = 0;
  while (!at_operator("}")) {
    MYNAH_TRY(auto key, expression());
    MYNAH_TRY_STATUS(expect_operator(":"));
    MYNAH_TRY(auto value, expression());
    below = std::max({below, key->height, value->height});
    mapping.entries.emplace_back(std::move(key), std::move(value));
    if (!at_operator("}")) {
      MYNAH_TRY_STATUS(expect_operator(","));
    }
  }
  skip();
  return made(std::move(mapping), line, below);
}

}  // namespace mynah::jinja
