// Matrix units and asynchronous copies on a card: one instruction of PTX each (PTX ISA, "mma",
// "ldmatrix" and "cp.async").
#pragma once

namespace mynah::simt {

namespace detail {

// An address as instructions want it that take none but the block's memory.
template <class T>
inline uint32_t shared_address(const Shared<T>& view) {
  return static_cast<uint32_t>(
      reinterpret_cast<uintptr_t>((__attribute__((address_space(3))) void*)(view.data)));
}

}  // namespace detail

#if MYNAH_LEVEL >= 80

template <class T>
MYNAH_INLINE void multiply_matrices(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&c)[4]);

template <>
MYNAH_INLINE void multiply_matrices<F16>(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                         float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <>
MYNAH_INLINE void multiply_matrices<Bf16>(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                          float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

MYNAH_INLINE void multiply_codes(const uint32_t (&a)[4], const uint32_t (&b)[2], int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

MYNAH_INLINE void multiply_codes(const uint32_t (&a)[2], const uint32_t (&b)[1], int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

#elif MYNAH_LEVEL >= 75

// The first cards with units for int8 and for half precision multiply smaller pieces at a time.
template <class T>
MYNAH_INLINE void multiply_matrices(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&c)[4]);

template <>
MYNAH_INLINE void multiply_matrices<F16>(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                         float (&c)[4]) {
  MYNAH_UNROLLED
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
  }
}

MYNAH_INLINE void multiply_codes(const uint32_t (&a)[2], const uint32_t (&b)[1], int (&c)[4]) {
  MYNAH_UNROLLED
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c[2 * half]), "+r"(c[2 * half + 1])
        : "r"(a[half]), "r"(b[0]));
  }
}

MYNAH_INLINE void multiply_codes(const uint32_t (&a)[4], const uint32_t (&b)[2], int (&c)[4]) {
  MYNAH_UNROLLED
  for (int half = 0; half < 2; ++half) {
    const uint32_t a_half[2] = {a[2 * half], a[2 * half + 1]};
    const uint32_t b_half[1] = {b[half]};
    multiply_codes(a_half, b_half, c);
  }
}

#endif

// Two operands in a word, the first in its low half, to the nearest.
template <class T>
inline uint32_t nearest_pair(float first, float second) {
  return from_float<T>(first).bits | static_cast<uint32_t>(from_float<T>(second).bits) << 16;
}

#if MYNAH_LEVEL >= 80

template <>
inline uint32_t nearest_pair<F16>(float first, float second) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

template <>
inline uint32_t nearest_pair<Bf16>(float first, float second) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

template <class T>
inline void copy_16_async(const Shared<T>& to, const Global<const T>& from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(detail::shared_address(to)), "l"(from.data), "r"(inside ? 16 : 0)
               : "memory");
}

inline void commit_copies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

template <int kLeft>
inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
}

#else

template <class T>
inline void copy_16_async(const Shared<T>& to, const Global<const T>& from, bool inside) {
  constexpr int kElements = 16 / static_cast<int>(sizeof(T));
  Vector<T, kElements> values{};
  if (inside) {
    values = from.template load<kElements>(0);
  }
  to.template store<kElements>(0, values);
}

inline void commit_copies() {}

template <int kLeft>
inline void wait_for_copies() {}

#endif

#if MYNAH_LEVEL >= 75

template <class T>
MYNAH_INLINE void load_matrices(const Shared<T>& row, uint32_t (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(detail::shared_address(row))
               : "memory");
}

template <class T>
MYNAH_INLINE void load_matrices_transposed(const Shared<T>& row, uint32_t (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(detail::shared_address(row))
               : "memory");
}

#endif

}  // namespace mynah::simt
