// LaunchReport: what one launch on the simulated card was, and what it pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "backend/cuda/simt/traffic.h"

namespace mynah::simt {

struct LaunchReport {
  std::string_view kernel;   // "layer_norm"
  int level = 0;             // of the program that it is in
  int64_t blocks = 0;        // of the launch
  int threads = 0;           // of a block
  size_t dynamic_bytes = 0;  // of a block's shared memory that the launch asked for
  Traffic traffic;           // of the blocks that ran: Traffic::blocks of them
};

using LaunchObserver = std::function<void(const LaunchReport&)>;

}  // namespace mynah::simt
