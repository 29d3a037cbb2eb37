// Filters, tests, functions and methods by their names, as jinja2 and Python have them.
#pragma once

#include <optional>
#include <string_view>

#include "text/template/value.h"

namespace mynah::jinja {

// Null where there is none of the name. A filter is called with what it filters as `self`, a test
// with what it tests; a test answers a bool.
[[nodiscard]] BuiltinFunction find_filter(std::string_view name);
[[nodiscard]] BuiltinFunction find_test(std::string_view name);
[[nodiscard]] BuiltinFunction find_global(std::string_view name);

// The method of a value, called with it as `self`; null where its type has no attribute of this
// name. One that Python has and mynah does not is found and answers Unsupported.
[[nodiscard]] BuiltinFunction find_method(const Value& self, std::string_view name);

}  // namespace mynah::jinja
