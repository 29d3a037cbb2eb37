#include "place/discovery/possible.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace mynah::place {
namespace {

// A step of eleven days, a thousand terabytes: nobody's, but numbers that can be reckoned with.
constexpr double kLongest_ms = 1e9;
constexpr uint64_t kMostBytes = uint64_t{1} << 50;

// Windows, probes and clauses are seconds.
constexpr double kLongest_s = 3600;

constexpr uint64_t kMostPhonemes = uint64_t{1} << 24;

bool is_rate(int rate_hz) {
  return rate_hz >= 1000 && rate_hz <= 192000;
}

// False where it is not a number.
bool is_within(double value, double least, double most) {
  return value >= least && value <= most;
}

bool is_time(double milliseconds) {
  return is_within(milliseconds, 0, kLongest_ms);
}

// More than nothing: what is divided by it is a number.
bool is_work(double work) {
  return is_within(work, 1e-9, 1e9);
}

bool are_times(std::span<const ProbeTime> times) {
  return std::ranges::all_of(times, [](const ProbeTime& time) {
    return is_time(time.milliseconds) && is_time(time.longest_step_ms) && is_work(time.step_work);
  });
}

bool is_measured(const Measurement& measured) {
  return is_time(measured.ms_per_unit) && is_time(measured.longest_step_ms) &&
         is_work(measured.step_work) && measured.bytes <= kMostBytes &&
         measured.window_bytes <= kMostBytes;
}

// Of a probe that others are compared with: what is no number is near to everything.
bool is_finite(const Probe& probe) {
  return std::ranges::all_of(probe.stages, [](const ProbeStage& stage) {
    return std::ranges::all_of(stage.values, [](float value) { return std::isfinite(value); });
  });
}

}  // namespace

bool is_possible(const DetectorFacts& facts) {
  return is_rate(facts.rate_hz) && is_within(facts.frame_s, 1e-3, 10);
}

bool is_possible(std::span<const std::vector<float>> probabilities, size_t recordings) {
  return probabilities.size() == recordings;
}

bool is_possible(const HeardWindow& heard, const HearingFacts& facts, size_t samples) {
  const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.sizes.n_vocab; };
  const auto are_tokens = [&](const std::vector<int32_t>& tokens) {
    return std::ranges::all_of(tokens, is_token);
  };
  const auto is_timestamp = [&](const std::optional<TimestampToken>& timestamp) {
    return !timestamp || is_token(timestamp->token);
  };
  const auto is_instant = [](double seconds) {
    return is_within(seconds, -kLongest_s, kLongest_s);
  };
  const bool language = heard.language.empty() ||
                        std::ranges::find(facts.languages, heard.language) != facts.languages.end();
  const bool shorter =
      !heard.shorter || (*heard.shorter > 0 && std::cmp_less(*heard.shorter, samples));
  return language && shorter && is_instant(heard.next_s) &&
         std::ranges::all_of(
             heard.segments,
             [&](const Segment& segment) {
               return is_instant(segment.start_s) && is_instant(segment.end_s) &&
                      are_tokens(segment.tokens) &&
                      segment.token_log_probabilities.size() == segment.tokens.size() &&
                      is_timestamp(segment.opening) && is_timestamp(segment.closing);
             }) &&
         std::ranges::all_of(heard.words, [&](const HeardWord& word) {
           return is_instant(word.start_s) && is_instant(word.end_s) && are_tokens(word.tokens);
         });
}

bool is_possible(const DriverAnswer& answer) {
  constexpr size_t kMostDevices = 256;
  const auto is_device = [](const gpu::GpuDevice& device) {
    const int least =
        std::min({device.index, device.compute_major, device.compute_minor, device.multiprocessors,
                  device.shared_bytes_per_block, device.shared_bytes_per_multiprocessor,
                  device.l2_bytes, device.memory_clock_khz, device.memory_bus_bits});
    return least >= 0 && static_cast<size_t>(device.index) < kMostDevices;
  };
  return answer.version >= 0 && !answer.devices.empty() && answer.devices.size() <= kMostDevices &&
         std::ranges::all_of(answer.devices, is_device);
}

bool is_possible(const VoiceModelFacts& facts) {
  return is_rate(facts.rate_hz) && facts.most_phonemes > 0 && facts.most_phonemes <= kMostPhonemes;
}

bool is_possible(const ClauseSound& sound, size_t words) {
  return sound.samples.empty() || sound.words.size() == words;
}

bool is_possible(const ProbeReport& report) {
  return is_within(report.probe.sound_s, 0, kLongest_s) && are_times(report.times);
}

bool is_possible(const FullWindow& window) {
  return window.memory.bytes <= kMostBytes && window.memory.window_bytes <= kMostBytes &&
         are_times(window.times);
}

bool is_possible(std::span<const StageReport> reports) {
  return std::ranges::all_of(reports, [](const StageReport& report) {
    return report.bytes <= kMostBytes && report.memory_free <= kMostBytes &&
           report.memory_total <= kMostBytes && std::isfinite(report.milliseconds);
  });
}

bool is_possible(std::span<const Measurement> measurements, StageGroup group) {
  const auto stages = stages_of(group);
  return std::ranges::equal(measurements, stages, {}, &Measurement::stage) &&
         std::ranges::all_of(measurements, is_measured);
}

bool is_possible(const Reference& reference, StageGroup group) {
  const auto stages = stages_of(group);
  const auto fits = [&](const Measurement& measured) {
    return measured.device == "cpu" && is_measured(measured) &&
           std::ranges::find(stages, measured.stage) != stages.end();
  };
  const auto is_bound = [](double bound) { return bound >= 0 && std::isfinite(bound); };
  return is_within(reference.exact.sound_s, 0, kLongest_s) && is_finite(reference.exact) &&
         std::ranges::all_of(reference.cpu, fits) &&
         std::ranges::all_of(reference.cpu_exact, fits) &&
         reference.error_bound.size() == stages.size() &&
         std::ranges::all_of(reference.error_bound, is_bound);
}

}  // namespace mynah::place
