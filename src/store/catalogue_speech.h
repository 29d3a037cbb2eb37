// The catalogue's entries that speak, and what they speak with.
#pragma once

#include <cstdint>
#include <vector>

#include "store/catalogue.h"

namespace mynah {

// What the sizes of downloads are counted in.
inline constexpr uint64_t kMegabyte = 1'000'000;

[[nodiscard]] std::vector<CatalogueEntry> speech_entries();

}  // namespace mynah
