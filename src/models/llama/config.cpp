#include "models/llama/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "models/llama/architectures.h"

namespace mynah::llama {
namespace {

// Upper bounds are far above the largest published model (Llama 3.1 405B: 126 layers, width 16384),
// and keep arithmetic on sizes safe.
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostColumns = 1 << 20;
constexpr int64_t kMostHeadColumns = 512;  // what attention takes on the processor
constexpr int64_t kMostTokens = 1 << 24;
constexpr int64_t kMostPositions = int64_t{1} << 30;
// Of rotary frequencies; the usual one is Su et al.'s, arXiv:2104.09864, section 3.2.2.
constexpr double kLeastBase = 2;
constexpr double kMostBase = 1e12;
constexpr double kUsualBase = 10000;

Status wants(std::string what) {
  return fail(ErrorCode::Unsupported, std::move(what));
}

// The metadata under "ARCHITECTURE.".
class Metadata {
 public:
  Metadata(const TensorFile& file, std::string_view architecture)
      : file_(file), prefix_(fmt::format("{}.", architecture)) {}

  [[nodiscard]] const MetadataValue* find(std::string_view name) const {
    const auto found = file_.metadata.find(prefix_ + std::string(name));
    return found == file_.metadata.end() ? nullptr : &found->second;
  }

  // Of a key that has a value a layer too, where they are all the same.
  [[nodiscard]] Result<std::optional<int64_t>> find_integer(std::string_view name) const {
    const MetadataValue* const value = find(name);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (const auto* number = std::get_if<int64_t>(value)) {
      return *number;
    }
    const auto* const list = std::get_if<std::vector<int64_t>>(value);
    if (list == nullptr || list->empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}{}: wanted a whole number, found something else", prefix_, name));
    }
    if (std::ranges::any_of(*list, [&](int64_t other) { return other != list->front(); })) {
      return fail(
          ErrorCode::Unsupported,
          fmt::format("{}{}: mynah does not run models whose layers differ in it", prefix_, name));
    }
    return list->front();
  }

  // In [low, high]; `otherwise` where there is none, none: it must be there.
  [[nodiscard]] Result<int64_t> integer(std::string_view name, int64_t low, int64_t high,
                                        std::optional<int64_t> otherwise = std::nullopt) const {
    MYNAH_TRY(std::optional<int64_t> found, find_integer(name));
    if (!found) {
      found = otherwise;
    }
    if (!found) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted {}{} in the file's metadata, found none", prefix_, name));
    }
    if (*found < low || *found > high) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}{}: wanted {} to {}, found {}", prefix_, name, low, high, *found));
    }
    return *found;
  }

  // Finite and in [low, high]; `otherwise` where there is none.
  [[nodiscard]] Result<double> number(std::string_view name, double low, double high,
                                      double otherwise) const {
    const MetadataValue* const value = find(name);
    if (value == nullptr) {
      return otherwise;
    }
    const auto* const real = std::get_if<double>(value);
    const auto* const whole = std::get_if<int64_t>(value);
    const double found = real != nullptr    ? *real
                         : whole != nullptr ? static_cast<double>(*whole)
                                            : std::numeric_limits<double>::quiet_NaN();
    if (!(found >= low && found <= high)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}{}: wanted a number from {} to {}, found {}", prefix_, name, low,
                              high, found));
    }
    return found;
  }

  [[nodiscard]] Result<std::string> text(std::string_view name, std::string otherwise) const {
    const MetadataValue* const value = find(name);
    if (value == nullptr) {
      return otherwise;
    }
    const auto* const found = std::get_if<std::string>(value);
    if (found == nullptr) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}{}: wanted a text, found something else", prefix_, name));
    }
    return *found;
  }

  [[nodiscard]] std::string key(std::string_view name) const { return prefix_ + std::string(name); }

 private:
  const TensorFile& file_;
  std::string prefix_;
};

Status read_sizes(const TensorFile& file, const Metadata& metadata, Config& c) {
  const StoredTensor* const table = file.find("token_embd.weight");
  if (table == nullptr || table->shape.rank() != 2) {
    return fail(ErrorCode::InvalidInput,
                "wanted tensor token_embd.weight (tokens, width), found none");
  }
  c.vocabulary = table->shape[0];
  if (c.vocabulary < 1 || c.vocabulary > kMostTokens) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("token_embd.weight: wanted 1 to {} tokens, found {}", kMostTokens,
                            c.vocabulary));
  }
  MYNAH_TRY(c.context_length, metadata.integer("context_length", 1, kMostPositions));
  MYNAH_TRY(c.layers, metadata.integer("block_count", 1, kMostLayers));
  MYNAH_TRY(c.width, metadata.integer("embedding_length", 1, kMostColumns));
  MYNAH_TRY(c.feed_forward, metadata.integer("feed_forward_length", 1, kMostColumns));
  MYNAH_TRY(c.heads, metadata.integer("attention.head_count", 1, kMostColumns));
  MYNAH_TRY(c.kv_heads, metadata.integer("attention.head_count_kv", 1, c.heads, c.heads));
  if (c.heads % c.kv_heads != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} heads of queries are no whole multiple of {} of keys", c.heads,
                            c.kv_heads));
  }
  MYNAH_TRY(c.head_dim,
            metadata.integer("attention.key_length", 1, kMostHeadColumns, c.width / c.heads));
  MYNAH_TRY(const int64_t value_dim,
            metadata.integer("attention.value_length", 1, kMostHeadColumns, c.head_dim));
  if (value_dim != c.head_dim) {
    return wants(
        fmt::format("mynah does not run models whose keys and values differ in width: "
                    "found {} and {}",
                    c.head_dim, value_dim));
  }
  constexpr double kMostEpsilon = 1.0;
  MYNAH_TRY(const double epsilon,
            metadata.number("attention.layer_norm_rms_epsilon", 0, kMostEpsilon, -1));
  if (epsilon < 0) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("wanted {}, found none", metadata.key("attention.layer_norm_rms_epsilon")));
  }
  c.norm_epsilon = static_cast<float>(epsilon);
  return {};
}

// Refuses by name what would change the numbers and is not done.
Status refuse_unknown_parts(const Metadata& metadata) {
  MYNAH_TRY(const int64_t experts, metadata.integer("expert_count", 0, kMostColumns, 0));
  if (experts > 0) {
    return wants(fmt::format("mynah does not run mixtures of experts yet: found {}", experts));
  }
  constexpr std::array<std::string_view, 5> kNotDone = {
      "attention.clamp_kqv", "attention.max_alibi_bias", "attn_logit_softcapping", "logit_scale",
      "residual_scale"};
  for (const std::string_view name : kNotDone) {
    MYNAH_TRY(const double value, metadata.number(name, -1e30, 1e30, 0));
    if (value != 0) {
      return wants(
          fmt::format("mynah does not run models with {}: found {}", metadata.key(name), value));
    }
  }
  return {};
}

// The factors that slow down each pair, where the file has a tensor of them.
Status slow_down(const TensorFile& file, std::string_view factors_of,
                 std::vector<double>& frequencies) {
  const StoredTensor* const tensor = file.find(factors_of);
  if (tensor == nullptr) {
    return {};
  }
  const auto pairs = std::ssize(frequencies);
  if (tensor->shape != Shape{pairs} || tensor->dtype != DType::F32) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted f32 ({}), found {} {}", factors_of, pairs,
                            name(tensor->dtype), tensor->shape.str()));
  }
  const std::vector<float> factors = values_of(*tensor);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] > 0 && std::isfinite(factors[i]))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted numbers above 0, found {}", factors_of, factors[i]));
    }
    frequencies[i] /= static_cast<double>(factors[i]);
  }
  return {};
}

Status read_rotary(const TensorFile& file, const Metadata& metadata,
                   const Architecture& architecture, Config& c) {
  constexpr double kMostFactor = 1e6;
  MYNAH_TRY(const int64_t dimensions,
            metadata.integer("rope.dimension_count", 2, c.head_dim, c.head_dim));
  MYNAH_TRY(const double base,
            metadata.number("rope.freq_base", kLeastBase, kMostBase, kUsualBase));
  MYNAH_TRY(const double old_factor, metadata.number("rope.scale_linear", 0, kMostFactor, 0));
  MYNAH_TRY(const double found, metadata.number("rope.scaling.factor", 0, kMostFactor, old_factor));
  MYNAH_TRY(const double attention, metadata.number("rope.scaling.attn_factor", 0, kMostFactor, 1));
  MYNAH_TRY(const int64_t original, metadata.integer("rope.scaling.original_context_length", 1,
                                                     kMostPositions, c.context_length));
  MYNAH_TRY(const std::string kind, metadata.text("rope.scaling.type", "linear"));
  const double factor = found == 0 ? 1 : found;  // 0: none, as llama.cpp reads it
  Rotary& rotary = c.rotary;
  rotary.magnitude = static_cast<float>(attention);
  rotary.pairs = architecture.pairs;
  if (kind == "yarn") {
    Yarn yarn{.factor = factor, .original_context = static_cast<double>(original)};
    MYNAH_TRY(yarn.fast, metadata.number("rope.scaling.yarn_beta_fast", 1e-3, 1e6, yarn.fast));
    MYNAH_TRY(yarn.slow, metadata.number("rope.scaling.yarn_beta_slow", 1e-3, 1e6, yarn.slow));
    rotary.frequencies = yarn_frequencies(base, dimensions, yarn);
    MYNAH_TRY(const double shared, metadata.number("rope.scaling.yarn_log_multiplier", 0, 1e3, 0));
    rotary.magnitude *= yarn_magnitude(factor) / yarn_magnitude(factor, shared);
  } else if (kind == "linear" || kind == "longrope" || kind == "none") {
    rotary.frequencies = rotary_frequencies(base, dimensions);
    for (double& frequency : rotary.frequencies) {
      frequency /= kind == "none" ? 1 : factor;
    }
  } else {
    return wants(fmt::format("{}: mynah does none, linear, yarn and longrope, found \"{}\"",
                             metadata.key("rope.scaling.type"), kind));
  }
  if (architecture.growing_queries) {
    MYNAH_TRY(const double growth, metadata.number("attention.temperature_scale", 0, 1e3, 0));
    c.query_growth = static_cast<float>(growth);
    c.growth_context = original;
  }
  // Llama 3.1's, as converted files have them, or LongRoPE's (Ding et al. 2024, arXiv:2402.13753).
  MYNAH_TRY_STATUS(slow_down(file, "rope_freqs.weight", rotary.frequencies));
  if (file.find("rope_factors_long.weight") != nullptr) {
    c.short_context = original;
    c.long_rotary = rotary;
    MYNAH_TRY_STATUS(slow_down(file, "rope_factors_long.weight", c.long_rotary.frequencies));
    MYNAH_TRY_STATUS(slow_down(file, "rope_factors_short.weight", rotary.frequencies));
  }
  return {};
}

Status read_windows(const Metadata& metadata, const Architecture& architecture, Config& c) {
  c.sees_window.assign(static_cast<size_t>(c.layers), false);
  if (architecture.window_pattern == 0) {
    return {};
  }
  MYNAH_TRY(c.window, metadata.integer("attention.sliding_window", 0, kMostPositions, 0));
  if (c.window == 0) {
    return {};
  }
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const MetadataValue* const value = metadata.find(kPattern);
  if (const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(value)) {
    if (std::ssize(*list) != c.layers) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted a value for each of {} layers, found {}",
                              metadata.key(kPattern), c.layers, list->size()));
    }
    for (size_t layer = 0; layer < list->size(); ++layer) {
      c.sees_window[layer] = (*list)[layer] != 0;
    }
  } else {
    MYNAH_TRY(const int64_t pattern,
              metadata.integer(kPattern, 1, kMostLayers, architecture.window_pattern));
    for (int64_t layer = 0; layer < c.layers; ++layer) {
      c.sees_window[static_cast<size_t>(layer)] = layer % pattern < pattern - 1;
    }
  }
  MYNAH_TRY(const double base,
            metadata.number("rope.freq_base_swa", kLeastBase, kMostBase, kUsualBase));
  c.local_rotary = {.frequencies = rotary_frequencies(base, 2 * std::ssize(c.rotary.frequencies)),
                    .pairs = c.rotary.pairs};
  return {};
}

// Tensors of a block and of the model that are read, all with ".weight", and which of them may have
// a ".bias". Another would be left out in silence.
struct Role {
  std::string_view name;
  bool bias = false;
};

constexpr std::array kModelRoles = {
    Role{"token_embd"}, Role{"output_norm"},       Role{"output"},
    Role{"rope_freqs"}, Role{"rope_factors_long"}, Role{"rope_factors_short"}};
constexpr std::array kBlockRoles = {
    Role{"attn_norm"},      Role{"attn_q", true},   Role{"attn_k", true},
    Role{"attn_v", true},   Role{"attn_qkv", true}, Role{"attn_output", true},
    Role{"attn_q_norm"},    Role{"attn_k_norm"},    Role{"post_attention_norm"},
    Role{"ffn_norm"},       Role{"ffn_gate", true}, Role{"ffn_up", true},
    Role{"ffn_down", true}, Role{"post_ffw_norm"}};

bool is_read(std::string_view name, std::span<const Role> roles) {
  return std::ranges::any_of(roles, [&](const Role& role) {
    return name.starts_with(role.name) && (name.substr(role.name.size()) == ".weight" ||
                                           (role.bias && name.substr(role.name.size()) == ".bias"));
  });
}

Status check_tensors(const TensorFile& file) {
  constexpr std::string_view kBlock = "blk.";
  for (const StoredTensor& tensor : file.tensors) {
    std::string_view name = tensor.name;
    const bool of_block = name.starts_with(kBlock);
    if (of_block) {
      name.remove_prefix(std::min(name.size(), name.find('.', kBlock.size()) + 1));
    }
    if (!(of_block ? is_read(name, kBlockRoles) : is_read(name, kModelRoles))) {
      return wants(fmt::format("{}: mynah does not know what such a tensor is for", tensor.name));
    }
  }
  return {};
}

Result<Config> read_config(const TensorFile& file) {
  const auto found = file.metadata.find("general.architecture");
  const auto* const name =
      found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (name == nullptr) {
    return fail(ErrorCode::InvalidInput,
                "wanted a GGUF language model, found no general.architecture in the metadata");
  }
  const Architecture* const architecture = find_architecture(*name);
  if (architecture == nullptr) {
    return fail(ErrorCode::Unsupported,
                fmt::format("mynah does not run the architecture \"{}\": it runs {}", *name,
                            architecture_names()));
  }
  const Metadata metadata(file, *name);
  MYNAH_TRY_STATUS(refuse_unknown_parts(metadata));
  MYNAH_TRY_STATUS(check_tensors(file));
  Config c;
  c.architecture = *name;
  MYNAH_TRY_STATUS(read_sizes(file, metadata, c));
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.head_dim)));
  c.activation = architecture->activation;
  c.normed_heads = architecture->normed_heads;
  c.normed_results = architecture->normed_results;
  if (architecture->scaled_embedding) {
    c.embedding_scale = std::sqrt(static_cast<float>(c.width));
  }
  MYNAH_TRY(const double cap, metadata.number("final_logit_softcapping", 0, 1e30, 0));
  c.logit_cap = static_cast<float>(cap);
  if (c.layers == architecture->scaled_by_width) {
    const int64_t columns = c.width / c.heads;
    c.attention_scale = 1.0F / std::sqrt(static_cast<float>(columns));
  }
  MYNAH_TRY_STATUS(read_rotary(file, metadata, *architecture, c));
  MYNAH_TRY_STATUS(read_windows(metadata, *architecture, c));
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    c.rotates.push_back(architecture->unturned_pattern == 0 ||
                        (layer + 1) % architecture->unturned_pattern != 0);
  }
  return c;
}

}  // namespace

Result<Config> Config::read(const TensorFile& file) {
  auto config = read_config(file);
  if (!config) {
    return std::unexpected(std::move(config).error().while_doing(file.path));
  }
  return config;
}

}  // namespace mynah::llama
