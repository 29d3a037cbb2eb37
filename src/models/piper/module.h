// Module: a place in a voice's checkpoint, with the weights below it and how its convolutions move.
// Sizes are read from the tensors: voices of every quality are told apart by nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/piper/onnx_voice.h"
#include "nn/conv1d.h"
#include "nn/conv_transpose1d.h"
#include "nn/weights.h"

namespace mynah::piper {

// Cheap to copy; alive only while a voice is loaded, as long as what it was made of.
class Module {
 public:
  Module(Weights weights, const StepsOfModules& steps)
      : weights_(std::move(weights)), steps_(&steps) {}

  [[nodiscard]] Module operator/(std::string_view name) const;
  [[nodiscard]] Module operator/(int64_t index) const;

  [[nodiscard]] const Weights& weights() const { return weights_; }

  // Whether there is such a parameter or module.
  [[nodiscard]] bool has(std::string_view name) const;
  // How many modules 0, 1, ... there are, told by a parameter that each has.
  [[nodiscard]] int64_t count(std::string_view parameter) const;
  // The shape of a tensor that must have `rank` dimensions.
  [[nodiscard]] Result<Shape> shape(std::string_view name, int rank) const;

  struct Channels {
    int64_t in = 0;
    int64_t out = 0;       // 0: as many as there are
    bool centred = false;  // the graph pads in a node of its own, so that the length stays
  };

  // This convolution, which keeps the length.
  [[nodiscard]] Result<Conv1d> conv(const Channels& channels) const;
  [[nodiscard]] Result<ConvTranspose1d> conv_transpose(int64_t in) const;
  // How many channels come out of this convolution (of a transposed one with `transposed`).
  [[nodiscard]] Result<int64_t> out_features(bool transposed = false) const;

 private:
  [[nodiscard]] Result<Steps> steps() const;

  Weights weights_;
  const StepsOfModules* steps_;
  std::string path_;
};

}  // namespace mynah::piper
