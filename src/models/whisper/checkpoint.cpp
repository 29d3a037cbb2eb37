// Derives a Whisper configuration from a checkpoint and checks every tensor's presence and shape.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "models/whisper/names.h"

namespace mynah::whisper {
namespace {

using ByName = std::unordered_map<std::string_view, const StoredTensor*>;

std::optional<int64_t> find_integer(const TensorFile& file,
                                    std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto found = file.metadata.find(key);
    if (found != file.metadata.end()) {
      if (const auto* value = std::get_if<int64_t>(&found->second)) {
        return *value;
      }
    }
  }
  return std::nullopt;
}

// CTranslate2 keeps attributes as tensors of one element ("encoder/num_heads").
std::optional<int64_t> find_scalar_tensor(const TensorFile& file, std::string_view name) {
  const StoredTensor* const tensor = file.find(name);
  if (tensor == nullptr || tensor->shape.elements() != 1) {
    return std::nullopt;
  }
  if (tensor->dtype == DType::I32 && tensor->bytes.size() == sizeof(int32_t)) {
    int32_t value = 0;
    std::memcpy(&value, tensor->bytes.data(), sizeof(value));
    return value;
  }
  if (tensor->dtype == DType::I8 && tensor->bytes.size() == 1) {
    return static_cast<int64_t>(tensor->bytes[0]);
  }
  return std::nullopt;
}

std::vector<AlignmentHead> find_alignment_heads(const TensorFile& file) {
  for (const std::string_view key : {"whisper.alignment_heads", "alignment_heads"}) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) {
      continue;
    }
    const auto* values = std::get_if<std::vector<int64_t>>(&found->second);
    if (values == nullptr || values->size() % 2 != 0) {
      continue;
    }
    std::vector<AlignmentHead> heads;
    for (size_t i = 0; i < values->size(); i += 2) {
      heads.push_back({(*values)[i], (*values)[i + 1]});
    }
    return heads;
  }
  return {};
}

Result<const StoredTensor*> require(const ByName& tensors, std::string_view name, int rank) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a Whisper model, found no tensor {}", name));
  }
  if (found->second->shape.rank() != rank) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted {} dimensions, found shape {}",
                                                     name, rank, found->second->shape.str()));
  }
  return found->second;
}

int64_t count_layers(const ByName& tensors, std::string_view side) {
  int64_t layers = 0;
  while (tensors.contains(fmt::format("{}.blocks.{}.attn_ln.weight", side, layers))) {
    ++layers;
  }
  return layers;
}

// Heads of all published models are 64 wide.
int64_t default_heads(int64_t width) {
  return std::max<int64_t>(1, width / 64);
}

Result<Config> derive_config(const TensorFile& file, const ByName& tensors,
                             std::string_view model_name) {
  MYNAH_TRY(const auto* conv1, require(tensors, "encoder.conv1.weight", 3));
  MYNAH_TRY(const auto* audio_position, require(tensors, "encoder.positional_embedding", 2));
  MYNAH_TRY(const auto* tokens, require(tensors, "decoder.token_embedding.weight", 2));
  MYNAH_TRY(const auto* text_position, require(tensors, "decoder.positional_embedding", 2));
  Config c;
  c.n_mels = conv1->shape[1];
  c.n_audio_ctx = audio_position->shape[0];
  c.n_audio_state = conv1->shape[0];
  c.n_audio_layer = count_layers(tensors, "encoder");
  c.n_vocab = tokens->shape[0];
  c.n_text_ctx = text_position->shape[0];
  c.n_text_state = tokens->shape[1];
  c.n_text_layer = count_layers(tensors, "decoder");
  c.n_audio_head = find_integer(file, {"whisper.n_audio_head", "n_audio_head", "dims.n_audio_head",
                                       "encoder_attention_heads"})
                       .or_else([&] { return find_scalar_tensor(file, "encoder/num_heads"); })
                       .value_or(default_heads(c.n_audio_state));
  c.n_text_head = find_integer(file, {"whisper.n_text_head", "n_text_head", "dims.n_text_head",
                                      "decoder_attention_heads"})
                      .or_else([&] { return find_scalar_tensor(file, "decoder/num_heads"); })
                      .value_or(default_heads(c.n_text_state));
  c.alignment_heads = find_alignment_heads(file);
  MYNAH_TRY_STATUS(check_config(c));
  if (c.alignment_heads.empty()) {
    c.alignment_heads = alignment_heads_for(c, model_name);
  }
  return c;
}

class ShapeCheck {
 public:
  explicit ShapeCheck(const ByName& tensors) : tensors_(tensors) {}

  void want(const std::string& name, const Shape& shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      note(fmt::format("wanted tensor {} {}, found none", name, shape.str()));
    } else if (found->second->shape != shape) {
      note(fmt::format("{}: wanted shape {}, found {}", name, shape.str(),
                       found->second->shape.str()));
    }
  }

  void want_linear(const std::string& name, int64_t out, int64_t in, bool bias = true) {
    want(name + ".weight", {out, in});
    if (bias) {
      want(name + ".bias", {out});
    }
  }

  void want_norm(const std::string& name, int64_t width) {
    want(name + ".weight", {width});
    want(name + ".bias", {width});
  }

  void want_attention(const std::string& name, int64_t width) {
    want_linear(name + ".query", width, width);
    want_linear(name + ".key", width, width, false);
    want_linear(name + ".value", width, width);
    want_linear(name + ".out", width, width);
    want_norm(name + "_ln", width);
  }

  void want_mlp(const std::string& name, int64_t width) {
    want_linear(name + ".mlp.0", 4 * width, width);
    want_linear(name + ".mlp.2", width, 4 * width);
    want_norm(name + ".mlp_ln", width);
  }

  [[nodiscard]] Status status() const {
    return problem_.empty() ? Status{} : fail(ErrorCode::InvalidInput, problem_);
  }

 private:
  void note(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }

  const ByName& tensors_;
  std::string problem_;  // the first one
};

Status check_shapes(const Config& c, const ByName& tensors) {
  ShapeCheck check(tensors);
  const int64_t d = c.n_audio_state;
  check.want("encoder.conv1.weight", {d, c.n_mels, 3});
  check.want("encoder.conv1.bias", {d});
  check.want("encoder.conv2.weight", {d, d, 3});
  check.want("encoder.conv2.bias", {d});
  check.want("encoder.positional_embedding", {c.n_audio_ctx, d});
  for (int64_t layer = 0; layer < c.n_audio_layer; ++layer) {
    const std::string block = fmt::format("encoder.blocks.{}", layer);
    check.want_attention(block + ".attn", d);
    check.want_mlp(block, d);
  }
  check.want_norm("encoder.ln_post", d);
  check.want("decoder.token_embedding.weight", {c.n_vocab, d});
  check.want("decoder.positional_embedding", {c.n_text_ctx, d});
  for (int64_t layer = 0; layer < c.n_text_layer; ++layer) {
    const std::string block = fmt::format("decoder.blocks.{}", layer);
    check.want_attention(block + ".attn", d);
    check.want_attention(block + ".cross_attn", d);
    check.want_mlp(block, d);
  }
  check.want_norm("decoder.ln", d);
  return check.status();
}

}  // namespace

Result<Checkpoint> read_checkpoint(const TensorFile& file, std::string_view model_name) {
  const auto named = [&](Error error) { return std::move(error).while_doing(file.path); };
  Checkpoint checkpoint;
  auto tensors = canonical_tensors(file);
  if (!tensors) {
    return std::unexpected(named(std::move(tensors).error()));
  }
  checkpoint.tensors = std::move(*tensors);
  ByName by_name;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    by_name.emplace(tensor.name, &tensor);
  }
  auto config = derive_config(file, by_name, model_name);
  if (!config) {
    return std::unexpected(named(std::move(config).error()));
  }
  if (Status shapes = check_shapes(*config, by_name); !shapes) {
    return std::unexpected(named(std::move(shapes).error()));
  }
  checkpoint.config = std::move(*config);
  return checkpoint;
}

}  // namespace mynah::whisper
