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

// Reads what is still on its way.
MYNAH_KERNEL(forgets_to_wait_for_a_copy, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  if (thread_index() < kThreads / 4) {
    copy_16_async(numbers.from(thread_index() * 4), x.from(thread_index() * 4), true);
  }
  commit_copies();
  barrier();
  out[thread_index()] = numbers[thread_index()];
  wait_for_copies<0>();
}

// What a thread has waited for is there for that thread only.
MYNAH_KERNEL(forgets_the_barrier_after_a_copy, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  if (thread_index() < kThreads / 4) {
    copy_16_async(numbers.from(thread_index() * 4), x.from(thread_index() * 4), true);
  }
  commit_copies();
  wait_for_copies<0>();
  out[thread_index()] = numbers[kThreads - 1 - thread_index()];
}

// The second group fills what is still read of the first.
MYNAH_KERNEL(copies_over_what_is_read, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, 4);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  float sum = 0.0F;
  for (int round = 0; round < 2; ++round) {
    if (thread_index() == 0) {
      copy_16_async(numbers, x.from(round * 4), true);
    }
    commit_copies();
    wait_for_copies<0>();
    barrier();
    sum += numbers[thread_index() % 4];
  }
  out[thread_index()] = sum;
}

MYNAH_KERNEL(ends_before_its_copies, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads * 4);
  const Global<const float> x(args.x);
  copy_16_async(numbers.from(thread_index() * 4), x, true);
  commit_copies();
}

MYNAH_KERNEL(copies_askew, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, kThreads * 4);
  const Global<const float> x(args.x);
  copy_16_async(numbers.from(thread_index() * 4 + 1), x, true);
  commit_copies();
  wait_for_copies<0>();
}

// Two groups in turn: while one is read, the other is on its way. Half of the first is outside.
MYNAH_KERNEL(copies_by_turns, MistakeArgs, kThreads) {
  MYNAH_SHARED(float, numbers, 2 * kThreads / 2);
  const Global<const float> x(args.x);
  const Global<float> out(args.out);
  constexpr int kHalf = kThreads / 2;
  constexpr int kCopies = kHalf / 4;
  for (int half = 0; half < 2; ++half) {
    if (thread_index() < kCopies) {
      const int at = half * kHalf + thread_index() * 4;
      copy_16_async(numbers.from(at), x.from(at), half == 1 || thread_index() < kCopies / 2);
    }
    commit_copies();
  }
  wait_for_copies<1>();
  barrier();
  if (thread_index() < kHalf) {
    out[thread_index()] = numbers[thread_index()];
  }
  wait_for_copies<0>();
  barrier();
  if (thread_index() < kHalf) {
    out[kHalf + thread_index()] = numbers[kHalf + thread_index()];
  }
}

namespace {

// Operands from memory as the matrix units want them: A of 16 rows and B of 8 columns, 4 kWords
// words of each, and C.
template <int kWords, class Value, class Multiply>
inline void multiply_once(const MatrixArgs& args, const Multiply& multiply) {
  const Global<const uint32_t> a(args.a);
  const Global<const uint32_t> b(args.b);
  const Global<Value> c(static_cast<Value*>(args.c));
  const int g = lane() / 4;
  const int t = lane() % 4;
  uint32_t a_words[2 * kWords];
  uint32_t b_words[kWords];
  for (int half = 0; half < kWords; ++half) {
    a_words[2 * half] = a[g * 4 * kWords + half * 4 + t];
    a_words[2 * half + 1] = a[(g + 8) * 4 * kWords + half * 4 + t];
    b_words[half] = b[g * 4 * kWords + half * 4 + t];
  }
  Value sums[4];
  for (int i = 0; i < 4; ++i) {
    sums[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
  }
  multiply(a_words, b_words, sums);
  for (int i = 0; i < 4; ++i) {
    c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
  }
}

}  // namespace

MYNAH_KERNEL(multiply_f16, MatrixArgs, kWarp) {
  multiply_once<2, float>(
      args, [](const auto& a, const auto& b, auto& c) { multiply_matrices<F16>(a, b, c); });
}

MYNAH_KERNEL(multiply_bf16, MatrixArgs, kWarp) {
  multiply_once<2, float>(
      args, [](const auto& a, const auto& b, auto& c) { multiply_matrices<Bf16>(a, b, c); });
}

MYNAH_KERNEL(multiply_codes_32, MatrixArgs, kWarp) {
  multiply_once<2, int>(args,
                        [](const auto& a, const auto& b, auto& c) { multiply_codes(a, b, c); });
}

MYNAH_KERNEL(multiply_codes_16, MatrixArgs, kWarp) {
  multiply_once<1, int>(args,
                        [](const auto& a, const auto& b, auto& c) { multiply_codes(a, b, c); });
}

namespace {

// Four matrices of 8 x 8 elements from memory, by way of the block's, to words: of each lane four.
template <class Load>
inline void load_once(const LoadArgs& args, const Load& load) {
  constexpr int kRow = 8;
  MYNAH_SHARED(F16, rows, kWarp * kRow);
  const Global<const F16> x(args.x);
  const Global<uint32_t> out(args.out);
  for (int i = lane(); i < kWarp * kRow; i += kWarp) {
    const F16 element = x[i];
    rows[i] = element;
  }
  warp_barrier();
  uint32_t words[4];
  load(rows.from(lane() * kRow), words);
  for (int m = 0; m < 4; ++m) {
    out[m * kWarp + lane()] = words[m];
  }
}

}  // namespace

MYNAH_KERNEL(load_four_matrices, LoadArgs, kWarp) {
  load_once(args, [](const auto& row, auto& words) { load_matrices(row, words); });
}

MYNAH_KERNEL(load_four_matrices_transposed, LoadArgs, kWarp) {
  load_once(args, [](const auto& row, auto& words) { load_matrices_transposed(row, words); });
}

// Rows of a matrix unit begin at multiples of 16 bytes.
MYNAH_KERNEL(loads_matrices_askew, MistakeArgs, kThreads) {
  MYNAH_SHARED(F16, rows, kThreads * 8 + 1);
  for (int i = thread_index(); i < kThreads * 8 + 1; i += kThreads) {
    rows[i] = F16{};
  }
  barrier();
  uint32_t words[4];
  load_matrices(rows.from(thread_index() * 8 + 1), words);
  const Global<float> out(args.out);
  out[thread_index()] = float_of(words[0]);
}

// Another warp's rows, with no barrier between.
MYNAH_KERNEL(loads_matrices_that_others_write, MistakeArgs, kThreads) {
  MYNAH_SHARED(F16, rows, kThreads * 8);
  for (int i = 0; i < 8; ++i) {
    rows[thread_index() * 8 + i] = F16{};
  }
  warp_barrier();
  uint32_t words[4];
  load_matrices_transposed(rows.from((kThreads - 1 - thread_index()) * 8), words);
  const Global<float> out(args.out);
  out[thread_index()] = float_of(words[0]);
}

MYNAH_KERNEL(multiplies_in_a_branch, MistakeArgs, kThreads) {
  const Global<float> out(args.out);
  float c[4] = {};
  if (lane() < kWarp / 2) {
    const uint32_t a[4] = {};
    const uint32_t b[2] = {};
    multiply_matrices<F16>(a, b, c);
  }
  out[thread_index()] = c[0];
}

}  // namespace mynah::simt
