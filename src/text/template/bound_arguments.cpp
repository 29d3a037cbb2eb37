#include "text/template/bound_arguments.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah::jinja {

TemplateResult<BoundArguments> BoundArguments::of(std::string_view function, Arguments& given,
                                                  std::initializer_list<std::string_view> names,
                                                  size_t required) {
  BoundArguments bound;
  bound.function_ = function;
  bound.names_ = names;
  bound.values_.resize(names.size());
  if (given.positional.size() > names.size()) {
    return fault(fmt::format("{} takes no more than {} arguments, {} are given", function,
                             names.size(), given.positional.size()));
  }
  for (size_t i = 0; i < given.positional.size(); ++i) {
    bound.values_[i] = std::move(given.positional[i]);
  }
  for (auto& [name, value] : given.named) {
    const auto* place = std::ranges::find(names, std::string_view(name));
    if (place == names.end()) {
      return fault(fmt::format("{} takes no argument named '{}'", function, name));
    }
    auto& slot = bound.values_[static_cast<size_t>(place - names.begin())];
    if (slot) {
      return fault(fmt::format("{} is given '{}' twice", function, name));
    }
    slot = std::move(value);
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound.values_[i]) {
      return fault(fmt::format("{} wants its argument '{}'", function, bound.names_[i]));
    }
  }
  return bound;
}

const Value* BoundArguments::find_some(size_t parameter) const {
  const Value* value = find(parameter);
  return value != nullptr && !value->is_none() ? value : nullptr;
}

bool BoundArguments::flag(size_t parameter, bool otherwise) const {
  const Value* value = find(parameter);
  return value != nullptr ? truth(*value) : otherwise;
}

TemplateResult<Integer> BoundArguments::integer(size_t parameter, Integer otherwise) const {
  const Value* value = find(parameter);
  if (value == nullptr) {
    return otherwise;
  }
  const auto integer = value->as_integer();
  if (!integer) {
    return value->is_undefined()
               ? undefined_fault(*value)
               : fault(fmt::format("{} takes a whole number as '{}', not {}", function_,
                                   names_[parameter], type_name(*value)));
  }
  return *integer;
}

TemplateResult<MarkedText> BoundArguments::text(size_t parameter,
                                                std::string_view otherwise) const {
  const Value* value = find(parameter);
  if (value == nullptr) {
    return MarkedText(std::string(otherwise));
  }
  const MarkedText* text = value->as_text();
  if (text == nullptr) {
    return value->is_undefined() ? undefined_fault(*value)
                                 : fault(fmt::format("{} takes a text as '{}', not {}", function_,
                                                     names_[parameter], type_name(*value)));
  }
  return *text;
}

TemplateResult<size_t> bounded_size(Renderer& renderer, Integer size) {
  const auto bytes = static_cast<size_t>(std::clamp<Integer>(size, 0, Integer{1} << 40));
  MYNAH_TRY_STATUS(renderer.heap().check_room(bytes));
  return bytes;
}

}  // namespace mynah::jinja
