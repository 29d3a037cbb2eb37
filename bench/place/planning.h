// What planning adds to a request: the first plan of a process, and later ones.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace mynah::bench {

struct PlanningOptions {
  std::string program;  // that is a worker
  std::string request;  // as --device says it
  std::string model;    // hibari's file
  std::string cache_folder;
  std::string cuda_driver;  // "": the usual places
};

// {"device", "first_ms", "later_ms"}: of a placement of hibari. The first is to be
// the first thing that is measured of a process.
[[nodiscard]] Result<nlohmann::ordered_json> bench_planning(const PlanningOptions& options);

}  // namespace mynah::bench
