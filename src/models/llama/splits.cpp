// Where a model may be cut in two.
#include <algorithm>
#include <charconv>

#include "models/llama/config.h"

namespace mynah::llama {

std::vector<int64_t> Config::splits() const {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count < layers; ++count) {
    const auto kept_below = std::ssize(first_layers(count).cache_widths());
    const auto reads_below = [&](const LayerConfig& own) {
      return own.attends && !own.writes_keys && own.cache < kept_below;
    };
    if (std::none_of(layer.begin() + count, layer.end(), reads_below)) {
      counts.push_back(count);
    }
  }
  return counts;
}

Config Config::first_layers(int64_t count) const {
  Config below = *this;
  below.layers = count;
  below.layer.resize(static_cast<size_t>(count));
  return below;
}

bool is_below(std::string_view tensor, int64_t count) {
  constexpr std::string_view kBlock = "blk.";
  if (!tensor.starts_with(kBlock)) {
    return tensor == "token_embd.weight" || tensor.starts_with("per_layer_");
  }
  tensor.remove_prefix(kBlock.size());
  int64_t layer = 0;
  std::from_chars(tensor.data(), tensor.data() + tensor.size(), layer);
  return layer < count;
}

}  // namespace mynah::llama
