// Spectra of speech, and what becomes sound again.

#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {

namespace {

// What fast transforms of every backend can take: 4 times twos and fives, as 400 and 512.
void expect_transform(const char* op, int64_t n) {
  int64_t rest = n;
  while (rest > 1 && rest % 2 == 0) {
    rest /= 2;
  }
  while (rest > 1 && rest % 5 == 0) {
    rest /= 5;
  }
  MYNAH_CHECK(n >= 4 && n % 4 == 0 && rest == 1, "[", op,
              "] a transform is of 4 times twos and fives, got ", std::to_string(n));
}

}  // namespace

Tensor log_mel(Backend& backend, const Tensor& waveform, const LogMelParams& params) {
  expect(backend, "log_mel", "waveform", waveform, {"samples"});
  expect_transform("log_mel", params.n_fft);
  MYNAH_CHECK(params.hop >= 1, "[log_mel] hop must be positive");
  MYNAH_CHECK(params.filters != nullptr, "[log_mel] wants filters");
  expect(backend, "log_mel", "filters", *params.filters, {"n_mels", params.n_fft / 2 + 1});
  MYNAH_CHECK(params.samples.size() == params.frames.size(), "[log_mel] ",
              std::to_string(params.samples.size()), " spans of samples, ",
              std::to_string(params.frames.size()), " of frames");
  for (const Span& span : params.samples) {
    MYNAH_CHECK(span.begin >= 0 && span.length >= 0 && span.end() <= waveform.dim(0),
                "[log_mel] samples outside the waveform");
  }
  const int64_t rows = params.frames.empty() ? 0 : params.frames.back().end();
  expect_consecutive("log_mel", "frames", params.frames, rows);
  Tensor out = empty(backend, {rows, params.filters->dim(0)});
  if (out.elements() > 0) {
    backend.log_mel(waveform, params, out);
  }
  return out;
}

Tensor magnitude_spectrum(Backend& backend, const Tensor& x, const Tensor& window) {
  expect(backend, "magnitude_spectrum", "window", window, {"n"});
  const int64_t n = window.dim(0);
  expect(backend, "magnitude_spectrum", "x", x, {"rows", n});
  expect_transform("magnitude_spectrum", n);
  Tensor out = empty(backend, {x.dim(0), n / 2 + 1});
  if (out.elements() > 0) {
    backend.magnitude_spectrum(x, window, out);
  }
  return out;
}

namespace {

void expect_stft(const char* op, const StftParams& params) {
  MYNAH_CHECK(params.n_fft >= 2 && params.n_fft % 2 == 0 && params.hop >= 1 &&
                  params.hop <= params.n_fft / 2,
              "[", op, "] wants an even n_fft and a hop of at most its half, got ",
              std::to_string(params.n_fft), " and ", std::to_string(params.hop));
}

}  // namespace

Tensor sine_source(Backend& backend, const Tensor& pitch, const Lengths& lengths,
                   const SineSourceParams& params) {
  MYNAH_CHECK(params.weights != nullptr && params.samples >= 1 && params.rate > 0.0F,
              "[sine_source] wants weights, samples of a value and a rate");
  expect(backend, "sine_source", "pitch", pitch, {lengths.total(), 1});
  expect(backend, "sine_source", "weights", *params.weights, {"harmonics"});
  Tensor out = empty(backend, {lengths.total(), params.samples});
  if (out.elements() > 0) {
    backend.sine_source(pitch, lengths, params, out);
  }
  return out;
}

Tensor stft(Backend& backend, const Tensor& x, const Lengths& lengths, const StftParams& params) {
  expect_stft("stft", params);
  expect(backend, "stft", "x", x, {lengths.total()});
  int64_t frames = 0;
  for (const Span& span : lengths.spans()) {
    MYNAH_CHECK(span.length > params.n_fft / 2, "[stft] an utterance of ",
                std::to_string(span.length), " samples, wanted more than ",
                std::to_string(params.n_fft / 2));
    frames += params.frames(span.length);
  }
  Tensor out = empty(backend, {frames, 2 * params.bins()});
  if (out.elements() > 0) {
    backend.stft(x, lengths, params, out);
  }
  return out;
}

Tensor inverse_stft(Backend& backend, const Tensor& x, const Lengths& lengths,
                    const StftParams& params) {
  expect_stft("inverse_stft", params);
  expect(backend, "inverse_stft", "x", x, {lengths.total(), 2 * params.bins()});
  int64_t samples = 0;
  for (const Span& span : lengths.spans()) {
    samples += params.samples(span.length);
  }
  Tensor out = empty(backend, {samples});
  if (out.elements() > 0) {
    backend.inverse_stft(x, lengths, params, out);
  }
  return out;
}

}  // namespace mynah::ops
