// What became of a watched command, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "doctor/watch/watch.h"

namespace mynah::doctor {

// Lines without ends of lines in them: what happened, and where.
[[nodiscard]] std::vector<std::string> watched_lines(const Watched& watched);

// Every field; null for what is not known.
[[nodiscard]] nlohmann::ordered_json watched_json(const Watched& watched);

}  // namespace mynah::doctor
