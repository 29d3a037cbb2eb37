// What layers keep of keys and values.
#include "models/llama/config.h"

namespace mynah::llama {

std::vector<int64_t> Config::cache_widths() const {
  std::vector<int64_t> widths;
  for (const LayerConfig& own : layer) {
    if (own.writes_keys) {
      widths.push_back(own.key_width());
    }
  }
  return widths;
}

std::vector<int64_t> Config::cache_windows() const {
  std::vector<int64_t> windows(cache_widths().size(), window);
  for (const LayerConfig& own : layer) {
    if (own.attends && !own.sees_window) {
      windows[static_cast<size_t>(own.cache)] = 0;
    }
  }
  return windows;
}

uint64_t Config::cache_bytes(DType dtype, int64_t of_window) const {
  const std::vector<int64_t> widths = cache_widths();
  const std::vector<int64_t> windows = cache_windows();
  uint64_t bytes = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    bytes +=
        windows[i] == of_window ? 2 * static_cast<uint64_t>(storage_bytes(dtype, widths[i])) : 0;
  }
  return bytes;
}

}  // namespace mynah::llama
