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

// Chains that run side by side: a multiply-add takes 4 cycles and two start in one.
constexpr int kChains = 10;

#if defined(__x86_64__)

// g++ 12 takes the undefined registers inside its own headers for uninitialised variables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

__attribute__((target("sse4.2"))) double loop_sse4(int64_t rounds, float* sink) {
  __m128 sums[kChains] = {};  // std::array would lose the vector attribute
  const __m128 a = _mm_set1_ps(*sink);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m128& sum : sums) {
      sum = _mm_add_ps(_mm_mul_ps(sum, a), a);
    }
  }
  for (const __m128& sum : sums) {
    *sink += _mm_cvtss_f32(sum);
  }
  return static_cast<double>(rounds) * kChains * 4 * 2;
}

__attribute__((target("avx2,fma"))) double loop_avx2(int64_t rounds, float* sink) {
  __m256 sums[kChains] = {};
  const __m256 a = _mm256_set1_ps(*sink);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m256& sum : sums) {
      sum = _mm256_fmadd_ps(sum, a, a);
    }
  }
  for (const __m256& sum : sums) {
    *sink += _mm256_cvtss_f32(sum);
  }
  return static_cast<double>(rounds) * kChains * 8 * 2;
}

__attribute__((target("avx512f"))) double loop_avx512(int64_t rounds, float* sink) {
  __m512 sums[kChains] = {};
  const __m512 a = _mm512_set1_ps(*sink);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m512& sum : sums) {
      sum = _mm512_fmadd_ps(sum, a, a);
    }
  }
  for (const __m512& sum : sums) {
    *sink += _mm512_cvtss_f32(sum);
  }
  return static_cast<double>(rounds) * kChains * 16 * 2;
}

__attribute__((target("avx512f,avx512vnni"))) double loop_vnni(int64_t rounds, float* sink) {
  __m512i sums[kChains] = {};
  const __m512i a = _mm512_set1_epi32(static_cast<int>(*sink));
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m512i& sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, a, a);
    }
  }
  for (const __m512i& sum : sums) {
    *sink += static_cast<float>(_mm_cvtsi128_si32(_mm512_castsi512_si128(sum)));
  }
  return static_cast<double>(rounds) * kChains * 64 * 2;
}

__attribute__((target("avx512f,avx512bf16"))) double loop_bf16(int64_t rounds, float* sink) {
  __m512 sums[kChains] = {};
  const auto a = (__m512bh)_mm512_set1_epi32(static_cast<int>(*sink));
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m512& sum : sums) {
      sum = _mm512_dpbf16_ps(sum, a, a);
    }
  }
  for (const __m512& sum : sums) {
    *sink += _mm512_cvtss_f32(sum);
  }
  return static_cast<double>(rounds) * kChains * 32 * 2;
}

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
  constexpr int kTries = 9;
  constexpr int64_t kRounds = 2'000'000;
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

}  // namespace

Ceiling measure_ceiling(const std::string& isa, ThreadPool& pool) {
  Ceiling ceiling;
  ceiling.bytes = bandwidth(pool);
  Loop f32 = loop_sse4;
#if defined(__x86_64__)
  const bool wide = isa.starts_with("avx512");
  f32 = wide ? loop_avx512 : isa == "avx2" ? loop_avx2 : loop_sse4;
#endif
  ceiling.f32 = ceiling.bf16 = ceiling.i8 = rate(f32, pool);
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
