// Generator: the vocoder (iSTFTNet, Kaneko et al. 2022, arXiv 2203.02395, with a harmonic source;
// yl4579/StyleTTS2 Modules/istftnet.py).
#pragma once

#include <array>

#include "models/kokoro/adain.h"

namespace mynah::kokoro {

// Of the short-time Fourier transforms (config.json of hexgrad/Kokoro-82M, "istftnet").
inline constexpr int64_t kFft = 20;
inline constexpr int64_t kHop = 5;
inline constexpr int64_t kBins = kFft / 2 + 1;

class Generator {
 public:
  Generator() = default;

  // w is the checkpoint's "decoder.generator".
  static Result<Generator> load(const Weights& w, const Sizes& sizes);

  // What is sung with: pitch (2 frames, 1) -> (2 frames * kPitchSamples / kHop + 1, 2 kBins),
  // magnitudes and phases of sines at the pitch and above it, without noise, as Kokoro's ONNX
  // exports have them.
  [[nodiscard]] Tensor harmonics(const Tensor& pitch) const;

  // x (2 frames, its width), harmonics, style, the acoustic half -> (harmonics' rows, 2
  // kBins): logarithms of magnitudes, then what phases are sines of.
  [[nodiscard]] Tensor spectrum(const Tensor& x, const Tensor& harmonics,
                                const Tensor& style) const;

  // That as (samples), kPitchSamples for each row of x.
  [[nodiscard]] Tensor samples(const Tensor& spectrum) const;

 private:
  // Three pairs of convolutions, the first of each dilated, with snakes (AdaINResBlock1).
  struct Block {
    struct Pair {
      AdaIn norm1;
      AdaIn norm2;
      Tensor alpha1;
      Tensor alpha2;
      Conv1d conv1;
      Conv1d conv2;
    };

    std::array<Pair, 3> pairs;
  };

  struct Stage {
    ConvTranspose1d up;
    Conv1d source;
    Block source_block;
    std::array<Block, 3> blocks;
  };

  static Result<Block> load_block(const Weights& w, int64_t channels, int64_t style,
                                  int64_t kernel);
  [[nodiscard]] Tensor run(const Block& block, Tensor x, const Tensor& style) const;

  Backend* backend_ = nullptr;
  Tensor harmonics_;  // how much of each
  float bias_ = 0.0F;
  std::array<Stage, 2> stages_;
  Conv1d out_;
};

}  // namespace mynah::kokoro
