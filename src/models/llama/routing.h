// What a file says of experts (experts.h), for Config::read().
#pragma once

#include "base/result.h"
#include "models/llama/architectures.h"
#include "models/llama/config.h"
#include "models/llama/metadata.h"

namespace mynah::llama {

// How many experts there are, of what size, and what tokens are sent to them by; of a file without
// experts nothing is read. Unsupported, and named, is what mynah does not do.
[[nodiscard]] Status read_experts(const Metadata& metadata, const Architecture& architecture,
                                  Config& c);

}  // namespace mynah::llama
