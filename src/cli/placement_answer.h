// What every verb that computes does with its placement: it looks a last time whether devices were
// right, and tells in JSON where it computed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/verb.h"
#include "place/placer.h"

namespace mynah::cli {

// Where it was computed, as it stands under "placement"; null: by a built-in model.
[[nodiscard]] nlohmann::ordered_json placement_json(const place::Placer* placer);

// An answer's warnings, with those of what was given out and may be wrong.
[[nodiscard]] std::vector<std::string> with_doubts(std::vector<std::string> warnings,
                                                   const place::Placer* placer);

// The lines of --explain, on stderr.
void say_each(const Context& context, const std::vector<std::string>& lines);

// "  tts.acoustic   cpu          16.6 ms": a line of how long a stage took, as --explain has them.
[[nodiscard]] std::string stage_time_line(std::string_view stage, std::string_view device,
                                          double milliseconds);

// How long each stage took so far, on stderr, a line each; null: nobody measured.
void say_times(const Context& context, const place::Placer* placer);

// Vouches for what was given out (Placer::settle), however a run ends: once, whoever asks first.
class LastLook {
 public:
  // `placer` must outlive it; null: there is nothing to vouch for.
  explicit LastLook(const place::Placer* placer) : placer_(placer) {}

  // An error where a device was wrong and no other is allowed. Before the last answer is printed,
  // so that a move stands there.
  const Status& take();

 private:
  const place::Placer* placer_;
  std::optional<Status> right_;
};

}  // namespace mynah::cli
