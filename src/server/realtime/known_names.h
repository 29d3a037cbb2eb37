// What of a client's object has a name that is known here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace mynah::server {

// The object without what nobody knows; `unknown` gets the names of that, with `within` before
// each. `known`: names between spaces. What is no object is given back as it is.
[[nodiscard]] nlohmann::ordered_json known_part(const nlohmann::ordered_json& object,
                                                std::string_view known, const std::string& within,
                                                std::vector<std::string>& unknown);

}  // namespace mynah::server
