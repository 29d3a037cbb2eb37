#include "cards.h"

#include <algorithm>
#include <cmath>

namespace mynah::bench {

// NVIDIA's data sheets: TITAN Xp (2017: 3840 cores at 1582 MHz, 547.7 GB/s; int8 four times f32 by
// dot products), GeForce RTX 4060 (Ada whitepaper, appendix A: 3072 cores at 2460 MHz, 272 GB/s;
// matrix units with f32 sums twice f32's vector rate times two, int8 twice that), H200 SXM (989.5
// TFLOP/s bf16 and 1979 int8, dense; 4.8 TB/s; 16896 cores at 1980 MHz).
const std::array<Card, 3> kCards = {{
    {"TITAN Xp", 61, 30, 1.582e9, 547.7e9, 12.15e12, 48.6e12, 0.0, 0.0},
    {"RTX 4060", 89, 24, 2.460e9, 272.0e9, 15.1e12, 60.5e12, 60.5e12, 121.0e12},
    {"H200", 90, 132, 1.980e9, 4800.0e9, 66.9e12, 267.6e12, 989.5e12, 1979.0e12},
}};

namespace {

constexpr double kSectorBytes = 32.0;
constexpr double kCacheBytes = 64.0;  // a cycle and multiprocessor

double peak_of(const Card& card, const Work& work) {
  const bool units = work.traffic.matrix_products > 0;
  switch (work.arithmetic) {
    case cases::Arithmetic::Int8:
      return units ? card.int8_units : card.dot4;
    case cases::Arithmetic::Bf16:
      return units ? card.half_units : card.f32;
    default:
      return units ? card.half_units : card.f32;
  }
}

}  // namespace

Estimate estimate(const Card& card, const Work& work, double launch) {
  // How much longer the busiest multiprocessor takes than all would on average.
  const double share = static_cast<double>(work.blocks) / card.processors;
  const double uneven = share > 0.0 ? std::ceil(share) / share : 1.0;
  const double sectors = static_cast<double>(work.traffic.global_sectors) * kSectorBytes;
  const double cycles = card.processors * card.clock;
  const Estimate parts[] = {
      {(work.bytes > 0.0 ? work.bytes : sectors) / card.memory, "memory"},
      {uneven * sectors / (cycles * kCacheBytes), "cache"},
      {uneven * static_cast<double>(work.traffic.shared_wavefronts) / cycles, "shared"},
      {uneven * work.operations / peak_of(card, work), "arithmetic"},
      {launch, "launch"},
  };
  return *std::ranges::max_element(parts, {}, &Estimate::seconds);
}

}  // namespace mynah::bench
