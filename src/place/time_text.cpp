#include "place/time_text.h"

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

}  // namespace mynah::place
