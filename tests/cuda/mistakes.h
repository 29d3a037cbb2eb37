// The kernels of mistakes.cu.
#pragma once

#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt {

// 64 numbers each.
struct MistakeArgs {
  const float* x;
  float* out;
};

// A (16, words) and B (8, words), with 8 words a row, or 4 of multiply_codes_16; C (16, 8) of float
// or int, overwritten.
struct MatrixArgs {
  const uint32_t* a;
  const uint32_t* b;
  void* c;
};

struct F16;

// 32 rows of 8 elements of 16 bits; of each of four matrices a word of each lane.
struct LoadArgs {
  const F16* x;
  uint32_t* out;
};

extern const HostKernel right_sm80;
extern const HostKernel reads_past_the_end_sm80;
extern const HostKernel writes_before_the_start_sm80;
extern const HostKernel loads_a_vector_askew_sm80;
extern const HostKernel reads_what_nobody_wrote_sm80;
extern const HostKernel forgets_the_barrier_sm80;
extern const HostKernel forgets_the_second_barrier_sm80;
extern const HostKernel takes_a_warp_for_a_block_sm80;
extern const HostKernel meets_at_a_barrier_that_some_miss_sm80;
extern const HostKernel meets_at_two_barriers_sm80;
extern const HostKernel shuffles_in_a_branch_sm80;
extern const HostKernel shuffles_in_two_branches_sm80;
extern const HostKernel wants_too_much_shared_memory_sm80;
extern const HostKernel writes_past_shared_memory_sm80;
extern const HostKernel forgets_to_wait_for_a_copy_sm80;
extern const HostKernel forgets_the_barrier_after_a_copy_sm80;
extern const HostKernel copies_over_what_is_read_sm80;
extern const HostKernel ends_before_its_copies_sm80;
extern const HostKernel copies_askew_sm80;
extern const HostKernel copies_by_turns_sm80;
extern const HostKernel multiplies_in_a_branch_sm80;
extern const HostKernel load_four_matrices_sm80;
extern const HostKernel load_four_matrices_transposed_sm80;
extern const HostKernel loads_matrices_askew_sm80;
extern const HostKernel loads_matrices_that_others_write_sm80;
extern const HostKernel multiply_f16_sm80;
extern const HostKernel multiply_bf16_sm80;
extern const HostKernel multiply_codes_32_sm80;
extern const HostKernel multiply_codes_16_sm80;

}  // namespace mynah::simt
