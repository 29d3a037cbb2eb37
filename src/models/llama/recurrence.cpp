#include "models/llama/recurrence.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace mynah::llama {
namespace {

constexpr int64_t kMostHeads = 1 << 16;
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostPositions = int64_t{1} << 30;

std::unexpected<Error> wants(std::string what) {
  return fail(ErrorCode::Unsupported, std::move(what));
}

Status read_short_conv(const Metadata& metadata, Config& c) {
  // LFM2.5's embedding models.
  const MetadataValue* const causal = metadata.find("attention.causal");
  if (causal != nullptr && *causal == MetadataValue(false)) {
    return wants(fmt::format("mynah does not run models that look ahead ({} is false)",
                             metadata.key("attention.causal")));
  }
  MYNAH_TRY(c.conv_taps, metadata.integer("shortconv.l_cache", 2, kMostTaps));
  // LFM2.5's audio tokenizer.
  MYNAH_TRY(const int64_t window,
            metadata.integer("attention.sliding_window", 0, kMostPositions, 0));
  if (window > 0) {
    return wants(fmt::format("mynah does not run models with {} of this architecture",
                             metadata.key("attention.sliding_window")));
  }
  // Layers without heads of keys are those that do not look back.
  for (LayerConfig& own : c.layer) {
    own.attends = own.kv_heads > 0;
  }
  return {};
}

Status read_delta_net(const Metadata& metadata, Config& c) {
  MYNAH_TRY(c.conv_taps, metadata.integer("ssm.conv_kernel", 2, kMostTaps));
  MYNAH_TRY(c.delta_columns, metadata.integer("ssm.state_size", 1, kMostDeltaKeys));
  MYNAH_TRY(c.delta_heads, metadata.integer("ssm.time_step_rank", 1, kMostHeads));
  MYNAH_TRY(c.delta_key_heads, metadata.integer("ssm.group_count", 1, c.delta_heads));
  MYNAH_TRY(const int64_t inner,
            metadata.integer("ssm.inner_size", 1, kMostHeads * kMostDeltaKeys));
  if (c.delta_heads % c.delta_key_heads != 0 || inner != c.delta_value_width()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted {} heads of {} columns, {} of keys dividing them, found {}",
                            metadata.key("ssm.inner_size"), c.delta_heads, c.delta_columns,
                            c.delta_key_heads, inner));
  }
  constexpr std::string_view kList = "attention.recurrent_layers";
  MYNAH_TRY(const int64_t interval, metadata.integer("full_attention_interval", 1, kMostLayers, 4));
  MYNAH_TRY(const std::vector<int64_t> recurrent, metadata.integers(kList, c.layers, 0, 1, 1));
  const bool listed = metadata.find(kList) != nullptr;
  for (size_t i = 0; i < c.layer.size(); ++i) {
    c.layer[i].attends = listed ? recurrent[i] == 0 : (static_cast<int64_t>(i) + 1) % interval == 0;
  }
  return {};
}

constexpr std::array<std::string_view, 3> kShortConvTensors = {
    "shortconv.conv.weight", "shortconv.in_proj.weight", "shortconv.out_proj.weight"};
constexpr std::array<std::string_view, 10> kDeltaNetTensors = {
    "attn_gate.weight",  "ssm_a",        "ssm_alpha.weight", "ssm_beta.weight",
    "ssm_ba.weight",     "ssm_dt.bias",  "ssm_norm.weight",  "ssm_out.weight",
    "ssm_conv1d.weight", "ssm_in.weight"};

}  // namespace

Status read_recurrence(const Metadata& metadata, const Architecture& architecture, Config& c) {
  c.recurrence = architecture.recurrence;
  c.grouped_deltas = architecture.grouped_deltas;
  c.gated_attention = architecture.gated_attention;
  switch (architecture.recurrence) {
    case Recurrence::None:
      return {};
    case Recurrence::ShortConv:
      return read_short_conv(metadata, c);
    case Recurrence::DeltaNet:
      return read_delta_net(metadata, c);
  }
  return {};
}

Status read_sections(const Metadata& metadata, Config& c) {
  constexpr std::string_view kName = "rope.dimension_sections";
  const MetadataValue* const value = metadata.find(kName);
  const auto* const sections =
      value == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(value);
  const auto counts = [](int64_t pairs) { return pairs != 0; };
  if (sections == nullptr || std::ranges::none_of(*sections, counts)) {
    return {};
  }
  constexpr ptrdiff_t kKnown = 3;  // time, height and width
  if (std::ssize(*sections) > kKnown &&
      std::any_of(sections->begin() + kKnown, sections->end(), counts)) {
    return wants(
        fmt::format("{}: mynah runs models whose pairs turn by time, height and width, "
                    "and this one has pairs for something else",
                    metadata.key(kName)));
  }
  c.rotary.pairs = RopePairs::Halves;
  return {};
}

bool is_read_by(Recurrence recurrence, std::string_view name) {
  const auto among = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  switch (recurrence) {
    case Recurrence::None:
      return false;
    case Recurrence::ShortConv:
      return among(kShortConvTensors);
    case Recurrence::DeltaNet:
      return among(kDeltaNetTensors);
  }
  return false;
}

std::vector<int64_t> Config::states() const {
  std::vector<int64_t> all;
  for (const LayerConfig& own : layer) {
    if (own.attends) {
      continue;
    }
    if (recurrence == Recurrence::ShortConv) {
      all.push_back((conv_taps - 1) * width);
    } else {
      all.push_back((conv_taps - 1) * (2 * delta_key_width() + delta_value_width()));
      all.push_back(delta_value_width() * delta_columns);
    }
  }
  return all;
}

uint64_t Config::state_bytes() const {
  const std::vector<int64_t> all = states();
  return storage_bytes(DType::F32, std::accumulate(all.begin(), all.end(), int64_t{0}));
}

}  // namespace mynah::llama
