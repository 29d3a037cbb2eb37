// Heap: what one rendering may use, and what it has used.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/template/value.h"

namespace mynah::jinja {

class Heap {
 public:
  explicit Heap(const RenderLimits& limits) : limits_(limits) {}

  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  void charge(size_t steps) { steps_ += steps; }

  // As if so many bytes were read or copied.
  void charge_bytes(size_t bytes) { steps_ += bytes / 64; }

  // As if a text, if it is one, were read.
  void charge_text(const Value& value);

  // Whether steps or memory are used up: a long operation stops then, and its result is not used.
  [[nodiscard]] bool is_over() const {
    return steps_ > limits_.steps || used_ > limits_.memory_bytes;
  }

  // Limit, with the bound's name, if so.
  [[nodiscard]] TemplateResult<void> check() const;

  // Limit where so many bytes more are too many: for what a small template makes large.
  [[nodiscard]] TemplateResult<void> check_room(size_t bytes) const;

  [[nodiscard]] const RenderLimits& limits() const { return limits_; }

  template <class T>
  [[nodiscard]] std::shared_ptr<T> make() {
    return std::shared_ptr<T>(new T(*this), [this](T* object) { retire(object); });
  }

  [[nodiscard]] Value text(MarkedText text);

  // Of the engine's own words.
  [[nodiscard]] Value text(std::string text) { return this->text(MarkedText(std::move(text))); }

  [[nodiscard]] Value list(std::vector<Value> items, List::Kind kind = List::Kind::List);

  // Keeps an object that may refer to itself to the end, where it forgets.
  void keep(ObjectRef object) { kept_.push_back(std::move(object)); }

 private:
  friend class Held;

  // Destroys without recursion, however deep values stand in each other.
  void retire(Object* object);

  const RenderLimits& limits_;
  size_t steps_ = 0;
  size_t used_ = 0;
  std::vector<ObjectRef> kept_;
  std::vector<Object*> retired_;
  bool retiring_ = false;
};

}  // namespace mynah::jinja
