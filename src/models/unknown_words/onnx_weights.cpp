#include "models/unknown_words/onnx_weights.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "formats/onnx_links.h"

namespace mynah::unknown_words {

namespace {

using Values = std::vector<float>;

constexpr std::string_view kPrefix = "m.";
constexpr std::string_view kPackedBias = "in_proj_bias";  // PyTorch's MultiheadAttention

bool is_product(const OnnxNode& node) {
  return (node.op_type == "MatMul" || node.op_type == "MatMulInteger") && node.inputs.size() > 1 &&
         node.outputs.size() == 1;
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
  explicit Reader(const OnnxModel& model) : model_(model), links_(model) {}

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
  // The module whose bias is added to a product, and on the way there, where the product is of
  // whole numbers, what they are multiplied with.
  struct Module {
    std::string name;
    const OnnxNode* scaling = nullptr;
  };

  [[nodiscard]] Module module_of(const OnnxNode& product) const {
    Module module;
    const OnnxNode* at = links_.consumer(product);
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
      at = at->op_type == "Mul" || at->op_type == "Cast" ? links_.consumer(*at) : nullptr;
    }
    return {};
  }

  Status read_product(const OnnxNode& node) {
    const StoredTensor* const matrix = links_.constant(node, 1);
    const Module module = module_of(node);
    if (matrix == nullptr || matrix->shape.rank() != 2 || module.name.empty()) {
      return {};
    }
    Values values = values_of(*matrix);
    if (node.op_type == "MatMulInteger") {
      const StoredTensor* const zero = links_.constant(node, 3);
      const StoredTensor* const scale = links_.constant_scale(module.scaling);
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
  OnnxLinks links_;
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
  std::vector<Values> values_;
};

}  // namespace

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::unknown_words
