// What this machine can do at most, measured in the same run as what it is compared with.
#pragma once

#include <string>

#include "base/thread_pool.h"

namespace mynah::bench {

// Of all threads of a pool together, at one instruction set.
struct Ceiling {
  double f32 = 0.0;    // multiplications and additions a second of f32
  double bf16 = 0.0;   // of bfloat16 dot products; f32's where there are none
  double i8 = 0.0;     // of int8 dot products; f32's where there are none
  double bytes = 0.0;  // read a second from memory, far beyond the caches
};

// `isa` as the CPU backend names it: "sse4", "avx2", "avx512", "avx512_vnni", "avx512_bf16".
[[nodiscard]] Ceiling measure_ceiling(const std::string& isa, ThreadPool& pool);

}  // namespace mynah::bench
