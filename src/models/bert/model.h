// Model: an encoder that makes a vector of each text (Devlin et al. 2018, arXiv:1810.04805; Reimers
// and Gurevych 2019, arXiv:1908.10084). Const after load.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/tensor_file.h"
#include "models/bert/config.h"
#include "nn/blob_cache.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/weights.h"
#include "tensor/lengths.h"

namespace mynah::bert {

// Where a model computes, and how its weights are kept there.
struct LoadOptions {
  Backend* backend = nullptr;    // must outlive the model
  std::optional<DType> storage;  // none: the file's own
  Precision precision = Precision::Fast;
  std::shared_ptr<BlobCache> cache;  // of packed weights, of this backend's layout and this storage
                                     // type; may be null
};

class Model {
 public:
  // Takes the weights of `file`, of which `config` was read; open_checkpoint() opens it.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> load(const TensorFile& file,
                                                                 const Config& config,
                                                                 const LoadOptions& options);

  [[nodiscard]] const Config& config() const { return config_; }

  [[nodiscard]] Backend& backend() const { return *options_.backend; }

  // Texts side by side, each 1 to Config::positions tokens of [0, Config::vocabulary) -> (tokens,
  // width): the states after the last layer. No text sees another.
  [[nodiscard]] Tensor forward(std::span<const int32_t> tokens, const Lengths& texts) const;

  // States of texts (tokens, width) -> their vectors on the host, width numbers a text.
  [[nodiscard]] std::vector<float> pool(const Tensor& states, const Lengths& texts) const;

 private:
  struct Block {
    Linear qkv;  // queries, keys and values side by side
    Linear attn_out;
    LayerNorm attn_norm;
    Linear up;
    Linear down;
    LayerNorm out_norm;

    static Result<Block> load(const Weights& w, const Config& config);
  };

  Model() = default;

  Status take(const Weights& w);
  // x (tokens, width) and what attention adds to it, normed.
  [[nodiscard]] Tensor attention(const Block& block, const Tensor& x, const Lengths& texts) const;
  // x (tokens, width) and what the feed-forward block adds to it, normed.
  [[nodiscard]] Tensor feed_forward(const Block& block, const Tensor& x) const;

  Config config_;
  LoadOptions options_;
  Tensor table_;      // (vocabulary, width)
  Tensor positions_;  // (positions, width), with what stands for the first sentence of a pair
  LayerNorm norm_;
  std::vector<Block> blocks_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
};

}  // namespace mynah::bert
