// The processor every machine has: operations in SIMD on the caller's thread pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "tensor/backend.h"

namespace mynah {

// Names of the instruction sets that this processor has, least first: "sse4", "avx2", "avx512",
// "avx512_vnni", "avx512_bf16".
[[nodiscard]] std::vector<std::string> cpu_instruction_sets();

// Makes a backend that computes on `pool`, which must outlive it. `isa`: none for the best this
// processor has; a name it lacks is refused with those it has.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cpu_backend(
    ThreadPool& pool, const std::optional<std::string>& isa = std::nullopt);

}  // namespace mynah
