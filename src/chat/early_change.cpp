#include "chat/early_change.h"

#include <algorithm>

namespace mynah {
namespace {

using Tokens = std::span<const int32_t>;

// Tokens that say by themselves that two texts go on alike.
constexpr size_t kAlike = 64;
// Tokens on each side of a change that show what it is about.
constexpr size_t kAround = 3;

size_t count_alike(Tokens a, Tokens b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::vector<int32_t> with_surroundings(Tokens text, size_t begin, size_t count) {
  const size_t from = begin - std::min(begin, kAround);
  const Tokens part = text.subspan(from, std::min(text.size(), begin + count + kAround) - from);
  return {part.begin(), part.end()};
}

}  // namespace

std::optional<EarlyChange> find_early_change(Tokens before, Tokens now) {
  constexpr size_t kEarly = 4;  // a quarter
  const size_t at = count_alike(before, now);
  if (at >= now.size() / kEarly) {
    return std::nullopt;
  }
  // The fewest tokens of both that have to go.
  for (size_t changed = 2; changed <= 2 * kMostChanged; ++changed) {
    const size_t most = std::min(changed - 1, kMostChanged);
    for (size_t was = changed - most; was <= most; ++was) {
      const size_t is = changed - was;
      if (at + was + kAlike > before.size() || at + is + kAlike > now.size()) {
        continue;
      }
      const auto alike =
          static_cast<int64_t>(count_alike(before.subspan(at + was), now.subspan(at + is)));
      if (alike >= kWorthSaying) {
        return EarlyChange{.position = static_cast<int64_t>(at),
                           .now = with_surroundings(now, at, is),
                           .alike_behind = alike};
      }
    }
  }
  return std::nullopt;
}

}  // namespace mynah
