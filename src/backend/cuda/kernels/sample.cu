// The choice of the next token (SampleRow, tensor/op_params.h). A row's logits are read once for
// the maxima, the sums of exponentials and each thread's best; a token more of the best few costs
// its thread another look at its own share, a draw costs one more reading of the row. Each filter
// but min_p costs some 20 readings more: at most 33, and one more for each bit of an index where
// tokens tie; typical_p one more.
#include "backend/cuda/kernels/best.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/sample_args.h"
#include "backend/cuda/kernels/sample_filters.h"
#include "backend/cuda/kernels/sample_row.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 1024;
constexpr int kFilteredThreads = 512;  // the filters need more registers

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

// Looks at a thread's share of the tokens: thread t of T at begin + t, begin + t + T, ...
inline void look(const Row& row, const TokenRange& tokens, Mass& mass, Best& best) {
  for (int id = tokens.begin + thread_index(); id < tokens.end; id += kTurns * thread_count()) {
    float values[kTurns];
    read(row, id, tokens.end, values);
    float most = -kInfinity;
    for (int k = 0; k < kTurns; ++k) {
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
inline void look_after(const Row& row, const TokenRange& tokens, const Best& last, Best& best) {
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

// The token at which the running sum of the weights that the filters leave passes `uniform` of the
// whole. Each warp takes a part of the vocabulary, 32 tokens at a time: first for its sum, then,
// where the draw falls into it, to find the token. Both times the same numbers are added in the
// same order.
template <bool kFiltered>
struct Sampler {
  const Filters& filters;
  float scale;  // log2(e) / temperature
  int share;    // tokens of a warp

  [[nodiscard]] float part(int id) const {
    const TokenRange& first = filters.first;
    const TokenRange& second = filters.second;
    const bool there =
        (id >= first.begin && id < first.end) || (id >= second.begin && id < second.end);
    if (!there) {
      return 0.0F;
    }
    const float value = filters.row.at(id);
    if (kFiltered && !filters.keep(value, id)) {
      return 0.0F;
    }
    return value == -kInfinity ? 0.0F : exp2_fast((value - filters.most_left) * scale);
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

// A block's memory: an element a warp, and the bits of Penalties.
struct BlockMemory {
  Shared<float> values;
  Shared<float> sums;
  Shared<int> indices;
  Shared<uint32_t> groups;
};

// A block's row, where it is filtered or not as kFiltered says.
template <bool kFiltered>
MYNAH_INLINE void sample_row(const SampleArgs& args, const BlockMemory& memory) {
  const SampleRow wanted = Global<const SampleRow>(args.rows)[block_index_x()];
  if (is_filtered(wanted) != kFiltered) {
    return;
  }
  const auto& [values, sums, indices, groups] = memory;
  Row row{Global<const float>(args.logits.data + block_index_x() * args.logits.stride),
          Global<const float>(args.masks.data == nullptr
                                  ? nullptr
                                  : args.masks.data + wanted.mask * args.masks.stride),
          {.entries = Global<const TokenPenalty>(args.penalties).from(wanted.penalties_begin),
           .count = wanted.penalties_count,
           .groups = groups,
           .shift = 0}};
  row.penalties.mark(args.vocabulary);
  TokenRange first = within(wanted.first, args.vocabulary);
  const TokenRange second = within(wanted.second, args.vocabulary);

  Mass first_mass;
  Best best;
  look(row, first, first_mass, best);
  Mass second_mass;
  Best second_best;
  look(row, second, second_mass, second_best);
  first_mass = block_mass(first_mass, values, sums);
  second_mass = block_mass(second_mass, values, sums);
  if (wanted.prefer_second && second_mass.log_sum() > first_mass.most) {
    first.end = 0;
    first_mass = Mass{};
    best = second_best;
  } else {
    best.offer(second_best.value, second_best.index);
  }
  Mass mass = first_mass;
  mass.join(second_mass.most, second_mass.sum);
  const float log_sum = log(mass.sum);  // relative to the largest

  const Global<int32_t> ids(args.ids + block_index_x() * args.ids_stride);
  const Global<float> log_probabilities(args.log_probabilities.data +
                                        block_index_x() * args.log_probabilities.stride);
  if (wanted.temperature > 0.0F && mass.most > -kInfinity) {
    const int runs = (args.vocabulary + kWarp - 1) / kWarp;
    const int share = (runs + warp_count() - 1) / warp_count() * kWarp;
    Filters filters{
        .row = row, .first = first, .second = second, .most = mass.most, .most_left = mass.most};
    if constexpr (kFiltered) {
      filters.set(wanted, args.vocabulary, sums);
    }
    const Sampler<kFiltered> sampler{filters, kLog2OfE / wanted.temperature, share};
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
    const float goal = wanted.uniform * all;
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
      look_after(row, first, found, best);
      look_after(row, second, found, best);
    }
  }
}

}  // namespace

MYNAH_KERNEL(sample, SampleArgs, kThreads) {
  MYNAH_SHARED(float, values, kThreads / kWarp);
  MYNAH_SHARED(float, sums, kThreads / kWarp);
  MYNAH_SHARED(int, indices, kThreads / kWarp);
  MYNAH_SHARED(uint32_t, groups, Penalties::kWords);
  sample_row<false>(args, {values, sums, indices, groups});
}

MYNAH_KERNEL(sample_filtered, SampleArgs, kFilteredThreads) {
  MYNAH_SHARED(float, values, kFilteredThreads / kWarp);
  MYNAH_SHARED(float, sums, kFilteredThreads / kWarp);
  MYNAH_SHARED(int, indices, kFilteredThreads / kWarp);
  MYNAH_SHARED(uint32_t, groups, Penalties::kWords);
  sample_row<true>(args, {values, sums, indices, groups});
}

}  // namespace mynah::simt
