// The catalogue's models that make vectors of texts.
#pragma once

#include <vector>

#include "store/catalogue.h"

namespace mynah {

// The family of all of them: which architecture one has is said by its file.
inline constexpr std::string_view kEmbeddingFamily = "embedding";

[[nodiscard]] std::vector<CatalogueEntry> embedding_entries();

}  // namespace mynah
