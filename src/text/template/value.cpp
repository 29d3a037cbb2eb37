#include "text/template/value.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/template/heap.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// From so many entries on a mapping looks its texts up by hash.
constexpr size_t kHashedEntries = 12;

bool equal_items(Heap& heap, const List& left, const List& right, size_t depth) {
  if (left.kind != right.kind || left.items.size() != right.items.size()) {
    return false;
  }
  for (size_t i = 0; i < left.items.size(); ++i) {
    if (!equal(heap, left.items[i], right.items[i], depth)) {
      return false;
    }
  }
  return true;
}

bool equal_entries(Heap& heap, const Dict& left, const Dict& right, size_t depth) {
  return left.entries.size() == right.entries.size() &&
         std::ranges::all_of(left.entries, [&](const auto& entry) {
           const Value* other = right.find(entry.first);
           return other != nullptr && equal(heap, entry.second, *other, depth);
         });
}

bool equal_objects(Heap& heap, const Value& left, const Value& right, size_t depth) {
  if (const auto *a = left.as<List>(), *b = right.as<List>(); a != nullptr && b != nullptr) {
    return a == b || equal_items(heap, *a, *b, depth);
  }
  if (const auto *a = left.as<Dict>(), *b = right.as<Dict>(); a != nullptr && b != nullptr) {
    return a == b || equal_entries(heap, *a, *b, depth);
  }
  if (const auto *a = left.as<Builtin>(), *b = right.as<Builtin>(); a != nullptr && b != nullptr) {
    return a == b ||
           (a->function == b->function && a->self.is_undefined() && b->self.is_undefined());
  }
  return left.as<Object>() == right.as<Object>();
}

}  // namespace

Held::Held(Heap* heap, size_t bytes) : heap_(heap) {
  grow(bytes);
}

Held::~Held() {
  if (heap_ != nullptr) {
    heap_->used_ -= bytes_;
  }
}

void Held::grow(size_t bytes) {
  if (heap_ != nullptr) {
    bytes_ += bytes;
    heap_->used_ += bytes;
  }
}

Heap::~Heap() {
  for (const ObjectRef& object : kept_) {
    object->forget();
  }
  kept_.clear();
}

void Heap::retire(Object* object) {
  retired_.push_back(object);
  if (retiring_) {
    return;
  }
  retiring_ = true;
  while (!retired_.empty()) {
    Object* next = retired_.back();
    retired_.pop_back();
    next->forget();
    delete next;
  }
  retiring_ = false;
}

TemplateResult<void> Heap::check() const {
  if (steps_ > limits_.steps) {
    return over_limit(fmt::format("rendering takes more than {} steps", limits_.steps));
  }
  return check_room(0);
}

TemplateResult<void> Heap::check_room(size_t bytes) const {
  if (used_ > limits_.memory_bytes || bytes > limits_.memory_bytes - used_) {
    return over_limit(
        fmt::format("rendering takes more than {} bytes of memory", limits_.memory_bytes));
  }
  return {};
}

Value Heap::text(MarkedText text) {
  charge_bytes(text.size());
  return Value(std::make_shared<const String>(std::move(text), this));
}

Value Heap::list(std::vector<Value> items, List::Kind kind) {
  charge(items.size() / 4);
  auto list = make<List>();
  list->held.grow(items.capacity() * sizeof(Value));
  list->items = std::move(items);
  list->kind = kind;
  return Value::object(std::move(list));
}

Value Value::undefined(std::string why) {
  constexpr size_t kLongest = 200;
  if (why.size() > kLongest) {
    why.resize(kLongest);
    why.resize(kLongest - incomplete_utf8_tail(why));
    why += "...";
  }
  return Storage(Undefined{std::make_shared<const std::string>(std::move(why))});
}

void Heap::charge_text(const Value& value) {
  if (const MarkedText* text = value.as_text()) {
    charge_bytes(text->size());
  }
}

std::optional<Integer> Value::as_integer() const {
  if (const auto* integer = std::get_if<Integer>(&storage_)) {
    return *integer;
  }
  if (const auto* boolean = std::get_if<bool>(&storage_)) {
    return *boolean ? 1 : 0;
  }
  return std::nullopt;
}

std::optional<double> Value::as_number() const {
  if (const auto* real = std::get_if<double>(&storage_)) {
    return *real;
  }
  if (const auto integer = as_integer()) {
    return static_cast<double>(*integer);
  }
  return std::nullopt;
}

std::optional<size_t> Dict::index_of(std::string_view key) const {
  heap.charge_bytes(key.size());
  if (!places_.empty()) {
    const auto place = places_.find(key);
    return place == places_.end() ? std::nullopt : std::optional(place->second);
  }
  heap.charge(entries.size() / 8);
  for (size_t i = 0; i < entries.size(); ++i) {
    const MarkedText* text = entries[i].first.as_text();
    if (text != nullptr && text->view() == key) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<size_t> Dict::index_of(const Value& key) const {
  if (const MarkedText* text = key.as_text()) {
    return index_of(text->view());
  }
  heap.charge(entries.size() / 8);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].first.as_text() == nullptr && equal(heap, entries[i].first, key)) {
      return i;
    }
  }
  return std::nullopt;
}

const Value* Dict::find(const Value& key) const {
  const auto place = index_of(key);
  return place ? &entries[*place].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const auto place = index_of(key);
  return place ? &entries[*place].second : nullptr;
}

void Dict::set(const Value& key, Value value) {
  if (const auto place = index_of(key)) {
    entries[*place].second = std::move(value);
    return;
  }
  held.grow(2 * sizeof(Value));
  entries.emplace_back(key, std::move(value));
  if (entries.size() == kHashedEntries) {
    for (size_t i = 0; i < entries.size(); ++i) {
      if (const MarkedText* text = entries[i].first.as_text()) {
        places_.emplace(text->view(), i);
      }
    }
  } else if (entries.size() > kHashedEntries) {
    if (const MarkedText* text = key.as_text()) {
      places_.emplace(text->view(), entries.size() - 1);
    }
  }
}

const Value* Namespace::find(std::string_view name) const {
  const auto place = std::ranges::find(attributes, name, &std::pair<std::string, Value>::first);
  return place == attributes.end() ? nullptr : &place->second;
}

void Namespace::set(std::string_view name, Value value) {
  const auto place = std::ranges::find(attributes, name, &std::pair<std::string, Value>::first);
  if (place != attributes.end()) {
    place->second = std::move(value);
    return;
  }
  held.grow(sizeof(attributes.front()) + name.size());
  attributes.emplace_back(name, std::move(value));
}

std::string_view type_name(const Value& value) {
  static constexpr std::array<std::string_view, 6> kNames = {"Undefined", "NoneType", "bool",
                                                             "int",       "float",    "str"};
  if (value.storage().index() < kNames.size()) {
    return kNames[value.storage().index()];
  }
  if (const auto* list = value.as<List>()) {
    static constexpr std::array<std::string_view, 7> kLists = {
        "list", "tuple", "range", "dict_keys", "dict_values", "dict_items", "generator"};
    return kLists[static_cast<size_t>(list->kind)];
  }
  if (value.as<Dict>() != nullptr) {
    return "dict";
  }
  return value.as<Namespace>() != nullptr ? "Namespace" : "function";
}

bool truth(const Value& value) {
  if (value.is_undefined() || value.is_none()) {
    return false;
  }
  if (const MarkedText* text = value.as_text()) {
    return !text->empty();
  }
  if (const auto number = value.as_integer()) {
    return *number != 0;
  }
  if (const double* real = value.as_real()) {
    return *real != 0;
  }
  if (const auto* list = value.as<List>()) {
    return list->kind == List::Kind::Generator || !list->items.empty();
  }
  const auto* dict = value.as<Dict>();
  return dict == nullptr || !dict->entries.empty();
}

bool equal(Heap& heap, const Value& left, const Value& right, size_t depth) {
  heap.charge(1);
  if (depth == 0 || heap.is_over()) {
    return false;
  }
  if (const auto a = left.as_integer(), b = right.as_integer(); a && b) {
    return *a == *b;
  }
  if (const auto a = left.as_number(), b = right.as_number(); a || b) {
    return a && b && *a == *b;
  }
  if (left.storage().index() != right.storage().index()) {
    return false;
  }
  if (const MarkedText* text = left.as_text()) {
    const std::string_view other = right.as_text()->view();
    if (text->size() == other.size()) {
      heap.charge_bytes(other.size());
    }
    return text->view() == other;
  }
  return left.is_undefined() || left.is_none() || equal_objects(heap, left, right, depth - 1);
}

bool is_hashable(const Value& value) {
  if (const auto* list = value.as<List>()) {
    return list->kind != List::Kind::List &&
           (list->kind != List::Kind::Tuple ||
            std::ranges::all_of(list->items, [](const Value& item) {
              // Of tuples within tuples no more is asked: they are no keys of any template.
              const auto* inner = item.as<List>();
              return inner == nullptr && item.as<Dict>() == nullptr;
            }));
  }
  return value.as<Dict>() == nullptr;
}

std::unexpected<TemplateError> undefined_fault(const Value& value) {
  const auto* undefined = std::get_if<Undefined>(&value.storage());
  return fault(undefined != nullptr && undefined->why != nullptr ? *undefined->why
                                                                 : "a value is undefined");
}

}  // namespace mynah::jinja
