// What a GGUF file says of a decoder-only transformer: its sizes, and what its architecture does
// otherwise than Llama's. Keys: ggml-org/ggml docs/gguf.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/llama/architectures.h"
#include "nn/rotary.h"
#include "tensor/op_params.h"

namespace mynah::llama {

// A layer, in what layers of a model may differ.
struct LayerConfig {
  bool attends = true;           // to what was before; else it keeps states of it
  bool sees_window = false;      // the last Config::window positions, not all
  bool rotates = true;           // whether it knows positions at all
  bool writes_keys = true;       // keys and values of its own; else it reads an earlier layer's
  bool values_are_keys = false;  // it has no matrix of values: they are keys before norm and turn
  int64_t cache = 0;             // where its keys and values are, as KvCache counts layers; of one
                                 // that keeps states the first one's number in Config::states()
  int64_t kv_heads = 0;          // of keys and of values; divides Config::heads
  int64_t head_dim = 0;          // columns of a head of queries, keys or values
  int64_t feed_forward = 0;  // columns between the products of a dense feed-forward block; 0: none
  bool experts = false;      // a feed-forward block of experts, beside the dense one if any

  // Columns of a key, and of a value, in the cache.
  [[nodiscard]] int64_t key_width() const { return kv_heads * head_dim; }
};

struct Config {
  std::string architecture;    // general.architecture: "llama", "qwen2"
  int64_t vocabulary = 0;      // rows of the embedding table, columns of the logits
  int64_t context_length = 0;  // positions that the model was trained for
  int64_t layers = 0;
  int64_t width = 0;  // columns of a hidden state
  int64_t heads = 0;  // of queries
  // Of each layer; caches are counted without gaps, in the order of the layers that write them.
  std::vector<LayerConfig> layer;
  int64_t experts = 0;         // of a feed-forward block
  int64_t used_experts = 0;    // that a token is sent to
  int64_t expert_columns = 0;  // between the products of an expert
  int64_t shared_columns = 0;  // of the one that every token is sent to, where there is one
  ExpertScores expert_scores = ExpertScores::Softmax;
  bool normed_shares = true;  // those of the experts that a token is sent to add up to one
  float expert_scale = 1;     // of their shares
  // Experts stand in so many groups of neighbours, of which a token is sent to so many.
  int64_t expert_groups = 1;
  int64_t used_groups = 1;
  int64_t layer_inputs = 0;  // columns of what each token brings to each layer; 0: none
  float norm_epsilon = 0;
  float attention_scale = 0;  // of the dot products
  float score_cap = 0;        // AttentionParams::score_cap
  float embedding_scale = 1;  // of the embedding table's rows
  float residual_scale = 1;   // of what attention and a feed-forward block add
  float logit_scale = 1;      // of logits
  float logit_cap = 0;        // logits x become cap * tanh(x / cap); 0: they do not
  FeedForward feed_forward = FeedForward::Gated;  // of dense blocks
  GatedParams gate;                               // of gated feed-forward blocks
  std::string_view ffn_norm;                      // the tensor of the norm before them
  std::string_view last_norm;                     // the same before the logits
  bool layer_norms = false;                       // hidden states have layer norms, not RMS norms
  bool parallel_parts = false;   // attention and the feed-forward block read the same, one norm's
  bool normed_inputs = true;     // a norm before attention and before the feed-forward block
  bool normed_heads = false;     // an RMS norm of each head of queries and of keys
  bool whole_norms = false;      // ... of all heads' columns together, not of each head's
  bool turned_first = false;     // ... behind their turns by position
  bool normed_values = false;    // values are divided by their root mean square
  bool normed_results = false;   // an RMS norm behind attention and behind the feed-forward block
  bool sinks = false;            // AttentionParams::sinks
  bool gated_attention = false;  // what a head saw is let through by a gate, beside its queries
  bool attention_gate = false;   // the same, of a matrix of its own
  Recurrence recurrence = Recurrence::None;
  int64_t conv_taps = 0;        // of its convolutions
  int64_t delta_heads = 0;      // of a DeltaNet's values
  int64_t delta_key_heads = 0;  // of its queries and keys; divides delta_heads
  int64_t delta_columns = 0;    // of a head of each
  // Head h of a DeltaNet's values has the keys of head h / (delta_heads / delta_key_heads), else of
  // h % delta_key_heads.
  bool grouped_deltas = false;
  Rotary rotary;  // of layers that see everything
  // The same where a cache has room for more positions a sequence than so many; 0: no other is.
  int64_t short_context = 0;
  Rotary long_rotary;
  // Queries at position p grow by 1 + growth * log(1 + floor(p / growth_context)) (Llama 4's and
  // Ministral 3's attention temperature); 0: they do not.
  float query_growth = 0;
  int64_t growth_context = 1;
  Rotary local_rotary;  // of layers that see a window
  int64_t window = 0;   // positions that such a layer sees, its own included

  // Reads and checks what `file` says, before any weight is touched. Unsupported, and named, is
  // what the architecture or the file wants and mynah does not do; InvalidInput is what cannot be
  // such a model.
  [[nodiscard]] static Result<Config> read(const TensorFile& file);

  // Counts of lower layers behind which the others may compute elsewhere, rising: no layer reads
  // what one on the other side keeps. Neither 0 nor all of them.
  [[nodiscard]] std::vector<int64_t> splits() const;

  // The same of a model that ends behind so many layers, one of splits().
  [[nodiscard]] Config first_layers(int64_t count) const;

  // Of each cache of keys and values, the columns of a key.
  [[nodiscard]] std::vector<int64_t> cache_widths() const;

  // Of each cache, `window` where all layers that read it see that, else 0.
  [[nodiscard]] std::vector<int64_t> cache_windows() const;

  // Bytes of a position, keys and values, in the caches of that window: those that cache_windows()
  // says it of, or, for 0, those of layers that see everything.
  [[nodiscard]] uint64_t cache_bytes(DType dtype, int64_t of_window) const;

  // Columns of a DeltaNet's queries, or keys; and of its values.
  [[nodiscard]] int64_t delta_key_width() const { return delta_key_heads * delta_columns; }

  [[nodiscard]] int64_t delta_value_width() const { return delta_heads * delta_columns; }

  // Numbers of each state of a sequence: one a layer of a ShortConv, of a DeltaNet the
  // convolution's, then the rule's.
  [[nodiscard]] std::vector<int64_t> states() const;

  // Bytes of a sequence's states.
  [[nodiscard]] uint64_t state_bytes() const;
};

// Whether a tensor is computed with before the layers from `count` on are.
[[nodiscard]] bool is_below(std::string_view tensor, int64_t count);

}  // namespace mynah::llama
