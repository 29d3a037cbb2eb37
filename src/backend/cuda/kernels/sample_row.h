// A row's values as the choice of the next token sees them: penalised, masked, in two ranges.
#pragma once

#include "backend/cuda/kernels/sample_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// A row's penalised tokens, in rising order, to be looked up by halves. Nearly every token is none
// of them, which a bit tells without a look: that of its group, of as few tokens as bits allow (one
// where the vocabulary has up to 65,536).
struct Penalties {
  static constexpr int kWordBits = 32;
  static constexpr int kWords = 2048;

  Global<const TokenPenalty> entries;
  int count;
  Shared<uint32_t> groups;  // kWords
  int shift;                // token t is of group t >> shift

  [[nodiscard]] int group(int entry) const {
    const TokenPenalty penalty = entries[entry];
    return penalty.token >> shift;
  }

  // Sets the bits. All threads call it.
  void mark(int vocabulary) {
    if (count == 0) {
      return;
    }
    while ((vocabulary - 1) >> shift >= kWords * kWordBits) {
      ++shift;
    }
    const int words = ((vocabulary - 1) >> shift) / kWordBits + 1;
    for (int word = thread_index(); word < words; word += thread_count()) {
      groups[word] = 0;
    }
    barrier();
    // A word is written by the thread that has its first entry.
    for (int first = thread_index(); first < count; first += thread_count()) {
      const int word = group(first) / kWordBits;
      if (first > 0 && group(first - 1) / kWordBits == word) {
        continue;
      }
      uint32_t bits = 0;
      for (int i = first; i < count && group(i) / kWordBits == word; ++i) {
        bits |= 1U << (group(i) % kWordBits);
      }
      groups[word] = bits;
    }
    barrier();
  }

  [[nodiscard]] float applied(int id, float logit) const {
    if (count == 0) {
      return logit;
    }
    const uint32_t bits = groups[(id >> shift) / kWordBits];
    return (bits >> ((id >> shift) % kWordBits) & 1U) == 0 ? logit : looked_up(id, logit);
  }

  [[nodiscard]] float looked_up(int id, float logit) const {
    int begin = 0;
    int end = count;
    MYNAH_ROLLED
    while (end - begin > 1) {
      const int middle = (begin + end) / 2;
      const TokenPenalty penalty = entries[middle];
      begin = penalty.token <= id ? middle : begin;
      end = penalty.token <= id ? end : middle;
    }
    const TokenPenalty penalty = entries[begin];
    if (penalty.token != id) {
      return logit;
    }
    if (penalty.factor == kInfinity) {
      return -kInfinity;
    }
    const float biased = logit + penalty.bias;
    return (biased < 0.0F ? biased * penalty.factor : biased / penalty.factor) - penalty.offset;
  }
};

inline TokenRange within(const TokenRange& tokens, int vocabulary) {
  return {tokens.begin, tokens.end < vocabulary ? tokens.end : vocabulary};
}

struct Row {
  Global<const float> logits;
  Global<const float> mask;
  Penalties penalties;

  [[nodiscard]] float mask_of(int id) const {
    float value = 0.0F;
    if (!mask.empty()) {
      value = mask[id];
    }
    return value;
  }

  // -infinity where the token may not come.
  [[nodiscard]] float at(int id) const {
    const float logit = logits[id];
    const float value = penalties.applied(id, logit) + mask_of(id);
    return value == value ? value : -kInfinity;
  }
};

inline constexpr int kTurns = 4;  // logits of a thread under way at once

// A thread's next values, from `id` on a block's width apart; -infinity beyond `end`.
MYNAH_INLINE void read(const Row& row, int id, int end, float (&values)[kTurns]) {
  float masks[kTurns];
  for (int k = 0; k < kTurns; ++k) {
    const int other = id + k * thread_count();
    values[k] = -kInfinity;
    masks[k] = 0.0F;
    if (other < end) {
      values[k] = row.logits[other];
      masks[k] = row.mask_of(other);
    }
  }
  if (row.penalties.count > 0) {
    for (int k = 0; k < kTurns; ++k) {
      if (values[k] > -kInfinity) {  // and so a token of the vocabulary
        values[k] = row.penalties.applied(id + k * thread_count(), values[k]);
      }
    }
  }
  for (int k = 0; k < kTurns; ++k) {
    const float value = values[k] + masks[k];
    values[k] = value == value ? value : -kInfinity;
  }
}

}  // namespace mynah::simt
