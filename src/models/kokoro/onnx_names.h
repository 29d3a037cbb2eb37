// What Kokoro's ONNX exports call the modules of its PyTorch checkpoint.
#pragma once

#include <string>
#include <string_view>

namespace mynah::kokoro {

// The module of the checkpoint (hexgrad/kokoro model.py: bert, bert_encoder, predictor,
// text_encoder, decoder) that a node of this name computes:
// "/decoder/decoder/decode.2/conv2/Conv_quant" is of "decoder.decode.2.conv2". Empty where the
// name tells none. Exporters put wrappers around modules, leave some out, repeat a list's name in
// its elements and number what is used several times.
[[nodiscard]] std::string module_of_node(std::string_view node_name);

// The same of a parameter: "encoder.predictor.F0.0.conv1.bias" is "predictor.F0.0.conv1.bias".
// Empty where no module of the model stands in it.
[[nodiscard]] std::string parameter_name(std::string_view tensor_name);

}  // namespace mynah::kokoro
