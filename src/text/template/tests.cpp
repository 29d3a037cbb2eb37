// Tests: what stands behind `is`.
#include <array>

#include <fmt/format.h>

#include "text/template/bound_arguments.h"
#include "text/template/builtins.h"
#include "text/template/strings.h"

namespace mynah::jinja {

namespace {

using Condition = bool (*)(const Value&);

// A test that needs the value alone.
template <Condition condition>
TemplateResult<Value> simple(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the test", given, {}));
  return Value::boolean(condition(self));
}

bool tests_defined(const Value& value) {
  return !value.is_undefined();
}

bool tests_undefined(const Value& value) {
  return value.is_undefined();
}

bool tests_none(const Value& value) {
  return value.is_none();
}

bool tests_boolean(const Value& value) {
  return value.as_boolean() != nullptr;
}

bool tests_true(const Value& value) {
  return value.as_boolean() != nullptr && *value.as_boolean();
}

bool tests_false(const Value& value) {
  return value.as_boolean() != nullptr && !*value.as_boolean();
}

bool tests_integer(const Value& value) {
  return value.as_integer().has_value() && value.as_boolean() == nullptr;
}

bool tests_float(const Value& value) {
  return value.as_real() != nullptr;
}

bool tests_number(const Value& value) {
  return value.as_number().has_value();
}

bool tests_string(const Value& value) {
  return value.as_text() != nullptr;
}

bool tests_mapping(const Value& value) {
  return value.as<Dict>() != nullptr;
}

// Python asks for a length and for items by brackets: mappings and jinja2's undefined have both.
bool tests_sequence_like(const Value& value) {
  const auto* list = value.as<List>();
  return value.is_undefined() || value.as_text() != nullptr || value.as<Dict>() != nullptr ||
         (list != nullptr && list->kind <= List::Kind::Range);
}

bool tests_iterable(const Value& value) {
  return value.is_undefined() || value.as_text() != nullptr || value.as<Dict>() != nullptr ||
         value.as<List>() != nullptr || value.as<Loop>() != nullptr;
}

bool tests_callable(const Value& value) {
  return value.is_undefined() || value.as<Builtin>() != nullptr ||
         value.as<MacroFunction>() != nullptr || value.as<Loop>() != nullptr;
}

bool tests_escaped(const Value& value) {
  return value.as_text() != nullptr && value.as_text()->safe;
}

template <bool is_wanted_upper>
TemplateResult<Value> has_case(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the test", given, {}));
  MYNAH_TRY(const MarkedText text, renderer.str(self));
  return Value::boolean(is_of_case(text.view(), is_wanted_upper));
}

template <int wanted>
TemplateResult<Value> has_parity(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the test", given, {}));
  MYNAH_TRY(const Value rest, renderer.binary(BinaryOperator::Modulo, self, Value::integer(2)));
  return Value::boolean(equal(renderer.heap(), rest, Value::integer(wanted)));
}

TemplateResult<Value> is_divisible(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("divisibleby", given, {"num"}, 1));
  MYNAH_TRY(const Value rest, renderer.binary(BinaryOperator::Modulo, self, bound[0]));
  return Value::boolean(equal(renderer.heap(), rest, Value::integer(0)));
}

TemplateResult<Value> is_equal(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("equalto", given, {"other"}, 1));
  return Value::boolean(equal(renderer.heap(), self, bound[0]));
}

TemplateResult<Value> is_unequal(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("ne", given, {"other"}, 1));
  return Value::boolean(!equal(renderer.heap(), self, bound[0]));
}

// Whether it is one thing: numbers and texts have no address here, so they are the same where they
// are equal and of one type.
TemplateResult<Value> is_same(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("sameas", given, {"other"}, 1));
  if (self.is_undefined()) {
    return Value::boolean(false);  // each use of a missing name is another undefined to jinja2
  }
  const auto* object = self.as<Object>();
  return Value::boolean(object != nullptr ? object == bound[0].as<Object>()
                                          : self.storage().index() == bound[0].storage().index() &&
                                                equal(renderer.heap(), self, bound[0]));
}

template <Comparator comparator>
TemplateResult<Value> is_ordered(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("the test", given, {"other"}, 1));
  MYNAH_TRY(const std::partial_ordering order, renderer.compare(self, bound[0]));
  switch (comparator) {
    case Comparator::Less:
      return Value::boolean(order < 0);
    case Comparator::LessEqual:
      return Value::boolean(order <= 0);
    case Comparator::Greater:
      return Value::boolean(order > 0);
    default:
      return Value::boolean(order >= 0);
  }
}

TemplateResult<Value> is_in(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("in", given, {"seq"}, 1));
  MYNAH_TRY(const bool found, renderer.contains(bound[0], self));
  return Value::boolean(found);
}

template <BuiltinFunction (*find)(std::string_view)>
TemplateResult<Value> is_known(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the test", given, {}));
  if (!is_hashable(self)) {
    return fault(fmt::format("a name is wanted, not {}", type_name(self)));
  }
  const MarkedText* name = self.as_text();
  return Value::boolean(name != nullptr && find(name->view()) != nullptr);
}

constexpr auto kTests = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"defined", simple<tests_defined>},
    {"undefined", simple<tests_undefined>},
    {"none", simple<tests_none>},
    {"boolean", simple<tests_boolean>},
    {"true", simple<tests_true>},
    {"false", simple<tests_false>},
    {"integer", simple<tests_integer>},
    {"float", simple<tests_float>},
    {"number", simple<tests_number>},
    {"string", simple<tests_string>},
    {"mapping", simple<tests_mapping>},
    {"sequence", simple<tests_sequence_like>},
    {"iterable", simple<tests_iterable>},
    {"callable", simple<tests_callable>},
    {"escaped", simple<tests_escaped>},
    {"lower", has_case<false>},
    {"upper", has_case<true>},
    {"odd", has_parity<1>},
    {"even", has_parity<0>},
    {"divisibleby", is_divisible},
    {"sameas", is_same},
    {"in", is_in},
    {"filter", is_known<find_filter>},
    {"test", is_known<find_test>},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"==", is_equal},
    {"ne", is_unequal},
    {"!=", is_unequal},
    {"lt", is_ordered<Comparator::Less>},
    {"lessthan", is_ordered<Comparator::Less>},
    {"<", is_ordered<Comparator::Less>},
    {"le", is_ordered<Comparator::LessEqual>},
    {"<=", is_ordered<Comparator::LessEqual>},
    {"gt", is_ordered<Comparator::Greater>},
    {"greaterthan", is_ordered<Comparator::Greater>},
    {">", is_ordered<Comparator::Greater>},
    {"ge", is_ordered<Comparator::GreaterEqual>},
    {">=", is_ordered<Comparator::GreaterEqual>},
});

}  // namespace

BuiltinFunction find_test(std::string_view name) {
  for (const auto& [known, function] : kTests) {
    if (known == name) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace mynah::jinja
