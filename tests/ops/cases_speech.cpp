// Rows of the table: the log-mel front end and magnitudes of spectra.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

// log_mel -----------------------------------------------------------------------------------------

struct LogMelRow {
  const char* what;  // "speech", "silence", ...
  std::vector<int64_t> samples;
  std::vector<int64_t> frames;
  int64_t n_mels = 80;
  int64_t n_fft = 400;
  int64_t hop = 160;
  float loudness = 0.1F;
};

// A rising tone in noise: energy in every band, two magnitudes apart.
std::vector<float> waveform(const LogMelRow& row) {
  const int64_t count = Lengths(row.samples).total();
  std::vector<float> samples = normals(count, 1, 0.1F * row.loudness);
  for (int64_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    samples[static_cast<size_t>(i)] +=
        row.loudness *
        static_cast<float>(std::sin(2.0 * std::numbers::pi * (200.0 + 400.0 * t) * t));
  }
  return samples;
}

// Overlapping triangles over the bins, of area about 1 (real models bring Slaney's).
std::vector<float> filters(const LogMelRow& row) {
  const int64_t bins = row.n_fft / 2 + 1;
  std::vector<float> weights;
  const float width = static_cast<float>(bins) / static_cast<float>(row.n_mels + 1);
  for (int64_t m = 0; m < row.n_mels; ++m) {
    for (int64_t f = 0; f < bins; ++f) {
      const float distance = std::fabs(static_cast<float>(f) / width - static_cast<float>(m + 1));
      weights.push_back(std::max(0.0F, 1.0F - distance) / width);
    }
  }
  return weights;
}

Step prepare(Backend& backend, const LogMelRow& row) {
  const std::vector<float> samples = waveform(row);
  const Tensor wave = ops::from_host(backend, samples, {static_cast<int64_t>(samples.size())});
  const Tensor weights = ops::from_host(backend, filters(row), {row.n_mels, row.n_fft / 2 + 1});
  const Lengths spans{row.samples};
  const Lengths frames{row.frames};
  return [=, &backend]() -> std::vector<Tensor> {
    return {ops::log_mel(backend, wave,
                         {.n_fft = row.n_fft,
                          .hop = row.hop,
                          .filters = &weights,
                          .samples = spans.spans(),
                          .frames = frames.spans()})};
  };
}

// A frequency's amplitude errs by the error of a sum of n_fft products of samples and table values.
// With amplitude error a, a mel's energy e (weights of sum about 1) errs by 2 a sqrt(e) + a^2
// (Cauchy), and its logarithm by that over e; levels below the floor do not count. Levels are
// quartered; the floor moves by the maximum's own error, which is smaller.
std::vector<Values> bound(const LogMelRow& row, const std::vector<Values>& expected) {
  float peak = 0.0F;
  for (const float sample : waveform(row)) {
    peak = std::max(peak, std::fabs(sample));
  }
  // Rows of the table are made of values up to 1; half of the window's sum is n / 2.
  const float amplitude = sum_error(row.n_fft) * peak * static_cast<float>(row.n_fft) / 2.0F;
  std::vector<Values> bounds = expected;
  for (float& value : bounds[0]) {
    const double energy = std::pow(10.0, 4.0 * static_cast<double>(value) - 4.0);
    const double error = 2.0 * amplitude * std::sqrt(energy) + amplitude * amplitude;
    const double logarithm = std::log10(1.0 + error / energy);
    value = static_cast<float>(0.25 * logarithm * 2.0 + 8.0 * kEpsilon * (1.0 + std::fabs(value)));
  }
  return bounds;
}

OpCase log_mel_case(const LogMelRow& row) {
  OpCase c;
  c.op = "log_mel";
  c.name = fmt::format("{} samples [{}] frames [{}] mels {} fft {} hop {}", row.what,
                       fmt::join(row.samples, " "), fmt::join(row.frames, " "), row.n_mels,
                       row.n_fft, row.hop);
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>& expected) { return bound(row, expected); };
  return c;
}

// magnitude_spectrum ------------------------------------------------------------------------------

struct SpectrumRow {
  int64_t rows = 1;
  int64_t n = 4;
  Layout layout = Layout::Contiguous;
};

OpCase spectrum_case(const SpectrumRow& row) {
  OpCase c;
  c.op = "magnitude_spectrum";
  c.name =
      fmt::format("({}, {}){}", row.rows, row.n, row.layout == Layout::Strided ? " strided" : "");
  c.prepare = [row](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(row.rows * row.n, 1), row.rows, row.n, row.layout);
    const Tensor window = ops::from_host(backend, normals(row.n, 2), {row.n});
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::magnitude_spectrum(backend, x, window)};
    };
  };
  // Both parts are sums of n products of at most |x window|.
  c.bound = [row](const std::vector<Values>&) {
    const std::vector<float> x = normals(row.rows * row.n, 1);
    const std::vector<float> window = normals(row.n, 2);
    Values bounds;
    for (int64_t r = 0; r < row.rows; ++r) {
      float sum = 0.0F;
      for (int64_t i = 0; i < row.n; ++i) {
        sum += std::fabs(x[static_cast<size_t>(r * row.n + i)] * window[static_cast<size_t>(i)]);
      }
      bounds.insert(bounds.end(), static_cast<size_t>(row.n / 2 + 1), sum_error(row.n) * sum);
    }
    return std::vector<Values>{bounds};
  };
  return c;
}

void add_spectrum(std::vector<OpCase>& table) {
  for (const SpectrumRow& row : {SpectrumRow{1, 4},
                                 {3, 8},
                                 {4, 16},
                                 {5, 32, Layout::Strided},
                                 {0, 64},
                                 {9, 64},
                                 {8, 128},
                                 {7, 256, Layout::Strided},
                                 {5, 20},
                                 {4, 40, Layout::Strided},
                                 {3, 100},
                                 {6, 400},
                                 {2, 2000},
                                 {40, 256},
                                 {2, 1024}}) {
    table.push_back(spectrum_case(row));
  }
  // Silero's frame: four columns.
  OpCase frame = spectrum_case({4, 256});
  frame.operations = 4.0 * (2.5 * 256 * std::log2(256.0) + 129 * 4);
  frame.bytes = 4.0 * 4 * (256 + 129);
  frame.large = true;
  table.push_back(std::move(frame));
}

}  // namespace

void add_speech_cases(std::vector<OpCase>& table) {
  for (const LogMelRow& row : {
           LogMelRow{.what = "a tone", .samples = {3200}, .frames = {20}},
           LogMelRow{.what = "frames past the end", .samples = {1000}, .frames = {20}},
           LogMelRow{.what = "a batch",
                     .samples = {1600, 37, 5000, 0},
                     .frames = {17, 3, 31, 2},
                     .n_mels = 128},
           LogMelRow{.what = "quiet", .samples = {2000}, .frames = {12}, .loudness = 1e-4F},
           LogMelRow{.what = "silence", .samples = {2000}, .frames = {12}, .loudness = 0.0F},
           LogMelRow{.what = "another transform",
                     .samples = {999},
                     .frames = {33},
                     .n_mels = 7,
                     .n_fft = 64,
                     .hop = 31},
           LogMelRow{.what = "no frames", .samples = {100}, .frames = {0}},
       }) {
    table.push_back(log_mel_case(row));
  }
  OpCase window = log_mel_case({.what = "30 s", .samples = {480000}, .frames = {3000}});
  // The transform at 5 n log2(n) operations (as FFTW counts), the power and the filters.
  window.operations = 3000.0 * (2.5 * 400 * std::log2(400.0) + 201 * 3 + 201 * 4);
  window.bytes = 4.0 * (480000 + 3000 * 80);
  window.large = true;
  table.push_back(std::move(window));
  add_spectrum(table);
}

}  // namespace mynah::cases
