// The wake words that a front asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/surroundings.h"
#include "speech/wake/wake_word.h"

namespace mynah::engine {

// Names of the store ("okay-nabu"), what their makers call them ("okay_nabu") or paths; empty: all
// that are on this machine, by name.
using WakeWish = std::vector<std::string>;

// Opens them; each once, however often it is named. Environment, with what to pull, where none is
// here; Usage for a name that nobody knows and for a model that is no wake word.
Result<std::vector<std::shared_ptr<const WakeWord>>> open_wake_words(
    const WakeWish& wish, const Environment& environment);

// All that are here and can be opened, by name.
[[nodiscard]] std::vector<std::shared_ptr<const WakeWord>> installed_wake_words(
    const Environment& environment);

}  // namespace mynah::engine
