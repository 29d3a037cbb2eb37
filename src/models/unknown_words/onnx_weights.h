// The weights of a network for unknown words out of its ONNX export, in f32 or quantised
// dynamically by ONNX Runtime.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "formats/onnx.h"
#include "formats/tensor_file.h"

namespace mynah::unknown_words {

struct OnnxWeights {
  std::vector<StoredTensor> tensors;  // f32
  std::shared_ptr<const void> owner;  // of their bytes
};

// Matrices have names of the exporter's own, so each is found by the bias that is added to its
// product, and is "MODULE.weight" (out, in) here; other parameters keep the names of PyTorch's
// TransformerEncoder, without the "m." before them, "in_proj_bias" as "in_proj.bias". The matrix of
// a MatMulInteger is its codes less their zero point, beside them "MODULE.scale" (1).
Result<OnnxWeights> read_onnx_weights(const OnnxModel& model);

}  // namespace mynah::unknown_words
