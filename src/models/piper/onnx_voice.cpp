#include "models/piper/onnx_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mynah::piper {

namespace {

using Values = std::vector<float>;

// The checkpoint's modules (VITS models.py, SynthesizerTrn).
constexpr std::array<std::string_view, 5> kModules = {"enc_p", "dp", "flow", "dec", "emb_g"};

bool is_float(const StoredTensor& tensor) {
  return tensor.dtype == DType::F32 || tensor.dtype == DType::F16 || tensor.dtype == DType::BF16;
}

bool is_of_the_model(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('.'));
  return std::ranges::find(kModules, first) != kModules.end();
}

// "/flow/flows.0/enc/in_layers.1/Conv" is a node of "flow.flows.0.enc.in_layers.1". Empty where the
// name tells no module.
std::string module_of_node(std::string_view name) {
  const size_t last = name.rfind('/');
  if (!name.starts_with('/') || last == 0) {
    return "";
  }
  std::string module(name.substr(1, last - 1));
  std::ranges::replace(module, '/', '.');
  return is_of_the_model(module) ? module : "";
}

// "dec.conv_pre.bias" is a parameter of "dec.conv_pre".
std::string module_of_parameter(std::string_view name, std::string_view parameter) {
  if (!name.ends_with(parameter) || !is_of_the_model(name)) {
    return "";
  }
  return std::string(name.substr(0, name.size() - parameter.size()));
}

// VITS calls the factors of its norms gamma and beta.
std::string in_pytorchs_words(const std::string& name) {
  for (const auto& [own, usual] : {std::pair{".gamma", ".weight"}, std::pair{".beta", ".bias"}}) {
    if (name.ends_with(own)) {
      return name.substr(0, name.rfind('.')) + usual;
    }
  }
  return name;
}

int64_t first_or(const OnnxNode& node, std::string_view attribute, int64_t otherwise) {
  const OnnxAttribute* const found = node.find(attribute);
  return found == nullptr || found->integers.empty() ? otherwise : found->integers.front();
}

class Reader {
 public:
  explicit Reader(const OnnxModel& model)
      : model_(model), made_(std::make_shared<std::vector<std::unique_ptr<Values>>>()) {}

  Result<OnnxVoice> read() {
    for (const OnnxNode& node : model_.graph.nodes) {
      const std::string_view op = node.op_type;
      if (op == "Conv" || op == "ConvTranspose") {
        MYNAH_TRY_STATUS(read_convolution(node));
      } else if (op == "Gather") {
        read_table(node);
      } else if (op == "Mul" || op == "Sub") {
        read_affine(node);
      }
    }
    for (const StoredTensor& tensor : model_.file.tensors) {
      if (is_float(tensor) && is_of_the_model(tensor.name)) {
        add(in_pytorchs_words(tensor.name), tensor);
      }
    }
    add_scale_of_logs();
    reverse_flow();
    auto owners = model_.file.owners;
    owners.push_back(made_);
    voice_.owner = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(owners));
    return std::move(voice_);
  }

 private:
  [[nodiscard]] const StoredTensor* constant(const OnnxNode& node, size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input].empty()) {
      return nullptr;
    }
    const StoredTensor* const found = model_.file.find(node.inputs[input]);
    return found != nullptr && is_float(*found) ? found : nullptr;
  }

  void add(std::string name, const StoredTensor& tensor) {
    if (known_.insert(name).second) {
      voice_.tensors.push_back(tensor);
      voice_.tensors.back().name = std::move(name);
    }
  }

  void add(std::string name, const Shape& shape, Values values) {
    made_->push_back(std::make_unique<Values>(std::move(values)));
    add(std::move(name), {.name = "",
                          .dtype = DType::F32,
                          .shape = shape,
                          .bytes = std::as_bytes(std::span(*made_->back())),
                          .row_scales = {}});
  }

  [[nodiscard]] StoredTensor* find(std::string_view name) {
    const auto found = std::ranges::find(voice_.tensors, name, &StoredTensor::name);
    return found == voice_.tensors.end() ? nullptr : &*found;
  }

  Status read_convolution(const OnnxNode& node) {
    constexpr size_t kWeight = 1;
    constexpr size_t kBias = 2;
    std::string module = module_of_node(node.name);
    if (module.empty() && node.inputs.size() > kBias) {
      module = module_of_parameter(node.inputs[kBias], ".bias");
    }
    if (module.empty() && node.inputs.size() > kWeight) {
      module = module_of_parameter(node.inputs[kWeight], ".weight");
    }
    if (module.empty()) {
      return {};
    }
    const StoredTensor* const weight = constant(node, kWeight);
    if (weight == nullptr) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: {} has no constant weight: wanted a voice in float, exported "
                              "with its weights folded",
                              model_.file.path, module));
    }
    const OnnxAttribute* const pads = node.find("pads");
    if (pads != nullptr && (pads->integers.size() != 2 || pads->integers[0] != pads->integers[1])) {
      return fail(
          ErrorCode::Unsupported,
          fmt::format("{}: {}: wanted the same padding on both sides", model_.file.path, module));
    }
    const OnnxAttribute* const groups = node.find("group");
    voice_.steps[module] = {.stride = first_or(node, "strides", 1),
                            .padding = first_or(node, "pads", 0),
                            .dilation = first_or(node, "dilations", 1),
                            .groups = groups == nullptr ? 1 : groups->integer,
                            .output_padding = first_or(node, "output_padding", 0)};
    add(module + ".weight", *weight);
    if (const StoredTensor* const bias = constant(node, kBias)) {
      add(module + ".bias", *bias);
    }
    return {};
  }

  // Phonemes ("input") and speakers ("sid") choose rows of two tables.
  void read_table(const OnnxNode& node) {
    const StoredTensor* const table = constant(node, 0);
    if (table == nullptr || table->shape.rank() != 2 || node.inputs.size() < 2) {
      return;
    }
    const std::string& chosen_by = node.inputs[1];
    const std::string module = module_of_node(node.name);
    if (chosen_by == "input" || module == "enc_p.emb") {
      add("enc_p.emb.weight", *table);
    } else if (chosen_by == "sid" || module == "emb_g") {
      add("emb_g.weight", *table);
    }
  }

  // (x - m) * exp(-logs), in files that hold exp(-logs).
  void read_affine(const OnnxNode& node) {
    constexpr std::string_view kModule = "dp.flows.0";
    if (module_of_node(node.name) != kModule) {
      return;
    }
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      const StoredTensor* const values = constant(node, input);
      if (values != nullptr && values->shape.rank() == 2) {
        add(fmt::format("{}.{}", kModule, node.op_type == "Sub" ? "m" : "scale"), *values);
      }
    }
  }

  void add_scale_of_logs() {
    const StoredTensor* const logs = find("dp.flows.0.logs");
    if (logs == nullptr) {
      return;
    }
    Values values = values_of(*logs);
    std::ranges::transform(values, values.begin(), [](float log) { return std::exp(-log); });
    add("dp.flows.0.scale", logs->shape, std::move(values));
  }

  // The layers run from the last to the first, channels reversed before each.
  void reverse_flow() {
    std::vector<int64_t> layers;
    constexpr int64_t kMost = 64;
    for (int64_t layer = kMost; layer >= 0; --layer) {
      if (find(fmt::format("flow.flows.{}.pre.weight", layer)) != nullptr) {
        layers.push_back(layer);
      }
    }
    for (size_t i = 0; i < layers.size(); i += 2) {
      reverse(fmt::format("flow.flows.{}.pre.weight", layers[i]), 1);
      reverse(fmt::format("flow.flows.{}.post.weight", layers[i]), 0);
      reverse(fmt::format("flow.flows.{}.post.bias", layers[i]), 0);
    }
  }

  // Turns round one dimension of a tensor.
  void reverse(const std::string& name, int dimension) {
    StoredTensor* const tensor = find(name);
    if (tensor == nullptr || tensor->shape.rank() <= dimension) {
      return;
    }
    const Values from = values_of(*tensor);
    const auto size = static_cast<size_t>(tensor->shape[dimension]);
    size_t inner = 1;
    for (int d = dimension + 1; d < tensor->shape.rank(); ++d) {
      inner *= static_cast<size_t>(tensor->shape[d]);
    }
    auto turned = std::make_unique<Values>(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t at = i / inner % size;
      (*turned)[i] = from[i + (size - 1 - 2 * at) * inner];
    }
    tensor->dtype = DType::F32;
    tensor->bytes = std::as_bytes(std::span(*turned));
    made_->push_back(std::move(turned));
  }

  const OnnxModel& model_;
  OnnxVoice voice_;
  std::set<std::string> known_;
  std::shared_ptr<std::vector<std::unique_ptr<Values>>> made_;  // tensors that no file holds
};

}  // namespace

Result<OnnxVoice> read_onnx_voice(const OnnxModel& model) {
  return Reader(model).read();
}

}  // namespace mynah::piper
