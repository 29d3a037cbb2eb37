// Kernels that are wrong on purpose, one mistake each, and one that is right: what the simulation
// must find.
#include "backend/cuda/simt/simt.h"
#include "cuda/mistakes.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 64;

}  // namespace

// Reverses 64 numbers by way of shared memory.
MYNAH_KERNEL(right, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  numbers[thread_index()] = x[thread_index()];
  barrier();
  out[thread_index()] = numbers[kThreads - 1 - thread_index()];
}

MYNAH_KERNEL(reads_past_the_end, MistakeArgs, kThreads) {
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  out[thread_index()] = x[thread_index() + 1];
}

MYNAH_KERNEL(writes_before_the_start, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  out[thread_index() - 1] = 1.0F;
}

MYNAH_KERNEL(loads_a_vector_askew, MistakeArgs, kThreads) {
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  if (thread_index() == 0) {
    const Vector<float, 4> four = x.load<4>(1);
    out[0] = four[0];
  }
}

MYNAH_KERNEL(reads_what_nobody_wrote, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<float> out(args.out);
  if (thread_index() != 7) {
    numbers[thread_index()] = 1.0F;
  }
  barrier();
  out[thread_index()] = numbers[thread_index()];
}

// As `right`, without the barrier.
MYNAH_KERNEL(forgets_the_barrier, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  numbers[thread_index()] = x[thread_index()];
  numbers[kThreads - 1 - thread_index()] += 1.0F;
  barrier();
  out[thread_index()] = numbers[thread_index()];
}

// Writes for the next round while others may still read this one's.
MYNAH_KERNEL(forgets_the_second_barrier, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  float sum = 0.0F;
  for (int round = 0; round < 2; ++round) {
    numbers[thread_index()] = x[thread_index()];
    barrier();
    sum += numbers[kThreads - 1 - thread_index()];
  }
  out[thread_index()] = sum;
}

// An exchange orders the lanes of one warp, not two warps.
MYNAH_KERNEL(takes_a_warp_for_a_block, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  numbers[thread_index()] = x[thread_index()];
  warp_barrier();
  out[thread_index()] = numbers[kThreads - 1 - thread_index()];
}

MYNAH_KERNEL(meets_at_a_barrier_that_some_miss, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  if (thread_index() < kWarp) {
    barrier();
  }
  out[thread_index()] = 0.0F;
}

MYNAH_KERNEL(meets_at_two_barriers, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  if (thread_index() < kWarp) {
    barrier();
  } else {
    barrier();
  }
  out[thread_index()] = 0.0F;
}

MYNAH_KERNEL(shuffles_in_a_branch, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  float value = 1.0F;
  if (lane() < kWarp / 2) {
    value = shuffle_xor(value, 1);
  }
  out[thread_index()] = value;
}

MYNAH_KERNEL(shuffles_in_two_branches, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  float value = 1.0F;
  if (lane() < kWarp / 2) {
    value = shuffle_xor(value, 1);
  } else {
    value = shuffle_xor(value, 2);
  }
  out[thread_index()] = value;
}

MYNAH_KERNEL(wants_too_much_shared_memory, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, 13 << 10);
  const Global<float> out(args.out);
  numbers[thread_index()] = 1.0F;
  out[thread_index()] = numbers[thread_index()];
}

MYNAH_KERNEL(writes_past_shared_memory, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<float> out(args.out);
  numbers[thread_index() + 1] = 1.0F;
  barrier();
  out[thread_index()] = numbers[thread_index() + 1];
}

}  // namespace mynah::simt
