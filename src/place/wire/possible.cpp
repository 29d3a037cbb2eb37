#include "place/wire/possible.h"

#include <algorithm>
#include <cmath>

namespace mynah::place {
namespace {

// A step of eleven days, a thousand terabytes: nobody's, but numbers that can be reckoned with.
constexpr double kLongest_ms = 1e9;
constexpr uint64_t kMostBytes = uint64_t{1} << 50;

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

}  // namespace

bool is_within(double value, double least, double most) {
  return value >= least && value <= most;
}

bool is_rate(int rate_hz) {
  return rate_hz >= 1000 && rate_hz <= 192000;
}

bool is_possible(const ProbeReport& report) {
  return is_within(report.probe.sound_s, 0, kLongestSound_s) && are_times(report.times);
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

bool is_possible(const Measurement& measured) {
  return is_time(measured.ms_per_unit) && is_time(measured.longest_step_ms) &&
         is_work(measured.step_work) && measured.bytes <= kMostBytes &&
         measured.window_bytes <= kMostBytes;
}

bool is_possible(std::span<const Measurement> measurements, StageGroup group) {
  const auto stages = stages_of(group);
  return std::ranges::equal(measurements, stages, {}, &Measurement::stage) &&
         std::ranges::all_of(measurements, [](const Measurement& one) { return is_possible(one); });
}

}  // namespace mynah::place
