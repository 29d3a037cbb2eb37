#include "models/kokoro/onnx_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "formats/onnx_links.h"
#include "models/kokoro/onnx_names.h"
#include "models/kokoro/rearranged.h"

namespace mynah::kokoro {

namespace {

using Values = std::vector<float>;

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

bool is_weight_type(DType dtype) {
  return is_float(dtype) || dtype == DType::I8 || dtype == DType::U8;
}

// Quantisers keep equal constants once: two modules share one now and then. A graph in which all
// modules do asks for more memory than its file is worth.
constexpr uint64_t kMostRepeated = 16;

// ONNX has an LSTM's gates in the order input, output, forget, cell, PyTorch input, forget, cell,
// output.
constexpr std::array<int64_t, 4> kPytorchGates = {0, 2, 3, 1};

// Codes' zero points and scales: one for all, or one for each row of the codes.
struct Quantisation {
  const StoredTensor* zero_point = nullptr;  // null: zero
  const StoredTensor* scale = nullptr;
};

// Reads one model.
class Reader {
 public:
  explicit Reader(const OnnxModel& model) : model_(model), links_(model) {}

  Result<OnnxWeights> read() {
    uint64_t stored = 0;
    for (const StoredTensor& tensor : model_.file.tensors) {
      stored += tensor.bytes.size();
    }
    for (const OnnxNode& node : model_.graph.nodes) {
      MYNAH_TRY_STATUS(read_node(node));
      if (added_bytes_ > kMostRepeated * stored) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}: more than {} times its {} bytes of tensors are weights: too "
                                "many modules share them",
                                model_.file.path, kMostRepeated, stored));
      }
    }
    read_named();
    // Views of the model's own bytes, and what had to be made anew.
    auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>(model_.file.owners);
    owners->push_back(made_.owner());
    return OnnxWeights{.tensors = std::move(tensors_), .owner = std::move(owners)};
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

  // A constant that weights are of; null where an input is none.
  [[nodiscard]] const StoredTensor* constant(const OnnxNode& node, size_t input) const {
    const StoredTensor* const found = links_.constant(node, input);
    return found != nullptr && is_weight_type(found->dtype) ? found : nullptr;
  }

  // The sum of codes is cast, where it has a bias after that was added, and multiplied with the
  // product of both sides' scales, of which the weights' is a constant.
  [[nodiscard]] const StoredTensor* scale_of_sum(const OnnxNode& node) const {
    const OnnxNode* at = links_.consumer(node);
    for (int steps = 0; at != nullptr && steps < 3 && at->op_type != "Mul"; ++steps) {
      at = at->op_type == "Cast" || at->op_type == "Add" ? links_.consumer(*at) : nullptr;
    }
    const StoredTensor* const scale =
        at != nullptr && at->op_type == "Mul" ? links_.constant_scale(at) : nullptr;
    return scale != nullptr && is_weight_type(scale->dtype) ? scale : nullptr;
  }

  // What (code - zero point) * scale is: codes in PyTorch's layout, one scale and zero point or one
  // for each row. int8 with a scale a row where the differences are that, else f32.
  Result<StoredTensor> of_codes(const OnnxNode& node, const StoredTensor& codes,
                                const Quantisation& quantisation) {
    if (quantisation.scale == nullptr) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: node {}: its int8 weights have no scale where ONNX Runtime's "
                              "quantiser puts one: the file is damaged, or was made otherwise",
                              model_.file.path, node.name));
    }
    const auto rows = static_cast<size_t>(codes.shape[0]);
    Values scales = values_of(*quantisation.scale);
    Values zeros =
        quantisation.zero_point == nullptr ? Values{0.0F} : values_of(*quantisation.zero_point);
    for (Values* const some : {&scales, &zeros}) {
      if (some->empty() || (some->size() != 1 && some->size() != rows)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("{}: node {}: wanted one scale and zero point or {} of them for "
                        "weights {}, found {}",
                        model_.file.path, node.name, rows, codes.shape.str(), some->size()));
      }
      some->resize(rows, some->front());
    }
    Values differences = values_of(codes);
    for_rows(differences, rows, [&](std::span<float> row, size_t r) {
      std::ranges::for_each(row, [&](float& value) { value -= zeros[r]; });
    });
    if (std::ranges::all_of(differences, is_int8)) {
      const std::vector<int8_t> shifted(differences.begin(), differences.end());
      return made_.scaled_codes(codes.shape, shifted, scales);
    }
    return made_.floats(codes.shape, scaled(std::move(differences), scales));
  }

  // Calls f with each of so many equal rows and its place.
  template <class F>
  static void for_rows(Values& values, size_t rows, F f) {
    for (size_t r = 0; r < rows; ++r) {
      const size_t columns = values.size() / rows;
      f(std::span(values).subspan(r * columns, columns), r);
    }
  }

  // Rows times their scales.
  static Values scaled(Values values, const Values& scales) {
    for_rows(values, scales.size(), [&](std::span<float> row, size_t r) {
      std::ranges::for_each(row, [&](float& value) { value *= scales[r]; });
    });
    return values;
  }

  static bool is_int8(float value) {
    return value >= -128.0F && value <= 127.0F && value == std::trunc(value);
  }

  void add(std::string name, StoredTensor tensor) {
    if (known_.insert(name).second) {
      if (!is_float(tensor.dtype) && tensor.row_scales.empty()) {
        tensor = made_.floats(tensor.shape, values_of(tensor));  // whole numbers, as they are
      }
      added_bytes_ += tensor.bytes.size();
      tensor.name = std::move(name);
      tensors_.push_back(std::move(tensor));
    }
  }

  Status read_product(const OnnxNode& node) {
    constexpr size_t kWeights = 1;
    const StoredTensor* const weights = constant(node, kWeights);
    const std::string name = module_of_node(node.name) + ".weight";
    // The layers of ALBERT share their weights: each is met twelve times.
    if (weights == nullptr || weights->shape.rank() != 2 || name == ".weight" ||
        known_.contains(name)) {
      return {};
    }
    const OnnxAttribute* const turned = node.find("transB");
    const StoredTensor rows_first =
        turned != nullptr && turned->integer != 0 ? *weights : made_.transposed(*weights);
    if (node.op_type != "MatMulInteger") {
      add(name, rows_first);
      return {};
    }
    MYNAH_TRY(
        StoredTensor codes,
        of_codes(node, rows_first, {.zero_point = constant(node, 3), .scale = scale_of_sum(node)}));
    add(name, std::move(codes));
    return {};
  }

  Status read_convolution(const OnnxNode& node) {
    constexpr size_t kWeights = 1;
    const StoredTensor* const weights = constant(node, kWeights);
    const std::string module = module_of_node(node.name);
    if (weights == nullptr || weights->shape.rank() != 3 || module.empty() ||
        known_.contains(module + ".weight")) {
      return {};
    }
    if (node.op_type != "ConvInteger") {
      add(module + ".weight", *weights);
      if (const StoredTensor* const bias = constant(node, 2)) {
        add(module + ".bias", *bias);
      }
      return {};
    }
    MYNAH_TRY(
        StoredTensor codes,
        of_codes(node, *weights, {.zero_point = constant(node, 3), .scale = scale_of_sum(node)}));
    add(module + ".weight", std::move(codes));
    return {};
  }

  // Rows of a table: an embedding. In f32 where the file has codes: tables of int8 are looked up in
  // f16, which has not all their values, and they are small.
  Status read_table(const OnnxNode& node) {
    const StoredTensor* const table = constant(node, 0);
    const std::string module = module_of_node(node.name);
    if (table == nullptr || table->shape.rank() != 2 || module.empty() ||
        known_.contains(module + ".weight")) {
      return {};
    }
    if (table->dtype != DType::I8 && table->dtype != DType::U8) {
      add(module + ".weight", *table);
      return {};
    }
    const OnnxNode* const scaled_by = links_.consumer(node);
    Quantisation quantisation;
    if (scaled_by != nullptr && scaled_by->op_type == "DequantizeLinear") {
      quantisation = {.zero_point = constant(*scaled_by, 2), .scale = constant(*scaled_by, 1)};
    }
    MYNAH_TRY(const StoredTensor codes, of_codes(node, *table, quantisation));
    add(module + ".weight", codes.dtype == DType::F32 ? codes : widened(codes));
    return {};
  }

  StoredTensor widened(const StoredTensor& codes) {
    Values scales(codes.row_scales.size() / sizeof(float));
    std::memcpy(scales.data(), codes.row_scales.data(), codes.row_scales.size());
    return made_.floats(codes.shape, scaled(values_of(codes), scales));
  }

  // ONNX: W (directions, 4 h, in), R (directions, 4 h, h), B (directions, 8 h), gates in the order
  // input, output, forget, cell; DynamicQuantizeLSTM has W and R transposed, scales and zero points
  // for each direction or each of its columns (contrib operators, "DynamicQuantizeLSTM").
  Status read_lstm(const OnnxNode& node) {
    const std::string module = module_of_node(node.name);
    const bool codes = node.op_type == "DynamicQuantizeLSTM";
    const std::array<const StoredTensor*, 3> stored = {constant(node, 1), constant(node, 2),
                                                       constant(node, 3)};
    if (module.empty() || std::ranges::find(stored, nullptr) != stored.end() ||
        known_.contains(module + ".weight_ih_l0")) {
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
        MYNAH_TRY(const StoredTensor matrix, lstm_matrix(node, matrices, quantisation, direction));
        add(fmt::format("{}.weight_{}_l0{}", module, which == 0 ? "ih" : "hh", suffix(direction)),
            made_.parts_in_order(matrix, kPytorchGates));
      }
    }
    for (int64_t part = 0; part < 2 * directions; ++part) {
      add(fmt::format("{}.bias_{}_l0{}", module, part % 2 == 0 ? "ih" : "hh", suffix(part / 2)),
          made_.parts_in_order(part_of(*stored[2], part, 2 * directions, {4 * hidden}),
                               kPytorchGates));
    }
    return {};
  }

  static std::string_view suffix(int64_t direction) { return direction == 0 ? "" : "_reverse"; }

  // Part `index` of `count` equal ones along the first dimension.
  static StoredTensor part_of(const StoredTensor& whole, int64_t index, int64_t count,
                              const Shape& shape) {
    StoredTensor part = whole;
    const size_t bytes = whole.bytes.size() / static_cast<size_t>(count);
    part.shape = shape;
    part.bytes = whole.bytes.subspan(static_cast<size_t>(index) * bytes, bytes);
    return part;
  }

  // One direction's, (4 h, in).
  Result<StoredTensor> lstm_matrix(const OnnxNode& node, const StoredTensor& matrices,
                                   const Quantisation& quantisation, int64_t direction) {
    const int64_t directions = matrices.shape[0];
    StoredTensor own =
        part_of(matrices, direction, directions, {matrices.shape[1], matrices.shape[2]});
    if (node.op_type == "LSTM") {
      return own;
    }
    std::array<StoredTensor, 2> parts;
    Quantisation of_direction;
    for (const auto& [whole, part, target] :
         {std::tuple{quantisation.zero_point, &parts[0], &of_direction.zero_point},
          std::tuple{quantisation.scale, &parts[1], &of_direction.scale}}) {
      if (whole != nullptr) {
        const int64_t each = whole->shape.elements() / directions;
        *part = part_of(*whole, direction, directions, {each});
        *target = part;
      }
    }
    return of_codes(node, made_.transposed(own), of_direction);
  }

  // What exports leave their names: biases, norms, the alphas of snake activations.
  void read_named() {
    for (const StoredTensor& tensor : model_.file.tensors) {
      const std::string name = parameter_name(tensor.name);
      const bool parameter = name.ends_with(".weight") || name.ends_with(".bias") ||
                             name.ends_with(".gamma") || name.ends_with(".beta") ||
                             name.find(".alpha") != std::string::npos;
      if (is_float(tensor.dtype) && parameter) {
        add(name, tensor);
      }
    }
  }

  const OnnxModel& model_;
  OnnxLinks links_;
  std::set<std::string> known_;
  uint64_t added_bytes_ = 0;
  Rearranged made_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::kokoro
