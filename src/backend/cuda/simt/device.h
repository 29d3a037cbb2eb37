// simt.h on a card: clang's builtins and, where it has none, one instruction of PTX.
#pragma once

// Every function from here on runs on the card.
#pragma clang force_cuda_host_device begin

// One block a processor is enough to say: without that the assembler spills registers to fit more.
#define MYNAH_KERNEL(kernel_name, Args, most_threads) \
  extern "C" __attribute__((global))                  \
  __attribute__((launch_bounds(most_threads, 1))) void mynah_##kernel_name(const Args args)

#define MYNAH_SHARED(T, view_name, elements)                                   \
  static __attribute__((shared))                                               \
  __attribute__((aligned(16))) ::mynah::simt::detail::Raw<sizeof(T), elements> \
      view_name##_storage;                                                     \
  const ::mynah::simt::Shared<T> view_name(reinterpret_cast<T*>(view_name##_storage.bytes))

// The bytes that the launch asked for; 16 is the widest access.
extern __attribute__((shared)) __attribute__((aligned(16))) unsigned char mynah_dynamic_shared[];
#define MYNAH_DYNAMIC_SHARED(T, view_name) \
  const ::mynah::simt::Shared<T> view_name(reinterpret_cast<T*>(mynah_dynamic_shared))

// For a function that takes arrays of registers by reference: a call would put them in memory.
#define MYNAH_INLINE inline __attribute__((always_inline))

// Before a loop that must be written out, as arrays are kept in registers only so; and before one
// that is to stay a loop.
#define MYNAH_UNROLLED _Pragma("unroll")
#define MYNAH_ROLLED _Pragma("nounroll")

namespace mynah::simt {

inline constexpr float kInfinity = __builtin_inff();

// IEEE half and bfloat16, as they are stored.
struct F16 {
  uint16_t bits;
};

struct Bf16 {
  uint16_t bits;
};

inline float to_float(float value) {
  return value;
}

inline float to_float(F16 value) {
  return static_cast<float>(__builtin_bit_cast(_Float16, value));
}

inline float to_float(Bf16 value) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(value.bits) << 16);
}

// Rounds to the nearest, ties to even.
template <class T>
T from_float(float value);

template <>
inline float from_float<float>(float value) {
  return value;
}

template <>
inline F16 from_float<F16>(float value) {
  return __builtin_bit_cast(F16, static_cast<_Float16>(value));
}

template <>
inline Bf16 from_float<Bf16>(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  return {static_cast<uint16_t>(nan ? 0x7FC0U : rounded >> 16)};
}

// The larger, the smaller; the other one where one is not a number.
inline float maximum(float a, float b) {
  return __builtin_fmaxf(a, b);
}

inline float minimum(float a, float b) {
  return __builtin_fminf(a, b);
}

// a * b + c, rounded once.
inline float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

inline float square_root(float value) {
  return __nvvm_sqrt_rn_f(value);
}

// To the nearest whole number, ties to even.
inline float nearest(float value) {
  return __builtin_rintf(value);
}

// To the nearest whole number that is not below.
inline float round_up(float value) {
  return __builtin_ceilf(value);
}

// Two to this power, to some 2 units in the last place; tiny results are zero.
inline float exp2_fast(float value) {
  return __nvvm_ex2_approx_ftz_f(value);
}

inline uint32_t bits_of(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

inline float float_of(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// Byte i is that of the eight bytes of `low` and `high` which bits 4 i to 4 i + 2 of `places`
// number; every fourth bit is 0.
inline uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t places) {
  uint32_t picked;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(low), "r"(high), "r"(places));
  return picked;
}

// c plus the dot product of four signed bytes each.
inline int dot4(int a, int b, int c) {
#if MYNAH_LEVEL >= 61
  int sum;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
#else
  // Written out: a loop here would keep the loops around it from being unrolled.
  c += static_cast<int8_t>(a) * static_cast<int8_t>(b);
  c += static_cast<int8_t>(a >> 8) * static_cast<int8_t>(b >> 8);
  c += static_cast<int8_t>(a >> 16) * static_cast<int8_t>(b >> 16);
  c += static_cast<int8_t>(a >> 24) * static_cast<int8_t>(b >> 24);
  return c;
#endif
}

namespace detail {

inline int thread_index() {
  return static_cast<int>(__nvvm_read_ptx_sreg_tid_x());
}

inline int thread_count() {
  return static_cast<int>(__nvvm_read_ptx_sreg_ntid_x());
}

inline int block_index_x() {
  return static_cast<int>(__nvvm_read_ptx_sreg_ctaid_x());
}

inline int block_index_y() {
  return static_cast<int>(__nvvm_read_ptx_sreg_ctaid_y());
}

inline int block_index_z() {
  return static_cast<int>(__nvvm_read_ptx_sreg_ctaid_z());
}

inline int block_count_x() {
  return static_cast<int>(__nvvm_read_ptx_sreg_nctaid_x());
}

// Shared memory without a constructor, whatever it is to hold.
template <int ElementBytes, int Elements>
struct Raw {
  unsigned char bytes[ElementBytes * Elements];
};

template <class T>
struct WithoutConst {
  using Type = T;
};

template <class T>
struct WithoutConst<const T> {
  using Type = T;
};

// What one instruction moves.
template <int Bytes>
struct Word;

template <>
struct Word<2> {
  using Type = uint16_t;
};

template <>
struct Word<4> {
  using Type = uint32_t;
};

template <>
struct Word<8> {
  using Type = __attribute__((ext_vector_type(2))) uint32_t;
};

template <>
struct Word<16> {
  using Type = __attribute__((ext_vector_type(4))) uint32_t;
};

}  // namespace detail

// N elements side by side.
template <class T, int N>
struct Vector {
  T at[N];

  T& operator[](int i) { return at[i]; }

  const T& operator[](int i) const { return at[i]; }
};

// What Global and Shared have in common: T at an address.
template <class T>
struct View {
  using Element = typename detail::WithoutConst<T>::Type;

  T* data;

  explicit View(T* pointer) : data(pointer) {}

  [[nodiscard]] bool empty() const { return data == nullptr; }

  T& operator[](int64_t i) const { return data[i]; }

  // N elements from i on in one access, which must be aligned to its size.
  template <int N>
  [[nodiscard]] Vector<Element, N> load(int64_t i) const {
    using Word = typename detail::Word<static_cast<int>(sizeof(T)) * N>::Type;
    using Values = Vector<Element, N>;
    return __builtin_bit_cast(Values, *reinterpret_cast<const Word*>(data + i));
  }

  template <int N>
  void store(int64_t i, const Vector<Element, N>& values) const {
    using Word = typename detail::Word<static_cast<int>(sizeof(T)) * N>::Type;
    *reinterpret_cast<Word*>(data + i) = __builtin_bit_cast(Word, values);
  }
};

template <class T>
struct Global : View<T> {
  using View<T>::View;

  // The view from element i on.
  [[nodiscard]] Global from(int64_t i) const { return Global(this->data + i); }

  // Element i, of 8 bytes, becomes `value` where it is zero: of threads that do so at once, one's.
  void set_if_zero(int64_t i, T value) const {
    static_assert(sizeof(T) == sizeof(long long));
    __nvvm_atom_cas_gen_ll(reinterpret_cast<long long*>(this->data + i), 0,
                           static_cast<long long>(value));
  }
};

template <class T>
struct Shared : View<T> {
  using View<T>::View;

  [[nodiscard]] Shared from(int64_t i) const { return Shared(this->data + i); }
};

inline void barrier() {
  __syncthreads();
}

// Of the lanes of a warp: what they wrote to shared memory is seen by the others.
inline void warp_barrier() {
  __nvvm_bar_warp_sync(0xFFFFFFFFU);
}

inline int shuffle_xor(int value, int distance) {
  return __nvvm_shfl_sync_bfly_i32(0xFFFFFFFFU, value, distance, 31);
}

inline float shuffle_xor(float value, int distance) {
  return __nvvm_shfl_sync_bfly_f32(0xFFFFFFFFU, value, distance, 31);
}

// What lane `from` has.
inline int shuffle(int value, int from) {
  return __nvvm_shfl_sync_idx_i32(0xFFFFFFFFU, value, from, 31);
}

inline float shuffle(float value, int from) {
  return __nvvm_shfl_sync_idx_f32(0xFFFFFFFFU, value, from, 31);
}

// What the lane `distance` below has; its own where there is none.
inline float shuffle_up(float value, int distance) {
  return __nvvm_shfl_sync_up_f32(0xFFFFFFFFU, value, distance, 0);
}

}  // namespace mynah::simt

#include "backend/cuda/simt/device_matrix.h"
#include "backend/cuda/simt/device_warpgroup.h"
