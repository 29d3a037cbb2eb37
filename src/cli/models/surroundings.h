// What a verb hands to the engine: notes become lines on stderr, and the terminal is asked.
#pragma once

#include "cli/command/verb.h"
#include "engine/surroundings.h"

namespace mynah::cli {

// `context` must outlive it and what is opened with it. A model that is missing is offered where
// somebody sits at a terminal.
[[nodiscard]] engine::Surroundings surroundings_of(const Context& context);

}  // namespace mynah::cli
