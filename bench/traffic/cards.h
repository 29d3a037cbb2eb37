// What cards can do at most by their makers' numbers, and what a kernel would take on them at best.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "backend/cuda/simt/traffic.h"
#include "ops/op_case.h"

namespace mynah::bench {

struct Card {
  const char* name;
  int capability;     // times ten
  double processors;  // multiprocessors
  double clock;       // cycles a second, boosted
  double memory;      // bytes a second
  double f32;         // multiplications and additions a second
  double dot4;        // of int8 by dot products of four, counted likewise
  double half_units;  // of matrix units, f16 and bf16, sums in f32; 0: none
  double int8_units;  // of matrix units; 0: none
};

extern const std::array<Card, 3> kCards;

// One launch, all of its blocks.
struct Work {
  simt::Traffic traffic;  // scaled to all blocks
  int64_t blocks = 0;
  double bytes = 0.0;       // that must come from memory or go there at least; 0: not known
  double operations = 0.0;  // 0: none worth counting
  cases::Arithmetic arithmetic = cases::Arithmetic::F32;
};

struct Estimate {
  double seconds = 0.0;
  const char* bound = "";  // what takes longest
};

// The roofline: the longest of what each resource would take alone, were it used as well as can be,
// and a launch. Memory: at least the bytes that are needed, or where that is not known every sector
// once. Cache: every sector that was asked for, 64 bytes a cycle and multiprocessor. Shared memory:
// a wavefront a cycle and multiprocessor. Arithmetic: the operations. What multiprocessors do is
// spread unevenly where blocks do not divide by them. `launch`: seconds that one takes, 0 where a
// graph begins it.
constexpr double kLaunch = 2.5e-6;  // what launches in a row cost on such cards
Estimate estimate(const Card& card, const Work& work, double launch = kLaunch);

}  // namespace mynah::bench
