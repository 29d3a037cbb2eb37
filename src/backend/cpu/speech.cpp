// Whisper's log-mel front end and its choice of the next token.
#include "backend/cpu/speech.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "backend/cpu/cpu_backend_class.h"

namespace mynah::cpu {

namespace {

// Sample i of an utterance: reflected before its start, zero after its end.
float sample_at(const float* samples, int64_t count, int64_t i) {
  i = std::abs(i);
  return i < count ? samples[i] : 0.0F;
}

// First and last bin that each mel filter weighs: filters are triangles over a few bins.
std::vector<Span> filter_spans(const Tensor& filters) {
  std::vector<Span> spans;
  for (int64_t m = 0; m < filters.dim(0); ++m) {
    const float* row = filters.data<float>() + m * filters.stride(0);
    int64_t first = 0;
    int64_t last = filters.dim(1);
    while (first < last && row[first] == 0.0F) {
      ++first;
    }
    while (last > first && row[last - 1] == 0.0F) {
      --last;
    }
    spans.push_back({first, last - first});
  }
  return spans;
}

// Up to four frames of an utterance, as powers and then as mels.
class MelFrames {
 public:
  MelFrames(HostPool& memory, const Kernels& kernels, const FftTables& tables,
            const LogMelParams& params, std::span<const Span> spans)
      : kernels_(kernels),
        transform_(tables.with(tables.hann.data())),
        params_(params),
        spans_(spans),
        edge_(memory, kTransformRows * params.n_fft),
        scratch_(memory, spectrum_scratch(params.n_fft)),
        powers_(memory, (params.n_fft / 2 + 1) * kTransformRows) {}

  // Frames [first, first + count) of `samples`, natural logarithms, to rows of `out`.
  void run(std::span<const float> samples, int64_t first, int64_t count, float* out,
           int64_t out_stride) {
    const int64_t n = transform_.n;
    const auto length = static_cast<int64_t>(samples.size());
    const int64_t begin = first * params_.hop - n / 2;
    const bool inside = begin >= 0 && begin + (count - 1) * params_.hop + n <= length;
    for (int64_t r = 0; r < count && !inside; ++r) {
      for (int64_t j = 0; j < n; ++j) {
        edge_[r * n + j] = sample_at(samples.data(), length, begin + r * params_.hop + j);
      }
    }
    kernels_.powers(inside ? samples.data() + begin : edge_.data(), inside ? params_.hop : n, count,
                    transform_, scratch_.data(), powers_.data());
    const auto mels = static_cast<int64_t>(spans_.size());
    for (int64_t m = 0; m < mels; ++m) {
      const Span& bins = spans_[static_cast<size_t>(m)];
      const float* const weights =
          params_.filters->data<float>() + m * params_.filters->stride(0) + bins.begin;
      const float* const powers = powers_.data() + bins.begin * kTransformRows;
      float sums[kTransformRows] = {};
      for (int64_t i = 0; i < bins.length; ++i) {
        for (int64_t r = 0; r < kTransformRows; ++r) {
          sums[r] += weights[i] * powers[i * kTransformRows + r];
        }
      }
      for (int64_t r = 0; r < count; ++r) {
        out[r * out_stride + m] = std::max(sums[r], 1e-10F);
      }
    }
    for (int64_t r = 0; r < count; ++r) {
      kernels_.unary(UnaryOp::Log, out + r * out_stride, mels, out + r * out_stride);
    }
  }

 private:
  const Kernels& kernels_;
  Transform transform_;
  const LogMelParams& params_;
  std::span<const Span> spans_;
  Scratch<float> edge_;
  Scratch<float> scratch_;
  Scratch<float> powers_;  // (bins, 4)
};

}  // namespace

void CpuBackend::log_mel(const Tensor& waveform, const LogMelParams& params, const Tensor& out) {
  const FftTables& tables = fft_tables(params.n_fft);
  const auto spans = filter_spans(*params.filters);
  const int64_t mels = params.filters->dim(0);
  constexpr int64_t kGroups = 8;  // of frames, of a task: about 10 us
  for (size_t u = 0; u < params.samples.size(); ++u) {
    const Span& frames = params.frames[u];
    const auto samples = std::span(waveform.data<float>() + params.samples[u].begin,
                                   static_cast<size_t>(params.samples[u].length));
    const int64_t groups = (frames.length + kTransformRows - 1) / kTransformRows;
    pool_.parallel_for(groups, kGroups, [&](int64_t begin, int64_t end) {
      MelFrames block(memory_, kernels_, tables, params, spans);
      for (int64_t group = begin; group < end; ++group) {
        const int64_t first = group * kTransformRows;
        block.run(samples, first, std::min(kTransformRows, frames.length - first),
                  out.data<float>() + (frames.begin + first) * out.stride(0), out.stride(0));
      }
    });
    // Natural logarithms so far: log10(x) = ln(x) / ln(10); the floor is 8 below the utterance's
    // maximum.
    constexpr float kLog10 = std::numbers::log10e_v<float>;
    float largest = -std::numeric_limits<float>::infinity();
    for (int64_t t = 0; t < frames.length; ++t) {
      largest = std::max(
          largest, kernels_.max(out.data<float>() + (frames.begin + t) * out.stride(0), mels));
    }
    const float floor = largest * kLog10 - 8.0F;
    for (int64_t t = 0; t < frames.length; ++t) {
      float* to = out.data<float>() + (frames.begin + t) * out.stride(0);
      kernels_.affine(to, mels, kLog10, 0.0F, to);
      kernels_.binary(BinaryOp::Maximum, to, &floor, 0, mels, to);
      kernels_.affine(to, mels, 0.25F, 1.0F, to);
    }
  }
}

namespace {

// Tokens that a rule leaves, a range of one row's logits; run by run, so that a row is read from
// memory once for its maximum, the sum of its exponentials and its best few.
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
  int64_t token;
};

}  // namespace

void CpuBackend::pick_token(const Tensor& logits, const PickTokenParams& params, const Tensor& ids,
                            const Tensor& log_probabilities) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for_rows(logits.dim(0), logits.dim(1) * 16, [&](int64_t r) {
    const TokenRule& rule = params.rules[static_cast<size_t>(r)];
    const float* row = logits.data<float>() + r * logits.stride(0);
    std::optional<Scratch<float>> penalised;
    if (rule.penalties_count > 0) {
      penalised.emplace(memory_, logits.dim(1));
      std::copy_n(row, logits.dim(1), penalised->data());
      row = penalised->data();
      for (const TokenPenalty& penalty :
           params.penalties.subspan(static_cast<size_t>(rule.penalties_begin),
                                    static_cast<size_t>(rule.penalties_count))) {
        float& value = (*penalised)[penalty.token];
        value = penalty.of(value);
      }
    }
    const float* mask = params.masks == nullptr
                            ? nullptr
                            : params.masks->data<float>() + rule.mask * params.masks->stride(0);
    const Range timestamps(
        memory_, kernels_, row, mask,
        {rule.timestamp_low, std::max(0, rule.timestamp_high - rule.timestamp_low)});
    const Range all_text(
        memory_, kernels_, row, mask,
        {rule.text_begin, rule.text_allowed ? std::max(0, rule.text_end - rule.text_begin) : 0});
    const bool only_timestamps = rule.prefer_timestamps && timestamps.largest() > kNever &&
                                 timestamps.log_sum() > all_text.largest();
    const Range no_text(memory_, kernels_, row, mask, {rule.text_begin, 0});
    const Range& text = only_timestamps ? no_text : all_text;
    const float shift = std::max(text.largest(), timestamps.largest());
    const float log_sum =
        shift + std::log(std::exp(text.log_sum() - shift) + std::exp(timestamps.log_sum() - shift));
    const auto likeliest = [&] {
      return text.largest() >= timestamps.largest() ? text.likeliest() : timestamps.likeliest();
    };
    int32_t* to_id = ids.data<int32_t>() + r * ids.stride(0);
    float* to_probability = log_probabilities.data<float>() + r * log_probabilities.stride(0);
    const auto relative = [&](float logit) { return logit > kNever ? logit - log_sum : kNever; };
    if (rule.temperature > 0.0F) {
      const float inverse = 1.0F / rule.temperature;
      double left = static_cast<double>(rule.uniform) *
                    (static_cast<double>(text.exp_sum(shift, inverse)) +
                     static_cast<double>(timestamps.exp_sum(shift, inverse)));
      int64_t chosen = likeliest();
      bool found = false;
      for (const Range* const range : {&text, &timestamps}) {
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
      to_probability[0] = relative(text.value(chosen));
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
      best[at] = {logit, token};
    };
    for (const Range* const range : {&text, &timestamps}) {
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
      to_id[i] = static_cast<int32_t>(i < count ? best[i].token : 0);
      to_probability[i] = i < count ? relative(best[i].logit) : kNever;
    }
  });
}

}  // namespace mynah::cpu
