// Albert: the encoder of phonemes that Kokoro's prosody is predicted from (PL-BERT, Li et al. 2023,
// arXiv 2301.08810; HuggingFace transformers modeling_albert.py): one layer, applied twelve times.
#pragma once

#include "models/kokoro/sizes.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/weights.h"

namespace mynah::kokoro {

class Albert {
 public:
  static constexpr int64_t kHeads = 12;
  static constexpr int64_t kPositions = 512;  // longest utterance

  Albert() = default;

  // w holds "embeddings" and "encoder" of kVocabulary phonemes.
  static Result<Albert> load(const Weights& w, const Sizes& sizes);

  // ids of lengths.total() phonemes, each utterance at most kPositions -> (lengths.total(), its
  // width).
  [[nodiscard]] Tensor operator()(std::span<const int32_t> ids, const Lengths& lengths) const;

 private:
  [[nodiscard]] Tensor layer(const Tensor& x, const Lengths& lengths) const;

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  int64_t width_ = 0;
  Tensor words_;
  Tensor positions_;
  Tensor sentence_;  // of the first sentence of two: there is one
  LayerNorm embedding_norm_;
  Linear widen_;
  Linear qkv_;
  Linear dense_;
  LayerNorm attention_norm_;
  Linear ffn_;
  Linear ffn_out_;
  LayerNorm full_norm_;
};

}  // namespace mynah::kokoro
