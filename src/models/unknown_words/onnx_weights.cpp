#include "models/unknown_words/onnx_weights.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "tensor/quantize.h"

namespace mynah::unknown_words {

namespace {

using Values = std::vector<float>;

constexpr std::string_view kPrefix = "m.";
constexpr std::string_view kPackedBias = "in_proj_bias";  // PyTorch's MultiheadAttention

bool is_product(const OnnxNode& node) {
  return (node.op_type == "MatMul" || node.op_type == "MatMulInteger") && node.inputs.size() > 1 &&
         node.outputs.size() == 1;
}

Values values_of(const StoredTensor& tensor) {
  Values values(static_cast<size_t>(tensor.shape.elements()));
  dequantize(tensor.dtype, tensor.bytes.data(), values);
  return values;
}

// A parameter's name as modules have it; empty where it is none.
std::string parameter_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) {
    return {};
  }
  std::string plain(name.substr(kPrefix.size()));
  if (plain.ends_with(kPackedBias)) {
    plain.replace(plain.size() - kPackedBias.size(), kPackedBias.size(), "in_proj.bias");
  }
  return plain;
}

class Reader {
 public:
  explicit Reader(const OnnxModel& model) : model_(model) {
    for (const OnnxNode& node : model.graph.nodes) {
      for (const std::string& input : node.inputs) {
        consumers_.emplace(input, &node);
      }
      for (const std::string& output : node.outputs) {
        producers_.emplace(output, &node);
      }
    }
  }

  Result<OnnxWeights> read() {
    for (const StoredTensor& tensor : model_.file.tensors) {
      if (std::string name = parameter_name(tensor.name);
          !name.empty() && tensor.dtype == DType::F32) {
        add(std::move(name), tensor.shape, values_of(tensor));
      }
    }
    for (const OnnxNode& node : model_.graph.nodes) {
      if (is_product(node)) {
        MYNAH_TRY_STATUS(read_product(node));
      }
    }
    auto bytes = std::make_shared<std::vector<Values>>(std::move(values_));
    OnnxWeights weights{.tensors = {}, .owner = bytes};
    for (size_t i = 0; i < names_.size(); ++i) {
      weights.tensors.push_back({.name = names_[i],
                                 .dtype = DType::F32,
                                 .shape = shapes_[i],
                                 .bytes = std::as_bytes(std::span((*bytes)[i])),
                                 .row_scales = {}});
    }
    return weights;
  }

 private:
  [[nodiscard]] const StoredTensor* constant(const OnnxNode& node, size_t input) const {
    return input < node.inputs.size() ? model_.file.find(node.inputs[input]) : nullptr;
  }

  [[nodiscard]] const OnnxNode* consumer(const OnnxNode& node) const {
    const auto found = consumers_.find(node.outputs.front());
    return found == consumers_.end() ? nullptr : found->second;
  }

  // The module whose bias is added to a product, and on the way there, where the product is of
  // whole numbers, what they are multiplied with.
  struct Module {
    std::string name;
    const OnnxNode* scaling = nullptr;
  };

  [[nodiscard]] Module module_of(const OnnxNode& product) const {
    Module module;
    const OnnxNode* at = consumer(product);
    for (int steps = 0; at != nullptr && at->outputs.size() == 1 && steps < 3; ++steps) {
      if (at->op_type == "Add") {
        for (const std::string& input : at->inputs) {
          const std::string name = parameter_name(input);
          if (name.ends_with(".bias")) {
            module.name = name.substr(0, name.size() - std::string_view(".bias").size());
          }
        }
        return module;
      }
      module.scaling = at->op_type == "Mul" ? at : module.scaling;
      at = at->op_type == "Mul" || at->op_type == "Cast" ? consumer(*at) : nullptr;
    }
    return {};
  }

  // Of the product of both sides' scales the one that is constant.
  [[nodiscard]] const StoredTensor* weight_scale(const OnnxNode* scaling) const {
    for (size_t i = 0; scaling != nullptr && i < scaling->inputs.size(); ++i) {
      const auto scales = producers_.find(scaling->inputs[i]);
      if (scales != producers_.end() && scales->second->op_type == "Mul") {
        for (size_t k = 0; k < scales->second->inputs.size(); ++k) {
          if (const StoredTensor* found = constant(*scales->second, k)) {
            return found;
          }
        }
      }
    }
    return nullptr;
  }

  Status read_product(const OnnxNode& node) {
    const StoredTensor* const matrix = constant(node, 1);
    const Module module = module_of(node);
    if (matrix == nullptr || matrix->shape.rank() != 2 || module.name.empty()) {
      return {};
    }
    Values values = values_of(*matrix);
    if (node.op_type == "MatMulInteger") {
      const StoredTensor* const zero = constant(node, 3);
      const StoredTensor* const scale = weight_scale(module.scaling);
      if (scale == nullptr || scale->dtype != DType::F32 || scale->shape.elements() != 1 ||
          (zero != nullptr && zero->shape.elements() != 1)) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}: node {}: wanted one scale and zero point for its int8 "
                                "weights, as ONNX Runtime's quantize_dynamic makes them: the file "
                                "is damaged, or was made otherwise",
                                model_.file.path, node.name));
      }
      const float origin = zero == nullptr ? 0.0F : values_of(*zero).front();
      std::ranges::transform(values, values.begin(), [=](float code) { return code - origin; });
      add(module.name + ".scale", {1}, values_of(*scale));
    }
    const int64_t in = matrix->shape[0];
    const int64_t out = matrix->shape[1];
    Values turned(values.size());
    for (int64_t r = 0; r < in; ++r) {
      for (int64_t c = 0; c < out; ++c) {
        turned[static_cast<size_t>(c * in + r)] = values[static_cast<size_t>(r * out + c)];
      }
    }
    add(module.name + ".weight", {out, in}, std::move(turned));
    return {};
  }

  void add(std::string name, const Shape& shape, Values values) {
    names_.push_back(std::move(name));
    shapes_.push_back(shape);
    values_.push_back(std::move(values));
  }

  const OnnxModel& model_;
  std::unordered_map<std::string_view, const OnnxNode*> consumers_;  // the first of each
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
  std::vector<Values> values_;
};

}  // namespace

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::unknown_words
