// What vocoders are made of: a source of sines, short-time Fourier transforms and their inverse.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

namespace {

// Phases of one harmonic at each value of pitch. In f32 and in the order of the reference: they
// grow to many thousands, where the order of roundings is heard in the last bits of sines.
std::vector<float> phases_of(const Tensor& pitch, const Span& span, const SineSourceParams& params,
                             int64_t harmonic) {
  std::vector<float> phases;
  float turns = 0.0F;
  for (int64_t i = span.begin; i < span.end(); ++i) {
    const float step = row(pitch, i)[0] * static_cast<float>(harmonic) / params.rate;
    turns += step - std::floor(step);
    phases.push_back(turns * 2.0F * std::numbers::pi_v<float> * static_cast<float>(params.samples));
  }
  return phases;
}

double angle_of(int64_t turns, int64_t of) {
  return 2.0 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(of);
}

// Periodic Hann.
double window(int64_t i, int64_t n) {
  return 0.5 - 0.5 * std::cos(angle_of(i, n));
}

}  // namespace

void RefBackend::sine_source(const Tensor& pitch, const Lengths& lengths,
                             const SineSourceParams& params, const Tensor& out) {
  const int64_t samples = params.samples;
  for (const Span& span : lengths.spans()) {
    for (int64_t i = 0; i < span.length * samples; ++i) {
      row(out, span.begin + i / samples)[i % samples] = 0.0F;
    }
    for (int64_t h = 0; h < params.weights->dim(0); ++h) {
      const std::vector<float> phases = phases_of(pitch, span, params, h + 1);
      for (int64_t i = 0; i < span.length * samples; ++i) {
        if (row(pitch, span.begin + i / samples)[0] <= params.voiced) {
          continue;
        }
        // Linear between the middles of the values' samples (torch.nn.functional.interpolate,
        // align_corners=False).
        const float at =
            std::clamp((static_cast<float>(i) + 0.5F) / static_cast<float>(samples) - 0.5F, 0.0F,
                       static_cast<float>(span.length - 1));
        const auto before = static_cast<size_t>(at);
        const size_t after = std::min(before + 1, phases.size() - 1);
        const float part = at - static_cast<float>(before);
        const float phase = phases[before] * (1.0F - part) + phases[after] * part;
        row(out, span.begin + i / samples)[i % samples] +=
            params.amplitude * params.weights->data<float>()[h] *
            static_cast<float>(std::sin(static_cast<double>(phase)));
      }
    }
    for (int64_t i = 0; i < span.length * samples; ++i) {
      float& sample = row(out, span.begin + i / samples)[i % samples];
      sample = std::tanh(sample + params.bias);
    }
  }
}

void RefBackend::stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                      const Tensor& out) {
  const int64_t n = params.n_fft;
  const int64_t bins = params.bins();
  int64_t to = 0;
  for (const Span& span : lengths.spans()) {
    for (int64_t frame = 0; frame < params.frames(span.length); ++frame, ++to) {
      for (int64_t bin = 0; bin < bins; ++bin) {
        double real = 0.0;
        double imaginary = 0.0;
        for (int64_t i = 0; i < n; ++i) {
          int64_t at = std::abs(frame * params.hop + i - n / 2);
          at = at < span.length ? at : 2 * (span.length - 1) - at;
          const double value = window(i, n) * row(x, 0)[span.begin + at];
          real += value * std::cos(angle_of(bin * i % n, n));
          imaginary -= value * std::sin(angle_of(bin * i % n, n));
        }
        row(out, to)[bin] = static_cast<float>(std::hypot(real, imaginary));
        row(out, to)[bins + bin] = static_cast<float>(std::atan2(imaginary, real));
      }
    }
  }
}

void RefBackend::inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                              const Tensor& out) {
  const int64_t n = params.n_fft;
  const int64_t bins = params.bins();
  int64_t to = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t count = params.samples(span.length);
    std::vector<double> sums(static_cast<size_t>(count + n));
    std::vector<double> squares(sums.size());
    for (int64_t frame = 0; frame < span.length; ++frame) {
      const float* const own = row(x, span.begin + frame);
      for (int64_t i = 0; i < n; ++i) {
        double value = 0.0;
        for (int64_t bin = 0; bin < bins; ++bin) {
          // Bins between the first and the last stand for two: the spectrum of a real signal.
          const double twice = bin == 0 || 2 * bin == n ? 1.0 : 2.0;
          const double phase = std::sin(static_cast<double>(own[bins + bin]));
          value += twice * std::exp(static_cast<double>(own[bin])) *
                   std::cos(phase + angle_of(bin * i % n, n));
        }
        const auto at = static_cast<size_t>(frame * params.hop + i);
        sums[at] += value / static_cast<double>(n) * window(i, n);
        squares[at] += window(i, n) * window(i, n);
      }
    }
    for (int64_t i = 0; i < count; ++i, ++to) {
      const auto at = static_cast<size_t>(i + n / 2);
      row(out, 0)[to] = static_cast<float>(squares[at] > 0.0 ? sums[at] / squares[at] : sums[at]);
    }
  }
}

}  // namespace mynah
