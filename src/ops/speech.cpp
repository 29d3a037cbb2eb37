// The log-mel front end and the choice of the next token.

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

void expect_rule(const TokenRule& rule, int64_t vocabulary, int64_t masks, int32_t top) {
  MYNAH_CHECK(0 <= rule.text_end && rule.text_end <= rule.timestamp_begin &&
                  rule.timestamp_begin <= rule.timestamp_low &&
                  rule.timestamp_low <= rule.timestamp_high && rule.timestamp_high <= vocabulary,
              "[pick_token] the rule's tokens are not in order");
  MYNAH_CHECK(masks == 0 || (rule.mask >= 0 && rule.mask < masks), "[pick_token] mask ",
              std::to_string(rule.mask), " of ", std::to_string(masks));
  MYNAH_CHECK(rule.temperature >= 0.0F && (rule.temperature == 0.0F || top == 1),
              "[pick_token] sampling picks one token a row");
  MYNAH_CHECK(rule.uniform >= 0.0F && rule.uniform < 1.0F, "[pick_token] uniform outside [0, 1)");
}

void expect_penalties(const TokenRule& rule, std::span<const TokenPenalty> all,
                      int64_t vocabulary) {
  const int64_t end = int64_t{rule.penalties_begin} + rule.penalties_count;
  MYNAH_CHECK(rule.penalties_begin >= 0 && rule.penalties_count >= 0 &&
                  end <= static_cast<int64_t>(all.size()),
              "[pick_token] penalties [", std::to_string(rule.penalties_begin), ", ",
              std::to_string(end), ") of ", std::to_string(all.size()));
  int32_t last = -1;
  for (int64_t i = rule.penalties_begin; i < end; ++i) {
    const TokenPenalty& penalised = all[static_cast<size_t>(i)];
    MYNAH_CHECK(penalised.token > last && penalised.token < vocabulary,
                "[pick_token] penalised tokens rise, each at most once, below ",
                std::to_string(vocabulary), ": ", std::to_string(penalised.token), " after ",
                std::to_string(last));
    MYNAH_CHECK(penalised.penalty > 0.0F, "[pick_token] a penalty is above 0, got ",
                std::to_string(penalised.penalty));
    last = penalised.token;
  }
}

void expect_stft(const char* op, const StftParams& params) {
  MYNAH_CHECK(params.n_fft >= 2 && params.n_fft % 2 == 0 && params.hop >= 1 &&
                  params.hop <= params.n_fft / 2,
              "[", op, "] wants an even n_fft and a hop of at most its half, got ",
              std::to_string(params.n_fft), " and ", std::to_string(params.hop));
}

void expect_pick(const Backend& backend, const Tensor& logits, const PickTokenParams& params) {
  expect(backend, "pick_token", "logits", logits, {"rows", "vocabulary"});
  const int64_t vocabulary = logits.dim(1);
  if (params.masks != nullptr) {
    expect(backend, "pick_token", "masks", *params.masks, {"n_masks", vocabulary});
  }
  MYNAH_CHECK(static_cast<int64_t>(params.rules.size()) == logits.dim(0), "[pick_token] ",
              std::to_string(params.rules.size()), " rules for ", logits.shape().str());
  MYNAH_CHECK(params.top >= 1 && params.top <= vocabulary, "[pick_token] top ",
              std::to_string(params.top), " of ", std::to_string(vocabulary));
  for (const TokenRule& rule : params.rules) {
    expect_rule(rule, vocabulary, params.masks == nullptr ? 0 : params.masks->dim(0), params.top);
    expect_penalties(rule, params.penalties, vocabulary);
  }
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

PickedTokens pick_token(Backend& backend, const Tensor& logits, const PickTokenParams& params) {
  expect_pick(backend, logits, params);
  PickedTokens picked{empty(backend, {logits.dim(0), params.top}, DType::I32),
                      empty(backend, {logits.dim(0), params.top})};
  pick_token_into(backend, logits, params, picked);
  return picked;
}

void pick_token_into(Backend& backend, const Tensor& logits, const PickTokenParams& params,
                     const PickedTokens& out) {
  expect_pick(backend, logits, params);
  expect(backend, "pick_token", "ids", out.ids, {logits.dim(0), params.top}, DType::I32);
  expect(backend, "pick_token", "log_probabilities", out.log_probabilities,
         {logits.dim(0), params.top});
  if (out.ids.elements() > 0) {
    backend.pick_token(logits, params, out.ids, out.log_probabilities);
  }
}

}  // namespace mynah::ops
