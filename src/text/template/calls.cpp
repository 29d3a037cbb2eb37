// Calls of macros and functions, attributes and items.
#include <algorithm>

#include <fmt/format.h>

#include "text/template/builtins.h"
#include "text/template/renderer.h"
#include "text/template/strings.h"
#include "text/utf8.h"

namespace mynah::jinja {

TemplateResult<Arguments> Renderer::arguments(const CallArguments& given, const ScopeRef& scope) {
  Arguments arguments;
  arguments.positional.reserve(given.positional.size());
  for (const ExpressionRef& one : given.positional) {
    MYNAH_TRY(Value value, evaluate(*one, scope));
    arguments.positional.push_back(std::move(value));
  }
  if (given.spread != nullptr) {
    MYNAH_TRY(const Value spread, evaluate(*given.spread, scope));
    MYNAH_TRY(const std::vector<Value> values, iterate(spread));
    arguments.positional.insert(arguments.positional.end(), values.begin(), values.end());
  }
  for (const auto& [name, one] : given.named) {
    MYNAH_TRY(Value value, evaluate(*one, scope));
    arguments.named.emplace_back(name, std::move(value));
  }
  if (given.named_spread != nullptr) {
    MYNAH_TRY(const Value spread, evaluate(*given.named_spread, scope));
    const auto* dict = spread.as<Dict>();
    if (dict == nullptr) {
      return fault(fmt::format("a mapping is wanted behind **, not {}", type_name(spread)));
    }
    for (const auto& [key, value] : dict->entries) {
      const MarkedText* name = key.as_text();
      if (name == nullptr) {
        return fault("the keys of a mapping behind ** must be texts");
      }
      arguments.named.emplace_back(name->view(), value);
    }
  }
  for (const Value& value : arguments.positional) {
    heap_.charge_text(value);
  }
  for (const auto& [name, value] : arguments.named) {
    heap_.charge_text(value);
  }
  return arguments;
}

TemplateResult<Value> Renderer::call(const Value& callee, Arguments arguments) {
  if (const auto* builtin = callee.as<Builtin>()) {
    heap_.charge_text(builtin->self);
    return builtin->function(*this, builtin->self, arguments);
  }
  if (const auto* macro = callee.as<MacroFunction>()) {
    return call_macro(*macro, std::move(arguments));
  }
  if (auto* loop = callee.as<Loop>(); loop != nullptr && loop->statement->recursive) {
    if (arguments.positional.size() != 1) {
      return fault("loop() takes one value, what to loop over");
    }
    MarkedText text;
    MYNAH_TRY_STATUS(
        run_loop(*loop->statement, arguments.positional[0], loop->scope, loop->depth + 1, text));
    written_ -= text.size();
    return heap_.text(std::move(text));
  }
  return callee.is_undefined() ? undefined_fault(callee)
                               : fault(fmt::format("{} cannot be called", type_name(callee)));
}

TemplateResult<Value> Renderer::call_macro(const MacroFunction& macro, Arguments arguments) {
  const std::shared_ptr<const MacroDefinition> definition = macro.definition;
  const ScopeRef scope = inner_scope(macro.scope);
  const auto take_named = [&](std::string_view name) -> std::optional<Value> {
    const auto place =
        std::ranges::find(arguments.named, name, &std::pair<std::string, Value>::first);
    if (place == arguments.named.end()) {
      return std::nullopt;
    }
    Value value = std::move(place->second);
    arguments.named.erase(place);
    return value;
  };
  const auto& parameters = definition->parameters;
  const size_t positional = std::min(arguments.positional.size(), parameters.size());
  // Those given first: a default may name another parameter.
  std::vector<bool> is_bound(parameters.size());
  bool names_caller = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = tree_.names[parameters[i].first];
    names_caller |= parameters[i].first == kCaller;
    if (i < positional) {
      scope->set(parameters[i].first, arguments.positional[i]);
      is_bound[i] = true;
    } else if (auto value = take_named(name)) {
      scope->set(parameters[i].first, std::move(*value));
      is_bound[i] = true;
    }
  }
  if (definition->takes_caller && !names_caller) {
    scope->set(kCaller, take_named("caller").value_or(Value::undefined("no caller is defined")));
  }
  if (definition->takes_named) {
    auto dict = heap_.make<Dict>();
    for (auto& [name, value] : arguments.named) {
      dict->set(heap_.text(name), std::move(value));
    }
    scope->set(kKwargs, Value::object(std::move(dict)));
  } else if (!arguments.named.empty()) {
    return fault(fmt::format("macro '{}' takes no argument named '{}'", definition->name,
                             arguments.named.front().first));
  }
  if (definition->takes_positional) {
    const auto rest = arguments.positional.begin() + static_cast<std::ptrdiff_t>(positional);
    scope->set(kVarargs,
               heap_.list(std::vector<Value>(rest, arguments.positional.end()), List::Kind::Tuple));
  } else if (arguments.positional.size() > positional) {
    return fault(fmt::format("macro '{}' takes no more than {} arguments, {} are given",
                             definition->name, parameters.size(), arguments.positional.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (is_bound[i]) {
      continue;
    }
    Value value = Value::undefined(
        fmt::format("parameter '{}' was not given", tree_.names[parameters[i].first]));
    if (parameters[i].second != nullptr) {
      MYNAH_TRY(value, evaluate(*parameters[i].second, scope));
    }
    scope->set(parameters[i].first, std::move(value));
  }
  return captured(definition->body, scope);
}

TemplateResult<std::vector<Value>> Renderer::iterate(const Value& value) {
  if (value.is_undefined()) {
    return std::vector<Value>();
  }
  if (auto* list = value.as<List>()) {
    if (list->failure) {
      return std::unexpected(*list->failure);
    }
    heap_.charge(list->items.size() / 4);
    MYNAH_TRY_STATUS(heap_.check_room(list->items.size() * sizeof(Value)));
    return list->kind == List::Kind::Generator ? std::exchange(list->items, {}) : list->items;
  }
  std::vector<Value> items;
  if (const auto* dict = value.as<Dict>()) {
    heap_.charge(dict->entries.size() / 4);
    items.reserve(dict->entries.size());
    for (const auto& [key, entry] : dict->entries) {
      items.push_back(key);
    }
    return items;
  }
  if (const MarkedText* text = value.as_text()) {
    MYNAH_TRY_STATUS(heap_.check_room(text->size() * (sizeof(Value) + sizeof(String))));
    for (size_t at = 0; at < text->size();) {
      const size_t end = at + next_code_point(text->view().substr(at)).bytes;
      heap_.charge(1);
      MarkedText one = text->part(at, end);
      one.safe = false;  // as Markup's own iterator is str's
      items.push_back(heap_.text(std::move(one)));
      at = end;
    }
    return items;
  }
  return fault(fmt::format("{} cannot be iterated over", type_name(value)));
}

TemplateResult<void> Renderer::look_ahead(Loop& loop, size_t count) {
  while (loop.ready.size() < count && loop.next < loop.values.size()) {
    heap_.charge(1);
    MYNAH_TRY_STATUS(heap_.check());
    Value value = loop.values[loop.next];
    ++loop.next;
    if (loop.statement->test != nullptr) {
      const ScopeRef scope = inner_scope(loop.scope);
      MYNAH_TRY_STATUS(bind(loop.statement->target, value, scope));
      MYNAH_TRY(const Value fits, evaluate(*loop.statement->test, scope));
      if (!truth(fits)) {
        continue;
      }
    }
    loop.ready.push_back(std::move(value));
  }
  return {};
}

TemplateResult<Value> Renderer::loop_attribute(Loop& loop, std::string_view name) {
  const auto number = [](size_t value) { return Value::integer(static_cast<Integer>(value)); };
  if (name == "index") {
    return number(loop.index0 + 1);
  }
  if (name == "index0") {
    return number(loop.index0);
  }
  if (name == "first") {
    return Value::boolean(loop.index0 == 0);
  }
  if (name == "depth") {
    return number(loop.depth);
  }
  if (name == "depth0") {
    return number(loop.depth - 1);
  }
  if (name == "previtem") {
    return loop.previous;
  }
  if (name == "last" || name == "nextitem") {
    MYNAH_TRY_STATUS(look_ahead(loop, 1));
    if (name == "last") {
      return Value::boolean(loop.ready.empty());
    }
    return loop.ready.empty() ? Value::undefined("there is no next item") : loop.ready.front();
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    if (loop.statement->test == nullptr) {
      const size_t to_come = loop.ready.size() + loop.values.size() - loop.next;
      return number(name == "length" ? loop.index0 + 1 + to_come
                                     : to_come + (name == "revindex" ? 1 : 0));
    }
    MYNAH_TRY_STATUS(look_ahead(loop, loop.values.size()));
    return number(name == "length" ? loop.index0 + 1 + loop.ready.size()
                                   : loop.ready.size() + (name == "revindex" ? 1 : 0));
  }
  return Value::undefined(fmt::format("a loop has no attribute '{}'", name));
}

// What an undefined value costs, which holds the reason for it.
constexpr size_t kUndefinedSteps = 16;

TemplateResult<Value> Renderer::attribute(const Value& value, std::string_view name) {
  if (value.is_undefined()) {
    return undefined_fault(value);
  }
  if (const BuiltinFunction function = find_method(value, name)) {
    auto method = heap_.make<Builtin>();
    method->function = function;
    method->self = value;
    return Value::object(std::move(method));
  }
  if (const auto* names = value.as<Namespace>()) {
    if (const Value* found = names->find(name)) {
      return *found;
    }
  } else if (const auto* dict = value.as<Dict>()) {
    if (const Value* found = dict->find(name)) {
      return *found;
    }
  } else if (const auto* group = value.as<List>(); group != nullptr && group->is_group) {
    if (name == "grouper" || name == "list") {
      return group->items[name == "list" ? 1 : 0];
    }
  } else if (auto* loop = value.as<Loop>()) {
    return loop_attribute(*loop, name);
  } else if (const auto* macro = value.as<MacroFunction>(); macro != nullptr && name == "name") {
    return heap_.text(macro->definition->name);
  }
  heap_.charge(kUndefinedSteps);
  return Value::undefined(fmt::format("{} has no attribute '{}'", type_name(value), name));
}

TemplateResult<Value> Renderer::item(const Value& value, const Value& key) {
  heap_.charge_text(key);
  if (value.is_undefined()) {
    return undefined_fault(value);
  }
  if (const auto* dict = value.as<Dict>()) {
    if (const Value* found = dict->find(key)) {
      return *found;
    }
  } else if (const auto index = key.as_integer()) {
    const auto* list = value.as<List>();
    if (list != nullptr && list->kind <= List::Kind::Range) {
      const auto size = static_cast<Integer>(list->items.size());
      const Integer at = *index < 0 ? *index + size : *index;
      if (at >= 0 && at < size) {
        return list->items[static_cast<size_t>(at)];
      }
    } else if (const MarkedText* text = value.as_text()) {
      heap_.charge_bytes(2 * text->size());
      const std::string_view view = text->view();
      const auto size = static_cast<Integer>(count_code_points(view));
      const Integer at = *index < 0 ? *index + size : *index;
      if (at >= 0 && at < size) {
        const size_t from = offset_of_code_point(view, static_cast<size_t>(at));
        return heap_.text(text->part(from, from + next_code_point(view.substr(from)).bytes));
      }
    }
    heap_.charge(kUndefinedSteps);
    return Value::undefined(
        fmt::format("{} has no item {}", type_name(value), fmt::to_string(*index)));
  }
  if (const MarkedText* name = key.as_text()) {
    return attribute(value, name->view());
  }
  return Value::undefined(fmt::format("{} has no item for a {}", type_name(value), type_name(key)));
}

}  // namespace mynah::jinja
