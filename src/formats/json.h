// JSON from outside: parsed without exceptions, to a bounded depth, with duplicate keys refused.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah {

// Arrays and objects inside each other, at most: far above any model's configuration, far below
// what a recursive reader's stack holds.
inline constexpr int kMaxJsonDepth = 64;

// Parses UTF-8 JSON. `file` names it in the error, which says at which byte and what is wrong.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view file);

// The same with the members of each object in the order in which they were written.
[[nodiscard]] Result<nlohmann::ordered_json> parse_ordered_json(std::string_view text,
                                                                std::string_view file);

// Adds the values of `value` to `metadata` under `prefix`: an object's as PREFIX.key (KEY where
// the prefix is empty), level by level; arrays of one kind as vectors, arrays of integer arrays
// flattened, any other array as its JSON text; null as nothing. Keys that are already there stay as
// they are.
void add_json_metadata(const nlohmann::json& value, const std::string& prefix,
                       std::map<std::string, MetadataValue, std::less<>>& metadata);

}  // namespace mynah
