// What a JSON schema says of one value of a text, for who wrote a wrong one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah::cli {

struct ValueFault {
  std::string wanted;  // "at most 120 (maximum)"
  std::string found;   // the value as JSON
};

// Of the value at a path (a JSON pointer, RFC 6901) of a text: which keyword of the schema there it
// does not keep to. `is_within`: the text was refused within that value, so that it may be the
// pattern or the format that it does not keep to, which are not looked at themselves. None where
// that cannot be said: what is no JSON, a schema of several (anyOf, oneOf, allOf), a value that is
// right and stands before what is wrong.
[[nodiscard]] std::optional<ValueFault> fault_of_value(const std::string& schema,
                                                       const std::string& text,
                                                       std::string_view path, bool is_within);

}  // namespace mynah::cli
