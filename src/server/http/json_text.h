// JSON that a client sent.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace mynah::server {

// The object that the text is. Discarded (is_object() is false) where it is none, or where values
// stand in values so deep that looking at them would take all of a thread's stack.
[[nodiscard]] nlohmann::ordered_json parse_object(std::string_view text);

}  // namespace mynah::server
