#include "ceiling.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mynah::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A loop of independent multiply-adds in registers: returns its operations, and a value so that it
// is not optimised away.
using Loop = double (*)(int64_t rounds, float* sink);

#if defined(__x86_64__)

// g++ 12 takes the undefined registers inside its own headers for uninitialised variables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

// Ten chains side by side, because a multiply-add takes 4 or 5 cycles and two may start in one.
// Chains that begin equal stay equal, and a compiler that sees it computes a few of them only:
// hence the empty statement that may change them all. Variables and not an array, which would lie
// in memory.
#define MYNAH_LOOP(name, isa, Vector, splat, step, first, lanes)                            \
  __attribute__((target(isa))) double name(int64_t rounds, float* sink) {                   \
    const auto a = splat;                                                                   \
    Vector s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {}, s8 = {}, \
           s9 = {};                                                                         \
    for (int64_t i = 0; i < rounds; ++i) {                                                  \
      s0 = step(s0, a, a);                                                                  \
      s1 = step(s1, a, a);                                                                  \
      s2 = step(s2, a, a);                                                                  \
      s3 = step(s3, a, a);                                                                  \
      s4 = step(s4, a, a);                                                                  \
      s5 = step(s5, a, a);                                                                  \
      s6 = step(s6, a, a);                                                                  \
      s7 = step(s7, a, a);                                                                  \
      s8 = step(s8, a, a);                                                                  \
      s9 = step(s9, a, a);                                                                  \
      asm volatile(""                                                                       \
                   : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6),  \
                     "+v"(s7), "+v"(s8), "+v"(s9));                                         \
    }                                                                                       \
    *sink += static_cast<float>(first(s0));                                                 \
    return static_cast<double>(rounds) * 10 * (lanes) * 2;                                  \
  }

#define MYNAH_FIRST_I32(x) _mm_cvtsi128_si32(_mm512_castsi512_si128(x))
#define MYNAH_STEP_SSE4(sum, x, y) _mm_add_ps(_mm_mul_ps(sum, x), y)

MYNAH_LOOP(loop_sse4, "sse4.2", __m128, _mm_set1_ps(*sink), MYNAH_STEP_SSE4, _mm_cvtss_f32, 4)
MYNAH_LOOP(loop_avx2, "avx2,fma", __m256, _mm256_set1_ps(*sink), _mm256_fmadd_ps, _mm256_cvtss_f32,
           8)
MYNAH_LOOP(loop_avx512, "avx512f", __m512, _mm512_set1_ps(*sink), _mm512_fmadd_ps, _mm512_cvtss_f32,
           16)
MYNAH_LOOP(loop_vnni, "avx512f,avx512vnni", __m512i, _mm512_set1_epi32(static_cast<int>(*sink)),
           _mm512_dpbusd_epi32, MYNAH_FIRST_I32, 64)
MYNAH_LOOP(loop_bf16, "avx512f,avx512bf16", __m512,
           (__m512bh)_mm512_set1_epi32(static_cast<int>(*sink)), _mm512_dpbf16_ps, _mm512_cvtss_f32,
           32)

#pragma GCC diagnostic pop

#else

double loop_sse4(int64_t rounds, float* sink) {
  for (int64_t i = 0; i < rounds; ++i) {
    *sink = *sink * 0.5F + 1.0F;
  }
  return static_cast<double>(rounds) * 2;
}

#endif

// Operations a second of all threads: the best of several tries, as other work only ever takes
// away.
double rate(Loop loop, ThreadPool& pool) {
  constexpr int kTries = 200;
  constexpr int64_t kRounds = 20'000;
  double best = 0.0;
  std::atomic<float> keep{0.0F};
  for (int t = 0; t < kTries; ++t) {
    std::atomic<double> operations{0.0};
    const auto start = Clock::now();
    pool.parallel_for(pool.size(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float sink = 0.5F;
        operations.fetch_add(loop(kRounds, &sink));
        keep.store(sink);
      }
    });
    best = std::max(best, operations.load() / seconds_since(start));
  }
  return best;
}

// Bytes a second that all threads together read from a buffer larger than any cache.
double bandwidth(ThreadPool& pool) {
  constexpr int kTries = 5;
  constexpr int64_t kWords = int64_t{64} << 20;  // 512 MiB
  constexpr int64_t kPiece = int64_t{1} << 17;
  const std::vector<uint64_t> words(static_cast<size_t>(kWords), 1);
  std::atomic<uint64_t> keep{0};
  double best = 0.0;
  for (int t = 0; t < kTries; ++t) {
    const auto start = Clock::now();
    pool.parallel_for(kWords / kPiece, 1, [&](int64_t begin, int64_t end) {
      uint64_t sum = 0;
      for (int64_t i = begin * kPiece; i < end * kPiece; ++i) {
        sum += words[static_cast<size_t>(i)];
      }
      keep.fetch_add(sum);
    });
    best = std::max(best, static_cast<double>(kWords) * 8.0 / seconds_since(start));
  }
  return best;
}

// The widest loop of float32 that `isa` has.
Loop f32_loop([[maybe_unused]] const std::string& isa) {
#if defined(__x86_64__)
  if (isa.starts_with("avx512")) {
    return loop_avx512;
  }
  if (isa == "avx2") {
    return loop_avx2;
  }
#endif
  return loop_sse4;
}

}  // namespace

Ceiling measure_ceiling(const std::string& isa, ThreadPool& pool) {
  Ceiling ceiling;
  ceiling.bytes = bandwidth(pool);
  ceiling.f32 = ceiling.bf16 = ceiling.i8 = rate(f32_loop(isa), pool);
#if defined(__x86_64__)
  if (isa == "avx512_vnni" || isa == "avx512_bf16") {
    ceiling.i8 = rate(loop_vnni, pool);
  }
  if (isa == "avx512_bf16") {
    ceiling.bf16 = rate(loop_bf16, pool);
  }
#endif
  return ceiling;
}

}  // namespace mynah::bench
