// The catalogue's language models.
#pragma once

#include <vector>

#include "store/catalogue.h"

namespace mynah {

// The family of all of them: which architecture one has is said by its file.
inline constexpr std::string_view kLanguageFamily = "llm";

[[nodiscard]] std::vector<CatalogueEntry> language_entries();

}  // namespace mynah
