#include "formats/onnx_links.h"

namespace mynah {

OnnxLinks::OnnxLinks(const OnnxModel& model) {
  for (const OnnxNode& node : model.graph.nodes) {
    for (const std::string& input : node.inputs) {
      consumers_.emplace(input, &node);
    }
    for (const std::string& output : node.outputs) {
      producers_.emplace(output, &node);
    }
  }
  for (const StoredTensor& tensor : model.file.tensors) {
    constants_.emplace(tensor.name, &tensor);
  }
}

const OnnxNode* OnnxLinks::consumer(const OnnxNode& node) const {
  if (node.outputs.empty() || node.outputs.front().empty()) {
    return nullptr;
  }
  const auto found = consumers_.find(node.outputs.front());
  return found == consumers_.end() ? nullptr : found->second;
}

const OnnxNode* OnnxLinks::producer(const OnnxNode& node, size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) {
    return nullptr;
  }
  const auto found = producers_.find(node.inputs[input]);
  return found == producers_.end() ? nullptr : found->second;
}

const StoredTensor* OnnxLinks::constant(const OnnxNode& node, size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) {
    return nullptr;
  }
  const auto found = constants_.find(node.inputs[input]);
  return found == constants_.end() ? nullptr : found->second;
}

const StoredTensor* OnnxLinks::constant_scale(const OnnxNode* scaling) const {
  for (size_t input = 0; scaling != nullptr && input < scaling->inputs.size(); ++input) {
    const OnnxNode* const scales = producer(*scaling, input);
    if (scales == nullptr || scales->op_type != "Mul") {
      continue;
    }
    for (size_t i = 0; i < scales->inputs.size(); ++i) {
      if (const StoredTensor* const found = constant(*scales, i)) {
        return found;
      }
    }
  }
  return nullptr;
}

}  // namespace mynah
