// Blocks of convolutions over time and products across channels (ConvNeXt; Liu et al. 2022,
// arXiv:2201.03545, section 2).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nn/conv1d.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace mynah::hibari {

// As OnnxWeights has them.
using Dilations = std::map<std::string, int64_t, std::less<>>;

class ConvBlock {
 public:
  ConvBlock() = default;

  // w holds dw, norm, pw1 and pw2, gamma within it.
  static Result<ConvBlock> load(const Weights& w, int64_t width, int64_t dilation);
  // Blocks 0, 1, ... below `path`, as many as there are.
  static Result<std::vector<ConvBlock>> load_all(const Weights& w, const std::string& path,
                                                 int64_t width, const Dilations& dilations);

  // x (rows, width) of one sentence -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Conv1d along_;  // time, channel by channel
  LayerNorm norm_;
  Linear widen_;
  Linear narrow_;
};

}  // namespace mynah::hibari
