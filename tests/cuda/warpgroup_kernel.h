// The kernel of warpgroup_kernel.cu.
#pragma once

#include <cstdint>

#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt {

// What the kernel does wrong on purpose.
enum class WarpgroupMistake : uint8_t {
  None,
  ReadsBeforeTheCopy,
  CopiesOverWhatIsRead,
  WaitsForNobody,
  ArrivesTooOften,
  SharesTheMbarrierAtOnce,
  UsesWhatIsNoMbarrier,
  CopiesEightBytes,
  MultipliesUnprepared,
  MultipliesOtherMatrices,
  LooksAtSumsTooEarly,
  EndsBeforeItsProducts,
  EndsBeforeItsCopies
};

enum class WarpgroupType : uint8_t { F16, Bf16 };

// C (64, 128) = 2 A B, of panels of two units: A (64), B (128).
struct WarpgroupArgs {
  const uint32_t* a;
  const uint32_t* b;
  float* c;
  WarpgroupType type;
  WarpgroupMistake mistake;
};

inline constexpr int kWarpgroupThreads = 160;  // a warpgroup, and a warp that copies

extern const HostKernel multiply_warpgroup_sm90;

}  // namespace mynah::simt
