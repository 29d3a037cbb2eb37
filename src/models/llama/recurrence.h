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

// Of models that also see: which pairs turn by positions in time, height or width (M-RoPE: Wang et
// al. 2024, arXiv:2409.12191, section 2.1; what no section has turns by time, as transformers has
// it). Of a text these are one number; such models turn halves. Once Config::rotary is known.
// Unsupported are pairs of a kind that a text does not have.
[[nodiscard]] Status read_sections(const Metadata& metadata, Config& c);

// Whether a block of a layer that keeps states reads the tensor of that name.
[[nodiscard]] bool is_read_by(Recurrence recurrence, std::string_view name);

}  // namespace mynah::llama
