// Variables in the words of a shell.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace mynah::doctor {

// Bytes that values may add to one text.
inline constexpr size_t kMostGrown = size_t{1} << 14;

// How many characters of a text are the name of a variable that it begins with; 0: none.
[[nodiscard]] size_t variable_name_size(std::string_view text);

// Whether all variables that a text names have values, and no command's output stands in it.
[[nodiscard]] bool has_values(std::string_view text,
                              const std::map<std::string, std::string>& values);

// Puts values in place of $NAME, ${NAME}, ${NAME:-default}, ${NAME-default} and ${NAME:+other},
// once and not inside of values. Variables without a value, and forms that are not known, stay as
// they are; so do all where values would make the text longer by more than kMostGrown.
[[nodiscard]] std::string substituted(std::string_view text,
                                      const std::map<std::string, std::string>& values);

}  // namespace mynah::doctor
