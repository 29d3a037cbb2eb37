// What vocoders are made of: a source of sines, short-time Fourier transforms and their inverse.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"

namespace mynah::cpu {
namespace {

// Frames of a piece of work.
constexpr int64_t kFrames = 96;

double angle_of(int64_t turns, int64_t of) {
  return 2.0 * std::numbers::pi * static_cast<double>(turns % of) / static_cast<double>(of);
}

double window(int64_t i, int64_t n) {
  return 0.5 - 0.5 * std::cos(angle_of(i, n));
}

// A matrix (rows, columns) in panels of 32 columns, as products read it.
class Panels {
 public:
  template <class Element>
  Panels(int64_t rows, int64_t columns, const Element& element)
      : rows_(rows), count_((columns + kPanel - 1) / kPanel) {
    values_.resize(static_cast<size_t>(rows * count_ * kPanel));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        values_[static_cast<size_t>((j / kPanel * rows + i) * kPanel + j % kPanel)] =
            static_cast<float>(element(i, j));
      }
    }
  }

  // x (m, rows), `stride` numbers apart -> out (m, 32 count()).
  void multiply(const Kernels& kernels, const float* x, int64_t stride, int64_t m,
                float* out) const {
    for (int64_t p = 0; p < count_; ++p) {
      kernels.gemm_f32(x, stride, m, rows_, values_.data() + p * rows_ * kPanel, out + p * kPanel,
                       width());
    }
  }

  [[nodiscard]] int64_t width() const { return count_ * kPanel; }

 private:
  int64_t rows_;
  int64_t count_;
  std::vector<float> values_;
};

}  // namespace

void CpuBackend::sine_source(const Tensor& pitch, const Lengths& lengths,
                             const SineSourceParams& params, const Tensor& out) {
  const int64_t harmonics = params.weights->dim(0);
  const auto hertz = [&](int64_t i) { return pitch.data<float>()[i * pitch.stride(0)]; };
  std::vector<float> weights(static_cast<size_t>(harmonics));
  std::transform(params.weights->data<float>(), params.weights->data<float>() + harmonics,
                 weights.begin(), [&](float weight) { return params.amplitude * weight; });
  const Scratch<float> phases(memory_, lengths.total() * harmonics);
  for (const Span& span : lengths.spans()) {
    for (int64_t h = 0; h < harmonics; ++h) {
      // In f32 and in the order of the reference: phases grow to many thousands.
      float turns = 0.0F;
      for (int64_t i = span.begin; i < span.end(); ++i) {
        const float step = hertz(i) * static_cast<float>(h + 1) / params.rate;
        turns += step - std::floor(step);
        phases[i * harmonics + h] =
            turns * 2.0F * std::numbers::pi_v<float> * static_cast<float>(params.samples);
      }
    }
    for_rows(span.length, params.samples * harmonics * 16, [&](int64_t value) {
      const int64_t i = span.begin + value;
      const float* const here = phases.data() + i * harmonics;
      kernels_.sine_row({.before = value == 0 ? here : here - harmonics,
                         .here = here,
                         .after = value + 1 == span.length ? here : here + harmonics,
                         .weights = weights.data(),
                         .harmonics = hertz(i) <= params.voiced ? 0 : harmonics,
                         .value = value,
                         .values = span.length,
                         .bias = params.bias},
                        params.samples, out.data<float>() + i * out.stride(0));
    });
  }
}

void CpuBackend::stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                      const Tensor& out) {
  const int64_t n = params.n_fft;
  const int64_t bins = params.bins();
  // Real parts, then imaginary ones.
  const Panels waves(n, 2 * bins, [&](int64_t i, int64_t j) {
    const double angle = angle_of(j % bins * i, n);
    return window(i, n) * (j < bins ? std::cos(angle) : -std::sin(angle));
  });
  int64_t out_begin = 0;
  for (const Span& span : lengths.spans()) {
    const float* const samples = x.data<float>() + span.begin;
    const int64_t frames = params.frames(span.length);
    const int64_t pieces = (frames + kFrames - 1) / kFrames;
    for_rows(pieces, kFrames * n * waves.width(), [&](int64_t piece) {
      const int64_t first = piece * kFrames;
      const int64_t count = std::min(kFrames, frames - first);
      const int64_t seen = (count - 1) * params.hop + n;
      const Scratch<float> part(memory_, seen);
      for (int64_t i = 0; i < seen; ++i) {
        const int64_t at = std::abs(first * params.hop + i - n / 2);
        part[i] = samples[at < span.length ? at : 2 * (span.length - 1) - at];
      }
      const Scratch<float> sums(memory_, count * waves.width());
      waves.multiply(kernels_, part.data(), params.hop, count, sums.data());
      for (int64_t frame = 0; frame < count; ++frame) {
        const float* const real = sums.data() + frame * waves.width();
        float* const to = out.data<float>() + (out_begin + first + frame) * out.stride(0);
        kernels_.to_polar(real, real + bins, bins, to, to + bins);
      }
    });
    out_begin += frames;
  }
}

void CpuBackend::inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                              const Tensor& out) {
  const int64_t n = params.n_fft;
  const int64_t hop = params.hop;
  const int64_t bins = params.bins();
  // Of real and imaginary parts; bins between the first and the last stand for two.
  const Panels waves(2 * bins, n, [&](int64_t j, int64_t i) {
    const int64_t bin = j % bins;
    const double angle = angle_of(bin * i, n);
    const double twice = bin == 0 || 2 * bin == n ? 1.0 : 2.0;
    return twice / static_cast<double>(n) * window(i, n) *
           (j < bins ? std::cos(angle) : -std::sin(angle));
  });
  std::vector<double> squares(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    squares[static_cast<size_t>(i)] = window(i, n) * window(i, n);
  }
  int64_t out_begin = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t samples = params.samples(span.length);
    const int64_t piece_samples = kFrames * hop;
    const int64_t pieces = (samples + piece_samples - 1) / piece_samples;
    for_rows(pieces, kFrames * n * 2 * bins, [&](int64_t piece) {
      // Samples [begin, end), counted from the first frame's first, and the frames that have them.
      const int64_t begin = piece * piece_samples + n / 2;
      const int64_t end = std::min(begin + piece_samples, samples + n / 2);
      const int64_t first = begin < n ? 0 : (begin - n) / hop + 1;
      const int64_t last = std::min(span.length - 1, (end - 1) / hop);
      const int64_t count = last - first + 1;
      const Scratch<float> parts(memory_, count * 2 * bins);
      const Scratch<float> sums(memory_, count * waves.width());
      for (int64_t frame = 0; frame < count; ++frame) {
        const float* const from = x.data<float>() + (span.begin + first + frame) * x.stride(0);
        float* const to = parts.data() + frame * 2 * bins;
        kernels_.from_polar(from, from + bins, bins, to, to + bins);
      }
      waves.multiply(kernels_, parts.data(), 2 * bins, count, sums.data());
      for (int64_t i = begin; i < end; ++i) {
        double sum = 0.0;
        double weight = 0.0;
        for (int64_t frame = std::max(first, i < n ? 0 : (i - n) / hop + 1);
             frame <= std::min(last, i / hop); ++frame) {
          const int64_t at = i - frame * hop;
          sum += static_cast<double>(sums[(frame - first) * waves.width() + at]);
          weight += squares[static_cast<size_t>(at)];
        }
        out.data<float>()[out_begin + i - n / 2] =
            static_cast<float>(weight > 0.0 ? sum / weight : sum);
      }
    });
    out_begin += samples;
  }
}

}  // namespace mynah::cpu
