// The language that kernels are written in: CUDA's, through names of our own, so that the same
// source is compiled for a card (device.h, by clang, to PTX) and for this machine (host.h, run by
// simulator.h). Everything that a kernel may use is declared here or in kernels/math.h.
//
// A kernel is
//
//   MYNAH_KERNEL(layer_norm, LayerNormArgs, 128) { ... reads `args`; at most 128 threads ... }
//
// and works on views: Global<T> of the card's memory, Shared<T> of a block's, declared by
// MYNAH_SHARED(T, name, elements) or, when its size is the launch's, MYNAH_DYNAMIC_SHARED(T, name).
// On a card a view is a pointer; in the simulation every access is looked at. Threads talk through
// barrier(), warp_barrier() and shuffle_*(), which every thread of the block, or of the warp, must
// reach. MYNAH_LEVEL is the compute capability compiled for, times ten.
//
// Matrix units (from level 75 on; bfloat16 from 80) multiply for a whole warp, C += A B, where A
// has 16 rows and B 8 columns. With g = lane() / 4 and t = lane() % 4 a lane has
//
//   a[0], a[1]  word t of the first half of A's rows g and g + 8      C's rows g: c[0], c[1], and
//   a[2], a[3]  word t of the second half of the same                 g + 8: c[2], c[3], of the
//   b[0], b[1]  word t of either half of B's column g                 columns 2 t and 2 t + 1
//
// multiply_matrices<F16 or Bf16>(a, b, c)  16 elements deep, two a word; C in f32
// multiply_codes(a, b, c)                  32 int8 deep, four a word, or 16 with half of the words
//
// nearest_pair<F16 or Bf16>(first, second) rounds two numbers to a word of such operands.
//
// load_matrices(row, words) gets operands from the block's memory: four matrices of eight rows of
// eight elements of 16 bits. Lane 8 m + r gives row r of matrix m, 16 bytes, and gets of each
// matrix word t of row g; of load_matrices_transposed() it gets elements g of the rows 2 t and 2 t
// + 1.
//
// copy_16_async(to, from, inside) moves 16 bytes from the card's memory to the block's, or zeros
// where not inside; they are there when wait_for_copies<n>() has waited for all but the last n
// groups that commit_copies() made, and for other threads after a barrier. Below level 80 they are
// there at once.
//
// Level 90 is one architecture's own (Hopper's, compute capability 9.0: no later card runs it).
// There four warps side by side are a warpgroup, which multiplies what stands in the block's
// memory, while its threads go on:
//
// multiply_panels<F16 or Bf16>(a, b, panel_bytes, sums, adds)
//     of 64 rows of A and 128 of B, two units of 16 bytes of each, in panels of eight rows: the
//     units of a panel stand one after the other, eight rows each, the next panel panel_bytes on.
//     Warp i of the group gets rows 16 i and on of A; sums[p] are of panel p of B as C above is.
//     They begin from zero where not `adds`.
// begin_products()          before the first of these since the last wait, once sums are set
// wait_for_products(sums)   all begun are done, and their sums may be looked at
//
// An mbarrier is eight bytes of the block's memory that count arrivals, and bytes of copies:
//
// init_mbarrier(m, count)       by one thread, with a barrier before anybody uses it
// arrive(m)                     one of `count` arrivals that end a phase; what the thread's warp
// did
//                               before it last met comes before what others do who wait for it
// arrive_expecting(m, bytes)    the same, and so many bytes must be copied before the phase ends
// wait_for_phase(m, parity)     until the phase of this parity is over: 0 the first, then 1, 0 ...
// copy_bulk_async(to, from, bytes, m)  a run of bytes, whole units of 16 of 16 bytes' alignment
// show_to_copies_and_products() what this thread wrote to the block's memory: before a barrier
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

// What is compiled otherwise at one level than at another stands in
//
//   inline namespace MYNAH_OF_LEVEL { ... }
//
// and so does what calls it: the simulation has all levels in one program, where a function of one
// name is kept once.
#define MYNAH_NAME_OF_LEVEL(level) sm##level
#define MYNAH_EXPANDED_NAME_OF_LEVEL(level) MYNAH_NAME_OF_LEVEL(level)
#define MYNAH_OF_LEVEL MYNAH_EXPANDED_NAME_OF_LEVEL(MYNAH_LEVEL)

#ifdef __CUDA__
#include "backend/cuda/simt/device.h"
#else
#include "backend/cuda/simt/host.h"
#endif

namespace mynah::simt {

inline constexpr int kWarp = 32;
inline constexpr int kWarpgroupWarps = 4;
inline constexpr int kLevel = MYNAH_LEVEL;

// A thread's number in its block, and how many there are; the same for blocks.
using detail::block_count_x;
using detail::block_index_x;
using detail::block_index_y;
using detail::block_index_z;
using detail::thread_count;
using detail::thread_index;

inline int lane() {
  return thread_index() % kWarp;
}

inline int warp() {
  return thread_index() / kWarp;
}

inline int warp_count() {
  return thread_count() / kWarp;
}

// The sum over a warp, in every lane, by halves: the same order on every device.
inline float warp_sum(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += shuffle_xor(value, distance);
  }
  return value;
}

inline float warp_max(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = maximum(value, shuffle_xor(value, distance));
  }
  return value;
}

// The sum over a block, in every thread; `scratch` has an element a warp. All threads call it.
inline float block_sum(float value, const Shared<float>& scratch) {
  value = warp_sum(value);
  barrier();  // whoever still reads an earlier sum
  if (lane() == 0) {
    scratch[warp()] = value;
  }
  barrier();
  return warp_sum(lane() < warp_count() ? static_cast<float>(scratch[lane()]) : 0.0F);
}

inline float block_max(float value, const Shared<float>& scratch) {
  value = warp_max(value);
  barrier();
  if (lane() == 0) {
    scratch[warp()] = value;
  }
  barrier();
  return warp_max(lane() < warp_count() ? static_cast<float>(scratch[lane()]) : -kInfinity);
}

}  // namespace mynah::simt
