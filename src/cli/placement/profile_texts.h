// Profiles as `mynah profile` prints them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "place/plans/profile.h"

namespace mynah::cli {

// "stt.encoder on cuda:0 as f16, stt.decoder on cpu".
[[nodiscard]] std::string placement_text(const place::Profile& profile);

// All that it says, a line each.
[[nodiscard]] std::vector<std::string> profile_lines(const place::Profile& profile, bool pinned);

// What changes from one to the other: of each stage its device, storage type and time, then the
// whole.
[[nodiscard]] std::vector<std::string> difference_lines(const place::Profile& from,
                                                        const place::Profile& to);
[[nodiscard]] nlohmann::ordered_json difference_json(const place::Profile& from,
                                                     const place::Profile& to);

}  // namespace mynah::cli
