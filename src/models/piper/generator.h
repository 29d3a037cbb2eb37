// HiFi-GAN's generator (Kong, Kim and Bae 2020, arXiv:2010.05646, section 2.2; VITS models.py,
// Generator): frames to samples.
#pragma once

#include <vector>

#include "models/piper/module.h"

namespace mynah::piper {

class Generator {
 public:
  Generator() = default;

  // m is the checkpoint's "dec", `fine` the same with weights that nothing is heard of: of its
  // first and last convolution, whose roundings are loudest, and of the last stage, which has the
  // fewest channels for them to cancel out.
  static Result<Generator> load(const Module& m, const Module& fine, int64_t latent,
                                int64_t of_speaker);

  // z (frames, latent) of one sentence; speaker (1, of_speaker) or undefined -> (frames *
  // frame_samples(), 1) in [-1, 1].
  [[nodiscard]] Tensor operator()(const Tensor& z, const Tensor& speaker) const;

  [[nodiscard]] int64_t frame_samples() const { return frame_samples_; }

 private:
  // Convolutions that see far, one after the other, each added to what it saw; in the larger
  // voices each is followed by one that sees near (HiFi-GAN's ResBlock1; the others are its
  // ResBlock2).
  struct Block {
    struct Pair {
      Conv1d far;
      Conv1d near;
      bool has_near = false;
    };

    std::vector<Pair> pairs;
  };

  struct Stage {
    ConvTranspose1d up;
    int64_t stride = 1;
    std::vector<Block> blocks;  // side by side: their mean is taken
  };

  static Result<Block> load_block(const Module& m, int64_t channels);
  [[nodiscard]] Tensor run(const Block& block, Tensor x) const;

  Backend* backend_ = nullptr;
  int64_t frame_samples_ = 1;
  Conv1d in_;
  Conv1d speaker_;  // where there are speakers
  std::vector<Stage> stages_;
  Conv1d out_;
};

}  // namespace mynah::piper
