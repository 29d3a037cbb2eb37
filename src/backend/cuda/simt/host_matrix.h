// Matrix units and asynchronous copies on this machine.
#pragma once

#include "backend/cuda/simt/matrix_unit.h"

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

inline void commit_copies() {
  detail::SimThread::current().commit_copies();
}

template <int kLeft>
void wait_for_copies() {
  detail::SimThread::current().wait_for_copies(kLeft);
}

}  // namespace mynah::simt
