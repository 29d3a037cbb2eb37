// JSON Schema's formats of strings, as far as they are regular.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah::grammar {

// An expression (regex.h) of strings that have the format; not always of all of them. Nothing: the
// name is not known.
[[nodiscard]] std::optional<std::string> format_expression(std::string_view name);

// The names, with commas between.
[[nodiscard]] std::string format_names();

}  // namespace mynah::grammar
