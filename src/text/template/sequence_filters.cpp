// Filters of sequences and mappings.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/bound_arguments.h"
#include "text/template/filters.h"
#include "text/template/strings.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// What is compared of a value: its attribute, a text without its case where that does not count.
TemplateResult<Value> sort_key(Renderer& renderer, const Value& value, const Value* attribute,
                               bool with_case) {
  Value key = value;
  if (attribute != nullptr) {
    MYNAH_TRY(key, value_at(renderer, value, *attribute));
  }
  const MarkedText* text = key.as_text();
  return text == nullptr || with_case ? key : renderer.heap().text(text->mapped(lower_case));
}

struct Keyed {
  Value key;
  Value value;
};

TemplateResult<std::vector<Keyed>> keyed(Renderer& renderer, const Value& values,
                                         const Value* attribute, bool with_case) {
  MYNAH_TRY(std::vector<Value> items, renderer.iterate(values));
  std::vector<Keyed> out;
  for (Value& item : items) {
    MYNAH_TRY(Value key, sort_key(renderer, item, attribute, with_case));
    out.push_back({.key = std::move(key), .value = std::move(item)});
  }
  return out;
}

// Python's stable sort; Fault where two keys have no order.
TemplateResult<void> sort_by_key(Renderer& renderer, std::vector<Keyed>& items, bool reverse) {
  TemplateResult<void> status;
  const auto is_less = [&](const Keyed& left, const Keyed& right) {
    const auto order = renderer.compare(left.key, right.key);
    if (!order && status) {
      status = std::unexpected(order.error());
    }
    return order && *order < 0;
  };
  if (reverse) {
    // Equal ones keep their order in Python's reversed sorts too.
    std::ranges::reverse(items);
    std::ranges::stable_sort(items, is_less);
    std::ranges::reverse(items);
  } else {
    std::ranges::stable_sort(items, is_less);
  }
  return status;
}

std::vector<Value> values_of(std::vector<Keyed> items) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (Keyed& item : items) {
    values.push_back(std::move(item.value));
  }
  return values;
}

TemplateResult<Value> sort(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound,
            BoundArguments::of("sort", given, {"reverse", "case_sensitive", "attribute"}));
  // Attributes are compared as lists of them, in which what is undefined is equal to its like.
  std::vector<Value> paths;
  if (const Value* attribute = bound.find_some(2)) {
    const MarkedText* text = attribute->as_text();
    for (const std::string_view part : split(text != nullptr ? text->view() : "", ',')) {
      paths.push_back(text != nullptr ? renderer.heap().text(std::string(part)) : *attribute);
    }
  }
  MYNAH_TRY(std::vector<Value> values, renderer.iterate(self));
  std::vector<Keyed> items;
  for (Value& value : values) {
    std::vector<Value> keys;
    for (const Value& path : paths) {
      MYNAH_TRY(Value key, sort_key(renderer, value, &path, bound.flag(1)));
      keys.push_back(std::move(key));
    }
    MYNAH_TRY(Value key, paths.empty() ? sort_key(renderer, value, nullptr, bound.flag(1))
                                       : renderer.heap().list(std::move(keys)));
    items.push_back({.key = std::move(key), .value = std::move(value)});
  }
  MYNAH_TRY_STATUS(sort_by_key(renderer, items, bound.flag(0)));
  return renderer.heap().list(values_of(std::move(items)));
}

TemplateResult<Value> unique(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("unique", given, {"case_sensitive", "attribute"}));
  MYNAH_TRY(auto items, keyed(renderer, self, bound.find_some(1), bound.flag(0)));
  const auto seen = renderer.heap().make<Dict>();
  std::vector<Value> out;
  for (Keyed& item : items) {
    if (!is_hashable(item.key)) {
      return fault(fmt::format("{} cannot be told apart from others", type_name(item.key)));
    }
    if (seen->find(item.key) == nullptr) {
      seen->set(item.key, Value::none());
      out.push_back(std::move(item.value));
    }
    MYNAH_TRY_STATUS(renderer.heap().check());
  }
  return renderer.heap().list(std::move(out), List::Kind::Generator);
}

template <bool is_wanted_greater>
TemplateResult<Value> extreme(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound,
            BoundArguments::of("min and max", given, {"case_sensitive", "attribute"}));
  MYNAH_TRY(auto items, keyed(renderer, self, bound.find_some(1), bound.flag(0)));
  if (items.empty()) {
    return Value::undefined("an empty sequence has no least and no greatest item");
  }
  size_t best = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    MYNAH_TRY(const auto order, renderer.compare(items[i].key, items[best].key));
    best = (is_wanted_greater ? order > 0 : order < 0) ? i : best;
  }
  return items[best].value;
}

TemplateResult<Value> groupby(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound,
            BoundArguments::of("groupby", given, {"attribute", "default", "case_sensitive"}, 1));
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  std::vector<Keyed> items;
  for (const Value& value : values) {
    MYNAH_TRY(const Value found, value_at(renderer, value, bound[0], bound.find(1)));
    MYNAH_TRY(Value key, sort_key(renderer, found, nullptr, bound.flag(2)));
    items.push_back({.key = std::move(key), .value = value});
  }
  MYNAH_TRY_STATUS(sort_by_key(renderer, items, false));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin;
    std::vector<Value> members;
    while (end < items.size() && equal(renderer.heap(), items[end].key, items[begin].key)) {
      members.push_back(items[end].value);
      ++end;
    }
    if (end == begin) {
      return fault("groupby met a value that is not equal to itself");
    }
    MYNAH_TRY(Value grouper, value_at(renderer, items[begin].value, bound[0], bound.find(1)));
    const Value group = renderer.heap().list(
        {std::move(grouper), renderer.heap().list(std::move(members))}, List::Kind::Tuple);
    group.as<List>()->is_group = true;
    groups.push_back(group);
    begin = end;
  }
  return renderer.heap().list(std::move(groups));
}

TemplateResult<Value> length(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("length", given, {}));
  if (self.is_undefined()) {
    return Value::integer(0);
  }
  if (const MarkedText* text = self.as_text()) {
    renderer.heap().charge_bytes(text->size());
    return Value::integer(static_cast<Integer>(count_code_points(text->view())));
  }
  if (const auto* dict = self.as<Dict>()) {
    return Value::integer(static_cast<Integer>(dict->entries.size()));
  }
  const auto* list = self.as<List>();
  if (list == nullptr || list->kind == List::Kind::Generator) {
    return fault(fmt::format("{} has no length", type_name(self)));
  }
  return Value::integer(static_cast<Integer>(list->items.size()));
}

TemplateResult<Value> first(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("first", given, {}));
  if (auto* list = self.as<List>(); list != nullptr && list->kind == List::Kind::Generator) {
    if (list->items.empty()) {
      return Value::undefined("an empty sequence has no first item");
    }
    Value value = std::move(list->items.front());
    list->items.erase(list->items.begin());
    return value;
  }
  MYNAH_TRY(const std::vector<Value> items, renderer.iterate(self));
  return items.empty() ? Value::undefined("an empty sequence has no first item") : items.front();
}

TemplateResult<Value> last(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("last", given, {}));
  if (const auto* list = self.as<List>(); list != nullptr && list->kind == List::Kind::Generator) {
    return fault("a generator has no last item: use |list before");
  }
  MYNAH_TRY(const std::vector<Value> items, renderer.iterate(self));
  return items.empty() ? Value::undefined("an empty sequence has no last item") : items.back();
}

TemplateResult<Value> list(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("list", given, {}));
  MYNAH_TRY(std::vector<Value> items, renderer.iterate(self));
  return renderer.heap().list(std::move(items));
}

TemplateResult<Value> reverse(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("reverse", given, {}));
  if (self.as_text() == nullptr) {
    MYNAH_TRY(std::vector<Value> items, renderer.iterate(self));
    std::ranges::reverse(items);
    return renderer.heap().list(std::move(items), List::Kind::Generator);
  }
  const MarkedText& text = *self.as_text();
  MarkedText out;
  out.safe = text.safe;
  for (size_t end = text.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text.view()[begin]) & 0xC0U) == 0x80U) {
      --begin;
    }
    out.append_part(text, begin, end);
    end = begin;
  }
  return renderer.heap().text(std::move(out));
}

TemplateResult<Value> items(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("items", given, {}));
  const auto* dict = self.as<Dict>();
  if (dict == nullptr && !self.is_undefined()) {
    return fault(fmt::format("items takes a mapping, not {}", type_name(self)));
  }
  std::vector<Value> pairs;
  if (dict != nullptr) {
    for (const auto& [key, value] : dict->entries) {
      pairs.push_back(renderer.heap().list({key, value}, List::Kind::Tuple));
    }
  }
  return renderer.heap().list(std::move(pairs), List::Kind::Generator);
}

TemplateResult<Value> dictsort(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound,
            BoundArguments::of("dictsort", given, {"case_sensitive", "by", "reverse"}));
  MYNAH_TRY(const MarkedText by, bound.text(1, "key"));
  if (by.view() != "key" && by.view() != "value") {
    return fault("dictsort sorts by 'key' or by 'value'");
  }
  const auto* dict = self.as<Dict>();
  if (dict == nullptr) {
    return self.is_undefined()
               ? undefined_fault(self)
               : fault(fmt::format("dictsort takes a mapping, not {}", type_name(self)));
  }
  std::vector<Keyed> pairs;
  for (const auto& [key, value] : dict->entries) {
    MYNAH_TRY(Value compared,
              sort_key(renderer, by.view() == "key" ? key : value, nullptr, bound.flag(0)));
    pairs.push_back({.key = std::move(compared),
                     .value = renderer.heap().list({key, value}, List::Kind::Tuple)});
  }
  MYNAH_TRY_STATUS(sort_by_key(renderer, pairs, bound.flag(2)));
  return renderer.heap().list(values_of(std::move(pairs)));
}

TemplateResult<Value> join(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("join", given, {"d", "attribute"}));
  MarkedText separator;
  if (const Value* text = bound.find(0)) {
    MYNAH_TRY(separator, renderer.str(*text));
  }
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  MarkedText out;
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (const Value* attribute = bound.find_some(1)) {
      MYNAH_TRY(value, value_at(renderer, value, *attribute));
    }
    MYNAH_TRY(const MarkedText text, renderer.str(value));
    MYNAH_TRY_STATUS(renderer.heap().check_room(out.size() + text.size() + separator.size()));
    if (i > 0) {
      out.append(separator);
    }
    out.append(text);
  }
  return renderer.heap().text(std::move(out));
}

TemplateResult<Value> sum(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("sum", given, {"attribute", "start"}));
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  Value total = bound.find(1) != nullptr ? bound[1] : Value::integer(0);
  for (Value value : values) {
    if (const Value* attribute = bound.find_some(0)) {
      MYNAH_TRY(value, value_at(renderer, value, *attribute));
    }
    MYNAH_TRY(total, renderer.binary(BinaryOperator::Add, total, value));
    MYNAH_TRY_STATUS(renderer.heap().check());
  }
  return total;
}

TemplateResult<Value> batch(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("batch", given, {"linecount", "fill_with"}, 1));
  MYNAH_TRY(const Integer count, bound.integer(0, 1));
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  if (count < 1) {
    return fault("batch wants at least one item a line");
  }
  std::vector<Value> lines;
  std::vector<Value> line;
  for (const Value& value : values) {
    if (static_cast<Integer>(line.size()) == count) {
      lines.push_back(renderer.heap().list(std::exchange(line, {})));
    }
    line.push_back(value);
  }
  if (!line.empty()) {
    if (const Value* fill = bound.find_some(1)) {
      MYNAH_TRY(const size_t size, bounded_size(renderer, count * Integer{sizeof(Value)}));
      line.resize(size / sizeof(Value), *fill);
    }
    lines.push_back(renderer.heap().list(std::move(line)));
  }
  return renderer.heap().list(std::move(lines), List::Kind::Generator);
}

TemplateResult<Value> slice(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("slice", given, {"slices", "fill_with"}, 1));
  MYNAH_TRY(const Integer wanted, bound.integer(0, 1));
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(self));
  if (wanted < 1) {
    return fault("slice wants at least one column");
  }
  MYNAH_TRY(size_t columns, bounded_size(renderer, wanted * Integer{sizeof(List)}));
  columns /= sizeof(List);
  const size_t each = values.size() / columns;
  const size_t longer = values.size() % columns;
  std::vector<Value> out;
  for (size_t column = 0, at = 0; column < columns; ++column) {
    const size_t end = at + each + (column < longer ? 1 : 0);
    std::vector<Value> part(values.begin() + static_cast<std::ptrdiff_t>(at),
                            values.begin() + static_cast<std::ptrdiff_t>(end));
    if (bound.find_some(1) != nullptr && column >= longer) {
      part.push_back(bound[1]);
    }
    out.push_back(renderer.heap().list(std::move(part)));
    at = end;
  }
  return renderer.heap().list(std::move(out), List::Kind::Generator);
}

constexpr auto kSequenceFilters = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"length", length},
    {"count", length},
    {"first", first},
    {"last", last},
    {"list", list},
    {"reverse", reverse},
    {"items", items},
    {"dictsort", dictsort},
    {"sort", sort},
    {"unique", unique},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"groupby", groupby},
    {"join", join},
    {"sum", sum},
    {"batch", batch},
    {"slice", slice},
});

}  // namespace

BuiltinFunction find_sequence_filter(std::string_view name) {
  for (const auto& [known, function] : kSequenceFilters) {
    if (known == name) {
      return function;
    }
  }
  return find_choosing_filter(name);
}

}  // namespace mynah::jinja
