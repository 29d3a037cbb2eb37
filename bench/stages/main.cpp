// mynah_bench_stages: Whisper's encoder and decoder and Silero on the CPU, each alone. Every
// stage's fast result is first checked against the exact one, then timed; one JSON object on
// stdout.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "models/whisper/model.h"
#include "ops/ops.h"
#include "speech/voice_detector.h"
#include "whisper/stages.h"

namespace mynah::bench {
namespace {

constexpr const char* kUsage =
    "usage: mynah_bench_stages [--threads N] [--storage TYPE] [--runs N] [--seconds S]\n"
    "                          (--whisper MODEL.gguf | --silero MODEL)\n"
    "Times the stages of one model: medians of N runs (default 9), in milliseconds.\n";

struct Options {
  int threads = 2;
  int runs = 9;
  double seconds = 5;  // of the short utterance
  DType storage = DType::I8;
  std::string whisper;
  std::string silero;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--runs") {
      options.runs = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else if (words[i] == "--storage" && parse_dtype(value)) {
      options.storage = *parse_dtype(value);
    } else if (words[i] == "--whisper") {
      options.whisper = value;
    } else if (words[i] == "--silero") {
      options.silero = value;
    } else {
      return std::nullopt;
    }
  }
  const bool one = options.whisper.empty() != options.silero.empty();
  return words.size() % 2 == 0 && one ? std::optional(options) : std::nullopt;
}

// Median milliseconds of `runs` calls, after one that is not counted.
double median_ms(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i <= runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) {
      times.push_back(took.count());
    }
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

Result<std::string> bench_whisper(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  MYNAH_TRY(const auto exact, load_gguf(options.whisper, DType::F32, Precision::Exact, *backend));
  MYNAH_TRY(const auto fast,
            load_gguf(options.whisper, options.storage, Precision::Fast, *backend));
  const auto whole = signal(30);
  const auto brief = signal(options.seconds);
  const double difference = turned(ops::to_host(*backend, encode(*exact, whole, false).states),
                                   ops::to_host(*backend, encode(*fast, whole, false).states));
  // Int8 weights and activations turn a layer's result by about a thousandth; a wrong kernel by a
  // right angle.
  if (!(difference < 0.05)) {
    return fail(ErrorCode::Device,
                fmt::format("the fast encoder's result is off by {}", difference));
  }
  const double full_ms = median_ms(options.runs, [&] { (void)encode(*fast, whole, false); });
  const double brief_ms = median_ms(options.runs, [&] { (void)encode(*fast, brief, true); });

  const Encoded heard = encode(*fast, whole, false);
  const auto& decoder = fast->decoder();
  const auto cross = decoder.cross_cache(heard.states, heard.lengths);
  // A token's cost with 32 before it: the middle of a usual window.
  constexpr int64_t kBefore = 32;
  constexpr int64_t kTokens = 64;
  const double tokens_ms = median_ms(options.runs, [&] {
    KvCache cache = decoder.new_cache(1, kBefore + kTokens + 1);
    const std::vector<int32_t> prompt(kBefore, 50);
    const Lane first{.sequence = cache.add(), .count = kBefore};
    (void)decoder.forward(prompt, {&first, 1}, cache, cross);
    const Lane next{.sequence = first.sequence};
    for (int64_t i = 0; i < kTokens; ++i) {
      const int32_t token = 100 + static_cast<int32_t>(i);
      const Tensor logits = decoder.logits(decoder.forward({&token, 1}, {&next, 1}, cache, cross));
      (void)ops::argmax(*backend, logits);
    }
  });
  return fmt::format(
      R"({{"threads": {}, "storage": "{}", "encoder_30s_ms": {:.2f}, "encoder_brief_ms": {:.2f}, )"
      R"("brief_s": {}, "decoder_token_ms": {:.4f}, "encoder_difference": {:.5f}}})",
      options.threads, name(options.storage), full_ms, brief_ms, options.seconds,
      tokens_ms / static_cast<double>(kTokens), difference);
}

Result<std::string> bench_silero(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  MYNAH_TRY(const auto detector, load_silero(options.silero, 16000, *backend));
  const auto samples = signal(60);
  const std::span<const float> all(samples);
  constexpr size_t kFrame = 512;
  const size_t frames = samples.size() / kFrame;
  std::vector<float> streamed;
  const double stream_ms = median_ms(options.runs, [&] {
    streamed.clear();
    const auto session = detector->session();
    for (size_t i = 0; i < frames; ++i) {
      const auto heard = session->push(all.subspan(i * kFrame, kFrame));
      if (heard) {
        streamed.insert(streamed.end(), heard->begin(), heard->end());
      }
    }
  });
  std::vector<float> whole;
  const double whole_ms = median_ms(options.runs, [&] {
    whole = detector->session()->push(all.first(frames * kFrame)).value_or(std::vector<float>{});
  });
  double difference = streamed.size() == frames && whole.size() == frames ? 0 : 1;
  for (size_t i = 0; difference < 1 && i < frames; ++i) {
    difference = std::max(
        difference, std::abs(static_cast<double>(streamed[i]) - static_cast<double>(whole[i])));
  }
  if (!(difference < 1e-4)) {
    return fail(ErrorCode::Device,
                fmt::format("frame by frame and at once differ by {}", difference));
  }
  const auto count = static_cast<double>(frames);
  return fmt::format(R"({{"threads": {}, "frame_by_frame_us": {:.2f}, "at_once_us": {:.2f}}})",
                     options.threads, 1000 * stream_ms / count, 1000 * whole_ms / count);
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  const auto options = mynah::bench::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  const auto report = options->whisper.empty() ? mynah::bench::bench_silero(*options)
                                               : mynah::bench::bench_whisper(*options);
  if (!report) {
    fmt::print(stderr, "mynah_bench_stages: {}\n", report.error().message);
    return 1;
  }
  fmt::print("{}\n", *report);
  return 0;
}
