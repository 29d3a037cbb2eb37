// What a GGUF file says of a decoder-only transformer: its sizes, and what its architecture does
// otherwise than Llama's. Keys: ggml-org/ggml docs/gguf.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "nn/rotary.h"
#include "tensor/op_params.h"

namespace mynah::llama {

struct Config {
  std::string architecture;    // general.architecture: "llama", "qwen2"
  int64_t vocabulary = 0;      // rows of the embedding table, columns of the logits
  int64_t context_length = 0;  // positions that the model was trained for
  int64_t layers = 0;
  int64_t width = 0;         // columns of a hidden state
  int64_t feed_forward = 0;  // columns between the two products of a feed-forward block
  int64_t heads = 0;         // of queries
  int64_t kv_heads = 0;      // of keys and of values; divides heads
  int64_t head_dim = 0;      // columns of a head of queries, keys or values
  float norm_epsilon = 0;
  float attention_scale = 0;                 // of the dot products
  float embedding_scale = 1;                 // of the embedding table's rows
  float logit_cap = 0;                       // logits x become cap * tanh(x / cap); 0: they do not
  Activation activation = Activation::Silu;  // of the gate
  bool normed_heads = false;                 // an RMS norm of each head of queries and of keys
  bool normed_results = false;  // an RMS norm behind attention and behind the feed-forward block
  Rotary rotary;                // of layers that see everything
  // The same where a cache has room for more positions a sequence than so many; 0: no other is.
  int64_t short_context = 0;
  Rotary long_rotary;
  // Queries at position p grow by 1 + growth * log(1 + floor(p / growth_context)) (Llama 4's and
  // Ministral 3's attention temperature); 0: they do not.
  float query_growth = 0;
  int64_t growth_context = 1;
  Rotary local_rotary;            // of layers that see a window
  int64_t window = 0;             // positions that such a layer sees, its own included
  std::vector<bool> sees_window;  // of each layer
  std::vector<bool> rotates;      // of each layer: whether it knows positions at all

  // Reads and checks what `file` says, before any weight is touched. Unsupported, and named, is
  // what the architecture or the file wants and mynah does not do; InvalidInput is what cannot be
  // such a model.
  [[nodiscard]] static Result<Config> read(const TensorFile& file);

  // Columns of a key, and of a value, in the cache.
  [[nodiscard]] int64_t key_width() const { return kv_heads * head_dim; }

  // Bytes of a position in the cache, keys and values of all layers.
  [[nodiscard]] uint64_t cache_bytes(DType dtype) const {
    return 2 * static_cast<uint64_t>(layers) * storage_bytes(dtype, key_width());
  }
};

}  // namespace mynah::llama
