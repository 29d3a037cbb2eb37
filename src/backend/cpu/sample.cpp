// The choice of the next token (SampleRow, tensor/op_params.h).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "backend/cpu/cpu_backend_class.h"

namespace mynah::cpu {

namespace {

// Tokens that may come, a range of one row's logits; run by run, so that a row is read from memory
// once for its maximum, the sum of its exponentials and its best few.
class Range {
 public:
  // `mask` may be null. `memory` lends room for the runs' maxima.
  Range(HostPool& memory, const Kernels& kernels, const float* row, const float* mask, Span span)
      : kernels_(kernels),
        row_(row),
        mask_(mask),
        span_(span),
        maxima_(memory, std::max<int64_t>(1, runs())) {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    float sum = 0.0F;
    for (int64_t i = 0; i < runs(); ++i) {
      const Span part = run(i);
      const float* const shifted = mask_at(part.begin);
      const float largest = kernels_.masked_max(row_ + part.begin, shifted, part.length, nullptr);
      maxima_[i] = largest;
      if (largest == kNever) {
        continue;
      }
      // Sums relative to the largest so far.
      if (largest > largest_) {
        sum *= std::exp(largest_ - largest);
        largest_ = largest;
      }
      sum += kernels_.masked_exp_sum(row_ + part.begin, shifted, part.length, largest_, 1.0F);
    }
    log_sum_ = largest_ > kNever ? largest_ + std::log(sum) : kNever;
  }

  [[nodiscard]] float largest() const { return largest_; }

  // log(sum(exp(logit)))
  [[nodiscard]] float log_sum() const { return log_sum_; }

  [[nodiscard]] const Span& span() const { return span_; }

  [[nodiscard]] int64_t runs() const { return (span_.length + kRun - 1) / kRun; }

  [[nodiscard]] Span run(int64_t i) const {
    return {span_.begin + i * kRun, std::min(kRun, span_.length - i * kRun)};
  }

  [[nodiscard]] float largest_of_run(int64_t i) const { return maxima_[i]; }

  [[nodiscard]] float value(int64_t token) const {
    const float v = row_[token] + (mask_ == nullptr ? 0.0F : mask_[token]);
    return std::isnan(v) ? -std::numeric_limits<float>::infinity() : v;
  }

  // The first token of the largest logit; the range's first where nothing is allowed.
  [[nodiscard]] int64_t likeliest() const {
    for (int64_t i = 0; i < runs(); ++i) {
      if (maxima_[i] == largest_) {
        int64_t index = 0;
        kernels_.masked_max(row_ + run(i).begin, mask_at(run(i).begin), run(i).length, &index);
        return run(i).begin + index;
      }
    }
    return span_.begin;
  }

  // The same as exp_sum at temperature 1, of more exact sums.
  [[nodiscard]] double mass(float shift) const {
    double sum = 0.0;
    for (int64_t i = 0; i < runs(); ++i) {
      if (maxima_[i] > -std::numeric_limits<float>::infinity()) {
        sum += kernels_.masked_exp_sum(row_ + run(i).begin, mask_at(run(i).begin), run(i).length,
                                       shift, 1.0F);
      }
    }
    return sum;
  }

  // sum(exp((logit - shift) / temperature))
  [[nodiscard]] float exp_sum(float shift, float inverse_temperature) const {
    return span_.length == 0 ? 0.0F
                             : kernels_.masked_exp_sum(row_ + span_.begin, mask_at(span_.begin),
                                                       span_.length, shift, inverse_temperature);
  }

 private:
  // Tokens whose largest logit is found before any of them is looked at alone.
  static constexpr int64_t kRun = 256;

  [[nodiscard]] const float* mask_at(int64_t token) const {
    return mask_ == nullptr ? nullptr : mask_ + token;
  }

  const Kernels& kernels_;
  const float* row_;
  const float* mask_;
  Span span_;
  Scratch<float> maxima_;
  float largest_ = -std::numeric_limits<float>::infinity();
  float log_sum_ = 0.0F;
};

struct Candidate {
  float logit;
  int32_t token;
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// The tokens that a row's filters leave, of those of two ranges of which some may come.
class Filters {
 public:
  // `largest` is the largest logit, above -infinity.
  Filters(HostPool& memory, const Range& first, const Range& second, float largest,
          const SampleRow& row)
      : largest_(largest),
        inverse_(1.0 / static_cast<double>(row.temperature)),
        candidates_(memory, first.span().length + second.span().length) {
    gather(memory, first, second, row);
    if (row.top_k > 0 && row.top_k < count_) {
      std::nth_element(begin(), begin() + row.top_k, end(), likelier);
      count_ = row.top_k;
    }
    if (row.typical_p < 1.0F) {
      keep_typical(row.typical_p);
      largest_ = std::max_element(begin(), end(), [](const Candidate& a, const Candidate& b) {
                   return a.logit < b.logit;
                 })->logit;
    }
    if (row.top_p < 1.0F) {
      keep_share(row.top_p * (total_ > 0.0 ? total_ : mass(1.0)), likelier, std::greater_equal());
    }
    if (row.min_p > 0.0F) {
      // What is left keeps its order, which the draw wants.
      const float lowest = lowest_of_min_p(row.min_p);
      count_ = std::remove_if(
                   begin(), end(),
                   [lowest](const Candidate& candidate) { return candidate.logit < lowest; }) -
               begin();
    }
  }

  // The token at which the running sum of weights passes `uniform` of the whole.
  [[nodiscard]] int32_t draw(float uniform) {
    const auto by_token = [](const Candidate& a, const Candidate& b) { return a.token < b.token; };
    if (!std::is_sorted(begin(), end(), by_token)) {
      std::sort(begin(), end(), by_token);
    }
    const double goal = static_cast<double>(uniform) * mass(inverse_);
    double sum = 0.0;
    for (int64_t i = 0; i < count_; ++i) {
      sum += weight(candidates_[i], inverse_);
      if (sum > goal) {
        return candidates_[i].token;
      }
    }
    return candidates_[0].token;
  }

 private:
  [[nodiscard]] Candidate* begin() const { return candidates_.data(); }

  [[nodiscard]] Candidate* end() const { return begin() + count_; }

  // Relative to the largest logit's. The filters' temperature is 1, the draw's is the row's.
  [[nodiscard]] double weight(const Candidate& candidate, double inverse_temperature) const {
    return std::exp(static_cast<double>(candidate.logit - largest_) * inverse_temperature);
  }

  // The weight of all candidates.
  [[nodiscard]] double mass(double inverse_temperature) const {
    double sum = 0.0;
    for (const Candidate* candidate = begin(); candidate != end(); ++candidate) {
      sum += weight(*candidate, inverse_temperature);
    }
    return sum;
  }

  void gather(HostPool& memory, const Range& first, const Range& second, const SampleRow& row) {
    double lowest = -std::numeric_limits<double>::infinity();
    if (row.top_k > 0) {
      lowest = lowest_of_top_k(memory, first, second, row.top_k);
    } else if (row.typical_p == 1.0F) {
      lowest = std::max(lowest_of_top_p(first, second, row.top_p),
                        static_cast<double>(lowest_of_min_p(row.min_p)));
    }
    for (const Range* const range : {&first, &second}) {
      for (int64_t i = 0; i < range->runs(); ++i) {
        if (range->largest_of_run(i) < lowest) {
          continue;
        }
        for (int64_t token = range->run(i).begin; token < range->run(i).end(); ++token) {
          const float logit = range->value(token);
          if (logit >= lowest && logit > -std::numeric_limits<float>::infinity()) {
            candidates_[count_++] = {logit, static_cast<int32_t>(token)};
          }
        }
      }
    }
  }

  // No token below this is among the k likeliest: the k-th largest of the runs' largest logits.
  static double lowest_of_top_k(HostPool& memory, const Range& first, const Range& second,
                                int64_t k) {
    const int64_t runs = first.runs() + second.runs();
    if (k > runs) {
      return -std::numeric_limits<double>::infinity();
    }
    const Scratch<float> largest(memory, runs);
    int64_t count = 0;
    for (const Range* const range : {&first, &second}) {
      for (int64_t i = 0; i < range->runs(); ++i) {
        largest[count++] = range->largest_of_run(i);
      }
    }
    std::nth_element(largest.data(), largest.data() + k - 1, largest.data() + runs, std::greater());
    return largest[k - 1];
  }

  // No token below this is left by top_p: n tokens, each less than (1 - top_p) / n of the whole,
  // are less than 1 - top_p of it together, and the others enough. A little lower than that, for
  // what sums of f32 round.
  double lowest_of_top_p(const Range& first, const Range& second, float top_p) {
    if (top_p == 1.0F) {
      return -std::numeric_limits<double>::infinity();
    }
    constexpr double kSlack = 0.5;
    total_ = first.mass(largest_) + second.mass(largest_);
    return static_cast<double>(largest_) +
           std::log(kSlack * (1.0 - static_cast<double>(top_p)) * total_ /
                    static_cast<double>(first.span().length + second.span().length));
  }

  // No token below this is left by min_p; -infinity where that is off.
  [[nodiscard]] float lowest_of_min_p(float min_p) const { return largest_ + std::log(min_p); }

  // Leaves the fewest candidates, in an order, whose weights add up to enough, at least one:
  // enough(sum, goal). Those that come first in it are sorted, more and more of them, until they
  // do.
  template <class Before, class Enough>
  void keep_share(double goal, const Before& before, const Enough& enough) {
    double sum = 0.0;
    int64_t chunk = 64;
    for (Candidate* sorted = begin(); sorted != end(); chunk *= 4) {
      Candidate* const chunk_end = sorted + std::min<int64_t>(chunk, end() - sorted);
      std::nth_element(sorted, chunk_end, end(), before);
      std::sort(sorted, chunk_end, before);
      for (; sorted != chunk_end; ++sorted) {
        sum += weight(*sorted, 1.0);
        if (enough(sum, goal)) {
          count_ = sorted + 1 - begin();
          return;
        }
      }
    }
  }

  // |-log p - H| is the distance of a logit from their mean under p: with p = e^x / Z, -log p is
  // log Z - x, and H is log Z - E[x].
  void keep_typical(float share) {
    double total = 0.0;
    double sum = 0.0;
    for (const Candidate* candidate = begin(); candidate != end(); ++candidate) {
      const double own = weight(*candidate, 1.0);
      total += own;
      sum += own * static_cast<double>(candidate->logit);
    }
    const double mean = sum / total;
    const auto more_typical = [mean](const Candidate& a, const Candidate& b) {
      const double of_a = std::abs(static_cast<double>(a.logit) - mean);
      const double of_b = std::abs(static_cast<double>(b.logit) - mean);
      return of_a != of_b ? of_a < of_b : a.token < b.token;
    };
    keep_share(share * total, more_typical, std::greater());
  }

  float largest_;       // of what the filters so far left
  double inverse_;      // of the temperature
  double total_ = 0.0;  // weight of all tokens, where top_p comes first; else 0
  Scratch<Candidate> candidates_;
  int64_t count_ = 0;
};

}  // namespace

void CpuBackend::sample(const Tensor& logits, const SampleParams& params, const Tensor& ids,
                        const Tensor& log_probabilities) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for_rows(logits.dim(0), logits.dim(1) * 16, [&](int64_t r) {
    const SampleRow& sample = params.rows[static_cast<size_t>(r)];
    const float* row = logits.data<float>() + r * logits.stride(0);
    std::optional<Scratch<float>> penalised;
    if (sample.penalties_count > 0) {
      penalised.emplace(memory_, logits.dim(1));
      std::copy_n(row, logits.dim(1), penalised->data());
      row = penalised->data();
      for (const TokenPenalty& penalty :
           params.penalties.subspan(static_cast<size_t>(sample.penalties_begin),
                                    static_cast<size_t>(sample.penalties_count))) {
        float& value = (*penalised)[penalty.token];
        value = penalty.of(value);
      }
    }
    const float* mask = params.masks == nullptr
                            ? nullptr
                            : params.masks->data<float>() + sample.mask * params.masks->stride(0);
    const auto span_of = [&](const TokenRange& range) -> Span {
      const TokenRange within = range.within(logits.dim(1));
      return {within.begin, within.end - within.begin};
    };
    const Range second(memory_, kernels_, row, mask, span_of(sample.second));
    const Range all_first(memory_, kernels_, row, mask, span_of(sample.first));
    const bool only_second =
        sample.prefer_second && second.largest() > kNever && second.log_sum() > all_first.largest();
    const Range no_first(memory_, kernels_, row, mask, {0, 0});
    const Range& first = only_second ? no_first : all_first;
    const float shift = std::max(first.largest(), second.largest());
    int32_t* to_id = ids.data<int32_t>() + r * ids.stride(0);
    float* to_probability = log_probabilities.data<float>() + r * log_probabilities.stride(0);
    if (shift == kNever && params.top == 1) {
      to_id[0] = 0;
      to_probability[0] = kNever;
      return;
    }
    const float log_sum =
        shift + std::log(std::exp(first.log_sum() - shift) + std::exp(second.log_sum() - shift));
    const auto likeliest = [&] {
      return first.largest() >= second.largest() ? first.likeliest() : second.likeliest();
    };
    const auto relative = [&](float logit) { return logit > kNever ? logit - log_sum : kNever; };
    if (sample.filters()) {
      to_id[0] = Filters(memory_, first, second, shift, sample).draw(sample.uniform);
      to_probability[0] = relative(first.value(to_id[0]));
      return;
    }
    if (sample.temperature > 0.0F) {
      const float inverse = 1.0F / sample.temperature;
      double left = static_cast<double>(sample.uniform) *
                    (static_cast<double>(first.exp_sum(shift, inverse)) +
                     static_cast<double>(second.exp_sum(shift, inverse)));
      int64_t chosen = likeliest();
      bool found = false;
      for (const Range* const range : {&first, &second}) {
        for (int64_t token = range->span().begin; token < range->span().end() && !found; ++token) {
          const float logit = range->value(token);
          if (logit > kNever) {
            left -= std::exp(static_cast<double>(logit - shift) * static_cast<double>(inverse));
          }
          if (logit > kNever && left <= 0) {
            chosen = token;
            found = true;
          }
        }
      }
      to_id[0] = static_cast<int32_t>(chosen);
      to_probability[0] = relative(first.value(chosen));
      return;
    }
    if (params.top == 1) {
      to_id[0] = static_cast<int32_t>(likeliest());
      to_probability[0] = relative(shift);
      return;
    }
    // The best few, kept sorted. Almost every token fails the first comparison, which is made of a
    // run of them at once.
    const Scratch<Candidate> best(memory_, params.top);
    int64_t count = 0;
    const auto offer = [&](int64_t token, float logit) {
      if (count == params.top && !(logit > best[count - 1].logit)) {
        return;
      }
      int64_t at = count < params.top ? count++ : count - 1;
      for (; at > 0 && best[at - 1].logit < logit; --at) {
        best[at] = best[at - 1];
      }
      best[at] = {logit, static_cast<int32_t>(token)};
    };
    for (const Range* const range : {&first, &second}) {
      for (int64_t i = 0; i < range->runs(); ++i) {
        if (count == params.top && !(range->largest_of_run(i) > best[count - 1].logit)) {
          continue;
        }
        for (int64_t token = range->run(i).begin; token < range->run(i).end(); ++token) {
          offer(token, range->value(token));
        }
      }
    }
    for (int64_t i = 0; i < params.top; ++i) {
      to_id[i] = i < count ? best[i].token : 0;
      to_probability[i] = i < count ? relative(best[i].logit) : kNever;
    }
  });
}

}  // namespace mynah::cpu
