// Values of a JSON schema's keywords: internal to json_schema.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/grammar/schema_facts.h"

namespace mynah::grammar {

// Unsupported: a schema that cannot be followed there.
[[nodiscard]] std::unexpected<Error> refuse_schema(const std::string& path, std::string_view what);
// InvalidInput: what is no schema.
[[nodiscard]] std::unexpected<Error> wrong_schema(const std::string& path, std::string_view what);

// Of `type`.
[[nodiscard]] Result<JsonTypes> schema_types(const SchemaPlace& at);
// The same of a schema; none where it has no type or a wrong one.
[[nodiscard]] JsonTypes stated_types(const SchemaPlace& schema);

[[nodiscard]] constexpr JsonTypes without_fractions() {
  return JsonTypes(JsonType::Null) | JsonType::Boolean | JsonType::Integer | JsonType::String |
         JsonType::Array | JsonType::Object;
}

// Of minLength and its like: 0 to kMostRepeats.
[[nodiscard]] Result<int32_t> schema_count(const SchemaPlace& at);

// Of minimum and its like: narrows the bounds. Bounds that are not whole are refused, draft 4's
// exclusiveMinimum (true or false) is read.
[[nodiscard]] Status add_number_bound(const SchemaPlace& schema, const std::string& key,
                                      NumberBounds& bounds);

// Keywords of JSON Schema that are not supported, so that a message tells them from typos.
[[nodiscard]] bool is_known_keyword(std::string_view key);

// A part of a JSON pointer.
[[nodiscard]] std::string unescaped_key(std::string_view part);
[[nodiscard]] std::optional<size_t> list_index(std::string_view part);

}  // namespace mynah::grammar
