#include "models/llama/architectures.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mynah::llama {
namespace {

// Rows follow llama.cpp's src/models/NAME.cpp, and its llama_model_rope_type() for the pairs.
constexpr GatedParams kGelu = {.activation = Activation::GeluTanh};

constexpr std::array kArchitectures = {
    Architecture{.name = "gemma2",
                 .gate = kGelu,
                 .normed_results = true,
                 .scaled_embedding = true,
                 .score_cap = 50,
                 .logit_cap = 30,
                 .window_pattern = 2,
                 .window = 4096,
                 .one_rotary = true,
                 .scaled_by_width = 46},
    Architecture{.name = "gemma3",
                 .gate = kGelu,
                 .normed_heads = true,
                 .normed_results = true,
                 .scaled_embedding = true,
                 .window_pattern = 6,
                 .scaled_by_width = 62},
    Architecture{.name = "gemma4",
                 .gate = kGelu,
                 .normed_heads = true,
                 .normed_values = true,
                 .normed_results = true,
                 .experts = true,
                 .layer_inputs = true,
                 .scaled_embedding = true,
                 .window_pattern = 6,
                 .unscaled_scores = true},
    Architecture{.name = "gpt-oss",
                 .gate = {.limit = 7.0F, .scale = 1.702F, .shift = 1.0F},
                 .ffn_norm = "post_attention_norm",
                 .sinks = true,
                 .experts = true,
                 .window_pattern = 2,
                 .one_rotary = true},
    Architecture{.name = "lfm2",
                 .normed_heads = true,
                 .recurrence = Recurrence::ShortConv,
                 .last_norm = "token_embd_norm"},
    Architecture{.name = "lfm2moe",
                 .normed_heads = true,
                 .experts = true,
                 .expert_scores = ExpertScores::Sigmoid,
                 .recurrence = Recurrence::ShortConv,
                 .last_norm = "token_embd_norm"},
    Architecture{.name = "llama", .pairs = RopePairs::Neighbours},
    Architecture{.name = "mistral3", .pairs = RopePairs::Neighbours, .growing_queries = true},
    Architecture{.name = "phi3"},
    Architecture{.name = "qwen2"},
    Architecture{.name = "qwen3", .normed_heads = true},
    Architecture{.name = "qwen35",
                 .ffn_norm = "post_attention_norm",
                 .normed_heads = true,
                 .recurrence = Recurrence::DeltaNet,
                 .gated_attention = true},
    Architecture{.name = "qwen35moe",
                 .ffn_norm = "post_attention_norm",
                 .normed_heads = true,
                 .experts = true,
                 .shared_expert = true,
                 .recurrence = Recurrence::DeltaNet,
                 .gated_attention = true},
    Architecture{.name = "qwen3moe", .normed_heads = true, .experts = true},
    Architecture{.name = "qwen3next",
                 .ffn_norm = "post_attention_norm",
                 .normed_heads = true,
                 .experts = true,
                 .shared_expert = true,
                 .recurrence = Recurrence::DeltaNet,
                 .grouped_deltas = true,
                 .gated_attention = true},
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
