// The same work in two places by turns, so that a machine that gets slower meanwhile gets slower
// for both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "base/result.h"

namespace mynah::bench {

// Does the work once and returns its answer as bytes, which must be the same wherever it is done.
using Work = std::function<Result<std::string>()>;

// The same work here and in a worker.
struct Pair {
  std::string name;  // "stt: 8 windows, 71 s of speech"
  Work here;
  Work worker;
  int turns = 0;         // each does it so often
  pid_t worker_pid = 0;  // whose time counts
};

// Times of both and what the worker loses, the median of the turns' own ratios with the interval
// that holds it with 95 percent: of the time that passed, and of the processor's time that both
// processes took, which other programs change little. InvalidInput where the answers differ.
[[nodiscard]] Result<nlohmann::ordered_json> measure(const Pair& pair);

[[nodiscard]] double median(std::vector<double> values);

// The value that so large a share of all is not above.
[[nodiscard]] double quantile(std::vector<double> values, double share);

[[nodiscard]] double milliseconds_of(const std::function<void()>& work);

}  // namespace mynah::bench
