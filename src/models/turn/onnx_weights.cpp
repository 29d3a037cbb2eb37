#include "models/turn/onnx_weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "formats/onnx_links.h"

namespace mynah::turn {

namespace {

constexpr std::string_view kPrefix = "inner.";
constexpr std::string_view kPoolBias = "inner.pool_attention.0.bias";
constexpr std::string_view kBias = ".bias";
constexpr std::string_view kQueries = ".self_attn.q_proj";
constexpr std::string_view kKeys = ".self_attn.k_proj";

struct Renamed {
  std::string_view from;
  std::string_view to;
};

// Hugging Face's names of Whisper's modules, and OpenAI's, which nn/audio_encoder.h has.
constexpr std::array<Renamed, 13> kNames = {{{"inner.encoder.layers.", "encoder.blocks."},
                                             {"inner.encoder.layer_norm", "encoder.ln_post"},
                                             {"embed_positions.weight", "positional_embedding"},
                                             {".self_attn_layer_norm", ".attn_ln"},
                                             {".final_layer_norm", ".mlp_ln"},
                                             {".self_attn.q_proj", ".attn.query"},
                                             {".self_attn.k_proj", ".attn.key"},
                                             {".self_attn.v_proj", ".attn.value"},
                                             {".self_attn.out_proj", ".attn.out"},
                                             {".fc1", ".mlp.0"},
                                             {".fc2", ".mlp.2"},
                                             {"inner.pool_attention.", "pool."},
                                             {"inner.", ""}}};

std::string renamed(std::string name) {
  for (const Renamed& rule : kNames) {
    if (const size_t at = name.find(rule.from); at != std::string::npos) {
      name.replace(at, rule.from.size(), rule.to);
    }
  }
  return name;
}

bool is_bias(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kBias);
}

// A constant as a node's input has it: plain, or codes that a DequantizeLinear makes numbers of.
struct Constant {
  const StoredTensor* values = nullptr;
  const StoredTensor* scale = nullptr;  // null: plain
  const StoredTensor* zero = nullptr;
};

class TurnReader {
 public:
  explicit TurnReader(const OnnxModel& model) : model_(model), links_(model) {}

  Result<OnnxWeights> read() {
    for (const StoredTensor& tensor : model_.file.tensors) {
      if (tensor.name.starts_with(kPrefix) && tensor.dtype == DType::F32 && !is_matrix(tensor)) {
        add(tensor);
      }
    }
    for (const OnnxNode& node : model_.graph.nodes) {
      if (node.op_type == "MatMul") {
        MYNAH_TRY_STATUS(read_product(node));
      } else if (node.op_type == "Conv" || node.op_type == "Gemm") {
        MYNAH_TRY_STATUS(read_layer(node));
      } else if (node.op_type == "DequantizeLinear" && !node.outputs.empty() &&
                 is_bias(node.outputs.front())) {
        MYNAH_TRY_STATUS(read_bias(node));
      }
    }
    MYNAH_TRY_STATUS(name_keys());
    std::vector<std::shared_ptr<const void>> owners = model_.file.owners;
    owners.insert(owners.end(), made_.begin(), made_.end());
    weights_.owner = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(owners));
    return std::move(weights_);
  }

 private:
  // A product of a constant: its matrix, the input, and the module where a bias named it.
  struct Product {
    std::string input;
    Constant matrix;
  };

  static bool is_matrix(const StoredTensor& tensor) {
    return tensor.shape.rank() > 1 && !tensor.name.ends_with("embed_positions.weight");
  }

  [[nodiscard]] Constant constant_of(const OnnxNode& node, size_t input) const {
    if (const StoredTensor* const plain = links_.constant(node, input)) {
      return {.values = plain};
    }
    const OnnxNode* const from = links_.producer(node, input);
    if (from == nullptr || from->op_type != "DequantizeLinear") {
      return {};
    }
    return {.values = links_.constant(*from, 0),
            .scale = links_.constant(*from, 1),
            .zero = links_.constant(*from, 2)};
  }

  // The node that takes a value, steps of activations passed over.
  [[nodiscard]] const OnnxNode* next(const OnnxNode& node) const {
    const OnnxNode* at = links_.consumer(node);
    while (at != nullptr &&
           (at->op_type == "QuantizeLinear" || at->op_type == "DequantizeLinear")) {
      at = links_.consumer(*at);
    }
    return at;
  }

  // The module whose bias an Add behind a product adds; empty where there is none.
  [[nodiscard]] std::string module_of(const OnnxNode& product) {
    const OnnxNode* const sum = next(product);
    if (sum == nullptr || sum->op_type != "Add") {
      return {};
    }
    for (const std::string& input : sum->inputs) {
      if (is_bias(input)) {
        std::string module = input.substr(0, input.size() - kBias.size());
        if (module.ends_with(kQueries)) {
          note_heads(next(*sum));
        }
        return module;
      }
    }
    return {};
  }

  // Queries are made (batch, time, heads, columns of a head): sizes that are one constant, or
  // several side by side.
  void note_heads(const OnnxNode* reshape) {
    constexpr size_t kHeads = 2;
    constexpr int64_t kSizes = 4;
    if (reshape == nullptr || reshape->op_type != "Reshape") {
      return;
    }
    const StoredTensor* sizes = links_.constant(*reshape, 1);
    size_t place = kHeads;
    if (sizes == nullptr) {
      const OnnxNode* const joined = links_.producer(*reshape, 1);
      sizes = joined == nullptr ? nullptr : links_.constant(*joined, kHeads);
      place = 0;
    }
    if (sizes == nullptr || sizes->dtype != DType::I64 ||
        sizes->shape.elements() != (place == 0 ? 1 : kSizes)) {
      return;
    }
    std::memcpy(&weights_.heads, sizes->bytes.data() + place * sizeof(int64_t), sizeof(int64_t));
  }

  Status read_product(const OnnxNode& node) {
    const Constant matrix = constant_of(node, 1);
    if (matrix.values == nullptr || matrix.values->shape.rank() != 2 || node.inputs.empty()) {
      return {};  // of two activations
    }
    const std::string module = module_of(node);
    if (module.empty()) {
      unnamed_.push_back({node.inputs.front(), matrix});
      return {};
    }
    if (module.ends_with(kQueries)) {
      queries_.emplace(node.inputs.front(), module.substr(0, module.size() - kQueries.size()));
    }
    return add_matrix(module, matrix, true);
  }

  // Convolutions and products of few rows have (out, in, ...) and their bias themselves.
  Status read_layer(const OnnxNode& node) {
    constexpr size_t kBiasInput = 2;
    const Constant matrix = constant_of(node, 1);
    if (matrix.values == nullptr || node.inputs.size() <= kBiasInput ||
        !is_bias(node.inputs[kBiasInput])) {
      return {};
    }
    const std::string& bias = node.inputs[kBiasInput];
    return add_matrix(bias.substr(0, bias.size() - kBias.size()), matrix, false);
  }

  Status read_bias(const OnnxNode& node) {
    const StoredTensor* const codes = links_.constant(node, 0);
    const StoredTensor* const scale = links_.constant(node, 1);
    const std::string& name = node.outputs.front();
    if (codes == nullptr || scale == nullptr || codes->dtype != DType::I32 ||
        scale->dtype != DType::F32 || codes->shape.rank() != 1 ||
        (scale->shape.elements() != 1 && scale->shape != codes->shape)) {
      return wrong(name, "a bias of int32 with one scale, or one for each of its numbers");
    }
    const std::vector<float> scales = values_of(*scale);
    std::vector<float> values(static_cast<size_t>(codes->shape.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      int32_t code = 0;
      std::memcpy(&code, codes->bytes.data() + i * sizeof(code), sizeof(code));
      values[i] = static_cast<float>(code) * scales[scales.size() == 1 ? 0 : i];
    }
    StoredTensor bias{
        .name = name, .dtype = DType::F32, .shape = codes->shape, .bytes = {}, .row_scales = {}};
    bias.bytes = keep(std::move(values));
    add(bias);
    return {};
  }

  // Adds "MODULE.weight"; `turn`: the matrix is (in, out).
  Status add_matrix(const std::string& module, const Constant& matrix, bool turn) {
    const StoredTensor& from = *matrix.values;
    const bool codes = matrix.scale != nullptr;
    const auto out = static_cast<size_t>(from.shape.rank() < 2 ? 0 : from.shape[turn ? 1 : 0]);
    if (out == 0 || (codes ? from.dtype != DType::I8 || matrix.scale->dtype != DType::F32 ||
                                 (matrix.scale->shape.elements() != 1 &&
                                  matrix.scale->shape.elements() != static_cast<int64_t>(out)) ||
                                 (matrix.zero != nullptr && !is_zero(*matrix.zero))
                           : from.dtype != DType::F32)) {
      return wrong(module, "a matrix of f32, or of int8 around zero with a scale a row");
    }
    StoredTensor tensor = from;
    tensor.name = module + ".weight";
    if (turn) {
      const size_t size = codes ? 1 : sizeof(float);
      const auto in = static_cast<size_t>(from.shape[0]);
      std::vector<std::byte> rows(from.bytes.size());
      for (size_t r = 0; r < out; ++r) {
        for (size_t c = 0; c < in; ++c) {
          std::memcpy(&rows[(r * in + c) * size], &from.bytes[(c * out + r) * size], size);
        }
      }
      tensor.shape = {from.shape[1], from.shape[0]};
      tensor.bytes = keep(std::move(rows));
    }
    if (codes) {
      std::vector<float> scales = values_of(*matrix.scale);
      scales.resize(out, scales.front());
      tensor.row_scales = keep(std::move(scales));
    }
    add(tensor);
    return {};
  }

  Status name_keys() {
    for (const Product& product : unnamed_) {
      const auto layer = queries_.find(product.input);
      if (layer != queries_.end()) {
        MYNAH_TRY_STATUS(add_matrix(layer->second + std::string(kKeys), product.matrix, true));
      }
    }
    return {};
  }

  static bool is_zero(const StoredTensor& tensor) {
    return std::ranges::all_of(tensor.bytes, [](std::byte b) { return b == std::byte{0}; });
  }

  [[nodiscard]] Status wrong(std::string_view module, std::string_view wanted) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: {}: wanted {}, as ONNX Runtime's static quantiser makes it: the "
                            "file is damaged, or was made otherwise",
                            model_.file.path, module, wanted));
  }

  void add(StoredTensor tensor) {
    tensor.name = renamed(std::move(tensor.name));
    weights_.tensors.push_back(std::move(tensor));
  }

  template <class T>
  std::span<const std::byte> keep(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    made_.push_back(kept);
    return std::as_bytes(std::span(*kept));
  }

  const OnnxModel& model_;
  OnnxLinks links_;
  OnnxWeights weights_;
  std::vector<Product> unnamed_;
  std::map<std::string, std::string, std::less<>> queries_;  // of an input: the layer
  std::vector<std::shared_ptr<const void>> made_;
};

}  // namespace

bool is_turn_model(const OnnxModel& model) {
  return std::ranges::any_of(model.graph.nodes, [](const OnnxNode& node) {
    return std::ranges::find(node.inputs, kPoolBias) != node.inputs.end();
  });
}

Result<OnnxWeights> read_onnx_weights(const OnnxModel& model) {
  return TurnReader(model).read();
}

}  // namespace mynah::turn
