// Names that OpenAI's clients use for models and voices, and what stands for them here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/families.h"

namespace mynah::server {

// Whether a client that names that model means whichever is here.
[[nodiscard]] bool is_openai_model(std::string_view name);

// What whichever is meant is for; none: it is no such name.
[[nodiscard]] std::optional<FamilyKind> kind_of_openai_model(std::string_view name);

// The voices that stand for one of OpenAI's, or of Kokoro's English ones, best first; empty: it is
// none.
[[nodiscard]] std::vector<std::string> voices_like(std::string_view name);

// OpenAI's voices.
[[nodiscard]] std::vector<std::string> openai_voices();

}  // namespace mynah::server
