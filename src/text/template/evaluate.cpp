// Expressions.
#include <algorithm>

#include <fmt/format.h>

#include "text/template/builtins.h"
#include "text/template/renderer.h"
#include "text/template/strings.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// Where a slice begins, its step, and how many items it takes: Python's slice.indices.
struct Steps {
  Integer begin = 0;
  Integer step = 1;
  size_t count = 0;
};

TemplateResult<Steps> slice_steps(size_t size, const Value& begin, const Value& end,
                                  const Value& step) {
  for (const Value* one : {&begin, &end, &step}) {
    if (!one->is_none() && !one->as_integer()) {
      return one->is_undefined()
                 ? undefined_fault(*one)
                 : fault(fmt::format("a slice takes whole numbers, not {}", type_name(*one)));
    }
  }
  Steps steps{.begin = 0, .step = step.as_integer().value_or(1), .count = 0};
  if (steps.step == 0) {
    return fault("a slice's step cannot be zero");
  }
  const auto length = static_cast<Integer>(size);
  const bool forward = steps.step > 0;
  const Integer lowest = forward ? 0 : -1;
  const Integer highest = forward ? length : length - 1;
  const auto bounded = [&](const Value& bound, Integer otherwise) {
    const auto given = bound.as_integer();
    return given ? std::clamp(*given < 0 ? *given + length : *given, lowest, highest) : otherwise;
  };
  steps.begin = bounded(begin, forward ? lowest : highest);
  const Integer stop = bounded(end, forward ? highest : lowest);
  const Integer distance = forward ? stop - steps.begin : steps.begin - stop;
  if (distance > 0) {
    const Integer stride =
        forward ? std::min(steps.step, distance) : std::max(steps.step, -distance);
    steps.step = stride;
    steps.count = static_cast<size_t>((distance - 1) / (forward ? stride : -stride) + 1);
  }
  return steps;
}

MarkedText sliced_text(const MarkedText& text, const Steps& steps) {
  const std::string_view view = text.view();
  MarkedText out;
  out.safe = text.safe;
  if (steps.step == 1) {
    const size_t from = offset_of_code_point(view, static_cast<size_t>(steps.begin));
    const size_t to = from + offset_of_code_point(view.substr(from), steps.count);
    out.append_part(text, from, to);
    return out;
  }
  std::vector<size_t> places;
  for (size_t at = 0; at < view.size(); at += next_code_point(view.substr(at)).bytes) {
    places.push_back(at);
  }
  places.push_back(view.size());
  for (size_t i = 0; i < steps.count; ++i) {
    const auto at = static_cast<size_t>(steps.begin + static_cast<Integer>(i) * steps.step);
    out.append_part(text, places[at], places[at + 1]);
  }
  return out;
}

}  // namespace

TemplateResult<Value> Renderer::evaluate(const Expression& expression, const ScopeRef& scope) {
  const Level level(*this);
  heap_.charge(1);
  auto value = std::visit(
      [&](const auto& node) -> TemplateResult<Value> {
        MYNAH_TRY_STATUS(level.check());
        return evaluate(node, scope);
      },
      expression.node);
  if (!value && value.error().line == 0) {
    value.error().line = expression.line;
  }
  return value;
}

TemplateResult<Value> Renderer::evaluate(const Literal& literal, const ScopeRef& /*scope*/) {
  return literal.value;
}

TemplateResult<Value> Renderer::evaluate(const Name& name, const ScopeRef& scope) {
  for (Scope* one = scope.get(); one != nullptr; one = one->parent.get()) {
    if (const Value* value = one->find(name.symbol)) {
      return *value;
    }
  }
  heap_.charge_bytes(1024 + tree_.names[name.symbol].size());  // as the reason is kept
  return Value::undefined(fmt::format("'{}' is undefined", tree_.names[name.symbol]));
}

TemplateResult<Value> Renderer::evaluate(const Sequence& sequence, const ScopeRef& scope) {
  std::vector<Value> items;
  items.reserve(sequence.items.size());
  for (const ExpressionRef& one : sequence.items) {
    MYNAH_TRY(Value value, evaluate(*one, scope));
    items.push_back(std::move(value));
  }
  return heap_.list(std::move(items), sequence.tuple ? List::Kind::Tuple : List::Kind::List);
}

TemplateResult<Value> Renderer::evaluate(const Mapping& mapping, const ScopeRef& scope) {
  auto dict = heap_.make<Dict>();
  for (const auto& [key_node, value_node] : mapping.entries) {
    MYNAH_TRY(const Value key, evaluate(*key_node, scope));
    if (!is_hashable(key)) {
      return fault(fmt::format("{} cannot be a key", type_name(key)));
    }
    MYNAH_TRY(Value value, evaluate(*value_node, scope));
    dict->set(key, std::move(value));
  }
  return Value::object(std::move(dict));
}

TemplateResult<Value> Renderer::evaluate(const Attribute& attribute, const ScopeRef& scope) {
  MYNAH_TRY(const Value object, evaluate(*attribute.object, scope));
  return this->attribute(object, attribute.name);
}

TemplateResult<Value> Renderer::evaluate(const Item& item, const ScopeRef& scope) {
  MYNAH_TRY(const Value object, evaluate(*item.object, scope));
  MYNAH_TRY(const Value index, evaluate(*item.index, scope));
  return this->item(object, index);
}

TemplateResult<Value> Renderer::evaluate(const Slice& slice, const ScopeRef& scope) {
  MYNAH_TRY(const Value object, evaluate(*slice.object, scope));
  std::array<Value, 3> bounds = {Value::none(), Value::none(), Value::none()};
  const std::array<const ExpressionRef*, 3> nodes = {&slice.begin, &slice.end, &slice.step};
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (*nodes[i] != nullptr) {
      MYNAH_TRY(bounds[i], evaluate(**nodes[i], scope));
    }
  }
  if (object.is_undefined()) {
    return undefined_fault(object);
  }
  if (const MarkedText* text = object.as_text()) {
    heap_.charge_bytes(text->size());
    MYNAH_TRY(const Steps steps,
              slice_steps(count_code_points(text->view()), bounds[0], bounds[1], bounds[2]));
    return heap_.text(sliced_text(*text, steps));
  }
  const auto* list = object.as<List>();
  if (list == nullptr || list->kind > List::Kind::Range) {
    return fault(fmt::format("{} has no slices", type_name(object)));
  }
  MYNAH_TRY(const Steps steps, slice_steps(list->items.size(), bounds[0], bounds[1], bounds[2]));
  std::vector<Value> items;
  items.reserve(steps.count);
  for (size_t i = 0; i < steps.count; ++i) {
    items.push_back(
        list->items[static_cast<size_t>(steps.begin + static_cast<Integer>(i) * steps.step)]);
  }
  return heap_.list(std::move(items),
                    list->kind == List::Kind::Tuple ? List::Kind::Tuple : List::Kind::List);
}

TemplateResult<Value> Renderer::evaluate(const Call& call, const ScopeRef& scope) {
  if (const auto* method = std::get_if<Attribute>(&call.callee->node)) {
    // Without an object for a method that is called at once.
    MYNAH_TRY(const Value object, evaluate(*method->object, scope));
    if (const BuiltinFunction function = find_method(object, method->name)) {
      heap_.charge_text(object);
      MYNAH_TRY(Arguments given, arguments(call.arguments, scope));
      return function(*this, object, given);
    }
    MYNAH_TRY(const Value callee, attribute(object, method->name));
    MYNAH_TRY(Arguments given, arguments(call.arguments, scope));
    return this->call(callee, std::move(given));
  }
  MYNAH_TRY(const Value callee, evaluate(*call.callee, scope));
  MYNAH_TRY(Arguments given, arguments(call.arguments, scope));
  return this->call(callee, std::move(given));
}

TemplateResult<Value> Renderer::evaluate(const Filter& filter, const ScopeRef& scope) {
  Value operand;
  if (filter.operand != nullptr) {
    MYNAH_TRY(operand, evaluate(*filter.operand, scope));
  } else {
    operand = std::exchange(block_text_, Value());
  }
  if (filter.function == nullptr) {
    return unsupported(fmt::format("there is no filter named '{}'", filter.name));
  }
  heap_.charge_text(operand);
  MYNAH_TRY(Arguments given, arguments(filter.arguments, scope));
  return filter.function(*this, operand, given);
}

TemplateResult<Value> Renderer::evaluate(const Test& test, const ScopeRef& scope) {
  MYNAH_TRY(const Value operand, evaluate(*test.operand, scope));
  if (test.function == nullptr) {
    return unsupported(fmt::format("there is no test named '{}'", test.name));
  }
  heap_.charge_text(operand);
  MYNAH_TRY(Arguments given, arguments(test.arguments, scope));
  return test.function(*this, operand, given);
}

TemplateResult<Value> Renderer::evaluate(const Unary& unary, const ScopeRef& scope) {
  MYNAH_TRY(const Value operand, evaluate(*unary.operand, scope));
  if (unary.operation == UnaryOperator::Not) {
    return Value::boolean(!truth(operand));
  }
  const bool negative = unary.operation == UnaryOperator::Minus;
  if (const auto integer = operand.as_integer()) {
    Integer value = *integer;
    if (negative && __builtin_sub_overflow(Integer{0}, *integer, &value)) {
      return unsupported("a number is too large: whole numbers have 127 bits here");
    }
    return Value::integer(value);
  }
  if (const double* real = operand.as_real()) {
    return Value::real(negative ? -*real : *real);
  }
  return operand.is_undefined() ? undefined_fault(operand)
                                : fault(fmt::format("a number is wanted behind {}, not {}",
                                                    negative ? '-' : '+', type_name(operand)));
}

TemplateResult<Value> Renderer::evaluate(const Binary& binary, const ScopeRef& scope) {
  MYNAH_TRY(const Value left, evaluate(*binary.left, scope));
  if (binary.operation == BinaryOperator::And || binary.operation == BinaryOperator::Or) {
    return truth(left) == (binary.operation == BinaryOperator::Or) ? TemplateResult<Value>(left)
                                                                   : evaluate(*binary.right, scope);
  }
  MYNAH_TRY(const Value right, evaluate(*binary.right, scope));
  return this->binary(binary.operation, left, right);
}

TemplateResult<Value> Renderer::evaluate(const Concatenation& concatenation,
                                         const ScopeRef& scope) {
  MarkedText out;
  for (const ExpressionRef& part : concatenation.parts) {
    MYNAH_TRY(const Value value, evaluate(*part, scope));
    if (const MarkedText* text = value.as_text()) {
      MYNAH_TRY_STATUS(heap_.check_room(out.size() + text->size()));
      out.append(*text);
    } else {
      MYNAH_TRY(const MarkedText shown, str(value));
      out.append(shown);
    }
  }
  return heap_.text(std::move(out));
}

TemplateResult<Value> Renderer::evaluate(const Comparison& comparison, const ScopeRef& scope) {
  MYNAH_TRY(Value left, evaluate(*comparison.first, scope));
  for (const auto& [comparator, operand] : comparison.rest) {
    MYNAH_TRY(Value right, evaluate(*operand, scope));
    MYNAH_TRY(const bool is_so, holds(comparator, left, right));
    if (!is_so) {
      return Value::boolean(false);
    }
    left = std::move(right);
  }
  return Value::boolean(true);
}

TemplateResult<Value> Renderer::evaluate(const Conditional& conditional, const ScopeRef& scope) {
  MYNAH_TRY(const Value test, evaluate(*conditional.test, scope));
  if (truth(test)) {
    return evaluate(*conditional.yes, scope);
  }
  if (conditional.no == nullptr) {
    return Value::undefined("an 'if' within an expression is false and has no 'else'");
  }
  return evaluate(*conditional.no, scope);
}

TemplateResult<bool> Renderer::holds(Comparator comparator, const Value& left, const Value& right) {
  switch (comparator) {
    case Comparator::Equal:
      return equal(heap_, left, right);
    case Comparator::NotEqual:
      return !equal(heap_, left, right);
    case Comparator::In:
      return contains(right, left);
    case Comparator::NotIn: {
      MYNAH_TRY(const bool found, contains(right, left));
      return !found;
    }
    default:
      break;
  }
  MYNAH_TRY(const std::partial_ordering order, compare(left, right));
  switch (comparator) {
    case Comparator::Less:
      return order < 0;
    case Comparator::LessEqual:
      return order <= 0;
    case Comparator::Greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace mynah::jinja
