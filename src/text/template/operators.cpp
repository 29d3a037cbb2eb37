// Operators between two values, by Python's rules.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/template/printf.h"
#include "text/template/renderer.h"
#include "text/template/strings.h"

namespace mynah::jinja {

namespace {

std::string_view operator_text(BinaryOperator operation) {
  switch (operation) {
    case BinaryOperator::Add:
      return "+";
    case BinaryOperator::Subtract:
      return "-";
    case BinaryOperator::Multiply:
      return "*";
    case BinaryOperator::Divide:
      return "/";
    case BinaryOperator::FloorDivide:
      return "//";
    case BinaryOperator::Modulo:
      return "%";
    case BinaryOperator::Power:
      return "**";
    default:
      return "and";
  }
}

TemplateResult<Value> integer_power(Integer base, Integer exponent) {
  if (exponent < 0) {
    if (base == 0) {
      return fault("zero cannot be raised to a negative power");
    }
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  Integer result = 1;
  while (exponent > 0) {
    if (base == 0 || base == 1) {
      return Value::integer(result * base);
    }
    bool overflows = false;
    if (exponent % 2 == 1) {
      overflows = __builtin_mul_overflow(result, base, &result);
    }
    exponent /= 2;
    overflows |= exponent > 0 && __builtin_mul_overflow(base, base, &base);
    if (overflows) {
      return unsupported("a number is too large: whole numbers have 127 bits here");
    }
  }
  return Value::integer(result);
}

TemplateResult<Value> integer_operation(BinaryOperator operation, Integer left, Integer right) {
  Integer result = 0;
  bool overflows = false;
  switch (operation) {
    case BinaryOperator::Add:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case BinaryOperator::Subtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case BinaryOperator::Multiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    case BinaryOperator::Power:
      return integer_power(left, right);
    default: {
      if (right == 0) {
        return fault("a division by zero");
      }
      if (operation == BinaryOperator::Divide) {
        return Value::real(static_cast<double>(left) / static_cast<double>(right));
      }
      if (right == -1) {
        return operation == BinaryOperator::Modulo
                   ? Value::integer(0)
                   : integer_operation(BinaryOperator::Subtract, 0, left);
      }
      // Python rounds down, C++ towards zero.
      const Integer rest = left % right;
      const bool is_below = rest != 0 && (rest < 0) != (right < 0);
      result = operation == BinaryOperator::Modulo ? (is_below ? rest + right : rest)
                                                   : left / right - (is_below ? 1 : 0);
    }
  }
  if (overflows) {
    return unsupported("a number is too large: whole numbers have 127 bits here");
  }
  return Value::integer(result);
}

TemplateResult<Value> real_operation(BinaryOperator operation, double left, double right) {
  switch (operation) {
    case BinaryOperator::Add:
      return Value::real(left + right);
    case BinaryOperator::Subtract:
      return Value::real(left - right);
    case BinaryOperator::Multiply:
      return Value::real(left * right);
    case BinaryOperator::Power:
      return Value::real(std::pow(left, right));
    default:
      break;
  }
  if (right == 0) {
    return fault("a division by zero");
  }
  if (operation == BinaryOperator::Divide) {
    return Value::real(left / right);
  }
  // CPython's float_divmod: what is left has the divisor's sign.
  double rest = std::fmod(left, right);
  double quotient = (left - rest) / right;
  if (rest != 0 && (right < 0) != (rest < 0)) {
    rest += right;
    quotient -= 1;
  }
  if (operation == BinaryOperator::Modulo) {
    return Value::real(rest == 0 ? std::copysign(0.0, right) : rest);
  }
  const double whole = std::floor(quotient);
  return Value::real(quotient == 0 ? std::copysign(0.0, left / right)
                                   : (quotient - whole > 0.5 ? whole + 1 : whole));
}

// A sequence some times behind itself; less than none is none.
TemplateResult<Value> repeated(Heap& heap, const Value& sequence, Integer count) {
  const auto* list = sequence.as<List>();
  const MarkedText* text = sequence.as_text();
  const size_t bytes = text != nullptr ? text->size() : list->items.size() * sizeof(Value);
  const auto times = static_cast<size_t>(std::clamp<Integer>(count, 0, Integer{1} << 40));
  if (bytes == 0 || times == 0) {
    return text != nullptr ? heap.text(MarkedText()) : heap.list({}, list->kind);
  }
  if (times > (size_t{1} << 40) / bytes) {
    return over_limit("a repeated value takes more memory than there is");
  }
  MYNAH_TRY_STATUS(heap.check_room(bytes * times));
  if (text != nullptr) {
    MarkedText out;
    out.safe = text->safe;
    for (size_t i = 0; i < times; ++i) {
      out.append(*text);
    }
    return heap.text(std::move(out));
  }
  std::vector<Value> items;
  items.reserve(list->items.size() * times);
  for (size_t i = 0; i < times; ++i) {
    items.insert(items.end(), list->items.begin(), list->items.end());
  }
  return heap.list(std::move(items), list->kind);
}

bool is_sequence(const Value& value) {
  const auto* list = value.as<List>();
  return value.as_text() != nullptr ||
         (list != nullptr && (list->kind == List::Kind::List || list->kind == List::Kind::Tuple));
}

}  // namespace

TemplateResult<Value> Renderer::binary(BinaryOperator operation, const Value& left,
                                       const Value& right) {
  if (operation == BinaryOperator::Modulo && left.as_text() != nullptr) {
    return printf_text(*this, *left.as_text(), right);
  }
  for (const Value* one : {&left, &right}) {
    if (one->is_undefined()) {
      return undefined_fault(*one);
    }
  }
  if (const auto a = left.as_integer(), b = right.as_integer(); a && b) {
    return integer_operation(operation, *a, *b);
  }
  if (const auto a = left.as_number(), b = right.as_number(); a && b) {
    return real_operation(operation, *a, *b);
  }
  if (operation == BinaryOperator::Add) {
    const MarkedText* a = left.as_text();
    const MarkedText* b = right.as_text();
    if (a != nullptr && b != nullptr) {
      MarkedText out = b->safe && !a->safe ? escaped(*a) : *a;
      out.append(a->safe && !b->safe ? escaped(*b) : *b);
      out.safe = a->safe || b->safe;
      return heap_.text(std::move(out));
    }
    const auto* first = left.as<List>();
    const auto* second = right.as<List>();
    if (first != nullptr && second != nullptr && first->kind == second->kind && is_sequence(left)) {
      std::vector<Value> items;
      items.reserve(first->items.size() + second->items.size());
      items.insert(items.end(), first->items.begin(), first->items.end());
      items.insert(items.end(), second->items.begin(), second->items.end());
      return heap_.list(std::move(items), first->kind);
    }
  }
  if (operation == BinaryOperator::Multiply) {
    if (const auto times = right.as_integer(); times && is_sequence(left)) {
      return repeated(heap_, left, *times);
    }
    if (const auto times = left.as_integer(); times && is_sequence(right)) {
      return repeated(heap_, right, *times);
    }
  }
  return fault(fmt::format("{} {} {} is nothing that Python has", type_name(left),
                           operator_text(operation), type_name(right)));
}

TemplateResult<std::partial_ordering> Renderer::compare(const Value& left, const Value& right) {
  const Level level(*this);
  MYNAH_TRY_STATUS(level.check());
  heap_.charge(1);
  for (const Value* one : {&left, &right}) {
    if (one->is_undefined()) {
      return undefined_fault(*one);
    }
  }
  if (const auto a = left.as_integer(), b = right.as_integer(); a && b) {
    return *a <=> *b;
  }
  if (const auto a = left.as_number(), b = right.as_number(); a && b) {
    return *a <=> *b;
  }
  if (const MarkedText *a = left.as_text(), *b = right.as_text(); a != nullptr && b != nullptr) {
    heap_.charge_bytes(std::min(a->size(), b->size()));
    // Code points are in the order of their bytes in UTF-8.
    return a->view() <=> b->view();
  }
  const auto* first = left.as<List>();
  const auto* second = right.as<List>();
  if (first == nullptr || second == nullptr || first->kind != second->kind || !is_sequence(left)) {
    return fault(fmt::format("{} and {} have no order", type_name(left), type_name(right)));
  }
  for (size_t i = 0; i < std::min(first->items.size(), second->items.size()); ++i) {
    if (!equal(heap_, first->items[i], second->items[i])) {
      return compare(first->items[i], second->items[i]);
    }
  }
  return first->items.size() <=> second->items.size();
}

TemplateResult<bool> Renderer::contains(const Value& container, const Value& value) {
  if (const MarkedText* text = container.as_text()) {
    const MarkedText* part = value.as_text();
    if (part == nullptr) {
      return fault(fmt::format("{} cannot be within a text", type_name(value)));
    }
    heap_.charge_bytes(text->size());
    return text->view().contains(part->view());
  }
  if (const auto* dict = container.as<Dict>()) {
    if (!is_hashable(value)) {
      return fault(fmt::format("{} cannot be a key", type_name(value)));
    }
    return dict->find(value) != nullptr;
  }
  if (container.is_undefined()) {
    return false;
  }
  auto* list = container.as<List>();
  if (list == nullptr) {
    return fault(fmt::format("nothing can be within {}", type_name(container)));
  }
  const bool found = std::ranges::any_of(
      list->items, [&](const Value& item) { return equal(heap_, item, value); });
  if (list->kind == List::Kind::Generator) {
    list->items.clear();
  }
  return found;
}

}  // namespace mynah::jinja
