// Filters that choose or change each item of a sequence by another filter or a test.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/bound_arguments.h"
#include "text/template/filters.h"

namespace mynah::jinja {

TemplateResult<Value> value_at(Renderer& renderer, const Value& from, const Value& path,
                               const Value* otherwise) {
  if (path.as_integer()) {
    MYNAH_TRY(Value value, renderer.item(from, path));
    return value.is_undefined() && otherwise != nullptr ? *otherwise : value;
  }
  const MarkedText* text = path.as_text();
  if (text == nullptr) {
    return fault(fmt::format("an attribute is named by a text, not {}", type_name(path)));
  }
  Value value = from;
  for (const std::string_view part : split(text->view(), '.')) {
    constexpr size_t kLongestIndex = 9;
    const bool is_index = is_ascii_digits(part) && part.size() <= kLongestIndex;
    const Value key = is_index ? Value::integer(std::stoll(std::string(part)))
                               : renderer.heap().text(std::string(part));
    MYNAH_TRY(value, renderer.item(value, key));
    if (value.is_undefined() && otherwise != nullptr) {
      value = *otherwise;
    }
  }
  return value;
}

namespace {

TemplateResult<Value> attr(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("attr", given, {"name"}, 1));
  MYNAH_TRY(const MarkedText name, renderer.str(bound[0]));
  // Attributes alone: what a mapping holds is none.
  if (self.as<Dict>() != nullptr && find_method(self, name.view()) == nullptr) {
    return Value::undefined(fmt::format("dict has no attribute '{}'", name.view()));
  }
  return renderer.attribute(self, name.view());
}

// The function that the first of a call's values names, taken out of them.
TemplateResult<BuiltinFunction> taken_function(Arguments& given, std::string_view what,
                                               BuiltinFunction (*find)(std::string_view)) {
  const MarkedText* name = given.positional.empty() ? nullptr : given.positional.front().as_text();
  if (name == nullptr) {
    return fault(fmt::format("the name of a {} is wanted", what));
  }
  const BuiltinFunction function = find(name->view());
  if (function == nullptr) {
    return unsupported(fmt::format("there is no {} named '{}'", what, name->view()));
  }
  given.positional.erase(given.positional.begin());
  return function;
}

// One more call, of a filter or a test on a value.
TemplateResult<void> charge_call(Renderer& renderer, const Value& value, const Arguments& given) {
  renderer.heap().charge(1 + given.positional.size() + given.named.size());
  renderer.heap().charge_text(value);
  for (const Value& argument : given.positional) {
    renderer.heap().charge_text(argument);
  }
  return renderer.heap().check();
}

TemplateResult<std::vector<Value>> mapped(Renderer& renderer, const Value& self, Arguments& given) {
  if (!truth(self)) {
    return std::vector<Value>();  // whatever the arguments, as in jinja2: None too
  }
  BuiltinFunction function = nullptr;
  Value attribute;
  std::optional<Value> otherwise;
  if (given.positional.empty() && !given.named.empty() &&
      std::ranges::any_of(given.named, [](const auto& one) { return one.first == "attribute"; })) {
    MYNAH_TRY(const auto bound, BoundArguments::of("map", given, {"attribute", "default"}, 1));
    attribute = bound[0];
    if (const Value* value = bound.find_some(1)) {
      otherwise = *value;
    }
  } else {
    MYNAH_TRY(function, taken_function(given, "filter", find_filter));
  }
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  std::vector<Value> out;
  for (const Value& value : values) {
    MYNAH_TRY_STATUS(charge_call(renderer, value, given));
    if (function != nullptr) {
      Arguments arguments = given;
      MYNAH_TRY(Value mapped, function(renderer, value, arguments));
      out.push_back(std::move(mapped));
    } else {
      MYNAH_TRY(Value mapped,
                value_at(renderer, value, attribute, otherwise ? &*otherwise : nullptr));
      out.push_back(std::move(mapped));
    }
  }
  return out;
}

template <bool by_attribute, bool wanted>
TemplateResult<std::vector<Value>> selected(Renderer& renderer, const Value& self,
                                            Arguments& given) {
  if (!truth(self)) {
    return std::vector<Value>();  // whatever the arguments, as in jinja2: None too
  }
  Value attribute;
  if (by_attribute) {
    if (given.positional.empty()) {
      return fault("the name of an attribute is wanted");
    }
    attribute = given.positional.front();
    given.positional.erase(given.positional.begin());
  }
  BuiltinFunction test = nullptr;
  if (!given.positional.empty()) {
    MYNAH_TRY(test, taken_function(given, "test", find_test));
  }
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  std::vector<Value> out;
  for (const Value& value : values) {
    MYNAH_TRY_STATUS(charge_call(renderer, value, given));
    Value tested = value;
    if (by_attribute) {
      MYNAH_TRY(tested, value_at(renderer, value, attribute));
    }
    if (test != nullptr) {
      Arguments arguments = given;
      MYNAH_TRY(tested, test(renderer, tested, arguments));
    }
    if (truth(tested) == wanted) {
      out.push_back(value);
    }
  }
  return out;
}

// A generator of what `make` yields. Python makes it when it is read, so that what is wrong is
// found then or never.
template <TemplateResult<std::vector<Value>> (*make)(Renderer&, const Value&, Arguments&)>
TemplateResult<Value> lazy(Renderer& renderer, const Value& self, Arguments& given) {
  auto items = make(renderer, self, given);
  if (items) {
    return renderer.heap().list(*std::move(items), List::Kind::Generator);
  }
  if (items.error().kind == TemplateError::Kind::Limit) {
    return std::unexpected(std::move(items).error());
  }
  Value value = renderer.heap().list({}, List::Kind::Generator);
  value.as<List>()->failure = std::move(items).error();
  return value;
}

constexpr auto kChoosingFilters = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"attr", attr},
    {"map", lazy<mapped>},
    {"select", lazy<selected<false, true>>},
    {"reject", lazy<selected<false, false>>},
    {"selectattr", lazy<selected<true, true>>},
    {"rejectattr", lazy<selected<true, false>>},
});

}  // namespace

BuiltinFunction find_choosing_filter(std::string_view name) {
  for (const auto& [known, function] : kChoosingFilters) {
    if (known == name) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace mynah::jinja
