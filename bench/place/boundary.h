// What the worker's boundary costs: the same stages in this process and in a worker.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace mynah::bench {

struct BoundaryOptions {
  std::string program;  // that is a worker
  std::string device;   // in both places
  int threads = 2;
  double turns = 1;    // times as many as usual
  std::string silero;  // a model's file each; empty: that group is left out
  std::string whisper;
  std::string hibari;
  std::string cache_folder;  // for packed weights
  std::vector<std::string> recordings;
};

// {"empty_call_ms": ..., "pairs": [...]}. An error where a worker's answer is another than that of
// this process.
[[nodiscard]] Result<nlohmann::ordered_json> bench_boundary(const BoundaryOptions& options);

}  // namespace mynah::bench
