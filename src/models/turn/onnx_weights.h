// Smart Turn's weights out of its ONNX export, in f32 or quantised statically by ONNX Runtime.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "formats/onnx.h"
#include "formats/tensor_file.h"

namespace mynah::turn {

struct OnnxWeights {
  // By the names of nn/audio_encoder.h below "encoder"; "pool.0", "pool.2" and "classifier.0",
  // ".1", ".4", ".6" as pipecat-ai/smart-turn's train.py numbers them. Matrices are (out, in).
  std::vector<StoredTensor> tensors;
  int64_t heads = 0;                  // of each layer's attention
  std::shared_ptr<const void> owner;  // of the tensors' bytes
};

// Whether a graph is of this model: it has what pools the encoder's states.
[[nodiscard]] bool is_turn_model(const OnnxModel& model);

// Found by walking the graph: a matrix is that of the module whose bias is added to its product, or
// the keys', which alone have no bias, of the layer that takes the same input. int8 matrices stay
// so, with a scale a row; int32 biases become f32. Steps of activations (QuantizeLinear and
// DequantizeLinear on the way) are passed over: what they round is not rounded here. InvalidInput
// where a matrix has a zero point, no scale, or another type.
Result<OnnxWeights> read_onnx_weights(const OnnxModel& model);

}  // namespace mynah::turn
