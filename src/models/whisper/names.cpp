#include "models/whisper/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace mynah::whisper {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
};

// Modules of a transformer block (after "layers.N." or "layer_N/"); Hugging Face's
// modeling_whisper.py.
constexpr std::array kHuggingFaceBlock = {
    Rename{"self_attn.q_proj", "attn.query"},
    Rename{"self_attn.k_proj", "attn.key"},
    Rename{"self_attn.v_proj", "attn.value"},
    Rename{"self_attn.out_proj", "attn.out"},
    Rename{"self_attn_layer_norm", "attn_ln"},
    Rename{"encoder_attn.q_proj", "cross_attn.query"},
    Rename{"encoder_attn.k_proj", "cross_attn.key"},
    Rename{"encoder_attn.v_proj", "cross_attn.value"},
    Rename{"encoder_attn.out_proj", "cross_attn.out"},
    Rename{"encoder_attn_layer_norm", "cross_attn_ln"},
    Rename{"fc1", "mlp.0"},
    Rename{"fc2", "mlp.2"},
    Rename{"final_layer_norm", "mlp_ln"},
};

// CTranslate2's python/ctranslate2/specs/{whisper,transformer}_spec.py; the fused projections are
// in kFused.
constexpr std::array kCTranslate2Block = {
    Rename{"self_attention/linear_1", "attn.out"},
    Rename{"self_attention/layer_norm", "attn_ln"},
    Rename{"attention/linear_0", "cross_attn.query"},
    Rename{"attention/linear_2", "cross_attn.out"},
    Rename{"attention/layer_norm", "cross_attn_ln"},
    Rename{"ffn/linear_0", "mlp.0"},
    Rename{"ffn/linear_1", "mlp.2"},
    Rename{"ffn/layer_norm", "mlp_ln"},
};

constexpr std::array kHuggingFaceOutside = {
    Rename{"embed_tokens.weight", "token_embedding.weight"},
    Rename{"embed_positions.weight", "positional_embedding"},
};

constexpr std::array kCTranslate2Outside = {
    Rename{"embeddings/weight", "token_embedding.weight"},
    Rename{"position_encodings/encodings", "positional_embedding"},
    Rename{"conv1/weight", "conv1.weight"},
    Rename{"conv1/bias", "conv1.bias"},
    Rename{"conv2/weight", "conv2.weight"},
    Rename{"conv2/bias", "conv2.bias"},
};

// CTranslate2 stacks projections along their rows.
struct Fused {
  std::string_view from;
  std::array<std::string_view, 3> to;
  size_t parts;
};

constexpr std::array kFused = {
    Fused{"self_attention/linear_0", {"attn.query", "attn.key", "attn.value"}, 3},
    Fused{"attention/linear_1", {"cross_attn.key", "cross_attn.value", ""}, 2},
};

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Takes "12" and the separator after it off the front of `text`.
std::optional<int64_t> take_number(std::string_view& text, char separator) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc{} || used >= text.size() || text[used] != separator || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(used + 1);
  return number;
}

std::string_view encoder_or_decoder(std::string_view& name, char separator) {
  for (const std::string_view side : {"encoder", "decoder"}) {
    if (name.size() > side.size() && name.starts_with(side) && name[side.size()] == separator) {
      name.remove_prefix(side.size() + 1);
      return side;
    }
  }
  return {};
}

// "weight" or "bias" under OpenAI's names; CTranslate2 calls a norm's gamma and beta.
std::string_view parameter(std::string_view name) {
  if (name == "weight" || name == "gamma") {
    return "weight";
  }
  return name == "bias" || name == "beta" ? "bias" : std::string_view();
}

template <size_t N>
std::string rename_module(const std::array<Rename, N>& table, std::string_view rest,
                          char separator) {
  for (const Rename& rename : table) {
    std::string_view tail = rest;
    if (drop_prefix(tail, rename.from) && tail.size() > 1 && tail.front() == separator) {
      tail.remove_prefix(1);
      const std::string_view kind = parameter(tail);
      return kind.empty() ? std::string() : fmt::format("{}.{}", rename.to, kind);
    }
  }
  return {};
}

template <size_t N>
std::string_view rename_whole(const std::array<Rename, N>& table, std::string_view name) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const Rename& r) { return r.from == name; });
  return found == table.end() ? std::string_view() : found->to;
}

std::string from_openai(std::string_view name) {
  std::string_view rest = name;
  const std::string_view side = encoder_or_decoder(rest, '.');
  const bool known = rest.starts_with("blocks.") || rest.starts_with("conv") ||
                     rest == "positional_embedding" || rest.starts_with("ln") ||
                     rest == "token_embedding.weight";
  return !side.empty() && known ? std::string(name) : std::string();
}

std::string from_hugging_face(std::string_view name) {
  drop_prefix(name, "model.");
  const std::string_view side = encoder_or_decoder(name, '.');
  if (side.empty()) {
    return {};
  }
  if (const std::string_view whole = rename_whole(kHuggingFaceOutside, name); !whole.empty()) {
    return fmt::format("{}.{}", side, whole);
  }
  if (drop_prefix(name, "layer_norm.")) {
    return fmt::format("{}.{}.{}", side, side == "encoder" ? "ln_post" : "ln", name);
  }
  if (name.starts_with("conv1.") || name.starts_with("conv2.")) {
    return fmt::format("{}.{}", side, name);
  }
  if (!drop_prefix(name, "layers.")) {
    return {};
  }
  const auto layer = take_number(name, '.');
  const std::string module = layer ? rename_module(kHuggingFaceBlock, name, '.') : std::string();
  return module.empty() ? std::string() : fmt::format("{}.blocks.{}.{}", side, *layer, module);
}

std::string from_ctranslate2(std::string_view name) {
  const std::string_view side = encoder_or_decoder(name, '/');
  if (side.empty()) {
    return {};
  }
  if (const std::string_view whole = rename_whole(kCTranslate2Outside, name); !whole.empty()) {
    return fmt::format("{}.{}", side, whole);
  }
  if (drop_prefix(name, "layer_norm/")) {
    const std::string_view kind = parameter(name);
    return kind.empty() ? std::string()
                        : fmt::format("{}.{}.{}", side, side == "encoder" ? "ln_post" : "ln", kind);
  }
  if (!drop_prefix(name, "layer_")) {
    return {};
  }
  const auto layer = take_number(name, '/');
  const std::string module = layer ? rename_module(kCTranslate2Block, name, '/') : std::string();
  return module.empty() ? std::string() : fmt::format("{}.blocks.{}.{}", side, *layer, module);
}

// Vectors come as (n), (n, 1) (whisper.cpp's convolution biases) or (1, n).
void flatten_vector(StoredTensor& tensor) {
  const Shape& shape = tensor.shape;
  const bool vector = tensor.name.ends_with(".bias") || shape.rank() == 1;
  if (vector && shape.rank() > 1 && !is_block_type(tensor.dtype)) {
    tensor.shape = Shape{shape.elements()};
  }
}

// Rows [part * n, (part + 1) * n) of a tensor of `parts` stacked ones.
StoredTensor part_of(const StoredTensor& whole, size_t part, size_t parts) {
  StoredTensor piece = whole;
  const int64_t rows = whole.shape[0] / static_cast<int64_t>(parts);
  piece.shape = whole.shape.rank() == 1 ? Shape{rows} : Shape{rows, whole.shape[1]};
  const size_t bytes = whole.bytes.size() / parts;
  piece.bytes = whole.bytes.subspan(part * bytes, bytes);
  const size_t scales = whole.row_scales.size() / parts;
  piece.row_scales = whole.row_scales.subspan(part * scales, scales);
  return piece;
}

// Splits a fused projection of CTranslate2 into `out`; false when the name is none.
Result<bool> split_fused(const StoredTensor& tensor, std::vector<StoredTensor>& out) {
  std::string_view name = tensor.name;
  const std::string_view side = encoder_or_decoder(name, '/');
  if (side.empty() || !drop_prefix(name, "layer_")) {
    return false;
  }
  const auto layer = take_number(name, '/');
  for (const Fused& fused : kFused) {
    std::string_view kind = name;
    if (!layer || !drop_prefix(kind, fused.from) || (kind != "/weight" && kind != "/bias")) {
      continue;
    }
    kind.remove_prefix(1);
    const int rank = tensor.shape.rank();
    if ((rank != 1 && rank != 2) || tensor.shape[0] % static_cast<int64_t>(fused.parts) != 0 ||
        is_block_type(tensor.dtype)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted {} stacked projections, found shape {}", tensor.name,
                              fused.parts, tensor.shape.str()));
    }
    for (size_t part = 0; part < fused.parts; ++part) {
      // Whisper's keys have no bias: CTranslate2 stores zeros for it.
      if (kind == "bias" && fused.to.at(part).ends_with("key")) {
        continue;
      }
      StoredTensor piece = part_of(tensor, part, fused.parts);
      piece.name = fmt::format("{}.blocks.{}.{}.{}", side, *layer, fused.to.at(part), kind);
      out.push_back(std::move(piece));
    }
    return true;
  }
  return false;
}

}  // namespace

std::string canonical_name(std::string_view name) {
  drop_prefix(name, "model_state_dict.");
  for (auto* const from : {&from_openai, &from_hugging_face, &from_ctranslate2}) {
    if (std::string canonical = from(name); !canonical.empty()) {
      return canonical;
    }
  }
  return {};
}

Result<std::vector<StoredTensor>> canonical_tensors(const TensorFile& file) {
  std::vector<StoredTensor> tensors;
  tensors.reserve(file.tensors.size());
  for (const StoredTensor& tensor : file.tensors) {
    MYNAH_TRY(const bool split, split_fused(tensor, tensors));
    std::string name = split ? std::string() : canonical_name(tensor.name);
    if (!name.empty()) {
      tensors.push_back(tensor);
      tensors.back().name = std::move(name);
      flatten_vector(tensors.back());
    }
  }
  return tensors;
}

}  // namespace mynah::whisper
