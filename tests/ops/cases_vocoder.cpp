// Rows of the table: sine_source, stft, inverse_stft.
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

// Pitches of both sides of the voiced one, some of them negative.
std::vector<float> pitches(int64_t count) {
  std::vector<float> values = normals(count, 1, 120.0F);
  for (float& value : values) {
    value += 100.0F;
  }
  return values;
}

OpCase sine_source_case(const std::vector<int64_t>& lengths, int64_t samples, int64_t harmonics) {
  OpCase c;
  c.op = "sine_source";
  c.name = fmt::format("[{}] {} samples {} harmonics", fmt::join(lengths, " "), samples, harmonics);
  c.prepare = [=](Backend& backend) -> Step {
    const Lengths spans{lengths};
    const Tensor pitch = matrix(backend, pitches(spans.total()), spans.total(), 1, Layout::Strided);
    const Tensor weights = ops::from_host(backend, normals(harmonics, 2), {harmonics});
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::sine_source(backend, pitch, spans,
                               {.samples = samples,
                                .rate = 24000.0F,
                                .amplitude = 0.3F,
                                .weights = &weights,
                                .bias = 0.05F})};
    };
  };
  // The phases are the same f32; each sine errs by a few epsilons, times its weight, and the sum
  // and tanh by as many again.
  c.bound = [=](const std::vector<Values>& expected) {
    float weight = 0.0F;
    for (const float value : normals(harmonics, 2)) {
      weight += 0.3F * std::fabs(value);
    }
    return std::vector<Values>{Values(
        expected[0].size(), kEpsilon * (4.0F * weight + 4.0F) + sum_error(harmonics) * weight)};
  };
  c.operations = 30.0 * static_cast<double>(Lengths(lengths).total() * samples * harmonics);
  c.bytes = 4.0 * static_cast<double>(Lengths(lengths).total() * samples);
  return c;
}

OpCase stft_case(const std::vector<int64_t>& lengths, int64_t n_fft, int64_t hop) {
  const StftParams params{.n_fft = n_fft, .hop = hop};
  OpCase c;
  c.op = "stft";
  c.name = fmt::format("[{}] {} points every {}", fmt::join(lengths, " "), n_fft, hop);
  c.prepare = [=](Backend& backend) -> Step {
    const Lengths spans{lengths};
    const Tensor x = ops::from_host(backend, normals(spans.total(), 1), {spans.total()});
    return
        [=, &backend]() -> std::vector<Tensor> { return {ops::stft(backend, x, spans, params)}; };
  };
  // Each part errs by a sum's error of the samples' magnitudes, 3.5 each at most under a window
  // whose mean is a half; a phase by that over the magnitude, and by a whole turn where it may pass
  // pi.
  c.bound = [=](const std::vector<Values>& expected) {
    const float error = sum_error(n_fft) * 3.5F * 0.5F * static_cast<float>(n_fft);
    std::vector<Values> bounds = expected;
    const auto bins = static_cast<size_t>(params.bins());
    for (size_t row = 0; row < expected[0].size(); row += 2 * bins) {
      for (size_t bin = row; bin < row + bins; ++bin) {
        const float magnitude = expected[0][bin];
        bounds[0][bin] = 2.0F * error + 4.0F * kEpsilon * magnitude;
        const float turned = 2.0F * error / std::max(magnitude, error) + 16.0F * kEpsilon;
        const bool may_pass =
            std::fabs(expected[0][bin + bins]) > std::numbers::pi_v<float> - turned;
        bounds[0][bin + bins] =
            turned > 1.0F || may_pass ? 2.001F * std::numbers::pi_v<float> : turned;
      }
    }
    return bounds;
  };
  c.operations = 4.0 * static_cast<double>(Lengths(lengths).total() / hop * n_fft * params.bins());
  c.bytes = 4.0 * static_cast<double>(Lengths(lengths).total()) * (1.0 + 2.2);
  return c;
}

OpCase inverse_stft_case(const std::vector<int64_t>& lengths, int64_t n_fft, int64_t hop,
                         Layout layout) {
  const StftParams params{.n_fft = n_fft, .hop = hop};
  OpCase c;
  c.op = "inverse_stft";
  c.name = fmt::format("[{}] {} points every {}{}", fmt::join(lengths, " "), n_fft, hop,
                       layout == Layout::Strided ? " strided" : "");
  const int64_t columns = 2 * params.bins();
  c.prepare = [=](Backend& backend) -> Step {
    const Lengths spans{lengths};
    const Tensor x =
        matrix(backend, normals(spans.total() * columns, 1), spans.total(), columns, layout);
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::inverse_stft(backend, x, spans, params)};
    };
  };
  // A sample is a mean, weighted by the windows, of frames that are at most the sum of their
  // magnitudes, e^3.5 each, twice over n_fft; that is divided by windows, which are least at the
  // utterance's ends: sum of w over the sum of w^2.
  c.bound = [=](const std::vector<Values>& expected) {
    std::vector<Values> bounds = expected;
    const Lengths spans{lengths};
    const float magnitudes =
        std::exp(3.5F) * 2.0F * static_cast<float>(params.bins()) / static_cast<float>(n_fft);
    const auto window = [&](int64_t i) {
      return 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) /
                                  static_cast<double>(n_fft));
    };
    size_t at = 0;
    for (const Span& span : spans.spans()) {
      for (int64_t i = n_fft / 2; i < params.samples(span.length) + n_fft / 2; ++i) {
        double sum = 0.0;
        double squares = 0.0;
        for (int64_t frame = 0; frame < span.length; ++frame) {
          const int64_t place = i - frame * hop;
          const double weight = place >= 0 && place < n_fft ? window(place) : 0.0;
          sum += weight;
          squares += weight * weight;
        }
        bounds[0][at++] =
            (sum_error(columns) + 8.0F * kEpsilon) * magnitudes * static_cast<float>(sum / squares);
      }
    }
    return bounds;
  };
  c.operations = 2.0 * static_cast<double>(Lengths(lengths).total() * n_fft * columns);
  c.bytes = 4.0 * static_cast<double>(Lengths(lengths).total() * (columns + hop));
  return c;
}

}  // namespace

void add_vocoder_cases(std::vector<OpCase>& table) {
  table.push_back(sine_source_case({7, 0, 1, 20}, 13, 3));
  table.push_back(sine_source_case({40}, 300, 9));
  table.push_back(sine_source_case({1, 2}, 1, 1));
  table.push_back(sine_source_case({}, 8, 2));
  table.push_back(stft_case({11, 600, 23}, 20, 5));
  table.push_back(stft_case({130}, 16, 4));
  table.push_back(stft_case({300, 41}, 80, 7));
  table.push_back(stft_case({}, 20, 5));
  for (const Layout layout : {Layout::Contiguous, Layout::Strided}) {
    table.push_back(inverse_stft_case({1, 7, 0, 250}, 20, 5, layout));
    table.push_back(inverse_stft_case({33, 100}, 16, 4, layout));
    table.push_back(inverse_stft_case({60}, 80, 7, layout));
  }
  OpCase sines = sine_source_case({160}, 300, 9);
  OpCase forward = stft_case({48000}, 20, 5);
  OpCase back = inverse_stft_case({9601}, 20, 5, Layout::Contiguous);
  for (OpCase* c : {&sines, &forward, &back}) {
    c->large = true;
    table.push_back(*c);
  }
}

}  // namespace mynah::cases
