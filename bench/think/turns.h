// What a conversation waits for: its first token, that of a second turn, and the first words behind
// a text that is kept; and what guesses of a text's tokens give.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "chat/language_model.h"

namespace mynah::bench {

// Times in milliseconds, each the median of `rounds`.
[[nodiscard]] Result<nlohmann::ordered_json> measure_turns(
    const std::shared_ptr<const LanguageModel>& model, int rounds);

// Tokens a second of a text that repeats what was said, and of one that does not, with guesses and
// without; "by_steps" is how much faster they are by the medians of steps. `path`: the model's
// file, for its words.
[[nodiscard]] Result<nlohmann::ordered_json> measure_guesses(
    const std::string& path, const std::shared_ptr<const LanguageModel>& model, int rounds);

}  // namespace mynah::bench
