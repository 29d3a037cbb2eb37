#include "nn/kv_cache.h"

#include <algorithm>
#include <utility>

namespace mynah {

KvCache::KvCache(Backend& backend, const Sizes& sizes, DType dtype)
    : backend_(&backend),
      sizes_(sizes),
      dtype_(dtype),
      keys_(static_cast<size_t>(sizes.layers)),
      values_(static_cast<size_t>(sizes.layers)),
      lengths_(static_cast<size_t>(sizes.slots), 0) {}

// What the slots hold, further apart.
Tensor KvCache::moved(const Tensor& cache, int64_t room) const {
  Tensor grown = ops::empty(*backend_, {sizes_.slots * room, sizes_.width}, dtype_);
  for (int64_t slot = 0; slot < sizes_.slots; ++slot) {
    if (const Span from = span(slot); from.length > 0) {
      ops::copy_into(*backend_, cache.narrow(0, from.begin, from.length),
                     grown.narrow(0, slot * room, from.length));
    }
  }
  return grown;
}

void KvCache::make_room(int64_t length) {
  constexpr int64_t kLeast = 64;  // more than a short window's text
  if (length <= room_) {
    return;
  }
  const int64_t room = std::min(std::max({length, 2 * room_, kLeast}), sizes_.capacity);
  for (Tensor& keys : keys_) {
    keys = moved(keys, room);
  }
  for (Tensor& values : values_) {
    values = moved(values, room);
  }
  room_ = room;
}

void KvCache::write(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& rows) const {
  ops::scatter_rows(*backend_, k, rows, keys(layer));
  ops::scatter_rows(*backend_, v, rows, values(layer));
}

void KvCache::copy_slots(const Tensor& cache, std::span<const int64_t> sources) const {
  // Everything that is read by another slot is copied out first: moves may form cycles.
  std::vector<std::pair<size_t, Tensor>> moved;
  for (size_t slot = 0; slot < sources.size(); ++slot) {
    if (sources[slot] != static_cast<int64_t>(slot)) {
      const Span from = span(sources[slot]);
      moved.emplace_back(slot, ops::copy(*backend_, cache.narrow(0, from.begin, from.length)));
    }
  }
  for (const auto& [slot, rows] : moved) {
    const int64_t begin = static_cast<int64_t>(slot) * room_;
    ops::copy_into(*backend_, rows, cache.narrow(0, begin, rows.dim(0)));
  }
}

void KvCache::rearrange(std::span<const int64_t> sources) {
  for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
    copy_slots(keys(layer), sources);
    copy_slots(values(layer), sources);
  }
  const std::vector<int64_t> before = lengths_;
  for (size_t slot = 0; slot < sources.size(); ++slot) {
    lengths_[slot] = before[static_cast<size_t>(sources[slot])];
  }
}

}  // namespace mynah
