// Whisper's log-mel front end (openai/whisper audio.py log_mel_spectrogram), with a plain discrete
// Fourier transform.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

namespace {

// One period of the cosine and the sine, and the periodic Hann window, of n points.
struct Tables {
  explicit Tables(int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
      window.push_back(0.5 - 0.5 * std::cos(angle));
    }
  }

  std::vector<double> cosine;
  std::vector<double> sine;
  std::vector<double> window;
};

// Sample i of an utterance: mirrored before its start, zero after its end.
double sample(const float* samples, const Span& span, int64_t i) {
  const int64_t from = i < 0 ? -i : i;
  return from < span.length ? samples[span.begin + from] : 0.0;
}

// Power of n_fft / 2 + 1 frequencies around sample `centre` of the utterance.
std::vector<double> power_spectrum(const float* samples, const Span& span, int64_t centre,
                                   const Tables& tables) {
  const auto n = static_cast<int64_t>(tables.window.size());
  std::vector<double> windowed;
  windowed.reserve(tables.window.size());
  for (int64_t i = 0; i < n; ++i) {
    windowed.push_back(sample(samples, span, centre - n / 2 + i) *
                       tables.window[static_cast<size_t>(i)]);
  }
  std::vector<double> power;
  power.reserve(tables.window.size() / 2 + 1);
  for (int64_t f = 0; f <= n / 2; ++f) {
    double real = 0.0;
    double imaginary = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      const auto phase = static_cast<size_t>(f * i % n);
      real += windowed[static_cast<size_t>(i)] * tables.cosine[phase];
      imaginary -= windowed[static_cast<size_t>(i)] * tables.sine[phase];
    }
    power.push_back(real * real + imaginary * imaginary);
  }
  return power;
}

}  // namespace

void RefBackend::log_mel(const Tensor& waveform, const LogMelParams& params, const Tensor& out) {
  const Tables tables(params.n_fft);
  for (size_t u = 0; u < params.frames.size(); ++u) {
    const Span frames = params.frames[u];
    float highest = -INFINITY;
    for (int64_t t = 0; t < frames.length; ++t) {
      const auto power =
          power_spectrum(waveform.data<float>(), params.samples[u], t * params.hop, tables);
      for (int64_t m = 0; m < out.dim(1); ++m) {
        double energy = 0.0;
        for (size_t f = 0; f < power.size(); ++f) {
          energy += power[f] * row(*params.filters, m)[f];
        }
        const auto level = static_cast<float>(std::log10(std::max(energy, 1e-10)));
        row(out, frames.begin + t)[m] = level;
        highest = std::max(highest, level);
      }
    }
    for (int64_t i = frames.begin; i < frames.end(); ++i) {
      for (int64_t m = 0; m < out.dim(1); ++m) {
        row(out, i)[m] = (std::max(row(out, i)[m], highest - 8.0F) + 4.0F) / 4.0F;
      }
    }
  }
}

}  // namespace mynah
