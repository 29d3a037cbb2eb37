// The kernels of mistakes.cu.
#pragma once

#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt {

// 64 numbers each.
struct MistakeArgs {
  const float* x;
  float* out;
};

extern const HostKernel right_sm60;
extern const HostKernel reads_past_the_end_sm60;
extern const HostKernel writes_before_the_start_sm60;
extern const HostKernel loads_a_vector_askew_sm60;
extern const HostKernel reads_what_nobody_wrote_sm60;
extern const HostKernel forgets_the_barrier_sm60;
extern const HostKernel forgets_the_second_barrier_sm60;
extern const HostKernel takes_a_warp_for_a_block_sm60;
extern const HostKernel meets_at_a_barrier_that_some_miss_sm60;
extern const HostKernel meets_at_two_barriers_sm60;
extern const HostKernel shuffles_in_a_branch_sm60;
extern const HostKernel shuffles_in_two_branches_sm60;
extern const HostKernel wants_too_much_shared_memory_sm60;
extern const HostKernel writes_past_shared_memory_sm60;

}  // namespace mynah::simt
