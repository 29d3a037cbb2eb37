// The network that says unknown words: letters through a small transformer, whose every letter
// says up to four phonemes (hibari-tts 0.2.1, oov.onnx and oov_gb.onnx; PyTorch's
// TransformerEncoder with norm_first). No state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/unknown_words/alphabet.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/weights.h"

namespace mynah::unknown_words {

// A product whose weights are f32, or whole numbers with one scale: there the activations of a word
// are rounded to 256 steps first, as ONNX's DynamicQuantizeLinear does it. The sums of such numbers
// are exact in f32, so that every backend has those of ONNX Runtime.
class Product {
 public:
  Product() = default;

  // w holds "weight" and "bias", and "scale" where the weights are whole numbers.
  static Result<Product> load(const Weights& w, Linear::Sizes sizes);

  // x (letters, in) of one word -> (letters, out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const LinearTail& tail = {}) const;

 private:
  // Whole numbers and the step between them.
  struct Steps {
    Tensor numbers;  // of x's shape
    Tensor step;     // (1)
  };

  [[nodiscard]] Steps rounded(const Tensor& x) const;

  Backend* backend_ = nullptr;
  Linear linear_;  // of f32
  LinearWeight codes_;
  Tensor bias_;
  Tensor scale_;  // (1); undefined where the weights are f32
  Tensor most_;   // (1): 255, the largest of the steps
  Tensor least_;  // (1): a step that is never 0
};

class Network {
 public:
  Network() = default;

  // w holds "emb", "pos", "layers", "norm" and "head".
  static Result<Network> load(const Weights& w, const Alphabet& alphabet);

  // ids of one word's letters, one to alphabet.longest_word() of them -> slots() numbers of
  // phonemes for each.
  [[nodiscard]] std::vector<int32_t> operator()(std::span<const int32_t> ids) const;

 private:
  static constexpr int kLayers = 4;

  struct Layer {
    LayerNorm attention_norm;
    Product qkv;
    Product attention_out;
    LayerNorm inner_norm;
    Product inner;
    Product inner_out;
  };

  static Result<Layer> load_layer(const Weights& w);
  [[nodiscard]] Tensor run(const Layer& layer, const Tensor& x) const;

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  int64_t longest_word_ = 0;
  int64_t slots_ = 0;
  int64_t phonemes_ = 0;
  Tensor letters_;
  Tensor positions_;
  std::array<Layer, kLayers> layers_;
  LayerNorm norm_;
  Product head_;
};

}  // namespace mynah::unknown_words
