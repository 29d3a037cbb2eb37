// Rows of the table: the log-mel front end and the choice of the next token.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

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

// pick_token --------------------------------------------------------------------------------------

// A small vocabulary laid out as Whisper's: text, end of transcript, special tokens, timestamps.
constexpr int32_t kText = 60;
constexpr int32_t kEnd = kText;  // the end of transcript stands right after the text
constexpr int32_t kTimestamps = 70;
constexpr int32_t kVocabulary = 101;

TokenRule any_token() {
  TokenRule rule;
  rule.text_end = kEnd + 1;
  rule.timestamp_begin = rule.timestamp_low = kTimestamps;
  rule.timestamp_high = kVocabulary;
  return rule;
}

struct PickRow {
  const char* what;
  TokenRule rule;
  int32_t top = 1;
  float timestamp_bias = 0.0F;  // added to the timestamps' logits
  float spread = 4.0F;
  bool masks = false;
  bool bad = false;  // some logits of the first row and all of the second are NaN
};

std::vector<PickRow> pick_rows() {
  std::vector<PickRow> rows;
  const auto add = [&](const char* what, auto change) {
    PickRow row{.what = what, .rule = any_token()};
    change(row);
    rows.push_back(row);
  };
  add("anything", [](PickRow&) {});
  add("the best five", [](PickRow& r) { r.top = 5; });
  add("suppressed tokens", [](PickRow& r) { r.masks = true; });
  add("suppressed by the second mask", [](PickRow& r) {
    r.masks = true;
    r.rule.mask = 1;
    r.top = 3;
  });
  add("timestamps only", [](PickRow& r) { r.rule.text_allowed = false; });
  add("no timestamps", [](PickRow& r) { r.rule.timestamp_high = r.rule.timestamp_low; });
  add("timestamps from a time on", [](PickRow& r) {
    r.rule.text_allowed = false;
    r.rule.timestamp_low = 90;
    r.top = 2;
  });
  add("the end or a timestamp", [](PickRow& r) {
    r.rule.text_begin = kEnd;
    r.top = 4;
  });
  add("the end only", [](PickRow& r) {
    r.rule.text_begin = kEnd;
    r.rule.timestamp_high = r.rule.timestamp_low;
  });
  add("timestamps together likelier than any text", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.spread = 0.5F;
    r.timestamp_bias = 0.5F;
    r.top = 3;
  });
  add("text likelier than all timestamps", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.timestamp_bias = -30.0F;
  });
  add("timestamps preferred and none allowed", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.rule.timestamp_high = r.rule.timestamp_low;
  });
  add("more wanted than allowed", [](PickRow& r) {
    r.rule.text_begin = kEnd - 1;
    r.rule.timestamp_high = r.rule.timestamp_low + 1;
    r.top = 5;
  });
  add("NaN among the logits", [](PickRow& r) { r.bad = true; });
  add("nothing allowed", [](PickRow& r) {
    r.rule.text_allowed = false;
    r.rule.timestamp_high = r.rule.timestamp_low;
    r.top = 2;
  });
  return rows;
}

constexpr int64_t kPickRows = 4;

std::vector<float> pick_logits(const PickRow& row) {
  std::vector<float> logits = normals(kPickRows * kVocabulary, 11, row.spread);
  for (int64_t i = 0; i < kPickRows; ++i) {
    for (int64_t id = kTimestamps; id < kVocabulary; ++id) {
      logits[static_cast<size_t>(i * kVocabulary + id)] += row.timestamp_bias;
    }
  }
  for (int64_t id = 0; row.bad && id < 2 * kVocabulary; ++id) {
    if (id % 5 == 2 || id >= kVocabulary) {
      logits[static_cast<size_t>(id)] = NAN;
    }
  }
  return logits;
}

OpCase pick_case(const PickRow& row) {
  OpCase c;
  c.op = "pick_token";
  c.name = row.what;
  c.prepare = [row](Backend& backend) -> Step {
    const Tensor logits =
        matrix(backend, pick_logits(row), kPickRows, kVocabulary, Layout::Strided);
    std::vector<float> mask(2 * kVocabulary, 0.0F);
    for (int64_t i = 0; i < 2 * kVocabulary; i += 3) {
      mask[static_cast<size_t>(i)] = -INFINITY;
    }
    const Tensor masks = ops::from_host(backend, mask, {2, kVocabulary});
    const std::vector<TokenRule> rules(kPickRows, row.rule);
    return [=, &backend]() -> std::vector<Tensor> {
      const auto picked = ops::pick_token(
          backend, logits, {.masks = row.masks ? &masks : nullptr, .rules = rules, .top = row.top});
      return {picked.ids, picked.log_probabilities};
    };
  };
  c.bound = [row](const std::vector<Values>& expected) {
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < expected[0].size(); ++i) {
      bounds[0][i] = std::isfinite(expected[1][i]) ? 0.0F : kVocabulary;  // else any index
    }
    const float bound = sum_error(kVocabulary) + kEpsilon * (8.0F + 8.0F * row.spread);
    std::ranges::fill(bounds[1], bound);
    return bounds;
  };
  return c;
}

// Sampling: the random number stands in the middle of the share of the token that is the `rank`th
// likeliest, so that rounding cannot move it to a neighbour.
OpCase sample_case(float temperature, size_t rank) {
  PickRow row{.what = "", .rule = any_token(), .spread = 1.5F};
  const std::vector<float> logits = pick_logits(row);
  std::vector<double> shares;
  for (int32_t id = 0; id < kVocabulary; ++id) {
    const auto logit = static_cast<double>(logits[static_cast<size_t>(id)]);
    shares.push_back(id <= kEnd || id >= kTimestamps ? std::exp(logit / temperature) : 0.0);
  }
  std::vector<double> sorted = shares;
  std::ranges::sort(sorted, std::greater());
  const auto wanted = std::ranges::find(shares, sorted[rank]);
  const double before = std::accumulate(shares.begin(), wanted, 0.0);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  row.rule.temperature = temperature;
  row.rule.uniform = static_cast<float>((before + *wanted / 2.0) / all);
  OpCase c = pick_case(row);
  c.name = fmt::format("sampled at temperature {}: the likeliest but {}", temperature, rank);
  const auto prepare_all = c.prepare;
  c.prepare = [prepare_all](Backend& backend) -> Step {
    const Step step = prepare_all(backend);
    return [step]() -> std::vector<Tensor> {
      std::vector<Tensor> results = step();
      for (Tensor& result : results) {
        result = result.narrow(0, 0, 1);  // the row that the random number was made for
      }
      return results;
    };
  };
  return c;
}

// A vocabulary of thousands, whole numbers only, so that tokens tie: the best nine, or one sampled
// in the middle of its share (`temperature` above 0).
OpCase many_tokens_case(float temperature) {
  constexpr int32_t kTokens = 5003;
  TokenRule rule;
  rule.text_end = 4800;
  rule.timestamp_begin = rule.timestamp_low = 4810;
  rule.timestamp_high = kTokens;
  std::vector<float> logits = normals(2 * int64_t{kTokens}, 13, 2.0F);
  std::ranges::transform(logits, logits.begin(), [](float x) { return std::round(x); });
  if (temperature > 0.0F) {
    std::vector<double> sums{0.0};
    for (int32_t id = 0; id < kTokens; ++id) {
      const bool comes = id < rule.text_end || id >= rule.timestamp_low;
      const auto logit = static_cast<double>(logits[static_cast<size_t>(id)]);
      sums.push_back(sums.back() + (comes ? std::exp(logit / temperature) : 0.0));
    }
    constexpr size_t kWanted = 3217;
    rule.temperature = temperature;
    rule.uniform = static_cast<float>((sums[kWanted] + sums[kWanted + 1]) / 2.0 / sums.back());
  }
  OpCase c;
  c.op = "pick_token";
  c.name = temperature > 0.0F
               ? fmt::format("{} tokens sampled at temperature {}", kTokens, temperature)
               : fmt::format("the best nine of {} tokens", kTokens);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = ops::from_host(backend, logits, {2, kTokens});
    return [=, &backend]() -> std::vector<Tensor> {
      const std::vector<TokenRule> rules(2, rule);
      const auto picked =
          ops::pick_token(backend, x, {.rules = rules, .top = temperature > 0.0F ? 1 : 9});
      // The row that the random number was made for.
      return {picked.ids.narrow(0, 0, 1), picked.log_probabilities.narrow(0, 0, 1)};
    };
  };
  c.bound = each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kTokens); });
  return c;
}

OpCase vocabulary_case() {
  constexpr int32_t kWhisperEnglish = 51864;
  PickRow row{.what = "", .rule = any_token()};
  OpCase c;
  c.op = "pick_token";
  c.name = fmt::format("one row of {}", kWhisperEnglish);
  c.prepare = [row](Backend& backend) -> Step {
    const Tensor logits =
        ops::from_host(backend, normals(kWhisperEnglish, 1, 4.0F), {1, kWhisperEnglish});
    TokenRule rule;
    rule.text_end = 50257;
    rule.timestamp_begin = rule.timestamp_low = 50363;
    rule.timestamp_high = kWhisperEnglish;
    rule.prefer_timestamps = true;
    return [=, &backend]() -> std::vector<Tensor> {
      const auto picked = ops::pick_token(backend, logits, {.rules = std::span(&rule, 1)});
      return {picked.ids, picked.log_probabilities};
    };
  };
  c.bound =
      each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kWhisperEnglish) * 2.0F; });
  c.operations = 3.0 * kWhisperEnglish;
  c.bytes = 4.0 * kWhisperEnglish;
  c.large = true;
  return c;
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
  for (const PickRow& row : pick_rows()) {
    table.push_back(pick_case(row));
  }
  for (const float temperature : {0.2F, 1.0F}) {
    for (const size_t rank : {0, 1, 4}) {
      table.push_back(sample_case(temperature, rank));
    }
  }
  table.push_back(many_tokens_case(0.0F));
  table.push_back(many_tokens_case(1.0F));
  table.push_back(vocabulary_case());
}

}  // namespace mynah::cases
