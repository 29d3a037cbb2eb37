// BoundArguments: what a call gives to a function of the engine, by the function's parameters.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "text/template/renderer.h"

namespace mynah::jinja {

class BoundArguments {
 public:
  // `names` are the parameters in their order, of which the first `required` must be given. Fault
  // where one is missing, is given twice, or does not exist.
  [[nodiscard]] static TemplateResult<BoundArguments> of(
      std::string_view function, Arguments& given, std::initializer_list<std::string_view> names,
      size_t required = 0);

  // Null where it was not given.
  [[nodiscard]] const Value* find(size_t parameter) const {
    return values_[parameter] ? &*values_[parameter] : nullptr;
  }

  // For one that is required.
  [[nodiscard]] const Value& operator[](size_t parameter) const { return *values_[parameter]; }

  // None or not given is null too.
  [[nodiscard]] const Value* find_some(size_t parameter) const;

  // Python's bool() of it.
  [[nodiscard]] bool flag(size_t parameter, bool otherwise = false) const;

  // Fault where it is another type.
  [[nodiscard]] TemplateResult<Integer> integer(size_t parameter, Integer otherwise) const;
  [[nodiscard]] TemplateResult<MarkedText> text(size_t parameter, std::string_view otherwise) const;

 private:
  std::string_view function_;
  std::vector<std::string_view> names_;
  std::vector<std::optional<Value>> values_;
};

// A length or a count of code points from a template's number: none below 0, Limit where there is
// no room for so many bytes.
[[nodiscard]] TemplateResult<size_t> bounded_size(Renderer& renderer, Integer size);

}  // namespace mynah::jinja
