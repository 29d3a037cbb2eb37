#include "backend/cuda/recording.h"

namespace mynah::cuda {

void Recording::add(const Launch& launch) {
  constexpr size_t kAlignment = 16;  // at least that of any argument
  const size_t at = (arguments_.size() + kAlignment - 1) / kAlignment * kAlignment;
  entries_.push_back({.kernel = launch.kernel,
                      .grid = launch.grid,
                      .threads = launch.threads,
                      .shared_bytes = launch.shared_bytes,
                      .args_at = at,
                      .args_bytes = launch.args_bytes});
  arguments_.resize(at);
  const auto* const args = static_cast<const std::byte*>(launch.args);
  arguments_.insert(arguments_.end(), args, args + launch.args_bytes);
}

std::vector<Launch> Recording::launches() const {
  std::vector<Launch> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    all.push_back({.kernel = entry.kernel,
                   .grid = entry.grid,
                   .threads = entry.threads,
                   .shared_bytes = entry.shared_bytes,
                   .args = arguments_.data() + entry.args_at,
                   .args_bytes = entry.args_bytes});
  }
  return all;
}

void Recording::clear() {
  entries_.clear();
  arguments_.clear();
}

}  // namespace mynah::cuda
