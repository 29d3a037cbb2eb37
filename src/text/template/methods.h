// The methods' tables, by type.
#pragma once

#include <string_view>

#include "text/template/builtins.h"

namespace mynah::jinja {

[[nodiscard]] BuiltinFunction find_text_method(std::string_view name);
// Those of them that take a text apart.
[[nodiscard]] BuiltinFunction find_splitting_method(std::string_view name);

// Of lists, tuples, mappings and loops.
[[nodiscard]] BuiltinFunction find_container_method(const Value& self, std::string_view name);

}  // namespace mynah::jinja
