#include "models/llama/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/llama/architectures.h"
#include "models/llama/metadata.h"
#include "models/llama/recurrence.h"
#include "models/llama/routing.h"
#include "models/llama/tensor_roles.h"

namespace mynah::llama {
namespace {

// Upper bounds are far above the largest published model (Llama 3.1 405B: 126 layers, width 16384),
// and keep arithmetic on sizes safe.
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostHeadColumns = 512;  // what attention takes on the processor
constexpr int64_t kMostTokens = 1 << 24;
constexpr int64_t kMostPositions = int64_t{1} << 30;
// Of rotary frequencies; the usual one is Su et al.'s, arXiv:2104.09864, section 3.2.2.
constexpr double kLeastBase = 2;
constexpr double kMostBase = 1e12;
constexpr double kUsualBase = 10000;

constexpr std::string_view kSharedLayers = "attention.shared_kv_layers";

// Columns of a head, of layers that see everything and of those that see a window.
struct HeadSizes {
  int64_t all = 0;
  int64_t in_windows = 0;
};

std::unexpected<Error> wants(std::string what) {
  return fail(ErrorCode::Unsupported, std::move(what));
}

Status read_sizes(const TensorFile& file, const Metadata& metadata,
                  const Architecture& architecture, Config& c) {
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
  MYNAH_TRY(c.heads, metadata.integer("attention.head_count", 1, kMostColumns));
  constexpr double kMostEpsilon = 1.0;
  const std::string_view name = architecture.layer_norms ? "attention.layer_norm_epsilon"
                                                         : "attention.layer_norm_rms_epsilon";
  MYNAH_TRY(const double epsilon, metadata.number(name, 0, kMostEpsilon, -1));
  if (epsilon < 0) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted {}, found none", metadata.key(name)));
  }
  c.norm_epsilon = static_cast<float>(epsilon);
  return {};
}

// Refuses by name what would change the numbers and is not done.
Status refuse_unknown_parts(const Metadata& metadata, const Architecture& architecture) {
  constexpr std::array<std::string_view, 5> kNotDone = {
      "attention.clamp_kqv", "attention.max_alibi_bias", "attn_logit_softcapping", "logit_scale",
      "residual_scale"};
  for (const std::string_view name : kNotDone) {
    if ((name == "attn_logit_softcapping" && architecture.score_cap > 0) ||
        (name.ends_with("_scale") && architecture.scaled_parts) ||
        (name == "logit_scale" && architecture.logit_factor)) {
      continue;
    }
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

// Scaled as the file says, for this base and so many columns of a head.
Result<Rotary> scaled_rotary(const Metadata& metadata, double base, int64_t dimensions,
                             int64_t original) {
  constexpr double kMostFactor = 1e6;
  MYNAH_TRY(const double old_factor, metadata.number("rope.scale_linear", 0, kMostFactor, 0));
  MYNAH_TRY(const double found, metadata.number("rope.scaling.factor", 0, kMostFactor, old_factor));
  MYNAH_TRY(const double attention, metadata.number("rope.scaling.attn_factor", 0, kMostFactor, 1));
  MYNAH_TRY(const std::string kind, metadata.text("rope.scaling.type", "linear"));
  const double factor = found == 0 ? 1 : found;  // 0: none, as llama.cpp reads it
  Rotary rotary{.frequencies = {}, .magnitude = static_cast<float>(attention)};
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
  return rotary;
}

Status read_rotary(const TensorFile& file, const Metadata& metadata,
                   const Architecture& architecture, const HeadSizes& sizes, Config& c) {
  MYNAH_TRY(const int64_t dimensions,
            metadata.integer("rope.dimension_count", 2, sizes.all, sizes.all));
  MYNAH_TRY(const double base,
            metadata.number("rope.freq_base", kLeastBase, kMostBase, kUsualBase));
  MYNAH_TRY(const int64_t original, metadata.integer("rope.scaling.original_context_length", 1,
                                                     kMostPositions, c.context_length));
  MYNAH_TRY(c.rotary, scaled_rotary(metadata, base, dimensions, original));
  c.rotary.pairs = architecture.pairs;
  if (architecture.growing_queries) {
    MYNAH_TRY(const double growth, metadata.number("attention.temperature_scale", 0, 1e3, 0));
    c.query_growth = static_cast<float>(growth);
    c.growth_context = original;
  }
  if (c.window > 0) {
    MYNAH_TRY(const int64_t own, metadata.integer("rope.dimension_count_swa", 2, sizes.in_windows,
                                                  std::min(dimensions, sizes.in_windows)));
    MYNAH_TRY(
        const double own_base,
        metadata.number("rope.freq_base_swa", kLeastBase, kMostBase,
                        architecture.one_rotary || architecture.one_base ? base : kUsualBase));
    if (architecture.one_rotary) {
      MYNAH_TRY(c.local_rotary, scaled_rotary(metadata, own_base, own, original));
    } else {
      c.local_rotary.frequencies = rotary_frequencies(own_base, own);
    }
    c.local_rotary.pairs = architecture.pairs;
  }
  // Llama 3.1's, as converted files have them, or LongRoPE's (Ding et al. 2024, arXiv:2402.13753).
  MYNAH_TRY_STATUS(slow_down(file, "rope_freqs.weight", c.rotary.frequencies));
  if (architecture.turned_in_windows && c.window > 0) {
    MYNAH_TRY_STATUS(slow_down(file, "rope_freqs.weight", c.local_rotary.frequencies));
  }
  if (file.find("rope_factors_long.weight") != nullptr) {
    c.short_context = original;
    c.long_rotary = c.rotary;
    MYNAH_TRY_STATUS(slow_down(file, "rope_factors_long.weight", c.long_rotary.frequencies));
    MYNAH_TRY_STATUS(slow_down(file, "rope_factors_short.weight", c.rotary.frequencies));
  }
  return {};
}

Status read_windows(const Metadata& metadata, const Architecture& architecture, Config& c) {
  if (architecture.window_pattern == 0) {
    return {};
  }
  MYNAH_TRY(c.window,
            metadata.integer("attention.sliding_window", 0, kMostPositions, architecture.window));
  if (c.window == 0) {
    return {};
  }
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const MetadataValue* const value = metadata.find(kPattern);
  if (value != nullptr && std::holds_alternative<std::vector<int64_t>>(*value)) {
    MYNAH_TRY(const std::vector<int64_t> list, metadata.integers(kPattern, c.layers, 0, 1));
    for (size_t i = 0; i < list.size(); ++i) {
      c.layer[i].sees_window = list[i] != 0;
    }
    return {};
  }
  MYNAH_TRY(const int64_t pattern,
            metadata.integer(kPattern, 1, kMostLayers, architecture.window_pattern));
  for (int64_t i = 0; i < c.layers; ++i) {
    c.layer[static_cast<size_t>(i)].sees_window = i % pattern < pattern - 1;
  }
  return {};
}

// Columns of a key's head; a value has as many.
Result<int64_t> head_columns(const Metadata& metadata, std::string_view of, int64_t otherwise) {
  MYNAH_TRY(const int64_t keys, metadata.integer(fmt::format("attention.key_length{}", of), 1,
                                                 kMostHeadColumns, otherwise));
  MYNAH_TRY(const int64_t values, metadata.integer(fmt::format("attention.value_length{}", of), 1,
                                                   kMostHeadColumns, keys));
  if (values != keys) {
    return wants(
        fmt::format("mynah does not run models whose keys and values differ in width: "
                    "found {} and {}",
                    keys, values));
  }
  return keys;
}

// Which caches the layers write and read: of so many at the end each reads what the last layer of
// its kind before them wrote.
Status share_caches(const Metadata& metadata, int64_t shared, Config& c) {
  const int64_t writing = c.layers - shared;
  int64_t caches = 0;
  int64_t states = 0;
  for (int64_t i = 0; i < c.layers; ++i) {
    LayerConfig& own = c.layer[static_cast<size_t>(i)];
    own.writes_keys = own.attends && i < writing;
    if (!own.attends) {
      own.cache = states;
      states += c.recurrence == Recurrence::DeltaNet ? 2 : 1;
      continue;
    }
    if (own.writes_keys) {
      own.cache = caches++;
      continue;
    }
    own.cache = writing - (own.sees_window ? 2 : 1);
    if (own.cache < 0 || c.layer[static_cast<size_t>(own.cache)].sees_window != own.sees_window ||
        c.layer[static_cast<size_t>(own.cache)].key_width() != own.key_width()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} of {}: layer {} has no layer of its kind to read keys of",
                              metadata.key(kSharedLayers), shared, i));
    }
  }
  return {};
}

// Blocks behind the model's own guess tokens ahead (multi-token prediction).
Status leave_out_guessing(const Metadata& metadata, Config& c) {
  MYNAH_TRY(const int64_t guessing, metadata.integer("nextn_predict_layers", 0, c.layers - 1, 0));
  c.layers -= guessing;
  c.layer.resize(static_cast<size_t>(c.layers));
  if (std::ranges::none_of(c.layer, &LayerConfig::attends)) {
    return wants("mynah does not run models in which no layer looks back");
  }
  return {};
}

Status read_layers(const TensorFile& file, const Metadata& metadata,
                   const Architecture& architecture, HeadSizes& sizes, Config& c) {
  c.layer.resize(static_cast<size_t>(c.layers));
  MYNAH_TRY_STATUS(read_windows(metadata, architecture, c));
  MYNAH_TRY_STATUS(read_experts(metadata, architecture, c));
  MYNAH_TRY(sizes.all, head_columns(metadata, "", c.width / c.heads));
  sizes.in_windows = sizes.all;
  if (architecture.layer_inputs) {
    MYNAH_TRY(sizes.in_windows, head_columns(metadata, "_swa", sizes.all));
    MYNAH_TRY(c.layer_inputs,
              metadata.integer("embedding_length_per_layer_input", 0, kMostColumns, 0));
  }
  MYNAH_TRY(const std::vector<int64_t> kv_heads,
            metadata.integers("attention.head_count_kv", c.layers,
                              architecture.recurrence == Recurrence::ShortConv ? 0 : 1, c.heads,
                              c.heads));
  MYNAH_TRY(const std::vector<int64_t> feed_forward,
            metadata.integers("feed_forward_length", c.layers, 1, kMostColumns,
                              c.experts > 0 ? std::optional(int64_t{1}) : std::nullopt));
  const bool has_windows = std::ranges::any_of(c.layer, &LayerConfig::sees_window);
  for (int64_t i = 0; i < c.layers; ++i) {
    LayerConfig& own = c.layer[static_cast<size_t>(i)];
    const auto has = [&](std::string_view name) {
      return file.find(fmt::format("blk.{}.{}.weight", i, name)) != nullptr;
    };
    own.rotates =
        (architecture.unturned_pattern == 0 || (i + 1) % architecture.unturned_pattern != 0) &&
        (!architecture.turned_in_windows || !has_windows || own.sees_window);
    own.head_dim = own.sees_window ? sizes.in_windows : sizes.all;
    own.kv_heads = kv_heads[static_cast<size_t>(i)];
    if (own.kv_heads > 0 && c.heads % own.kv_heads != 0) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} heads of queries are no whole multiple of {} of keys", c.heads,
                              own.kv_heads));
    }
    own.experts = c.experts > 0 && has("ffn_gate_inp");
    own.feed_forward = own.experts && !has("ffn_down") ? 0 : feed_forward[static_cast<size_t>(i)];
    own.values_are_keys = architecture.normed_values && !has("attn_v") && !has("attn_qkv");
  }
  MYNAH_TRY_STATUS(read_recurrence(metadata, architecture, c));
  MYNAH_TRY_STATUS(leave_out_guessing(metadata, c));
  int64_t shared = 0;
  if (architecture.layer_inputs) {
    MYNAH_TRY(shared, metadata.integer(kSharedLayers, 0, c.layers - 1, 0));
  }
  return share_caches(metadata, shared, c);
}

// Numbers that parts of the model are multiplied with (IBM's Granite; Yang et al. 2022,
// arXiv:2203.03466).
Status read_scales(const Metadata& metadata, const Architecture& architecture, Config& c) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e6;
  const auto scale = [&](std::string_view name, float& of) -> Status {
    MYNAH_TRY(const double found, metadata.number(name, kLeast, kMost, static_cast<double>(of)));
    of = static_cast<float>(found);
    return {};
  };
  if (architecture.logit_factor) {
    return scale("logit_scale", c.logit_scale);
  }
  if (!architecture.scaled_parts) {
    return {};
  }
  MYNAH_TRY_STATUS(scale("embedding_scale", c.embedding_scale));
  MYNAH_TRY_STATUS(scale("residual_scale", c.residual_scale));
  MYNAH_TRY_STATUS(scale("attention.scale", c.attention_scale));
  float divisor = 1;
  MYNAH_TRY_STATUS(scale("logit_scale", divisor));
  c.logit_scale = 1.0F / divisor;
  MYNAH_TRY(const bool turns, metadata.flag("rope.scaling.finetuned", true));
  for (LayerConfig& own : c.layer) {
    own.rotates = own.rotates && turns;
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
  MYNAH_TRY_STATUS(refuse_unknown_parts(metadata, *architecture));
  Config c;
  c.architecture = *name;
  MYNAH_TRY_STATUS(read_sizes(file, metadata, *architecture, c));
  HeadSizes sizes;
  MYNAH_TRY_STATUS(read_layers(file, metadata, *architecture, sizes, c));
  MYNAH_TRY_STATUS(check_tensors(file, *architecture, c.layers));
  MYNAH_TRY_STATUS(read_rotary(file, metadata, *architecture, sizes, c));
  MYNAH_TRY_STATUS(read_sections(metadata, c));
  c.attention_scale = architecture->unscaled_scores
                          ? 1.0F
                          : static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.all)));
  c.feed_forward = architecture->feed_forward;
  c.gate = architecture->gate;
  c.ffn_norm = architecture->ffn_norm;
  c.last_norm = architecture->last_norm;
  c.layer_norms = architecture->layer_norms;
  c.parallel_parts = architecture->parallel_parts;
  c.normed_inputs = architecture->normed_inputs;
  c.normed_heads = architecture->normed_heads && (!architecture->heads_by_tensors ||
                                                  file.find("blk.0.attn_q_norm.weight") != nullptr);
  c.whole_norms = architecture->whole_norms;
  c.turned_first = architecture->turned_first;
  c.attention_gate = architecture->attention_gate;
  c.normed_values = architecture->normed_values;
  c.normed_results = architecture->normed_results;
  c.sinks = architecture->sinks;
  if (architecture->scaled_embedding) {
    c.embedding_scale = std::sqrt(static_cast<float>(c.width));
  }
  MYNAH_TRY_STATUS(read_scales(metadata, *architecture, c));
  MYNAH_TRY(const double score_cap,
            metadata.number("attn_logit_softcapping", 0, 1e30, architecture->score_cap));
  c.score_cap = static_cast<float>(score_cap);
  MYNAH_TRY(const double logit_cap,
            metadata.number("final_logit_softcapping", 0, 1e30, architecture->logit_cap));
  c.logit_cap = static_cast<float>(logit_cap);
  if (c.layers == architecture->scaled_by_width) {
    const int64_t columns = c.width / c.heads;
    c.attention_scale = 1.0F / std::sqrt(static_cast<float>(columns));
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
