// What architectures of GGUF files do otherwise than Llama: a row of data each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/op_params.h"

namespace mynah::llama {

// What a layer has that keeps a state instead of keys and values.
enum class Recurrence : uint8_t {
  None,       // every layer looks back
  ShortConv,  // LFM2's: a gate, a convolution of few taps, another gate
  DeltaNet    // Qwen 3.5's: the gated delta rule behind a convolution
};

// What experts are chosen and weighed by.
enum class ExpertScores : uint8_t {
  Softmax,  // of all experts
  Sigmoid   // of each for itself (DeepSeek-AI 2024, arXiv:2412.19437, section 2.1.2)
};

// What stands between the two products of a dense feed-forward block.
enum class FeedForward : uint8_t {
  Gated,        // gates let values through: Config::gate
  Gelu,         // its tanh form
  SquaredRelu,  // So et al. 2021, arXiv:2109.08668
};

struct Architecture {
  std::string_view name;  // general.architecture
  RopePairs pairs = RopePairs::Halves;
  GatedParams gate = {};                               // Config::gate
  FeedForward feed_forward = FeedForward::Gated;       // Config::feed_forward
  std::string_view ffn_norm = "ffn_norm";              // its tensor
  bool layer_norms = false;                            // Config::layer_norms
  bool parallel_parts = false;                         // Config::parallel_parts
  bool normed_inputs = true;                           // Config::normed_inputs
  bool normed_heads = false;                           // Config::normed_heads
  bool heads_by_tensors = false;                       // ... if the file has their norms
  bool whole_norms = false;                            // Config::whole_norms
  bool turned_first = false;                           // Config::turned_first
  bool normed_values = false;                          // Config::normed_values
  bool normed_results = false;                         // Config::normed_results
  bool sinks = false;                                  // Config::sinks
  bool experts = false;                                // feed-forward blocks may be of experts
  ExpertScores expert_scores = ExpertScores::Softmax;  // where the file names none
  bool normed_shares = true;   // Config::normed_shares, where the file does not say
  bool whole_experts = false;  // where only feed_forward_length is said, it is of each expert, not
                               // of those that a token is sent to together
  bool shared_expert = false;  // beside experts there may be one that every token is sent to
  // Config::layer_inputs counts, and what came with it: layers that share keys, heads of another
  // width where a window is seen, experts beside a dense block.
  bool layer_inputs = false;
  bool scaled_embedding = false;  // by the square root of the width
  // embedding_scale, residual_scale, attention.scale, logit_scale, rope.scaling.finetuned count.
  bool scaled_parts = false;
  bool logit_factor = false;     // logit_scale counts: logits are multiplied with it
  bool growing_queries = false;  // attention.temperature_scale counts
  double score_cap = 0;          // where the file names none
  double logit_cap = 0;          // where the file names none
  // Of so many layers the last sees everything and the others a window; 0: all see everything.
  int64_t window_pattern = 0;
  int64_t window = 0;  // where the file names none
  // Layers that see a window are turned as the others are, unless the file has a base for them.
  bool one_rotary = false;
  // They have the others' base, unless the file has one for them, and none of their scaling.
  bool one_base = false;
  // Where there are such layers, the others know no positions.
  bool turned_in_windows = false;
  // Of so many layers the last knows no positions; 0: all know them.
  int64_t unturned_pattern = 0;
  // A model of so many layers scales scores by width / heads, whatever its heads' columns; 0: none.
  int64_t scaled_by_width = 0;
  bool unscaled_scores = false;  // dot products are scores as they are
  Recurrence recurrence = Recurrence::None;
  bool grouped_deltas = false;                 // Config::grouped_deltas
  bool gated_attention = false;                // Config::gated_attention
  bool attention_gate = false;                 // Config::attention_gate
  std::string_view last_norm = "output_norm";  // the tensor of the norm before the logits
};

// The architecture of that name, or null.
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

// "gemma3, llama, ...": for people.
[[nodiscard]] std::string architecture_names();

}  // namespace mynah::llama
