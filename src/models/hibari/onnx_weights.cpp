#include "models/hibari/onnx_weights.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "formats/onnx_links.h"

namespace mynah::hibari {

namespace {

using Values = std::vector<float>;

// The two networks: melody and durations, and sound.
bool is_parameter(std::string_view name) {
  return name.starts_with("m.") || name.starts_with("pn.");
}

// PyTorch's MultiheadAttention names the bias of its first product otherwise than Linear.
std::string usual_name(std::string_view name) {
  constexpr std::string_view kOwn = "in_proj_bias";
  std::string usual(name);
  if (usual.ends_with(kOwn)) {
    usual.replace(usual.size() - kOwn.size(), kOwn.size(), "in_proj.bias");
  }
  return usual;
}

class Reader {
 public:
  explicit Reader(const OnnxModel& model) : model_(model), links_(model) {}

  Result<OnnxWeights> read() {
    for (const StoredTensor& tensor : model_.file.tensors) {
      if (is_parameter(tensor.name) && tensor.dtype == DType::F32) {
        parameters_.emplace(usual_name(tensor.name), tensor);
      }
    }
    for (const OnnxNode& node : model_.graph.nodes) {
      if (node.op_type == "MatMul" || node.op_type == "MatMulInteger") {
        MYNAH_TRY_STATUS(read_product(node));
      } else if (node.op_type == "Conv") {
        MYNAH_TRY_STATUS(read_dilation(node));
      }
    }
    for (auto& [name, tensor] : parameters_) {
      tensor.name = name;
      weights_.tensors.push_back(tensor);
    }
    std::vector<std::shared_ptr<const void>> owners = model_.file.owners;
    owners.insert(owners.end(), made_.begin(), made_.end());
    weights_.owner = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(owners));
    return std::move(weights_);
  }

 private:
  // What follows a product: the bias that is added, and before that, where it is of whole numbers,
  // what they are multiplied with.
  struct Tail {
    std::string module;
    const OnnxNode* scaling = nullptr;
  };

  [[nodiscard]] Tail tail_of(const OnnxNode& product) const {
    constexpr int kFurthest = 3;
    Tail tail;
    const OnnxNode* at = links_.consumer(product);
    for (int steps = 0; at != nullptr && steps < kFurthest; ++steps) {
      if (at->op_type == "Add") {
        for (const std::string& input : at->inputs) {
          const std::string name = usual_name(input);
          if (is_parameter(name) && name.ends_with(".bias")) {
            tail.module = name.substr(0, name.rfind('.'));
          }
        }
        return tail;
      }
      tail.scaling = at->op_type == "Mul" ? at : tail.scaling;
      at = at->op_type == "Mul" || at->op_type == "Cast" ? links_.consumer(*at) : nullptr;
    }
    return {};
  }

  Status read_product(const OnnxNode& node) {
    constexpr size_t kMatrix = 1;
    constexpr size_t kZeroPoint = 3;
    const StoredTensor* const matrix = links_.constant(node, kMatrix);
    const Tail tail = tail_of(node);
    if (matrix == nullptr || matrix->shape.rank() != 2 || tail.module.empty()) {
      return {};
    }
    constexpr std::string_view kAttention = ".attn.self_attn.in_proj";
    if (tail.module.ends_with(kAttention)) {
      ++weights_.passes[tail.module.substr(0, tail.module.size() - kAttention.size())];
    }
    if (parameters_.contains(tail.module + ".weight")) {
      return {};
    }
    const bool codes = node.op_type == "MatMulInteger";
    const StoredTensor* const scale = codes ? links_.constant_scale(tail.scaling) : nullptr;
    const StoredTensor* const zero = codes ? links_.constant(node, kZeroPoint) : nullptr;
    if (codes ? matrix->dtype != DType::I8 || scale == nullptr || scale->dtype != DType::F32 ||
                    scale->shape.elements() != 1 || (zero != nullptr && !is_zero(*zero))
              : matrix->dtype != DType::F32) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("{}: node {}: wanted a matrix of f32, or of int8 around zero with one "
                      "scale, as ONNX Runtime's quantiser makes it",
                      model_.file.path, node.name));
    }
    return add_product(tail.module, *matrix, scale);
  }

  Status read_dilation(const OnnxNode& node) {
    constexpr std::string_view kWeight = ".weight";
    const OnnxAttribute* const found = node.find("dilations");
    if (found == nullptr || found->integers.size() != 1 || node.inputs.size() < 2 ||
        !node.inputs[1].ends_with(kWeight)) {
      return {};
    }
    constexpr int64_t kMost = 4096;  // far beyond any voice's
    const int64_t dilation = found->integers.front();
    if (dilation < 1 || dilation > kMost) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: node {}: a dilation of {} is impossible", model_.file.path,
                              node.name, dilation));
    }
    const std::string& weight = node.inputs[1];
    weights_.dilations[weight.substr(0, weight.size() - kWeight.size())] = dilation;
    return {};
  }

  static bool is_zero(const StoredTensor& tensor) {
    return std::ranges::all_of(tensor.bytes, [](std::byte b) { return b == std::byte{0}; });
  }

  // Adds a matrix (in, out) as (out, in), times what the module's block multiplies its result with.
  Status add_product(const std::string& module, const StoredTensor& matrix,
                     const StoredTensor* scale) {
    const auto in = static_cast<size_t>(matrix.shape[0]);
    const auto out = static_cast<size_t>(matrix.shape[1]);
    Values factors(out, 1.0F);
    const auto bias = parameters_.find(module + ".bias");
    constexpr std::string_view kLastOfBlock = ".pw2";
    if (module.ends_with(kLastOfBlock)) {
      const auto gamma =
          parameters_.find(module.substr(0, module.size() - kLastOfBlock.size()) + ".gamma");
      if (gamma == parameters_.end() || gamma->second.shape != bias->second.shape ||
          gamma->second.shape != Shape{matrix.shape[1]}) {
        return fail(ErrorCode::InvalidInput, fmt::format("{}: {}: wanted a bias and a gamma of {}",
                                                         model_.file.path, module, out));
      }
      factors = values_of(gamma->second);
      Values biases = values_of(bias->second);
      std::ranges::transform(biases, factors, biases.begin(), std::multiplies());
      bias->second.bytes = keep(std::move(biases));
    }
    StoredTensor turned = matrix;
    turned.shape = {matrix.shape[1], matrix.shape[0]};
    if (scale == nullptr) {
      const Values values = values_of(matrix);
      Values rows(values.size());
      for (size_t r = 0; r < out; ++r) {
        for (size_t c = 0; c < in; ++c) {
          rows[r * in + c] = values[c * out + r] * factors[r];
        }
      }
      turned.bytes = keep(std::move(rows));
    } else {
      std::vector<std::byte> rows(matrix.bytes.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        rows[i] = matrix.bytes[i % in * out + i / in];
      }
      const float step = values_of(*scale).front();
      std::ranges::transform(factors, factors.begin(), [=](float factor) { return factor * step; });
      turned.bytes = keep(std::move(rows));
      turned.row_scales = keep(std::move(factors));
    }
    parameters_.emplace(module + ".weight", turned);
    return {};
  }

  template <class T>
  std::span<const std::byte> keep(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    made_.push_back(kept);
    return std::as_bytes(std::span(*kept));
  }

  const OnnxModel& model_;
  OnnxLinks links_;
  std::map<std::string, StoredTensor> parameters_;
  std::vector<std::shared_ptr<const void>> made_;
  OnnxWeights weights_;
};

}  // namespace

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::hibari
