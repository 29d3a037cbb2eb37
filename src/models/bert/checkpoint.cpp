#include "models/bert/checkpoint.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "formats/byte_reader.h"
#include "formats/open.h"
#include "models/bert/config.h"
#include "models/bert/folder_files.h"

namespace mynah::bert {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

// transformers' BertModel, and llama.cpp's names (gguf-py/gguf/tensor_mapping.py).
constexpr std::array<Renamed, 4> kOutside = {{{"embeddings.word_embeddings", "token_embd"},
                                              {"embeddings.position_embeddings", "position_embd"},
                                              {"embeddings.token_type_embeddings", "token_types"},
                                              {"embeddings.LayerNorm", "token_embd_norm"}}};
constexpr std::array<Renamed, 8> kOfLayer = {{{"attention.self.query", "attn_q"},
                                              {"attention.self.key", "attn_k"},
                                              {"attention.self.value", "attn_v"},
                                              {"attention.output.dense", "attn_output"},
                                              {"attention.output.LayerNorm", "attn_output_norm"},
                                              {"intermediate.dense", "ffn_up"},
                                              {"output.dense", "ffn_down"},
                                              {"output.LayerNorm", "layer_output_norm"}}};

constexpr std::string_view kWholeModel = "bert.";  // before the names of a model with a head
constexpr std::string_view kLayers = "encoder.layer.";

std::optional<std::string_view> renamed(std::span<const Renamed> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Renamed::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

// GGUF's name; "": it is of a head, and left out.
std::string gguf_name(std::string_view name) {
  if (name.starts_with(kWholeModel)) {
    name.remove_prefix(kWholeModel.size());
  }
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    return {};
  }
  std::string_view last = name.substr(dot + 1);
  // What PyTorch's first ports of TensorFlow's checkpoints called them.
  last = last == "gamma" ? "weight" : last == "beta" ? "bias" : last;
  name = name.substr(0, dot);
  if (const auto outside = renamed(kOutside, name)) {
    return fmt::format("{}.{}", *outside, last);
  }
  if (!name.starts_with(kLayers)) {
    return {};
  }
  name.remove_prefix(kLayers.size());
  const size_t end = name.find('.');
  const auto of_layer =
      end == std::string_view::npos ? std::nullopt : renamed(kOfLayer, name.substr(end + 1));
  const std::string_view number = name.substr(0, end);
  const bool counted = !number.empty() && std::ranges::all_of(number, is_ascii_digit);
  return of_layer && counted ? fmt::format("blk.{}.{}.{}", number, *of_layer, last) : std::string();
}

const std::string* text_of(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
}

// A value of config.json under GGUF's key; what is wrong with it Config::read() says.
void take(const TensorFile& file, std::string_view key, std::string_view as, Metadata& metadata) {
  if (const auto found = file.metadata.find(key); found != file.metadata.end()) {
    metadata.insert_or_assign(std::string(as), found->second);
  }
}

// A value that must be one, where it is there at all.
Status expect_text(const TensorFile& file, std::string_view key, std::string_view wanted) {
  const std::string* const found = text_of(file, key);
  if (found == nullptr || *found == wanted) {
    return {};
  }
  return fail(ErrorCode::Unsupported, fmt::format("{}/config.json: {}: wanted {}, found {}",
                                                  file.path, key, wanted, in_quotes(*found)));
}

Status check_model_type(const TensorFile& file) {
  const std::string* const type = text_of(file, "model_type");
  if (type == nullptr) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted the folder of an embedding model, with a config.json that "
                            "says its model_type, found none",
                            file.path));
  }
  MYNAH_TRY_STATUS(expect_text(file, "model_type", kArchitecture));
  MYNAH_TRY_STATUS(expect_text(file, "hidden_act", "gelu"));
  return expect_text(file, "position_embedding_type", "absolute");
}

}  // namespace

bool looks_like_folder(const TensorFile& file) {
  return file.metadata.contains("model_type") &&
         std::ranges::any_of(file.tensors, [](const StoredTensor& tensor) {
           return tensor.name.ends_with("embeddings.word_embeddings.weight");
         });
}

Result<TensorFile> as_gguf(TensorFile file) {
  MYNAH_TRY_STATUS(check_model_type(file));
  Metadata metadata = {{"general.architecture", std::string(kArchitecture)}};
  take(file, "max_position_embeddings", "bert.context_length", metadata);
  take(file, "num_hidden_layers", "bert.block_count", metadata);
  take(file, "hidden_size", "bert.embedding_length", metadata);
  take(file, "intermediate_size", "bert.feed_forward_length", metadata);
  take(file, "num_attention_heads", "bert.attention.head_count", metadata);
  take(file, "layer_norm_eps", "bert.attention.layer_norm_epsilon", metadata);
  metadata.insert_or_assign("bert.attention.causal", false);
  std::erase_if(file.tensors, [](StoredTensor& tensor) {
    tensor.name = gguf_name(tensor.name);
    return tensor.name.empty();
  });
  const StoredTensor* const table = file.find("token_embd.weight");
  const StoredTensor* const places = file.find("position_embd.weight");
  if (table == nullptr || table->shape.rank() != 2 || places == nullptr ||
      places->shape.rank() != 2) {
    return fail(ErrorCode::InvalidInput,
                file.path + ": wanted the tables of words and of positions, found none");
  }
  MYNAH_TRY_STATUS(add_vocabulary(file.path, table->shape[0], metadata));
  MYNAH_TRY_STATUS(add_sentence_modules(file.path, places->shape[0], metadata));
  file.metadata = std::move(metadata);
  file.format = "gguf";
  return file;
}

Result<TensorFile> open_checkpoint(const std::string& path) {
  MYNAH_TRY(TensorFile file, open_tensor_file(path));
  if (file.format == "gguf") {
    return file;
  }
  return as_gguf(std::move(file));
}

}  // namespace mynah::bert
