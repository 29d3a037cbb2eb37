// Facts as a file: what `mynah doctor --facts` writes and `--as FACTS.json` reads.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "doctor/facts.h"

namespace mynah::doctor {

// Fields that are empty or have their default are left out.
[[nodiscard]] nlohmann::ordered_json to_json(const Facts& facts);

// The same back. Every field may be missing; one that is not known, or of another type, is refused
// with its path: "machine.cards[0].memory_mib: wanted a number, found text". `file` names the text
// in messages.
[[nodiscard]] Result<Facts> parse_facts(std::string_view text, const std::string& file);

}  // namespace mynah::doctor
