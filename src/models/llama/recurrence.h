// What a file says of layers that keep states (recurrent.h), for Config::read().
#pragma once

#include <string_view>

#include "base/result.h"
#include "models/llama/architectures.h"
#include "models/llama/config.h"
#include "models/llama/metadata.h"

namespace mynah::llama {

// Which of the layers keep states, by LayerConfig::kv_heads and the metadata, and of what size.
[[nodiscard]] Status read_recurrence(const Metadata& metadata, const Architecture& architecture,
                                     Config& c);

// Refuses positions that a text does not have, once Config::rotary is known.
[[nodiscard]] Status check_sections(const Metadata& metadata, const Config& c);

// Whether a block of a layer that keeps states reads the tensor of that name.
[[nodiscard]] bool is_read_by(Recurrence recurrence, std::string_view name);

}  // namespace mynah::llama
