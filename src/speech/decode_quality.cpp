#include "speech/decode_quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <zlib.h>

namespace mynah {

float compression_ratio(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  uLongf size = compressBound(text.size());
  std::vector<Bytef> packed(size);
  compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            Z_DEFAULT_COMPRESSION);
  return static_cast<float>(text.size()) / static_cast<float>(size);
}

float token_entropy(std::span<const int32_t> tokens) {
  constexpr size_t kRecent = 32;
  const auto recent = tokens.last(std::min(kRecent, tokens.size()));
  std::map<int32_t, int> counts;
  for (const int32_t token : recent) {
    ++counts[token];
  }
  float entropy = 0;
  for (const auto& [token, count] : counts) {
    const float p = static_cast<float>(count) / static_cast<float>(recent.size());
    entropy -= p * std::log(p);
  }
  return entropy;
}

}  // namespace mynah
