// Products of warpgroups, mbarriers and bulk copies on this machine.
#pragma once

#include "backend/cuda/simt/matrix_unit.h"
#include "backend/cuda/simt/simt.h"

#if MYNAH_LEVEL >= 90

namespace mynah::simt {

inline void init_mbarrier(const Shared<uint64_t>& mbarrier, int count) {
  detail::SimThread::current().init_mbarrier(mbarrier.address(0), count);
}

inline void arrive(const Shared<uint64_t>& mbarrier) {
  detail::SimThread::current().arrive(mbarrier.address(0), 0);
}

inline void arrive_expecting(const Shared<uint64_t>& mbarrier, int bytes) {
  detail::SimThread::current().arrive(mbarrier.address(0), bytes);
}

inline void wait_for_phase(const Shared<uint64_t>& mbarrier, int parity,
                           int line = __builtin_LINE()) {
  detail::SimThread::current().wait_for_phase(mbarrier.address(0), parity, line);
}

template <class T>
void copy_bulk_async(const Shared<T>& to, const Global<const T>& from, int bytes,
                     const Shared<uint64_t>& mbarrier) {
  detail::SimThread::current().begin_bulk_copy(to.address(0), from.bytes(bytes),
                                               static_cast<size_t>(bytes), mbarrier.address(0));
}

inline void show_to_copies_and_products() {}

inline void begin_products() {
  detail::SimThread::current().begin_products();
}

template <class Element, class T>
void multiply_panels(const Shared<T>& a, const Shared<T>& b, int panel_bytes, float (&sums)[16][4],
                     bool adds) {
  detail::SimThread::current().begin_product(
      {.a = a.address(0),
       .b = b.address(0),
       .panel_bytes = panel_bytes,
       .panels = 16,
       .adds = adds,
       .sums = sums[0],
       .unit = detail::multiply_panels<detail::MatrixElement<Element>::kType>});
}

inline void wait_for_products(float (& /*sums*/)[16][4], int line = __builtin_LINE()) {
  detail::SimThread::current().wait_for_products(line);
}

}  // namespace mynah::simt

#endif
