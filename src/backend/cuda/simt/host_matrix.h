// Matrix units and asynchronous copies on this machine.
#pragma once

#include "backend/cuda/simt/matrix_unit.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

#if MYNAH_LEVEL >= 75

namespace detail {

template <class T>
struct MatrixElement;

template <>
struct MatrixElement<F16> {
  static constexpr MatrixType kType = MatrixType::F16;
};

#if MYNAH_LEVEL >= 80
template <>
struct MatrixElement<Bf16> {
  static constexpr MatrixType kType = MatrixType::Bf16;
};
#endif

// Gives this lane's part, and takes its part of the result.
template <MatrixType kType, class Value, int kA, int kB>
void multiply(const uint32_t (&a)[kA], const uint32_t (&b)[kB], Value (&c)[4], int line) {
  MatrixOperands operands{};
  __builtin_memcpy(operands.a, a, sizeof(a));
  __builtin_memcpy(operands.b, b, sizeof(b));
  __builtin_memcpy(operands.c, c, sizeof(c));
  static_assert(sizeof(operands) <= kExchangeBytes);
  const std::byte* const all =
      SimThread::current().exchange(&operands, sizeof(operands), line, multiply_lanes<kType>);
  __builtin_memcpy(&operands, all + static_cast<ptrdiff_t>(own_lane()) * kExchangeBytes,
                   sizeof(operands));
  __builtin_memcpy(c, operands.c, sizeof(c));
}

}  // namespace detail

template <class T>
void multiply_matrices(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&c)[4],
                       int line = __builtin_LINE()) {
  detail::multiply<detail::MatrixElement<T>::kType>(a, b, c, line);
}

inline void multiply_codes(const uint32_t (&a)[4], const uint32_t (&b)[2], int (&c)[4],
                           int line = __builtin_LINE()) {
  detail::multiply<detail::MatrixType::Codes32>(a, b, c, line);
}

inline void multiply_codes(const uint32_t (&a)[2], const uint32_t (&b)[1], int (&c)[4],
                           int line = __builtin_LINE()) {
  detail::multiply<detail::MatrixType::Codes16>(a, b, c, line);
}

#endif

template <class T>
uint32_t nearest_pair(float first, float second) {
  return from_float<T>(first).bits | static_cast<uint32_t>(from_float<T>(second).bits) << 16;
}

inline namespace MYNAH_OF_LEVEL {

template <class T>
void copy_16_async(const Shared<T>& to, const Global<const T>& from, bool inside) {
  constexpr int kElements = 16 / static_cast<int>(sizeof(T));
#if MYNAH_LEVEL >= 80
  const Vector<T, kElements> values =
      inside ? from.template load<kElements>(0) : Vector<T, kElements>{};
  detail::SimThread::current().begin_copy(to.address(0), &values, sizeof(values));
#else
  to.template store<kElements>(0,
                               inside ? from.template load<kElements>(0) : Vector<T, kElements>{});
#endif
}

}  // namespace MYNAH_OF_LEVEL

inline void commit_copies() {
  detail::SimThread::current().commit_copies();
}

template <int kLeft>
void wait_for_copies() {
  detail::SimThread::current().wait_for_copies(kLeft);
}

#if MYNAH_LEVEL >= 75

namespace detail {

// Eight elements of 16 bits, as this lane gives them to its warp; all that the warp gave.
template <class T>
const std::byte* give_row(const Shared<T>& row, int line) {
  constexpr int kElements = 16 / static_cast<int>(sizeof(T));
  const Vector<T, kElements> given = row.template load<kElements>(0);
  return SimThread::current().exchange(&given, sizeof(given), line);
}

// Of what lane `lane` gave.
inline uint16_t element_of(const std::byte* given, int lane, int i) {
  uint16_t element;
  __builtin_memcpy(
      &element,
      given + static_cast<ptrdiff_t>(lane) * kExchangeBytes + i * ptrdiff_t{sizeof(element)},
      sizeof(element));
  return element;
}

inline uint32_t pair_of(uint16_t low, uint16_t high) {
  return low | static_cast<uint32_t>(high) << 16;
}

}  // namespace detail

template <class T>
void load_matrices(const Shared<T>& row, uint32_t (&words)[4], int line = __builtin_LINE()) {
  const std::byte* const given = detail::give_row(row, line);
  const int g = detail::own_lane() / 4;
  const int t = detail::own_lane() % 4;
  for (int m = 0; m < 4; ++m) {
    words[m] = detail::pair_of(detail::element_of(given, 8 * m + g, 2 * t),
                               detail::element_of(given, 8 * m + g, 2 * t + 1));
  }
}

template <class T>
void load_matrices_transposed(const Shared<T>& row, uint32_t (&words)[4],
                              int line = __builtin_LINE()) {
  const std::byte* const given = detail::give_row(row, line);
  const int g = detail::own_lane() / 4;
  const int t = detail::own_lane() % 4;
  for (int m = 0; m < 4; ++m) {
    words[m] = detail::pair_of(detail::element_of(given, 8 * m + 2 * t, g),
                               detail::element_of(given, 8 * m + 2 * t + 1, g));
  }
}

#endif

}  // namespace mynah::simt
