// What a network of microWakeWord computes, once its graph has been looked through: steps over one
// piece of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "models/wake_word/requantize.h"

namespace mynah::wake_word {

// Blocks of one tensor become blocks of another: what joins, cuts and keeps tensors is this.
struct BlockCopy {
  size_t from = 0;  // places in the memory
  size_t to = 0;
  size_t bytes = 0;  // of a block
  size_t count = 1;  // blocks, and how far apart they begin
  size_t from_apart = 0;
  size_t to_apart = 0;
};

// What is done with a sum of products for each channel.
struct ChannelSums {
  std::vector<int32_t> biases;  // with -zero point of the input * sum of the channel's weights
  std::vector<Ratio> ratios;
  int32_t zero = 0;    // of the output
  int32_t least = 0;   // code
  int32_t most = 127;  // code
};

// A picture's sizes, as TensorFlow orders them: (height, width, channels).
struct Area {
  size_t height = 1;
  size_t width = 1;
  size_t channels = 1;

  [[nodiscard]] size_t bytes() const { return height * width * channels; }
};

// A convolution without padding; a product with a matrix is one of 1 x 1.
struct Convolution {
  size_t from = 0;
  size_t to = 0;
  Area input;
  Area output;
  size_t kernel_height = 1;
  size_t kernel_width = 1;
  size_t stride_height = 1;
  size_t stride_width = 1;
  bool depthwise = false;       // each channel by itself
  std::vector<int8_t> weights;  // (out, height, width, in); depthwise (height, width, channels)
  ChannelSums sums;
};

// A function of a code, by table.
struct Lookup {
  size_t from = 0;
  size_t to = 0;
  size_t bytes = 0;
  std::array<int8_t, 256> codes{};  // of code + 128
};

using Step = std::variant<BlockCopy, Convolution, Lookup>;

// Does it, in place.
void run_step(const Step& step, std::span<int8_t> memory);

}  // namespace mynah::wake_word
