// VITS's predictors of durations: how long each phoneme sounds.
#pragma once

#include <vector>

#include "models/piper/module.h"
#include "nn/layer_norm.h"
#include "nn/normal_noise.h"

namespace mynah::piper {

// Dilated and depth-separable convolutions (models.py, DDSConv): each sees further than the one
// before.
class SeparableStack {
 public:
  SeparableStack() = default;

  // m holds convs_sep, convs_1x1, norms_1 and norms_2.
  static Result<SeparableStack> load(const Module& m, int64_t width);

  // x (rows, width) of one sentence -> the same shape.
  [[nodiscard]] Tensor operator()(Tensor x) const;

 private:
  struct Layer {
    Conv1d along;  // time, channel by channel
    LayerNorm along_norm;
    Conv1d across;  // channels
    LayerNorm across_norm;
  };

  Backend* backend_ = nullptr;
  std::vector<Layer> layers_;
};

// The stochastic one (Kim, Kong and Son 2021, arXiv:2106.06103, section 2.2.2): noise goes through
// the layers of a flow backwards and comes out as logarithms of durations. Voices that were trained
// without it have two convolutions instead (models.py, DurationPredictor), and there is no noise.
class DurationPredictor {
 public:
  DurationPredictor() = default;

  // m is the checkpoint's "dp", width the text encoder's, of_speaker that of a speaker's vector, 0
  // where there is one speaker.
  static Result<DurationPredictor> load(const Module& m, int64_t width, int64_t of_speaker);

  // x (phonemes, width) of one sentence; speaker (1, of_speaker), undefined where there is one. The
  // natural logarithms of the phonemes' frames, at a speed of 1.
  [[nodiscard]] std::vector<float> operator()(const Tensor& x, const Tensor& speaker,
                                              NormalNoise& noise, float noise_scale) const;

 private:
  // What one row of two channels becomes, chosen by the other (models.py, ConvFlow).
  struct Coupling {
    Conv1d widen;
    SeparableStack stack;
    Conv1d spline;
    int64_t bins = 0;
  };

  // What was trained as a chain of scalars: (x - m) * scale.
  struct Affine {
    std::vector<float> mean;
    std::vector<float> scale;
  };

  Status load_flow(const Module& m, int64_t width);
  Status load_plain(const Module& m, int64_t width);
  void transform(const Coupling& coupling, const Tensor& seen, const std::vector<float>& by,
                 std::vector<float>& values) const;

  Backend* backend_ = nullptr;
  int64_t width_ = 0;  // of what the flow sees
  bool stochastic_ = true;
  Conv1d speaker_;  // where there are speakers
  Conv1d in_;
  SeparableStack stack_;
  Conv1d seen_;
  std::vector<Coupling> couplings_;  // in the order in which they run
  Affine affine_;
  // Without a flow.
  Conv1d first_;
  LayerNorm first_norm_;
  Conv1d second_;
  LayerNorm second_norm_;
  Conv1d out_;
};

}  // namespace mynah::piper
