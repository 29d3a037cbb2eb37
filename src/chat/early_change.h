// EarlyChange: a prompt that differs from one before near its beginning and is the same behind
// that: what is the same is read again all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mynah {

struct EarlyChange {
  int64_t position = 0;  // of the first token that differs
  // What stands there now, with a few tokens around it. What stood there before may be another's,
  // where several share an owner, and is not told.
  std::vector<int32_t> now;
  int64_t alike_behind = 0;  // tokens that follow it in both, and are read again
};

// In the first quarter of `now`, at most kMostChanged tokens that took the place of others, with at
// least kWorthSaying that are alike behind them.
[[nodiscard]] std::optional<EarlyChange> find_early_change(std::span<const int32_t> before,
                                                           std::span<const int32_t> now);

inline constexpr size_t kMostChanged = 48;
inline constexpr int64_t kWorthSaying = 256;

}  // namespace mynah
