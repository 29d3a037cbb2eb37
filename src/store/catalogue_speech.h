// The catalogue's entries that speak, and what they speak with.
#pragma once

#include <vector>

#include "store/catalogue.h"

namespace mynah {

[[nodiscard]] std::vector<CatalogueEntry> speech_entries();

}  // namespace mynah
