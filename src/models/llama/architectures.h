// What architectures of GGUF files do otherwise than Llama: a row of data each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/op_params.h"

namespace mynah::llama {

struct Architecture {
  std::string_view name;  // general.architecture
  RopePairs pairs = RopePairs::Halves;
  Activation activation = Activation::Silu;
  bool normed_heads = false;      // Config::normed_heads
  bool normed_results = false;    // Config::normed_results
  bool scaled_embedding = false;  // by the square root of the width
  bool growing_queries = false;   // attention.temperature_scale counts
  // Of so many layers the last sees everything and the others a window; 0: all see everything.
  int64_t window_pattern = 0;
  // Of so many layers the last knows no positions; 0: all know them.
  int64_t unturned_pattern = 0;
  // A model of so many layers scales scores by width / heads, whatever its heads' columns; 0: none.
  int64_t scaled_by_width = 0;
};

// The architecture of that name, or null.
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

// "gemma3, llama, ...": for people.
[[nodiscard]] std::string architecture_names();

}  // namespace mynah::llama
