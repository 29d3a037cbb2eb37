#include "models/kokoro/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/kokoro/generator.h"
#include "models/kokoro/onnx_names.h"
#include "models/kokoro/onnx_weights.h"
#include "models/kokoro/rearranged.h"
#include "models/kokoro/sizes.h"

namespace mynah::kokoro {

namespace {

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";

struct Wanted {
  std::string_view name;
  int rank;
  int dimension;
  int64_t size;
};

// One of each part, by what tells Kokoro from other StyleTTS2 models: phonemes, kernels, frames and
// bins. How wide its layers are, read_sizes() reads (config.json of hexgrad/Kokoro-82M).
constexpr std::array<Wanted, 6> kWanted = {{
    {"bert.embeddings.word_embeddings.weight", 2, 0, kVocabulary},
    {"predictor.duration_proj.linear_layer.weight", 2, 0, 50},
    {"text_encoder.embedding.weight", 2, 0, kVocabulary},
    {"decoder.decode.3.conv1.weight", 3, 2, 3},
    {"decoder.generator.ups.0.weight", 3, 2, 20},
    {"decoder.generator.conv_post.weight", 3, 0, 2 * kBins},
}};

// Modules of StyleTTS2 that only its training has (yl4579/StyleTTS2 models.py, build_model()).
constexpr std::array<std::string_view, 3> kOfTraining = {"style_encoder.", "predictor_encoder.",
                                                         "text_aligner."};

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

// "bert.module.embeddings.x" is "bert.embeddings.x": what torch's DataParallel puts between.
std::string own_name(std::string_view stored) {
  constexpr std::string_view kWrapped = ".module.";
  std::string name = parameter_name(stored);
  const size_t dot = name.find('.');
  if (dot != std::string::npos && name.compare(dot, kWrapped.size(), kWrapped) == 0) {
    name.erase(dot, kWrapped.size() - 1);
  }
  return name;
}

std::unexpected<Error> complain(const TensorFile& file, const std::string& message) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted a Kokoro-82M model, {}", file.path, message));
}

// The two halves of a normalised weight, and the name that it has folded; empty where the name is
// of neither.
struct Half {
  std::string weight;
  bool is_length = false;
};

Half half_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, bool>, 4> kEndings = {
      {{"weight_g", true},
       {"weight_v", false},
       {"parametrizations.weight.original0", true},
       {"parametrizations.weight.original1", false}}};
  for (const auto& [ending, is_length] : kEndings) {
    if (name.ends_with(ending)) {
      return {.weight = std::string(name.substr(0, name.size() - ending.size())) + "weight",
              .is_length = is_length};
    }
  }
  return {};
}

struct Halves {
  const StoredTensor* length = nullptr;
  const StoredTensor* direction = nullptr;
};

// g * v / |v| for each index of the first dimension, the norm summed in f64.
Result<StoredTensor> folded(const TensorFile& file, const std::string& name, const Halves& halves,
                            Rearranged& made) {
  if (halves.length == nullptr || halves.direction == nullptr) {
    return complain(file, fmt::format("found one half of {} (weight_g and weight_v)", name));
  }
  const Shape& shape = halves.direction->shape;
  const int64_t rows = shape.rank() == 0 ? 0 : shape[0];
  if (rows == 0 || halves.length->shape.elements() != rows) {
    return complain(file, fmt::format("found {} of direction {} and length {}", name, shape.str(),
                                      halves.length->shape.str()));
  }
  std::vector<float> values = values_of(*halves.direction);
  const std::vector<float> lengths = values_of(*halves.length);
  const size_t columns = values.size() / lengths.size();
  for (size_t row = 0; row < lengths.size(); ++row) {
    const auto own = std::span(values).subspan(row * columns, columns);
    double squares = 0.0;
    for (const float value : own) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto norm = static_cast<float>(std::sqrt(squares));
    const float factor = norm == 0.0F ? 0.0F : lengths[row] / norm;
    std::ranges::for_each(own, [factor](float& value) { value *= factor; });
  }
  StoredTensor weight = made.floats(shape, values);
  weight.name = name;
  return weight;
}

Result<Checkpoint> read_named(const TensorFile& file) {
  Checkpoint checkpoint;
  Rearranged made;
  std::map<std::string, Halves> normalised;
  for (const StoredTensor& tensor : file.tensors) {
    const std::string name = own_name(tensor.name);
    const bool weight =
        is_float(tensor.dtype) || is_block_type(tensor.dtype) || !tensor.row_scales.empty();
    if (name.empty() || !weight || name.starts_with("bert.pooler.")) {
      continue;
    }
    if (const Half half = half_of(name); !half.weight.empty()) {
      Halves& halves = normalised[half.weight];
      (half.is_length ? halves.length : halves.direction) = &tensor;
      continue;
    }
    checkpoint.tensors.push_back(tensor);
    checkpoint.tensors.back().name = name;
  }
  for (const auto& [name, halves] : normalised) {
    MYNAH_TRY(StoredTensor weight, folded(file, name, halves, made));
    checkpoint.tensors.push_back(std::move(weight));
  }
  auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>(file.owners);
  owners->push_back(made.owner());
  checkpoint.owner = std::move(owners);
  return checkpoint;
}

Result<Checkpoint> read_onnx_file(const TensorFile& file) {
  MYNAH_TRY(const OnnxModel model, read_onnx_model(file.mapped.front()));
  MYNAH_TRY(OnnxWeights weights, read_onnx_weights(model));
  return Checkpoint{
      .tensors = std::move(weights.tensors), .phonemes = {}, .owner = std::move(weights.owner)};
}

Status check_tensors(const TensorFile& file, const Checkpoint& checkpoint) {
  for (const auto& [name, rank, dimension, size] : kWanted) {
    const auto found = std::ranges::find(checkpoint.tensors, name, &StoredTensor::name);
    if (found == checkpoint.tensors.end()) {
      return complain(file, fmt::format("found no tensor {}", name));
    }
    if (found->shape.rank() != rank || found->shape[dimension] != size) {
      return complain(file, fmt::format("found {} of shape {} where size {} of {} is {}", name,
                                        found->shape.str(), dimension, rank, size));
    }
  }
  return {};
}

}  // namespace

bool looks_like_kokoro(const TensorFile& file) {
  const auto has = [&](std::string_view module) {
    return std::ranges::any_of(file.tensors, [&](const StoredTensor& tensor) {
      return own_name(tensor.name).starts_with(module);
    });
  };
  return has("bert.encoder.") && has("predictor.") && has("decoder.generator.");
}

Result<Checkpoint> read_checkpoint(const TensorFile& file) {
  for (const StoredTensor& tensor : file.tensors) {
    for (const std::string_view part : kOfTraining) {
      if (tensor.name.find(part) != std::string::npos) {
        return fail(ErrorCode::Unsupported,
                    fmt::format("{}: this is a StyleTTS2 checkpoint, which hears styles in "
                                "recordings (it has {}); wanted a Kokoro-82M model, whose styles "
                                "are voice packs",
                                file.path, tensor.name));
      }
    }
  }
  MYNAH_TRY(Checkpoint checkpoint, file.format == "onnx" && !file.mapped.empty()
                                       ? read_onnx_file(file)
                                       : read_named(file));
  MYNAH_TRY_STATUS(check_tensors(file, checkpoint));
  const auto tokens = file.metadata.find(kTokensKey);
  if (tokens != file.metadata.end()) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&tokens->second)) {
      MYNAH_TRY(checkpoint.phonemes, Phonemes::of_tokens(*texts, file.path));
    }
  }
  return checkpoint;
}

}  // namespace mynah::kokoro
