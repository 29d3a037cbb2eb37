#include "models/llama/architectures.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mynah::llama {
namespace {

// Rows follow llama.cpp's src/models/NAME.cpp, and its llama_model_rope_type() for the pairs.
constexpr std::array kArchitectures = {
    Architecture{.name = "gemma3",
                 .activation = Activation::GeluTanh,
                 .normed_heads = true,
                 .normed_results = true,
                 .scaled_embedding = true,
                 .window_pattern = 6,
                 .scaled_by_width = 62},
    Architecture{.name = "llama", .pairs = RopePairs::Neighbours},
    Architecture{.name = "mistral3", .pairs = RopePairs::Neighbours, .growing_queries = true},
    Architecture{.name = "phi3"},
    Architecture{.name = "qwen2"},
    Architecture{.name = "qwen3", .normed_heads = true},
    Architecture{.name = "smollm3", .pairs = RopePairs::Neighbours, .unturned_pattern = 4},
};

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  const auto* const found = std::ranges::find(kArchitectures, name, &Architecture::name);
  return found == kArchitectures.end() ? nullptr : found;
}

std::string architecture_names() {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", architecture.name);
  }
  return names;
}

}  // namespace mynah::llama
