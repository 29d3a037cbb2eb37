// Kokoro's weights out of its ONNX exports, by the names that its PyTorch checkpoint has for them.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "formats/onnx.h"
#include "formats/tensor_file.h"

namespace mynah::kokoro {

struct OnnxWeights {
  std::vector<StoredTensor> tensors;  // f32, f16, bf16, or int8 with row scales
  std::shared_ptr<const void> owner;  // of their bytes, the model's file among them
};

// Found by walking the graph, since exporters rename and transpose weights and quantisers rename
// them again and keep equal ones once: what a MatMul, Conv, ConvTranspose, LSTM or embedding's
// Gather multiplies with is the weight of the module that the node's name tells. Files in f32 and
// f16, and those of ONNX Runtime's dynamic quantisation (MatMulInteger, ConvInteger,
// DynamicQuantizeLSTM), whose weights are (code - zero point) * scale: int8 with a scale a row
// where the differences are int8, f32 where they are not and for tables, so that no value changes.
// Floats keep their type, and stay where they are in the file unless they had to be transposed.
// Weights that are normalised in the checkpoint (weight_g, weight_v) are "weight" here. LSTM gates
// are in PyTorch's order. An error where a quantised weight has no scale, or sizes that do not
// belong together.
Result<OnnxWeights> read_onnx_weights(const OnnxModel& model);

}  // namespace mynah::kokoro
