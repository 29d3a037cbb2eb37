// Which tokens top_k, typical_p, top_p and min_p leave (SampleRow, tensor/op_params.h).
#pragma once

#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/sample_row.h"

namespace mynah::simt {

inline constexpr float kLog2OfE = 1.44269504F;

// Unsigned numbers in the order of floats, both zeros one.
inline uint32_t order_of(float value) {
  const uint32_t bits = bits_of(value + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

inline bool is_filtered(const SampleRow& row) {
  return row.temperature > 0.0F &&
         (row.top_k > 0 || row.typical_p < 1.0F || row.top_p < 1.0F || row.min_p > 0.0F);
}

// What some tokens come to; the more of them, the more, also as rounded.
struct Measure {
  float count;   // exact up to 2^24
  float mass;    // of their weights
  float moment;  // of x, by their weights
};

// Which tokens a row's filters leave: those from a place on in two orders, by value and by how
// typical they are. A place is a key above an index, the larger the earlier. It is searched for by
// halves, with a reading of the row at each step, until no second token could be meant.
struct Filters {
  const Row& row;
  TokenRange first;
  TokenRange second;
  float most;       // of all tokens that may come
  float most_left;  // of those that are kept
  int index_bits = 1;
  uint64_t likely = 0;
  uint64_t typical = 0;
  float mean = 0.0F;  // of x, by the weights, where the most typical are wanted

  // Binary logarithm of a token's weight, relative to the likeliest one's, at temperature 1.
  [[nodiscard]] float x_of(float value) const { return (value - most) * kLog2OfE; }

  // |-log p - H| is the distance of x from its mean under p: with p = e^x / Z, -log p is log Z - x
  // and H is log Z - E[x].
  [[nodiscard]] uint32_t typical_order_of(float value) const {
    return 0x7FFFFFFFU - (bits_of(x_of(value) - mean) & 0x7FFFFFFFU);
  }

  [[nodiscard]] uint64_t place(uint32_t key, int id) const {
    const uint32_t last = (1U << index_bits) - 1U;
    return (static_cast<uint64_t>(key) << index_bits) + (last - static_cast<uint32_t>(id));
  }

  [[nodiscard]] bool keep(float value, int id) const {
    return value > -kInfinity && place(order_of(value), id) >= likely &&
           (typical == 0 || place(typical_order_of(value), id) >= typical);
  }

  // Of the tokens that are kept, in every thread; scratch as block_sum's. All threads call it.
  [[nodiscard]] Measure measured(const Shared<float>& scratch) const {
    Measure own{0.0F, 0.0F, 0.0F};
    MYNAH_ROLLED
    for (int range = 0; range < 2; ++range) {
      const TokenRange tokens = range == 0 ? first : second;
      MYNAH_ROLLED
      for (int id = tokens.begin + thread_index(); id < tokens.end; id += kTurns * thread_count()) {
        float values[kTurns];
        read(row, id, tokens.end, values);
        for (int k = 0; k < kTurns; ++k) {
          if (keep(values[k], id + k * thread_count())) {
            const float x = x_of(values[k]);
            const float weight = exp2_fast(x);
            own.count += 1.0F;
            own.mass += weight;
            own.moment += weight > 0.0F ? weight * x : 0.0F;
          }
        }
      }
    }
    return {block_sum(own.count, scratch), block_sum(own.mass, scratch),
            block_sum(own.moment, scratch)};
  }

  // The largest that is kept, in every thread; scratch as block_max's. All threads call it.
  [[nodiscard]] float largest(const Shared<float>& scratch) const {
    float own = -kInfinity;
    MYNAH_ROLLED
    for (int range = 0; range < 2; ++range) {
      const TokenRange tokens = range == 0 ? first : second;
      MYNAH_ROLLED
      for (int id = tokens.begin + thread_index(); id < tokens.end; id += kTurns * thread_count()) {
        float values[kTurns];
        read(row, id, tokens.end, values);
        for (int k = 0; k < kTurns; ++k) {
          own = keep(values[k], id + k * thread_count()) ? maximum(own, values[k]) : own;
        }
      }
    }
    return block_max(own, scratch);
  }

  // All threads call it; scratch as measured()'s.
  void set(const SampleRow& wanted, int vocabulary, const Shared<float>& scratch) {
    while (vocabulary > 1 << index_bits) {
      ++index_bits;
    }

    enum { kTopK, kTypicalP, kTopP, kCount };

    MYNAH_ROLLED
    for (int filter = kTopK; filter < kCount; ++filter) {
      const float share = filter == kTypicalP ? wanted.typical_p : wanted.top_p;
      if (filter == kTopK ? wanted.top_k > 0 : share < 1.0F) {
        shorten(filter == kTypicalP, filter == kTopK ? static_cast<float>(wanted.top_k) : 0.0F,
                share, scratch);
      }
    }
    if (typical != 0) {
      most_left = largest(scratch);
    }
    if (wanted.min_p > 0.0F) {
      const float least = most_left + log(wanted.min_p);
      const uint64_t from = static_cast<uint64_t>(order_of(least)) << index_bits;
      likely = from > likely ? from : likely;
    }
  }

  // Leaves the fewest in one of the orders that are `tokens`, where that is above 0, or else
  // `share` of all that are left, of the typical ones more than that; at least one. All threads
  // call it.
  void shorten(bool by_typical, float tokens, float share, const Shared<float>& scratch) {
    // What is kept from `low` on suffices; what is from `high` on does not.
    uint64_t low = by_typical ? 0 : likely;
    const uint32_t beyond = by_typical ? 0x80000000U : order_of(most) + 1U;
    uint64_t high = static_cast<uint64_t>(beyond) << index_bits;
    uint64_t trial = low;
    float goal = -1.0F;
    float from_low = 0.0F;  // tokens
    float from_high = 0.0F;
    do {
      likely = by_typical ? likely : trial;
      typical = by_typical ? trial : typical;
      const Measure found = measured(scratch);
      if (goal < 0.0F) {
        goal = tokens > 0.0F ? tokens : share * found.mass;
        mean = by_typical ? found.moment / found.mass : mean;
        from_low = found.count;
      }
      const float reached = tokens > 0.0F ? found.count : found.mass;
      const bool enough = found.count > 0.0F && (by_typical ? reached > goal : reached >= goal);
      if (trial == low && !enough) {
        return;  // fewer than wanted
      }
      low = enough ? trial : low;
      from_low = enough ? found.count : from_low;
      high = enough ? high : trial;
      from_high = enough ? from_high : found.count;
      trial = low + (high - low) / 2;
    } while (from_low - from_high > 1.0F);
    likely = by_typical ? likely : low;
    typical = by_typical ? low : typical;
  }
};

}  // namespace mynah::simt
