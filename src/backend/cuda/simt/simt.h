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
// reach. MYNAH_LEVEL is the compute capability compiled for, times ten: 60 or 61.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

#ifdef __CUDA__
#include "backend/cuda/simt/device.h"
#else
#include "backend/cuda/simt/host.h"
#endif

namespace mynah::simt {

inline constexpr int kWarp = 32;
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
