// Model: a decoder-only transformer of a GGUF file, ready to run. Const after load, shared by
// everybody who asks it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "models/llama/config.h"
#include "models/llama/experts.h"
#include "models/llama/layer_inputs.h"
#include "models/llama/norm.h"
#include "models/llama/projections.h"
#include "models/llama/recurrent.h"
#include "nn/blob_cache.h"
#include "nn/decode/kv_cache.h"
#include "nn/decode/sequences.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"
#include "nn/weights.h"

namespace mynah::llama {

// The first layers of a model, where they compute elsewhere than the others. The embedding table is
// with them; the last norm and the logits are not.
struct LowerLayers {
  int64_t count = 0;                 // one that Config::splits() has; 0: none is elsewhere
  Backend* backend = nullptr;        // must outlive the model
  std::shared_ptr<BlobCache> cache;  // as LoadOptions::cache
};

// Where a model computes, and how its weights are kept there.
struct LoadOptions {
  Backend* backend = nullptr;    // must outlive the model
  std::optional<DType> storage;  // none: the file's own
  Precision precision = Precision::Fast;
  std::shared_ptr<BlobCache> cache;  // of packed weights, of this backend's layout and this storage
                                     // type; may be null
  LowerLayers lower = {};
};

// What keys and values are kept as.
[[nodiscard]] constexpr DType cache_dtype(Precision precision) {
  return precision == Precision::Exact ? DType::F32 : DType::F16;
}

class Model final : public TokenModel {
 public:
  // Takes the weights of `file`, of which `config` was read. The bytes of its embedding table stay
  // mapped where the backend reads them as they lie.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> load(const TensorFile& file,
                                                                 const Config& config,
                                                                 const LoadOptions& options);

  [[nodiscard]] const Config& config() const { return config_; }

  // Where logits are.
  [[nodiscard]] Backend& backend() const { return *options_.backend; }

  // Of all that decode with this model.
  [[nodiscard]] StepRunner& steps() const { return *steps_; }

  // Positions that a sequence may be cut back by where layers see a window: guesses, and more than
  // a short reply, so that one that a template writes otherwise is taken back without reading what
  // was before it.
  static constexpr int64_t kRewinds = 256;

  // An empty cache for so many sequences of at most `capacity` tokens, kept as `dtype`: by default
  // as the model's precision says. Positions beyond Config::context_length are computed like
  // others.
  [[nodiscard]] KvCache new_cache(int64_t sequences, int64_t capacity,
                                  std::optional<DType> dtype = std::nullopt) const;

  // What `cache` is made of where none is given one.
  [[nodiscard]] DType cache_dtype() const { return llama::cache_dtype(options_.precision); }

  // tokens (lanes' counts in sum), each in [0, Config::vocabulary) -> (tokens, width), after the
  // final norm.
  [[nodiscard]] Tensor forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                               KvCache& cache) const override;

  // hidden (rows, width) -> (rows, vocabulary).
  [[nodiscard]] Tensor logits(const Tensor& hidden) const override;

  // Lets go of buffers, and of pages of the files that weights lie in, that nobody reads now.
  void release_idle_memory() const;

 private:
  struct Block {
    Backend* backend = nullptr;
    LayerConfig config;
    Norm attn_norm;
    // One of these where LayerConfig says that the layer does not attend; then nothing of that.
    std::optional<ShortConv> short_conv;
    std::optional<DeltaNet> delta_net;
    Linear gated_q;   // of each head its queries, then their gates; where Config::gated_attention
    Projections qkv;  // queries, unless they are above, and, where the layer has its own, keys and
                      // values, side by side
    RmsNorm q_norm;   // of a head, or of all; where Config::normed_heads
    RmsNorm k_norm;
    RmsNorm v_norm;    // where Config::normed_values
    Tensor sinks;      // (heads); where Config::sinks
    Linear attn_gate;  // where Config::attention_gate
    Linear attn_out;
    RmsNorm post_attn_norm;  // where Config::normed_results
    Norm ffn_norm;           // unless Config::parallel_parts
    Projections gate_up;     // side by side, or what has no gate; where LayerConfig::feed_forward
    Linear down;
    Experts experts;  // where LayerConfig::experts
    // Of experts beside a dense block: before and behind each, and before the router.
    RmsNorm experts_norm;
    RmsNorm router_norm;
    RmsNorm post_dense_norm;
    RmsNorm post_experts_norm;
    RmsNorm post_ffn_norm;
    LayerInput input;           // where Config::layer_inputs
    float output_scale = 1.0F;  // of the layer's result

    // `own`: of this layer.
    static Result<Block> load(const Weights& w, const Config& config, const LayerConfig& own);

   private:
    Status take_attention(const Weights& w, const Config& config);
    Status take_recurrent(const Weights& w, const Config& config);
    Status take_feed_forward(const Weights& w, const Config& config);
  };

  // Rows of one forward(), where they read and write, and how their positions turn them, as layers
  // on one backend see them.
  struct Step {
    KvStep past;
    Lengths queries;     // tokens of each lane
    Tensor turns;        // (tokens, 2 pairs)
    Tensor local_turns;  // of layers that see a window
    Tensor query_turns;  // of queries, where they are others
  };

  struct QueriesKeys {
    Tensor queries;  // (tokens, heads * head_dim)
    Tensor keys;     // (tokens, key_width); undefined where the layer writes none
  };

  Model() = default;

  // `lower`: of the layers that are elsewhere, if any are.
  Status take(const Weights& lower, const Weights& upper);
  // Lets go of the pages of a file that the table lies in.
  void release_table() const;
  // Where the layer is.
  [[nodiscard]] Backend& backend_of(int64_t layer) const;
  // As layers see it that are on the backend of this share of the cache.
  [[nodiscard]] Step plan(std::span<const Lane> lanes, const KvCache& cache, size_t share) const;
  // A tensor of the lower layers' backend on that of the others.
  [[nodiscard]] Tensor moved_up(const Tensor& x) const;
  // Normed and turned, of what Block::qkv gives; gated_q (tokens * heads, 2 head_dim) where there
  // is.
  [[nodiscard]] QueriesKeys queries_keys(const Block& block, const Tensor& gated_q,
                                         const Tensor& qkv, const Step& step) const;
  // x and what a part of the block made of it, times Config::residual_scale.
  [[nodiscard]] Tensor add_to(const Block& block, const Tensor& x, const Tensor& made) const;
  // x after the norm before a part of the block, where there is one.
  [[nodiscard]] Tensor input_of(const Norm& norm, const Tensor& x) const;
  // x (tokens, width), and what attention adds to it.
  [[nodiscard]] Tensor attention(const Block& block, const Tensor& x, const Step& step,
                                 const KvCache& cache) const;
  // x (tokens, width), and what attention, or what the layer has in its place, adds to it.
  [[nodiscard]] Tensor mix(const Block& block, const Tensor& x, const Step& step,
                           const KvCache& cache) const;
  // x (tokens, width), and what a whole block adds to it.
  [[nodiscard]] Tensor pass(const Block& block, const Tensor& x, const Step& step,
                            const KvCache& cache) const;
  // x (tokens, width), and what the feed-forward block adds to it.
  [[nodiscard]] Tensor feed_forward(const Block& block, const Tensor& x) const;
  // Of x (tokens, width): what the experts make of it, beside a dense block's where there is one.
  [[nodiscard]] Tensor of_experts(const Block& block, const Tensor& x) const;
  // Of x after its norm (tokens, width) -> (tokens, feed_forward).
  [[nodiscard]] Tensor dense_hidden(const Block& block, const Tensor& x) const;

  Config config_;
  LoadOptions options_;
  Tensor table_;  // (vocabulary, width)
  LayerInputs layer_inputs_;
  std::vector<Block> blocks_;
  Norm norm_;
  Linear head_;
  std::unique_ptr<StepRunner> steps_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
};

}  // namespace mynah::llama
