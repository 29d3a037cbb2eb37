#include "place/terms/time_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mynah::place {

std::string time_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  if (seconds < 2 * kMinute) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 2 * kHour) {
    return fmt::format("{:.0f} min", seconds / kMinute);
  }
  return seconds < 2 * kDay ? fmt::format("{:.0f} h", seconds / kHour)
                            : fmt::format("{:.0f} days", seconds / kDay);
}

std::string milliseconds_text(double ms) {
  return ms < 9.95 ? fmt::format("{:.2g}", ms) : fmt::format("{:.0f}", ms);
}

std::string times_text(double ratio) {
  if (ratio < 9.95) {
    return fmt::format("{:.1f}", ratio);
  }
  const double last = std::pow(10.0, std::floor(std::log10(ratio)) - 1);  // of two digits
  return fmt::format("{:.0f}", std::round(ratio / last) * last);
}

std::string speed_text(double ms, double other_ms, std::string_view other) {
  constexpr double kNoise = 1.02;
  if (!(ms > 0) || !(other_ms > 0)) {
    return {};
  }
  const double ratio = std::max(ms / other_ms, other_ms / ms);
  if (ratio < kNoise) {
    return other.empty() ? std::string() : fmt::format("as fast as {}", other);
  }
  const std::string text =
      fmt::format("{} times {}", times_text(ratio), ms < other_ms ? "faster" : "slower");
  return other.empty() ? text : fmt::format("{} than {}", text, other);
}

}  // namespace mynah::place
