// What every front that computes does with its placement at the end: it looks a last time whether
// devices were right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/placer.h"

namespace mynah::engine {

// An answer's warnings, with those of what was given out and may be wrong.
[[nodiscard]] std::vector<std::string> with_doubts(std::vector<std::string> warnings,
                                                   const place::Placer* placer);

// Vouches for what was given out (Placer::settle), however a run ends: once, whoever asks first.
class LastLook {
 public:
  // `placer` must outlive it; null: there is nothing to vouch for.
  explicit LastLook(const place::Placer* placer) : placer_(placer) {}

  // An error where a device was wrong and no other is allowed. Before the last answer is given, so
  // that a move stands there.
  const Status& take();

 private:
  const place::Placer* placer_;
  std::optional<Status> right_;
};

}  // namespace mynah::engine
