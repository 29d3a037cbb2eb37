#include "models/wake_word/steps.h"

#include <cstring>

namespace mynah::wake_word {
namespace {

void copy_blocks(const BlockCopy& copy, std::span<int8_t> memory) {
  for (size_t i = 0; i < copy.count; ++i) {
    std::memmove(memory.data() + copy.to + (i * copy.to_apart),
                 memory.data() + copy.from + (i * copy.from_apart), copy.bytes);
  }
}

int32_t dot(const int8_t* a, const int8_t* b, size_t size) {
  int32_t sum = 0;
  for (size_t i = 0; i < size; ++i) {
    sum += int32_t{a[i]} * b[i];
  }
  return sum;
}

// A place of the output whose kernel begins at `input`.
void convolve_place(const Convolution& layer, const int8_t* input, int8_t* output) {
  const size_t line = layer.kernel_width * layer.input.channels;
  const size_t filter = layer.kernel_height * line;
  for (size_t out = 0; out < layer.output.channels; ++out) {
    int32_t sum = layer.sums.biases[out];
    for (size_t y = 0; y < layer.kernel_height; ++y) {
      sum += dot(layer.weights.data() + (out * filter) + (y * line),
                 input + (y * layer.input.width * layer.input.channels), line);
    }
    output[out] = code_of(sum, layer.sums.ratios[out], Halves::Up, layer.sums.zero,
                          layer.sums.least, layer.sums.most);
  }
}

void convolve_channels(const Convolution& layer, const int8_t* input, int8_t* output,
                       std::vector<int32_t>& sums) {
  const size_t channels = layer.input.channels;
  sums = layer.sums.biases;
  const int8_t* weights = layer.weights.data();
  for (size_t y = 0; y < layer.kernel_height; ++y) {
    for (size_t x = 0; x < layer.kernel_width; ++x, weights += channels) {
      const int8_t* place = input + (((y * layer.input.width) + x) * channels);
      for (size_t c = 0; c < channels; ++c) {
        sums[c] += int32_t{weights[c]} * place[c];
      }
    }
  }
  // The reference computes eight channels at once, and those that are left by a plain loop.
  constexpr size_t kAtOnce = 8;
  const size_t plain = channels - (channels % kAtOnce);
  for (size_t c = 0; c < channels; ++c) {
    const Halves halves = c < plain ? Halves::Up : Halves::AwayFromZero;
    output[c] = code_of(sums[c], layer.sums.ratios[c], halves, layer.sums.zero, layer.sums.least,
                        layer.sums.most);
  }
}

void convolve(const Convolution& layer, std::span<int8_t> memory) {
  std::vector<int32_t> sums;
  int8_t* output = memory.data() + layer.to;
  for (size_t y = 0; y < layer.output.height; ++y) {
    for (size_t x = 0; x < layer.output.width; ++x, output += layer.output.channels) {
      const size_t place =
          ((y * layer.stride_height * layer.input.width) + (x * layer.stride_width)) *
          layer.input.channels;
      const int8_t* input = memory.data() + layer.from + place;
      if (layer.depthwise) {
        convolve_channels(layer, input, output, sums);
      } else {
        convolve_place(layer, input, output);
      }
    }
  }
}

void look_up(const Lookup& lookup, std::span<int8_t> memory) {
  constexpr int kLowest = 128;
  for (size_t i = 0; i < lookup.bytes; ++i) {
    const int code = memory[lookup.from + i] + kLowest;
    memory[lookup.to + i] = lookup.codes[static_cast<size_t>(code)];
  }
}

struct StepRunner {
  std::span<int8_t> memory;

  void operator()(const BlockCopy& copy) const { copy_blocks(copy, memory); }

  void operator()(const Convolution& layer) const { convolve(layer, memory); }

  void operator()(const Lookup& lookup) const { look_up(lookup, memory); }
};

}  // namespace

void run_step(const Step& step, std::span<int8_t> memory) {
  std::visit(StepRunner{memory}, step);
}

}  // namespace mynah::wake_word
