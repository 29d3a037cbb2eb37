// What every verb that computes tells of its placement: where it computed, and how long it took.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/command/verb.h"
#include "place/placer.h"

namespace mynah::cli {

// Where it was computed, as it stands under "placement"; null: by a built-in model.
[[nodiscard]] nlohmann::ordered_json placement_json(const place::Placer* placer);

// The lines of --explain, on stderr.
void say_each(const Context& context, const std::vector<std::string>& lines);

// "  tts.acoustic   cpu          16.6 ms": a line of how long a stage took, as --explain has them.
[[nodiscard]] std::string stage_time_line(std::string_view stage, std::string_view device,
                                          double milliseconds);

// How long each stage took so far, on stderr, a line each; null: nobody measured.
void say_times(const Context& context, const place::Placer* placer);

}  // namespace mynah::cli
