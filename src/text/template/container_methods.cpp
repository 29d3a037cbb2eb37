// Methods of lists, tuples, mappings and loops.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "text/template/bound_arguments.h"
#include "text/template/methods.h"

namespace mynah::jinja {

namespace {

TemplateResult<Value> dict_get(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("get", given, {"key", "default"}, 1));
  if (!is_hashable(bound[0])) {
    return fault(fmt::format("{} cannot be a key", type_name(bound[0])));
  }
  (void)renderer;
  const Value* found = self.as<Dict>()->find(bound[0]);
  return found != nullptr ? *found : (bound.find(1) != nullptr ? bound[1] : Value::none());
}

template <List::Kind kind>
TemplateResult<Value> dict_view(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the method", given, {}));
  std::vector<Value> items;
  const auto& entries = self.as<Dict>()->entries;
  items.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    items.push_back(kind == List::Kind::Keys ? key
                    : kind == List::Kind::Values
                        ? value
                        : renderer.heap().list({key, value}, List::Kind::Tuple));
  }
  return renderer.heap().list(std::move(items), kind);
}

TemplateResult<Value> dict_copy(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("copy", given, {}));
  auto copy = renderer.heap().make<Dict>();
  for (const auto& [key, value] : self.as<Dict>()->entries) {
    copy->set(key, value);
  }
  return Value::object(std::move(copy));
}

TemplateResult<Value> list_copy(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("copy", given, {}));
  return renderer.heap().list(self.as<List>()->items);
}

TemplateResult<Value> list_count(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("count", given, {"value"}, 1));
  return Value::integer(std::ranges::count_if(self.as<List>()->items, [&](const Value& item) {
    return equal(renderer.heap(), item, bound[0]);
  }));
}

TemplateResult<Value> list_index(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("index", given, {"value"}, 1));
  const auto& items = self.as<List>()->items;
  const auto place = std::ranges::find_if(
      items, [&](const Value& item) { return equal(renderer.heap(), item, bound[0]); });
  return place == items.end() ? TemplateResult<Value>(fault("the value is not in the list"))
                              : Value::integer(place - items.begin());
}

// The list that a method changes, kept as it may come to hold itself.
List& changed_list(Renderer& renderer, const Value& self) {
  auto* list = self.as<List>();
  if (!list->kept) {
    list->kept = true;
    renderer.heap().keep(std::get<ObjectRef>(self.storage()));
  }
  return *list;
}

TemplateResult<Value> list_insert(Renderer& renderer, const Value& self, const Value& value,
                                  size_t place) {
  List& list = changed_list(renderer, self);
  renderer.heap().charge((list.items.size() - place) / 4);
  list.held.grow(sizeof(Value));
  list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(place), value);
  return Value::none();
}

// Changes are more than transformers' sandbox lets a template do; llama.cpp lets it, and Kimi K2's
// template needs it.
TemplateResult<Value> list_append(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("append", given, {"object"}, 1));
  return list_insert(renderer, self, bound[0], self.as<List>()->items.size());
}

TemplateResult<Value> list_pop(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("pop", given, {"index"}));
  MYNAH_TRY(const Integer index, bound.integer(0, -1));
  auto& items = changed_list(renderer, self).items;
  const auto size = static_cast<Integer>(items.size());
  const Integer at = index < 0 ? index + size : index;
  if (at < 0 || at >= size) {
    return fault(fmt::format("a list of {} has no item {} to be taken out", items.size(), index));
  }
  renderer.heap().charge(static_cast<size_t>(size - at) / 4);
  const auto place = items.begin() + static_cast<std::ptrdiff_t>(at);
  Value value = std::move(*place);
  items.erase(place);
  return value;
}

TemplateResult<Value> loop_cycle(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  if (given.positional.empty()) {
    return fault("loop.cycle takes one value at least");
  }
  return given.positional[self.as<Loop>()->index0 % given.positional.size()];
}

TemplateResult<Value> loop_changed(Renderer& renderer, const Value& self, Arguments& given) {
  auto* loop = self.as<Loop>();
  const bool is_same =
      loop->watched && loop->watched->size() == given.positional.size() &&
      std::ranges::equal(*loop->watched, given.positional, [&](const Value& a, const Value& b) {
        return equal(renderer.heap(), a, b);
      });
  if (!is_same) {
    loop->watched = std::move(given.positional);
  }
  return Value::boolean(!is_same);
}

using MethodTable = std::pair<std::string_view, BuiltinFunction>;

constexpr auto kDictMethods = std::to_array<MethodTable>({
    {"get", dict_get},
    {"items", dict_view<List::Kind::Items>},
    {"keys", dict_view<List::Kind::Keys>},
    {"values", dict_view<List::Kind::Values>},
    {"copy", dict_copy},
});
constexpr auto kListMethods = std::to_array<MethodTable>({
    {"count", list_count},
    {"index", list_index},
    {"append", list_append},
    {"pop", list_pop},
    {"copy", list_copy},
});
constexpr auto kLoopMethods = std::to_array<MethodTable>({
    {"cycle", loop_cycle},
    {"changed", loop_changed},
});

BuiltinFunction found_in(std::span<const MethodTable> table, std::string_view name) {
  for (const auto& [known, function] : table) {
    if (known == name) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace

BuiltinFunction find_container_method(const Value& self, std::string_view name) {
  if (self.as<Dict>() != nullptr) {
    return found_in(kDictMethods, name);
  }
  if (self.as<Loop>() != nullptr) {
    return found_in(kLoopMethods, name);
  }
  if (const auto* list = self.as<List>()) {
    const auto methods = std::span<const MethodTable>(kListMethods);
    if (list->kind == List::Kind::List) {
      return found_in(methods, name);
    }
    // A tuple and a range only count and find.
    return list->kind <= List::Kind::Range ? found_in(methods.first(2), name) : nullptr;
  }
  return nullptr;
}

BuiltinFunction find_method(const Value& self, std::string_view name) {
  return self.as_text() != nullptr ? find_text_method(name) : find_container_method(self, name);
}

}  // namespace mynah::jinja
