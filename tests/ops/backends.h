// The backends under test: every one that this build has, at every instruction set that this
// processor has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "tensor/backend.h"

namespace mynah::cases {

// "cpu/sse4", "cpu/avx2", ...
std::vector<std::string> backends_under_test();

// Makes the one of that name, which computes on `pool`.
std::unique_ptr<Backend> make_backend(const std::string& name, ThreadPool& pool);

}  // namespace mynah::cases
