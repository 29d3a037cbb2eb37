// Hibari's weights out of its ONNX files, by the names that its PyTorch checkpoint has for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/onnx.h"
#include "formats/tensor_file.h"

namespace mynah::hibari {

struct OnnxWeights {
  std::vector<StoredTensor> tensors;
  // How far apart the rows are that a convolution sees, where it is not 1: of "pn.pro.1.dw".
  std::map<std::string, int64_t, std::less<>> dilations;
  // How often each text encoder ("m.text", "pn.text") runs its one layer of attention.
  std::map<std::string, int64_t, std::less<>> passes;
  std::shared_ptr<const void> owner;  // of the tensors' bytes
};

// Found by walking the graph: a matrix is that of the module whose bias is added to its product,
// and is "MODULE.weight" (out, in) here; "in_proj_bias" is "in_proj.bias". Matrices of ONNX
// Runtime's dynamic quantisation (MatMulInteger) stay int8, with a scale a row; those of the f32
// export are read too. A block's "gamma" is part of its last product here, weight and bias. Errors:
// a quantised matrix without a scale, or not of one scale and zero point; sizes that do not belong
// together.
Result<OnnxWeights> read_onnx_weights(const OnnxModel& model);

}  // namespace mynah::hibari
