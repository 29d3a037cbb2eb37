// Value: what a template computes with, by Python's types and rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "text/template/marked_text.h"
#include "text/template/template_error.h"

namespace mynah::jinja {

// Python's int as far as it goes here: what does not fit is refused, never wrapped.
using Integer = __int128_t;

class Heap;

// A part of a heap's memory, for as long as it lives.
class Held {
 public:
  Held(Heap* heap, size_t bytes);
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held();

  void grow(size_t bytes);

 private:
  Heap* heap_;  // null: of a constant of the template
  size_t bytes_ = 0;
};

// An immutable string.
struct String {
  explicit String(MarkedText content, Heap* heap = nullptr)
      : text(std::move(content)), held(heap, text.footprint()) {}

  const MarkedText text;
  Held held;
};

// What has an identity: lists, mappings, functions. Made by Heap::make alone.
struct Object {
  explicit Object(Heap& owner) : heap(owner), held(&owner, sizeof(Object)) {}

  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // Lets go of all that it refers to: values may refer to each other in a circle.
  virtual void forget() = 0;

  Heap& heap;
  Held held;
};

struct Undefined {
  // What is missing, for the message of whoever needs it; null: no more is known.
  std::shared_ptr<const std::string> why{};
};

struct None {};

using StringRef = std::shared_ptr<const String>;
using ObjectRef = std::shared_ptr<Object>;

class Value {
 public:
  using Storage = std::variant<Undefined, None, bool, Integer, double, StringRef, ObjectRef>;

  Value() = default;  // undefined

  // Implicit: a value is what it is made of.
  Value(Storage storage) : storage_(std::move(storage)) {}  // NOLINT(google-explicit-constructor)

  // Too long a reason is cut.
  [[nodiscard]] static Value undefined(std::string why);

  [[nodiscard]] static Value none() { return Storage(None{}); }

  [[nodiscard]] static Value boolean(bool value) { return Storage(value); }

  [[nodiscard]] static Value integer(Integer value) { return Storage(value); }

  [[nodiscard]] static Value real(double value) { return Storage(value); }

  [[nodiscard]] static Value object(ObjectRef object) { return Storage(std::move(object)); }

  [[nodiscard]] bool is_undefined() const { return std::holds_alternative<Undefined>(storage_); }

  [[nodiscard]] bool is_none() const { return std::holds_alternative<None>(storage_); }

  // Null where it is another type.
  [[nodiscard]] const bool* as_boolean() const { return std::get_if<bool>(&storage_); }

  [[nodiscard]] const double* as_real() const { return std::get_if<double>(&storage_); }

  // Of an int, or of a bool, which Python counts as one.
  [[nodiscard]] std::optional<Integer> as_integer() const;

  // Of an int, a bool or a float.
  [[nodiscard]] std::optional<double> as_number() const;

  [[nodiscard]] const MarkedText* as_text() const {
    const auto* string = std::get_if<StringRef>(&storage_);
    return string != nullptr ? &(*string)->text : nullptr;
  }

  // The object, if it is of this kind.
  template <class T>
  [[nodiscard]] T* as() const {
    const auto* object = std::get_if<ObjectRef>(&storage_);
    return object != nullptr ? dynamic_cast<T*>(object->get()) : nullptr;
  }

  [[nodiscard]] const Storage& storage() const { return storage_; }

 private:
  Storage storage_;
};

// Python's list and tuple, and what yields values once or has no index.
struct List : Object {
  enum class Kind : uint8_t {
    List,
    Tuple,
    Range,      // of range(): a sequence that prints as its call
    Keys,       // of a mapping: has a length, no index
    Values,     // likewise
    Items,      // likewise
    Generator,  // of a lazy filter: true, without length and index, empty once read
  };

  using Object::Object;

  void forget() override { items.clear(); }

  Kind kind = Kind::List;
  bool kept = false;  // by the heap, as it was changed and may refer to itself
  std::vector<Value> items;
  std::string range{};                     // how one of kind Range prints
  std::optional<TemplateError> failure{};  // of a generator: what reading it comes to
  bool is_group = false;  // a tuple of groupby's: its items are also .grouper and .list
};

// Python's dict: in the order of insertion; keys are equal as values are.
struct Dict : Object {
  using Object::Object;

  void forget() override {
    places_.clear();
    entries.clear();
  }

  std::vector<std::pair<Value, Value>> entries;

  // Null where it has none. A key that cannot be one is in no mapping.
  [[nodiscard]] const Value* find(const Value& key) const;
  [[nodiscard]] const Value* find(std::string_view key) const;
  void set(const Value& key, Value value);

 private:
  [[nodiscard]] std::optional<size_t> index_of(const Value& key) const;
  [[nodiscard]] std::optional<size_t> index_of(std::string_view key) const;

  // Where text keys stand, once there are so many that looking through them is slow; views of the
  // keys' own bytes.
  std::unordered_map<std::string_view, size_t> places_;
};

// jinja2's namespace(): the one thing whose attributes a template sets.
struct Namespace : Object {
  using Object::Object;

  void forget() override { attributes.clear(); }

  std::vector<std::pair<std::string, Value>> attributes;

  [[nodiscard]] const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

// Values given to a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Renderer;

using BuiltinFunction = TemplateResult<Value> (*)(Renderer&, const Value& self, Arguments&);

// A function of the engine: a global, or a method with the value it is of.
struct Builtin : Object {
  using Object::Object;

  void forget() override { self = Value(); }

  BuiltinFunction function = nullptr;
  std::string_view name;
  Value self;
};

// str of Python's type(value).__name__, for messages.
[[nodiscard]] std::string_view type_name(const Value& value);

// Python's bool().
[[nodiscard]] bool truth(const Value& value);

// Python's ==, at the heap's cost. What stands deeper than `depth` within each other is different.
[[nodiscard]] bool equal(Heap& heap, const Value& left, const Value& right, size_t depth = 64);

// Whether it can be a key: all but lists, mappings and what holds them.
[[nodiscard]] bool is_hashable(const Value& value);

[[nodiscard]] inline std::unexpected<TemplateError> fault(std::string message) {
  return std::unexpected(TemplateError{TemplateError::Kind::Fault, 0, std::move(message)});
}

[[nodiscard]] inline std::unexpected<TemplateError> over_limit(std::string message) {
  return std::unexpected(TemplateError{TemplateError::Kind::Limit, 0, std::move(message)});
}

[[nodiscard]] inline std::unexpected<TemplateError> unsupported(std::string message) {
  return std::unexpected(TemplateError{TemplateError::Kind::Unsupported, 0, std::move(message)});
}

// What is wrong where an undefined value is used as if it were one.
[[nodiscard]] std::unexpected<TemplateError> undefined_fault(const Value& value);

}  // namespace mynah::jinja
