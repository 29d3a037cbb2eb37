// How a text is read in pieces so that what is computed of it has the same bits wherever it was
// cut.
#pragma once

#include <cstdint>

namespace mynah {

// Attention over keys that may be rounded in company is rounded in runs of so many positions,
// counted from the text's first: a piece that others follow ends at a multiple of it.
inline constexpr int64_t kPromptGrid = 64;

// From so many queries of a text on keys are rounded: a piece of a prompt has as many, and a step
// of a text that is written fewer.
inline constexpr int64_t kPromptRows = 8;

}  // namespace mynah
