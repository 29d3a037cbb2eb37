// Blocks whose norms a style chooses (yl4579/StyleTTS2 models.py: AdaIN1d, AdainResBlk1d; Huang and
// Belongie 2017, arXiv 1703.06868).
#pragma once

#include "models/kokoro/sizes.h"
#include "nn/conv1d.h"
#include "nn/conv_transpose1d.h"
#include "nn/linear.h"

namespace mynah::kokoro {

// A norm's gamma (less one) and beta as a linear function of the style.
class StyleFactors {
 public:
  struct Factors {
    Tensor gamma;  // (sentences, channels)
    Tensor beta;
  };

  StyleFactors() = default;

  // w holds "fc".
  static Result<StyleFactors> load(const Weights& w, int64_t channels, int64_t style);

  // style (sentences, its size)
  [[nodiscard]] Factors operator()(const Tensor& style) const;

 private:
  Backend* backend_ = nullptr;
  int64_t channels_ = 0;
  Linear linear_;
};

// Instance norm by such factors, as a convolution's input takes it.
class AdaIn {
 public:
  AdaIn() = default;

  // w holds "fc".
  static Result<AdaIn> load(const Weights& w, int64_t channels, int64_t style);

  // x (rows, channels) of sentences, style (sentences, its size) -> Conv1dInput's factors.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Lengths& lengths,
                                  const Tensor& style) const;

 private:
  Backend* backend_ = nullptr;
  StyleFactors factors_;
};

// Two convolutions behind such norms, and a way past them; twice as many rows where it upsamples.
class AdaInBlock {
 public:
  struct Sizes {
    int64_t in = 0;
    int64_t out = 0;
    int64_t style = kStyle;
    bool upsamples = false;
  };

  AdaInBlock() = default;

  // w holds "norm1", "norm2", "conv1", "conv2", "conv1x1" where sizes differ, "pool" where it
  // upsamples.
  static Result<AdaInBlock> load(const Weights& w, const Sizes& sizes);

  // x (rows, in) -> (rows or 2 rows, out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& style) const;

 private:
  Backend* backend_ = nullptr;
  Sizes sizes_;
  AdaIn norm1_;
  AdaIn norm2_;
  Conv1d conv1_;
  Conv1d conv2_;
  Conv1d past_;           // where sizes differ
  ConvTranspose1d pool_;  // where it upsamples
};

}  // namespace mynah::kokoro
