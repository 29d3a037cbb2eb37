// simt.h on this machine: views whose every access is looked at, and threads that simulator.h runs.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backend/cuda/simt/sim_thread.h"
#include "tensor/quantize.h"

#define MYNAH_JOINED(a, b) a##b
#define MYNAH_NAME_AT_LEVEL(kernel_name, level) MYNAH_JOINED(kernel_name##_sm, level)

// One kernel a level, as the card has one entry a level.
#define MYNAH_KERNEL(kernel_name, Args, most)                                                \
  static void kernel_name##_body(const Args& args);                                          \
  extern const ::mynah::simt::HostKernel MYNAH_NAME_AT_LEVEL(kernel_name, MYNAH_LEVEL);      \
  const ::mynah::simt::HostKernel MYNAH_NAME_AT_LEVEL(kernel_name, MYNAH_LEVEL) = {          \
      .name = #kernel_name,                                                                  \
      .most_threads = most,                                                                  \
      .argument_bytes = sizeof(Args),                                                        \
      .run = [](const void* args) { kernel_name##_body(*static_cast<const Args*>(args)); }}; \
  static void kernel_name##_body(const Args& args)

#define MYNAH_SHARED(T, view_name, elements)                                    \
  static const char view_name##_key = 0;                                        \
  const ::mynah::simt::Shared<T> view_name(                                     \
      static_cast<T*>(::mynah::simt::detail::SimThread::current().block_memory( \
          &view_name##_key, sizeof(T) * (elements))))

#define MYNAH_DYNAMIC_SHARED(T, view_name)  \
  const ::mynah::simt::Shared<T> view_name( \
      static_cast<T*>(::mynah::simt::detail::SimThread::current().dynamic_memory()))

#define MYNAH_INLINE inline
#define MYNAH_UNROLLED
#define MYNAH_ROLLED

namespace mynah::simt {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

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
  return f16_to_f32(value.bits);
}

inline float to_float(Bf16 value) {
  return bf16_to_f32(value.bits);
}

template <class T>
T from_float(float value);

template <>
inline float from_float<float>(float value) {
  return value;
}

template <>
inline F16 from_float<F16>(float value) {
  return {f32_to_f16(value)};
}

template <>
inline Bf16 from_float<Bf16>(float value) {
  return {f32_to_bf16(value)};
}

inline float maximum(float a, float b) {
  return std::fmax(a, b);
}

inline float minimum(float a, float b) {
  return std::fmin(a, b);
}

// Rounded twice here: the processors that mynah must run on have no fused one, and whatever is
// right within a kernel's tolerance on a card is so here.
inline float multiply_add(float a, float b, float c) {
  return a * b + c;
}

inline float square_root(float value) {
  return std::sqrt(value);
}

inline float nearest(float value) {
  return std::nearbyint(value);
}

inline float round_up(float value) {
  return std::ceil(value);
}

inline float exp2_fast(float value) {
  return std::exp2(value);
}

inline uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

inline float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

inline uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t places) {
  const uint64_t bytes = low | uint64_t{high} << 32;
  uint32_t picked = 0;
  for (int i = 0; i < 4; ++i) {
    picked |= static_cast<uint32_t>(bytes >> ((places >> (4 * i) & 7) * 8) & 255) << (8 * i);
  }
  return picked;
}

inline int dot4(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
  }
  return c;
}

namespace detail {

inline int thread_index() {
  return SimThread::current().index();
}

inline int thread_count() {
  return SimThread::current().block().threads();
}

inline int block_index_x() {
  return SimThread::current().block().x();
}

inline int block_index_y() {
  return SimThread::current().block().y();
}

inline int block_index_z() {
  return SimThread::current().block().z();
}

inline int block_count_x() {
  return SimThread::current().block().count_x();
}

// What stands for T& in a view of memory that can be written.
template <class View>
class Reference {
 public:
  using T = typename View::Element;

  Reference(const View& view, int64_t i) : view_(view), i_(i) {}

  operator T() const { return view_.get(i_); }  // NOLINT(google-explicit-constructor): as T& does

  const Reference& operator=(const T& value) const {
    view_.set(i_, value);
    return *this;
  }

  const Reference& operator=(const Reference& other) const { return *this = static_cast<T>(other); }

  Reference(const Reference&) = default;
  ~Reference() = default;

  const Reference& operator+=(const T& value) const {
    return *this = static_cast<T>(*this) + value;
  }

 private:
  const View& view_;
  int64_t i_;
};

}  // namespace detail

template <class T, int N>
struct Vector {
  T at[N];

  T& operator[](int i) { return at[i]; }

  const T& operator[](int i) const { return at[i]; }
};

// The card's memory: nothing outside the allocation that the view was made in.
template <class T>
class Global {
 public:
  using Element = std::remove_const_t<T>;

  explicit Global(T* pointer)
      : data_(pointer), bounds_(detail::SimThread::current().bounds_of(pointer)) {}

  [[nodiscard]] bool empty() const { return data_ == nullptr; }

  [[nodiscard]] decltype(auto) operator[](int64_t i) const {
    if constexpr (std::is_const_v<T>) {
      return get(i);
    } else {
      return detail::Reference<Global>(*this, i);
    }
  }

  [[nodiscard]] Global from(int64_t i) const { return Global(data_ + i, bounds_); }

  [[nodiscard]] Element get(int64_t i) const {
    look(i, sizeof(T), alignof(T), false);
    return data_[i];
  }

  void set(int64_t i, const Element& value) const {
    look(i, sizeof(T), alignof(T), true);
    data_[i] = value;
  }

  template <int N>
  [[nodiscard]] Vector<Element, N> load(int64_t i) const {
    look(i, sizeof(T) * N, sizeof(T) * N, false);
    Vector<Element, N> values;
    for (int k = 0; k < N; ++k) {
      values[k] = data_[i + k];
    }
    return values;
  }

  template <int N>
  void store(int64_t i, const Vector<Element, N>& values) const {
    look(i, sizeof(T) * N, sizeof(T) * N, true);
    for (int k = 0; k < N; ++k) {
      data_[i + k] = values[k];
    }
  }

  // The first `bytes` of the view, which are looked at as one access of units of 16 bytes.
  [[nodiscard]] const std::byte* bytes(int bytes) const {
    constexpr size_t kUnit = 16;
    look(0, static_cast<size_t>(bytes), kUnit, false);
    return reinterpret_cast<const std::byte*>(data_);
  }

  void set_if_zero(int64_t i, Element value) const {
    static_assert(sizeof(T) == sizeof(int64_t));
    look(i, sizeof(T), alignof(T), true);
    Element zero = 0;
    std::atomic_ref(data_[i]).compare_exchange_strong(zero, value);
  }

 private:
  Global(T* pointer, const detail::Bounds& bounds) : data_(pointer), bounds_(bounds) {}

  void look(int64_t i, size_t bytes, size_t alignment, bool writes) const {
    detail::SimThread::current().look_at_global(bounds_, reinterpret_cast<uintptr_t>(data_ + i),
                                                bytes, alignment, writes);
  }

  T* data_;
  detail::Bounds bounds_;
};

// A block's memory: threads may meet in it only with a barrier between.
template <class T>
class Shared {
 public:
  using Element = std::remove_const_t<T>;

  explicit Shared(T* pointer) : data_(pointer) {}

  [[nodiscard]] detail::Reference<Shared> operator[](int64_t i) const { return {*this, i}; }

  [[nodiscard]] Shared from(int64_t i) const { return Shared(data_ + i); }

  [[nodiscard]] uintptr_t address(int64_t i) const {
    return reinterpret_cast<uintptr_t>(data_ + i);
  }

  [[nodiscard]] Element get(int64_t i) const {
    look(i, sizeof(T), alignof(T), false);
    return data_[i];
  }

  void set(int64_t i, const Element& value) const {
    look(i, sizeof(T), alignof(T), true);
    data_[i] = value;
  }

  template <int N>
  [[nodiscard]] Vector<Element, N> load(int64_t i) const {
    look(i, sizeof(T) * N, sizeof(T) * N, false);
    Vector<Element, N> values;
    for (int k = 0; k < N; ++k) {
      values[k] = data_[i + k];
    }
    return values;
  }

  template <int N>
  void store(int64_t i, const Vector<Element, N>& values) const {
    look(i, sizeof(T) * N, sizeof(T) * N, true);
    for (int k = 0; k < N; ++k) {
      data_[i + k] = values[k];
    }
  }

 private:
  void look(int64_t i, size_t bytes, size_t alignment, bool writes) const {
    detail::SimThread::current().look_at_shared(reinterpret_cast<uintptr_t>(data_ + i), bytes,
                                                alignment, writes);
  }

  T* data_;
};

// Each call site of these is a place: lanes that meet at different ones have diverged.

inline void barrier(int line = __builtin_LINE()) {
  detail::SimThread::current().reach_barrier(line);
}

inline void warp_barrier(int line = __builtin_LINE()) {
  detail::SimThread::current().exchange(nullptr, 0, line);
}

namespace detail {

template <class T>
T value_of_lane(const T& value, int lane, int line) {
  static_assert(sizeof(T) <= kExchangeBytes);
  T other;
  __builtin_memcpy(&other,
                   SimThread::current().exchange(&value, sizeof(T), line) +
                       static_cast<ptrdiff_t>(lane) * kExchangeBytes,
                   sizeof(T));
  return other;
}

inline int own_lane() {
  return SimThread::current().index() % kLanes;
}

}  // namespace detail

inline int shuffle_xor(int value, int distance, int line = __builtin_LINE()) {
  return detail::value_of_lane(value, detail::own_lane() ^ distance, line);
}

inline float shuffle_xor(float value, int distance, int line = __builtin_LINE()) {
  return detail::value_of_lane(value, detail::own_lane() ^ distance, line);
}

inline int shuffle(int value, int from, int line = __builtin_LINE()) {
  return detail::value_of_lane(value, from % detail::kLanes, line);
}

inline float shuffle(float value, int from, int line = __builtin_LINE()) {
  return detail::value_of_lane(value, from % detail::kLanes, line);
}

inline float shuffle_up(float value, int distance, int line = __builtin_LINE()) {
  const int lane = detail::own_lane();
  return detail::value_of_lane(value, lane < distance ? lane : lane - distance, line);
}

}  // namespace mynah::simt

#include "backend/cuda/simt/host_matrix.h"
#include "backend/cuda/simt/host_warpgroup.h"
