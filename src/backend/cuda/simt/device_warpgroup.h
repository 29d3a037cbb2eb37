// Products of warpgroups, mbarriers and bulk copies on a card of compute capability 9.0 (PTX ISA,
// "wgmma", "mbarrier" and "cp.async.bulk").
#pragma once

#if MYNAH_LEVEL >= 90

namespace mynah::simt {

MYNAH_INLINE void init_mbarrier(const Shared<uint64_t>& mbarrier, int count) {
  asm volatile(
      "mbarrier.init.shared.b64 [%0], %1;\n\t"
      "fence.mbarrier_init.release.cluster;"
      :
      : "r"(detail::shared_address(mbarrier)), "r"(count)
      : "memory");
}

MYNAH_INLINE void arrive(const Shared<uint64_t>& mbarrier) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(detail::shared_address(mbarrier))
               : "memory");
}

MYNAH_INLINE void arrive_expecting(const Shared<uint64_t>& mbarrier, int bytes) {
  uint64_t state;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(detail::shared_address(mbarrier)), "r"(bytes)
               : "memory");
}

MYNAH_INLINE void wait_for_phase(const Shared<uint64_t>& mbarrier, int parity) {
  uint32_t over = 0;
  while (over == 0) {
    asm volatile(
        "{\n\t"
        ".reg .pred over;\n\t"
        "mbarrier.try_wait.parity.shared.b64 over, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, over;\n\t"
        "}"
        : "=r"(over)
        : "r"(detail::shared_address(mbarrier)), "r"(parity)
        : "memory");
  }
}

template <class T>
MYNAH_INLINE void copy_bulk_async(const Shared<T>& to, const Global<const T>& from, int bytes,
                                  const Shared<uint64_t>& mbarrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(detail::shared_address(to)), "l"(from.data), "r"(bytes),
        "r"(detail::shared_address(mbarrier))
      : "memory");
}

MYNAH_INLINE void show_to_copies_and_products() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

MYNAH_INLINE void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

namespace detail {

// Where a matrix stands (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout": no
// swizzling, K-major): addresses in 16 bytes; core matrices of eight rows by 16 bytes, 128 bytes
// apart along the depth, a panel apart along the rows.
MYNAH_INLINE uint64_t matrix_at(uint32_t address, int panel_bytes) {
  constexpr uint64_t kCoreBytes = 128;
  return static_cast<uint64_t>((address & 0x3FFFFU) >> 4) | kCoreBytes >> 4 << 16 |
         static_cast<uint64_t>(static_cast<uint32_t>(panel_bytes) >> 4) << 32;
}

}  // namespace detail

// The 64 sums of a lane as operands, and their places in the text.
#define MYNAH_SUMS_OF_PANEL(p) \
  "+f"(sums[p][0]), "+f"(sums[p][1]), "+f"(sums[p][2]), "+f"(sums[p][3])
#define MYNAH_SUMS                                                                                \
  MYNAH_SUMS_OF_PANEL(0), MYNAH_SUMS_OF_PANEL(1), MYNAH_SUMS_OF_PANEL(2), MYNAH_SUMS_OF_PANEL(3), \
      MYNAH_SUMS_OF_PANEL(4), MYNAH_SUMS_OF_PANEL(5), MYNAH_SUMS_OF_PANEL(6),                     \
      MYNAH_SUMS_OF_PANEL(7), MYNAH_SUMS_OF_PANEL(8), MYNAH_SUMS_OF_PANEL(9),                     \
      MYNAH_SUMS_OF_PANEL(10), MYNAH_SUMS_OF_PANEL(11), MYNAH_SUMS_OF_PANEL(12),                  \
      MYNAH_SUMS_OF_PANEL(13), MYNAH_SUMS_OF_PANEL(14), MYNAH_SUMS_OF_PANEL(15)
#define MYNAH_PLACES                                                                             \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"  \
  "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
#define MYNAH_WARPGROUP_PRODUCT(shape_and_types)                        \
  asm volatile(                                                         \
      "{\n\t"                                                           \
      ".reg .pred adds;\n\t"                                            \
      "setp.ne.b32 adds, %66, 0;\n\t"                                   \
      "wgmma.mma_async.sync.aligned." shape_and_types " " MYNAH_PLACES  \
      ", %64, %65, adds, 1, 1, 0, 0"                                    \
      ";\n\t"                                                           \
      "}"                                                               \
      : MYNAH_SUMS                                                      \
      : "l"(detail::matrix_at(detail::shared_address(a), panel_bytes)), \
        "l"(detail::matrix_at(detail::shared_address(b), panel_bytes)), \
        "r"(static_cast<int>(adds))                                     \
      : "memory")

template <class Element, class T>
MYNAH_INLINE void multiply_panels(const Shared<T>& a, const Shared<T>& b, int panel_bytes,
                                  float (&sums)[16][4], bool adds) {
  if constexpr (__is_same(Element, F16)) {
    MYNAH_WARPGROUP_PRODUCT("m64n128k16.f32.f16.f16");
  } else {
    MYNAH_WARPGROUP_PRODUCT("m64n128k16.f32.bf16.bf16");
  }
}

// The sums are named, so that nothing reads them earlier.
MYNAH_INLINE void wait_for_products(float (&sums)[16][4]) {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;"
               : MYNAH_SUMS
               :
               : "memory");
}

#undef MYNAH_WARPGROUP_PRODUCT
#undef MYNAH_PLACES
#undef MYNAH_SUMS
#undef MYNAH_SUMS_OF_PANEL

}  // namespace mynah::simt

#endif
