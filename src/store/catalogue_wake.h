// The catalogue's wake words.
#pragma once

#include <string_view>
#include <vector>

#include "store/catalogue.h"

namespace mynah {

// The family of all of them.
inline constexpr std::string_view kWakeFamily = "micro-wake-word";

[[nodiscard]] std::vector<CatalogueEntry> wake_entries();

}  // namespace mynah
