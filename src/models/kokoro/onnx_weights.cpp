#include "models/kokoro/onnx_weights.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "models/kokoro/onnx_names.h"
#include "tensor/quantize.h"

namespace mynah::kokoro {

namespace {

using Values = std::vector<float>;

bool is_weight_type(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I8 ||
         dtype == DType::U8;
}

Values values_of(const StoredTensor& tensor) {
  Values values(static_cast<size_t>(tensor.shape.elements()));
  dequantize(tensor.dtype, tensor.bytes.data(), values);
  return values;
}

// Codes' zero points and scales: one for all, or one for each index of one dimension of the codes.
struct Quantisation {
  const StoredTensor* zero_point = nullptr;  // null: zero
  const StoredTensor* scale = nullptr;
};

// Reads one model.
class Reader {
 public:
  explicit Reader(const OnnxModel& model) : model_(model) {
    for (const OnnxNode& node : model.graph.nodes) {
      for (const std::string& input : node.inputs) {
        consumers_[input].push_back(&node);
      }
      for (const std::string& output : node.outputs) {
        producers_[output] = &node;
      }
    }
  }

  Result<OnnxWeights> read() {
    for (const OnnxNode& node : model_.graph.nodes) {
      MYNAH_TRY_STATUS(read_node(node));
    }
    read_named();
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
  Status read_node(const OnnxNode& node) {
    const std::string_view op = node.op_type;
    if (op == "MatMul" || op == "MatMulInteger" || op == "Gemm" || op == "FusedMatMul") {
      return read_product(node);
    }
    if (op == "Conv" || op == "ConvInteger" || op == "ConvTranspose") {
      return read_convolution(node);
    }
    if (op == "Gather") {
      return read_table(node);
    }
    if (op == "LSTM" || op == "DynamicQuantizeLSTM") {
      return read_lstm(node);
    }
    return {};
  }

  // A constant that an input of the node is; null where it is none, or none that weights are of.
  [[nodiscard]] const StoredTensor* constant(const OnnxNode& node, size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input].empty()) {
      return nullptr;
    }
    const StoredTensor* const found = model_.file.find(node.inputs[input]);
    return found != nullptr && is_weight_type(found->dtype) ? found : nullptr;
  }

  // The first of the node's inputs that is a constant.
  [[nodiscard]] const StoredTensor* first_constant(const OnnxNode& node) const {
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      if (const StoredTensor* const found = constant(node, input)) {
        return found;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const OnnxNode* consumer(const OnnxNode& node) const {
    const auto found = consumers_.find(node.outputs.front());
    return found == consumers_.end() ? nullptr : found->second.front();
  }

  [[nodiscard]] const OnnxNode* producer(const OnnxNode& node, size_t input) const {
    const auto found = producers_.find(node.inputs[input]);
    return found == producers_.end() ? nullptr : found->second;
  }

  // The sum of codes is cast, where it has a bias after that was added, and multiplied with the
  // product of both sides' scales, of which the weights' is a constant.
  [[nodiscard]] const StoredTensor* scale_of_sum(const OnnxNode& node) const {
    const OnnxNode* at = consumer(node);
    for (int steps = 0; at != nullptr && steps < 3 && at->op_type != "Mul"; ++steps) {
      at = at->op_type == "Cast" || at->op_type == "Add" ? consumer(*at) : nullptr;
    }
    if (at == nullptr || at->op_type != "Mul") {
      return nullptr;
    }
    for (size_t input = 0; input < at->inputs.size(); ++input) {
      const OnnxNode* const scales = producer(*at, input);
      if (scales != nullptr && scales->op_type == "Mul") {
        if (const StoredTensor* const found = first_constant(*scales)) {
          return found;
        }
      }
    }
    return nullptr;
  }

  // (code - zero point) * scale, where these have one element or one for each index of dimension
  // `dimension` of the codes.
  Result<Values> dequantised(const OnnxNode& node, const StoredTensor& codes,
                             const Quantisation& quantisation, int dimension) {
    if (quantisation.scale == nullptr) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: node {}: its int8 weights have no scale where ONNX Runtime's "
                              "quantiser puts one: the file is damaged, or was made otherwise",
                              model_.file.path, node.name));
    }
    const Values scales = values_of(*quantisation.scale);
    const Values zeros =
        quantisation.zero_point == nullptr ? Values{0.0F} : values_of(*quantisation.zero_point);
    const int64_t size = codes.shape[dimension];
    for (const Values* some : {&scales, &zeros}) {
      if (some->size() != 1 && some->size() != static_cast<size_t>(size)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("{}: node {}: wanted one scale and zero point or {} of them for "
                        "weights {}, found {}",
                        model_.file.path, node.name, size, codes.shape.str(), some->size()));
      }
    }
    int64_t inner = 1;
    for (int d = dimension + 1; d < codes.shape.rank(); ++d) {
      inner *= codes.shape[d];
    }
    Values values = values_of(codes);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto index = static_cast<size_t>(static_cast<int64_t>(i) / inner % size);
      values[i] = (values[i] - zeros[zeros.size() == 1 ? 0 : index]) *
                  scales[scales.size() == 1 ? 0 : index];
    }
    return values;
  }

  void add(std::string name, const Shape& shape, Values values) {
    if (known_.insert(name).second) {
      names_.push_back(std::move(name));
      shapes_.push_back(shape);
      values_.push_back(std::move(values));
    }
  }

  // (in, out) -> (out, in).
  static Values transposed(const Values& values, int64_t rows, int64_t columns) {
    Values result(values.size());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        result[static_cast<size_t>(c * rows + r)] = values[static_cast<size_t>(r * columns + c)];
      }
    }
    return result;
  }

  Status read_product(const OnnxNode& node) {
    constexpr size_t kWeights = 1;
    const StoredTensor* const weights = constant(node, kWeights);
    const std::string module = module_of_node(node.name);
    if (weights == nullptr || weights->shape.rank() != 2 || module.empty()) {
      return {};
    }
    const int64_t in = weights->shape[0];
    const int64_t out = weights->shape[1];
    Values values;
    if (node.op_type == "MatMulInteger") {
      const Quantisation quantisation{.zero_point = constant(node, 3), .scale = scale_of_sum(node)};
      MYNAH_TRY(values, dequantised(node, *weights, quantisation, 1));
    } else {
      values = values_of(*weights);
    }
    const OnnxAttribute* const turned = node.find("transB");
    if (turned != nullptr && turned->integer != 0) {
      add(module + ".weight", weights->shape, std::move(values));
    } else {
      add(module + ".weight", {out, in}, transposed(values, in, out));
    }
    return {};
  }

  Status read_convolution(const OnnxNode& node) {
    constexpr size_t kWeights = 1;
    const StoredTensor* const weights = constant(node, kWeights);
    const std::string module = module_of_node(node.name);
    if (weights == nullptr || weights->shape.rank() != 3 || module.empty()) {
      return {};
    }
    if (node.op_type != "ConvInteger") {
      add(module + ".weight", weights->shape, values_of(*weights));
      if (const StoredTensor* const bias = constant(node, 2)) {
        add(module + ".bias", bias->shape, values_of(*bias));
      }
      return {};
    }
    const Quantisation quantisation{.zero_point = constant(node, 3), .scale = scale_of_sum(node)};
    MYNAH_TRY(Values values, dequantised(node, *weights, quantisation, 0));
    add(module + ".weight", weights->shape, std::move(values));
    return {};
  }

  // Rows of a table: an embedding.
  Status read_table(const OnnxNode& node) {
    const StoredTensor* const table = constant(node, 0);
    const std::string module = module_of_node(node.name);
    if (table == nullptr || table->shape.rank() != 2 || module.empty()) {
      return {};
    }
    if (table->dtype != DType::I8 && table->dtype != DType::U8) {
      add(module + ".weight", table->shape, values_of(*table));
      return {};
    }
    const OnnxNode* const scaled = consumer(node);
    Quantisation quantisation;
    if (scaled != nullptr && scaled->op_type == "DequantizeLinear") {
      quantisation = {.zero_point = constant(*scaled, 2), .scale = constant(*scaled, 1)};
    }
    MYNAH_TRY(Values values, dequantised(node, *table, quantisation, 0));
    add(module + ".weight", table->shape, std::move(values));
    return {};
  }

  // ONNX: W (directions, 4 h, in), R (directions, 4 h, h), B (directions, 8 h), gates in the order
  // input, output, forget, cell; DynamicQuantizeLSTM has W and R transposed, scales and zero points
  // for each direction or each of its columns (contrib operators, "DynamicQuantizeLSTM").
  Status read_lstm(const OnnxNode& node) {
    const std::string module = module_of_node(node.name);
    const bool codes = node.op_type == "DynamicQuantizeLSTM";
    const std::array<const StoredTensor*, 3> stored = {constant(node, 1), constant(node, 2),
                                                       constant(node, 3)};
    if (module.empty() || std::ranges::find(stored, nullptr) != stored.end()) {
      return {};
    }
    const Shape& biases_shape = stored[2]->shape;
    const int64_t directions = biases_shape.rank() == 2 ? biases_shape[0] : 0;
    const int64_t hidden = directions == 0 ? 0 : biases_shape[1] / 8;
    if (directions < 1 || directions > 2 || hidden < 1 || biases_shape[1] != 8 * hidden) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("{}: node {}: wanted biases (1 or 2, 8 * hidden) of an LSTM, found {}",
                      model_.file.path, node.name, biases_shape.str()));
    }
    for (size_t which = 0; which < 2; ++which) {
      const StoredTensor& matrices = *stored[which];
      const int64_t in = matrices.shape.rank() == 3 ? matrices.shape[codes ? 1 : 2] : 0;
      if (matrices.shape !=
          (codes ? Shape{directions, in, 4 * hidden} : Shape{directions, 4 * hidden, in})) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("{}: node {}: its weights {} do not belong to biases {}", model_.file.path,
                        node.name, matrices.shape.str(), stored[2]->shape.str()));
      }
      const Quantisation quantisation =
          codes ? Quantisation{.zero_point = constant(node, 9 + 2 * which),
                               .scale = constant(node, 8 + 2 * which)}
                : Quantisation{};
      for (int64_t direction = 0; direction < directions; ++direction) {
        MYNAH_TRY(Values values, lstm_matrix(node, matrices, quantisation, direction));
        add(fmt::format("{}.weight_{}_l0{}", module, which == 0 ? "ih" : "hh", suffix(direction)),
            {4 * hidden, in}, in_pytorch_order(values, hidden, in));
      }
    }
    const Values biases = values_of(*stored[2]);
    for (int64_t part = 0; part < 2 * directions; ++part) {
      const auto begin = biases.begin() + static_cast<std::ptrdiff_t>(part * 4 * hidden);
      add(fmt::format("{}.bias_{}_l0{}", module, part % 2 == 0 ? "ih" : "hh", suffix(part / 2)),
          {4 * hidden},
          in_pytorch_order({begin, begin + static_cast<std::ptrdiff_t>(4 * hidden)}, hidden, 1));
    }
    return {};
  }

  static std::string_view suffix(int64_t direction) { return direction == 0 ? "" : "_reverse"; }

  // One direction's, (4 h, in).
  Result<Values> lstm_matrix(const OnnxNode& node, const StoredTensor& matrices,
                             const Quantisation& quantisation, int64_t direction) {
    const int64_t rows = matrices.shape[1];
    const int64_t columns = matrices.shape[2];
    StoredTensor own = matrices;
    own.shape = {rows, columns};
    const size_t bytes = matrices.bytes.size() / static_cast<size_t>(matrices.shape[0]);
    own.bytes = matrices.bytes.subspan(static_cast<size_t>(direction) * bytes, bytes);
    if (node.op_type == "LSTM") {
      return values_of(own);
    }
    std::array<StoredTensor, 2> parts;
    Quantisation of_direction;
    for (const auto& [whole, part, target] :
         {std::tuple{quantisation.zero_point, &parts[0], &of_direction.zero_point},
          std::tuple{quantisation.scale, &parts[1], &of_direction.scale}}) {
      if (whole != nullptr) {
        const size_t own_bytes = whole->bytes.size() / static_cast<size_t>(matrices.shape[0]);
        *part = *whole;
        part->shape = {whole->shape.elements() / matrices.shape[0]};
        part->bytes = whole->bytes.subspan(static_cast<size_t>(direction) * own_bytes, own_bytes);
        *target = part;
      }
    }
    MYNAH_TRY(const Values values, dequantised(node, own, of_direction, 1));
    return transposed(values, rows, columns);
  }

  // Rows of the gates input, output, forget, cell to input, forget, cell, output.
  static Values in_pytorch_order(const Values& values, int64_t hidden, int64_t in) {
    constexpr std::array<int64_t, 4> kFrom = {0, 2, 3, 1};
    Values result;
    result.reserve(values.size());
    for (const int64_t gate : kFrom) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(gate * hidden * in);
      result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(hidden * in));
    }
    return result;
  }

  // What exports leave their names: biases, norms, the alphas of snake activations.
  void read_named() {
    for (const StoredTensor& tensor : model_.file.tensors) {
      const std::string name = parameter_name(tensor.name);
      const bool floats =
          tensor.dtype == DType::F32 || tensor.dtype == DType::F16 || tensor.dtype == DType::BF16;
      const bool parameter = name.ends_with(".weight") || name.ends_with(".bias") ||
                             name.ends_with(".gamma") || name.ends_with(".beta") ||
                             name.find(".alpha") != std::string::npos;
      if (floats && parameter) {
        add(name, tensor.shape, values_of(tensor));
      }
    }
  }

  const OnnxModel& model_;
  std::unordered_map<std::string_view, std::vector<const OnnxNode*>> consumers_;
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
  std::set<std::string> known_;
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
  std::vector<Values> values_;
};

}  // namespace

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::kokoro
