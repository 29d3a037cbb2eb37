// Whisper's text decoder: pre-norm transformer blocks that look back over the text and across at
// the audio. Follows openai/whisper model.py class TextDecoder; golden:
// tests/models/whisper/golden.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/whisper/config.h"
#include "models/whisper/silence.h"
#include "nn/decode/kv_cache.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace mynah::whisper {

// Keys and values of a batch's audio, as each decoder layer's cross-attention reads them.
struct CrossCache {
  std::vector<std::vector<KeysValues>> layers;  // of each layer, one an utterance
  Lengths lengths;                              // positions of each utterance
  const SilenceCache* silence = nullptr;        // what follows every utterance; null: nothing

  // Adds the utterances of another batch after these; both see the same silence.
  void append(CrossCache more);
};

class Decoder {
 public:
  // w holds "token_embedding", "positional_embedding", "blocks" and "ln".
  static Result<Decoder> load(const Weights& w, const Config& config);

  // states (lengths.total(), width): the encoder's output.
  [[nodiscard]] CrossCache cross_cache(const Tensor& states, const Lengths& lengths) const;

  // The embedding table, of which a text reads a few rows.
  [[nodiscard]] const Tensor& table() const { return tokens_; }

  // An empty cache for so many sequences of at most `capacity` tokens, kept as `dtype`: by default
  // as the model's precision says.
  [[nodiscard]] KvCache new_cache(int64_t sequences, int64_t capacity,
                                  std::optional<DType> dtype = std::nullopt) const;

  // Adds each lane's tokens to its sequence and returns their last hidden states, (tokens, width),
  // after the final norm. A lane's context is an utterance of `cross`. `cross_queries` takes each
  // layer's queries of the audio, (tokens, width), where it is not null: word times come from them.
  [[nodiscard]] Tensor forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                               KvCache& cache, const CrossCache& cross,
                               std::vector<Tensor>* cross_queries = nullptr) const;

  // Hidden states (rows, width) -> logits (rows, n_vocab).
  [[nodiscard]] Tensor logits(const Tensor& hidden) const { return logits_(hidden); }

  // Cross-attention of one utterance's queries over its own first `positions` alone, for each head
  // of a layer: (heads, tokens, positions). queries (tokens, width).
  [[nodiscard]] Tensor alignment(const Tensor& queries, const CrossCache& cross, int64_t layer,
                                 int64_t utterance, int64_t positions) const;

 private:
  struct Block {
    LayerNorm attn_ln;
    Linear qkv;  // query, key and value side by side
    Linear attn_out;
    LayerNorm cross_attn_ln;
    Linear cross_query;
    Linear cross_kv;  // key and value side by side, of the audio
    Linear cross_out;
    LayerNorm mlp_ln;
    Linear mlp_in;
    Linear mlp_out;

    static Result<Block> load(const Weights& w, int64_t width);
  };

  // Rows of one forward() and where they read and write.
  struct Step {
    KvStep past;
    Lengths queries;                 // tokens of each lane
    std::vector<size_t> utterances;  // of each lane in the CrossCache
  };

  [[nodiscard]] Tensor embed(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                             const KvCache& cache) const;
  [[nodiscard]] Step plan(std::span<const Lane> lanes, const KvCache& cache) const;
  [[nodiscard]] Tensor self_attention(const Block& block, int64_t layer, const Tensor& x,
                                      const Step& step, const KvCache& cache) const;
  [[nodiscard]] Tensor cross_attention(const Block& block, int64_t layer, const Tensor& x,
                                       const Step& step, const CrossCache& cross,
                                       std::vector<Tensor>* queries) const;
  [[nodiscard]] float scale() const;

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  int64_t width_ = 0;
  int64_t heads_ = 1;
  Tensor tokens_;    // (n_vocab, width)
  Tensor position_;  // (n_text_ctx, width)
  std::vector<Block> blocks_;
  LayerNorm ln_;
  Linear logits_;
};

}  // namespace mynah::whisper
