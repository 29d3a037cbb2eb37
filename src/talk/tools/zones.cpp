#include "talk/tools/zones.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <vector>

#include <date/tz.h>
#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"

namespace mynah::talk {

namespace {

// The library tells of what is wrong by exceptions: they end here.
template <class Asked>
auto asked_of_zones(Asked asked) -> Result<decltype(asked())> {
  try {
    return asked();
  } catch (const std::exception& exception) {
    return fail(ErrorCode::Environment,
                fmt::format("the system's time zones cannot be read (package tzdata): {}",
                            exception.what()));
  }
}

// "Buenos_Aires" of America/Argentina/Buenos_Aires, as people write it.
std::string city_of(std::string_view zone) {
  std::string city = ascii_lower(zone.substr(zone.rfind('/') + 1));
  std::ranges::replace(city, '_', ' ');
  return city;
}

struct Written {
  std::optional<date::year_month_day> day;
  std::chrono::minutes time{};
};

// Digits alone, so many at least and at most.
std::optional<int> number_of(std::string_view digits, size_t least, size_t most) {
  int number = 0;
  const bool fits = digits.size() >= least && digits.size() <= most &&
                    std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!fits) {
    return std::nullopt;
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<Written> read_written(std::string_view text) {
  constexpr int kHours = 24;
  constexpr int kMinutes = 60;
  Written written;
  if (const size_t space = text.find_first_of(" T"); space != std::string_view::npos) {
    const std::string_view day = text.substr(0, space);
    constexpr size_t kDayBytes = 10;  // 2026-12-24
    if (day.size() != kDayBytes || day[4] != '-' || day[7] != '-') {
      return std::nullopt;
    }
    const auto year = number_of(day.substr(0, 4), 4, 4);
    const auto month = number_of(day.substr(5, 2), 2, 2);
    const auto of_month = number_of(day.substr(8, 2), 2, 2);
    if (!year || !month || !of_month) {
      return std::nullopt;
    }
    written.day = date::year(*year) / *month / *of_month;
    if (!written.day->ok()) {
      return std::nullopt;
    }
    text.remove_prefix(space + 1);
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto hour = number_of(text.substr(0, colon), 1, 2);
  std::string_view rest = text.substr(colon + 1);
  if (rest.ends_with(":00")) {
    rest.remove_suffix(3);
  }
  const auto minute = number_of(rest, 2, 2);
  if (!hour || !minute || *hour >= kHours || *minute >= kMinutes) {
    return std::nullopt;
  }
  written.time = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  return written;
}

SystemSeconds moment_of(const date::time_zone& zone, date::local_days day,
                        std::chrono::minutes time) {
  return SystemSeconds(
      zone.to_sys(date::local_seconds(day + time), date::choose::earliest).time_since_epoch());
}

}  // namespace

Result<std::string> zone_named(std::string_view name) {
  using Found = Result<std::string>;
  auto found = asked_of_zones([&]() -> Found {
    if (trimmed(name).empty()) {
      return date::current_zone()->name();
    }
    const std::string wanted = ascii_lower(trimmed(name));
    std::string spaced = wanted;
    std::ranges::replace(spaced, '_', ' ');
    std::vector<std::string> names;
    for (const date::time_zone& zone : date::get_tzdb().zones) {
      if (ascii_lower(zone.name()) == wanted) {
        return zone.name();
      }
      names.push_back(zone.name());
    }
    // "Etc/UTC" has one, too: what is of a place stands before it.
    const auto city = std::ranges::find(names, spaced, city_of);
    if (city != names.end()) {
      return *city;
    }
    return fail(ErrorCode::NotFound,
                fmt::format("wanted a time zone such as Europe/Berlin, or a city that one is named "
                            "after, found '{}'{}",
                            name, suggestion(std::string(name), names)));
  });
  return found ? *std::move(found) : Found(std::unexpected(std::move(found).error()));
}

Result<std::string> time_in_zone(SystemSeconds time, const std::string& zone) {
  return asked_of_zones([&] {
    const auto moment = date::sys_seconds(time.time_since_epoch());
    return date::format("%F %T, %A, ", date::make_zoned(zone, moment)) + zone +
           date::format(" (%Z, UTC%Ez)", date::make_zoned(zone, moment));
  });
}

Result<SystemSeconds> next_time(std::string_view written, const std::string& zone,
                                SystemSeconds now) {
  const auto wanted = read_written(trimmed(written));
  if (!wanted) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("wanted a time such as 07:30 or 2026-12-24 18:00, found '{}'", written));
  }
  auto moment = asked_of_zones([&] {
    const date::time_zone& place = *date::locate_zone(zone);
    if (wanted->day) {
      return moment_of(place, date::local_days(*wanted->day), wanted->time);
    }
    const auto today =
        date::floor<date::days>(place.to_local(date::sys_seconds(now.time_since_epoch())));
    const SystemSeconds first = moment_of(place, today, wanted->time);
    return first > now ? first : moment_of(place, today + date::days(1), wanted->time);
  });
  if (moment && *moment <= now) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} is past", written));
  }
  return moment;
}

}  // namespace mynah::talk
