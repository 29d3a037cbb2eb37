// Whisper's log-mel front end.
#include "backend/cpu/speech.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

}  // namespace mynah::cpu
