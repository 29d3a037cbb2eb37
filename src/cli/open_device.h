// The device that --device names, opened.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/thread_pool.h"
#include "cli/verb.h"
#include "tensor/backend.h"

namespace mynah::cli {

// The backend and what it computes on, in the order that they must be destroyed from the end.
struct OpenedDevice {
  std::unique_ptr<ThreadPool> pool;  // null where the device brings its own processors
  std::unique_ptr<Backend> backend;
  std::string why;  // "device cpu: avx512_vnni, 2 threads (asked for by name)"
};

// `name` as check_device() takes it; `threads` 0: the physical cores. A card that is not there, or
// that cannot be used, is refused in one line that says why and what to do.
Result<OpenedDevice> open_device(const std::string& name, int threads,
                                 const Environment& environment);

}  // namespace mynah::cli
