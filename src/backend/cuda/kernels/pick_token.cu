// The next token by Whisper's rules and penalties (TokenRule, tensor/op_params.h). A row's logits
// are read once for the maxima, the sums of exponentials and each thread's best; a token more of
// the best few costs its thread another look at its own share, a sample costs one more reading of
// the row.
#include "backend/cuda/kernels/best.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/pick_token_args.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 1024;
constexpr int kMostWarps = kThreads / kWarp;
constexpr float kLog2OfE = 1.44269504F;

// A run of tokens; thread t of T looks at begin + t, begin + t + T, ...
struct Tokens {
  int begin;
  int end;
};

// A row's penalised tokens, in rising order, to be looked up by halves. Nearly every token is none
// of them, which a bit tells without a look: that of its group, of as few tokens as bits allow (one
// where the vocabulary has up to 65,536).
struct Penalties {
  static constexpr int kWordBits = 32;
  static constexpr int kWords = 2048;

  Global<const PickPenalty> entries;
  int count;
  Shared<uint32_t> groups;  // kWords
  int shift;                // token t is of group t >> shift

  [[nodiscard]] int group(int entry) const {
    const PickPenalty penalty = entries[entry];
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
      const PickPenalty penalty = entries[middle];
      begin = penalty.token <= id ? middle : begin;
      end = penalty.token <= id ? end : middle;
    }
    const PickPenalty penalty = entries[begin];
    if (penalty.token != id) {
      return logit;
    }
    if (penalty.penalty == kInfinity) {
      return -kInfinity;
    }
    return logit < 0.0F ? logit * penalty.penalty : logit / penalty.penalty;
  }
};

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

// e^(value - most); 0 for -infinity.
inline float part_of(float value, float most) {
  return value == -kInfinity ? 0.0F : exp2_fast((value - most) * kLog2OfE);
}

// The largest of some logits and the sum of their exponentials, relative to it.
struct Mass {
  float most = -kInfinity;
  float sum = 0.0F;

  void join(float other_most, float other_sum) {
    const float larger = maximum(most, other_most);
    if (larger > -kInfinity) {
      sum = sum * part_of(most, larger) + other_sum * part_of(other_most, larger);
      most = larger;
    }
  }

  [[nodiscard]] float log_sum() const { return sum > 0.0F ? most + log(sum) : -kInfinity; }
};

inline Mass warp_mass(Mass mass) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const float most = shuffle_xor(mass.most, distance);
    const float sum = shuffle_xor(mass.sum, distance);
    // The lower lane first, in both: the same bits in all lanes.
    if ((lane() & distance) == 0) {
      mass.join(most, sum);
    } else {
      Mass lower{most, sum};
      lower.join(mass.most, mass.sum);
      mass = lower;
    }
  }
  return mass;
}

// Of a block, in every thread; scratch as block_sum's, two of it. All threads call it.
inline Mass block_mass(Mass mass, const Shared<float>& most, const Shared<float>& sum) {
  mass = warp_mass(mass);
  barrier();
  if (lane() == 0) {
    most[warp()] = mass.most;
    sum[warp()] = mass.sum;
  }
  barrier();
  Mass other;
  if (lane() < warp_count()) {
    other.most = most[lane()];
    other.sum = sum[lane()];
  }
  return warp_mass(other);
}

// Looks at a thread's share of the tokens.
inline void look(const Row& row, const Tokens& tokens, Mass& mass, Best& best) {
  constexpr int kTurns = 4;  // logits under way at once
  for (int id = tokens.begin + thread_index(); id < tokens.end; id += kTurns * thread_count()) {
    float values[kTurns];
    float masks[kTurns];
    for (int k = 0; k < kTurns; ++k) {
      const int other = id + k * thread_count();
      values[k] = -kInfinity;
      masks[k] = 0.0F;
      if (other < tokens.end) {
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
    float most = -kInfinity;
    for (int k = 0; k < kTurns; ++k) {
      const float value = values[k] + masks[k];
      values[k] = value == value ? value : -kInfinity;
      most = maximum(most, values[k]);
    }
    if (most == -kInfinity) {
      continue;
    }
    if (most > mass.most) {
      mass.sum *= part_of(mass.most, most);
      mass.most = most;
      // Ids rise: what comes later wins only by being larger.
      for (int k = kTurns - 1; k >= 0; --k) {
        best.index = values[k] == most ? id + k * thread_count() : best.index;
      }
      best.value = most;
    }
    for (int k = 0; k < kTurns; ++k) {
      mass.sum += part_of(values[k], mass.most);
    }
  }
}

// A thread's best token after `last`, in the order of value and then of index.
inline void look_after(const Row& row, const Tokens& tokens, const Best& last, Best& best) {
  for (int id = tokens.begin + thread_index(); id < tokens.end; id += thread_count()) {
    const float value = row.at(id);
    if (value > -kInfinity && (value < last.value || (value == last.value && id > last.index))) {
      best.offer(value, id);
    }
  }
}

// The sum over the lanes up to this one.
inline float warp_running_sum(float value) {
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const float lower = shuffle_up(value, distance);
    value += lane() >= distance ? lower : 0.0F;
  }
  return value;
}

// The token at which the running sum of exp((logit - most) / temperature) passes `uniform` of the
// whole. Each warp takes a part of the vocabulary, 32 tokens at a time: first for its sum, then,
// where the sample falls into it, to find the token. Both times the same numbers are added in the
// same order.
struct Sampler {
  const Row& row;
  Tokens text;
  Tokens timestamps;
  float most;
  float scale;  // log2(e) / temperature
  int share;    // tokens of a warp

  [[nodiscard]] float part(int id) const {
    const bool there =
        (id >= text.begin && id < text.end) || (id >= timestamps.begin && id < timestamps.end);
    if (!there) {
      return 0.0F;
    }
    const float value = row.at(id);
    return value == -kInfinity ? 0.0F : exp2_fast((value - most) * scale);
  }

  // Of the tokens of this warp, in every lane.
  [[nodiscard]] float sum() const {
    float total = 0.0F;
    const int begin = warp() * share;
    for (int id = begin; id < begin + share; id += kWarp) {
      total += shuffle(warp_running_sum(part(id + lane())), kWarp - 1);
    }
    return total;
  }

  // The token of this warp at which its running sum passes `goal`, in every lane; where rounding
  // leaves none, the last that may come.
  [[nodiscard]] int find(float goal) const {
    float total = 0.0F;
    int last = Best::kNowhere;
    const int begin = warp() * share;
    for (int id = begin; id < begin + share; id += kWarp) {
      const float own = part(id + lane());
      const float running = warp_running_sum(own);
      // The lowest lane that passes, and the highest that may come.
      int passes = own > 0.0F && total + running > goal ? lane() : kWarp;
      int comes = own > 0.0F ? lane() : -1;
      for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        const int other_passes = shuffle_xor(passes, distance);
        const int other_comes = shuffle_xor(comes, distance);
        passes = other_passes < passes ? other_passes : passes;
        comes = other_comes > comes ? other_comes : comes;
      }
      if (passes < kWarp) {
        return id + passes;
      }
      last = comes >= 0 ? id + comes : last;
      total += shuffle(running, kWarp - 1);
    }
    return last;
  }
};

}  // namespace

MYNAH_KERNEL(pick_token, PickTokenArgs, kThreads) {
  MYNAH_SHARED(float, values, kMostWarps);
  MYNAH_SHARED(float, sums, kMostWarps);
  MYNAH_SHARED(int, indices, kMostWarps);
  MYNAH_SHARED(uint32_t, groups, Penalties::kWords);
  const PickRule rule = Global<const PickRule>(args.rules)[block_index_x()];
  Row row{Global<const float>(args.logits.data + block_index_x() * args.logits.stride),
          Global<const float>(args.masks.data == nullptr
                                  ? nullptr
                                  : args.masks.data + rule.mask * args.masks.stride),
          {.entries = Global<const PickPenalty>(args.penalties).from(rule.penalties_begin),
           .count = rule.penalties_count,
           .groups = groups,
           .shift = 0}};
  row.penalties.mark(args.vocabulary);
  Tokens text{rule.text_begin < 0 ? 0 : rule.text_begin, rule.text_allowed ? rule.text_end : 0};
  const Tokens timestamps{rule.timestamp_low, rule.timestamp_high};

  Mass text_mass;
  Best best;
  look(row, text, text_mass, best);
  Mass timestamp_mass;
  Best best_timestamp;
  look(row, timestamps, timestamp_mass, best_timestamp);
  text_mass = block_mass(text_mass, values, sums);
  timestamp_mass = block_mass(timestamp_mass, values, sums);
  const bool no_text = rule.prefer_timestamps && timestamp_mass.log_sum() > text_mass.most;
  if (no_text) {
    text.end = 0;
    text_mass = Mass{};
    best = best_timestamp;
  } else {
    best.offer(best_timestamp.value, best_timestamp.index);
  }
  Mass mass = text_mass;
  mass.join(timestamp_mass.most, timestamp_mass.sum);
  const float log_sum = log(mass.sum);  // relative to the largest

  const Global<int32_t> ids(args.ids + block_index_x() * args.ids_stride);
  const Global<float> log_probabilities(args.log_probabilities.data +
                                        block_index_x() * args.log_probabilities.stride);
  if (rule.temperature > 0.0F && mass.most > -kInfinity) {
    const int runs = (args.vocabulary + kWarp - 1) / kWarp;
    const int share = (runs + warp_count() - 1) / warp_count() * kWarp;
    const Sampler sampler{row, text, timestamps, mass.most, kLog2OfE / rule.temperature, share};
    const float own = sampler.sum();
    barrier();
    if (lane() == 0) {
      values[warp()] = own;
    }
    barrier();
    // Which warp's: every thread adds up the same few sums.
    float all = 0.0F;
    for (int w = 0; w < warp_count(); ++w) {
      all += values[w];
    }
    const float goal = rule.uniform * all;
    float before = 0.0F;
    float before_chosen = 0.0F;
    int chosen = -1;
    bool passed = false;
    for (int w = 0; w < warp_count() && !passed; ++w) {
      const float of_warp = values[w];
      if (of_warp > 0.0F) {
        chosen = w;
        before_chosen = before;
      }
      before += of_warp;
      passed = before > goal;
    }
    if (warp() == chosen) {
      const int id = sampler.find(goal - before_chosen);
      if (lane() == 0) {
        ids[0] = id;
        log_probabilities[0] = row.at(id) - mass.most - log_sum;
      }
    }
    return;
  }
  for (int k = 0; k < args.top; ++k) {
    const Best found = block_best(best, values, indices);
    const bool nothing = found.value == -kInfinity;
    if (thread_index() == 0) {
      ids[k] = nothing ? 0 : found.index;
      log_probabilities[k] = nothing ? -kInfinity : found.value - mass.most - log_sum;
    }
    if (!nothing && found.index == best.index && k + 1 < args.top) {
      best = Best{};
      look_after(row, text, found, best);
      look_after(row, timestamps, found, best);
    }
  }
}

}  // namespace mynah::simt
