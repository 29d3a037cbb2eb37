// Times as people in a place have them. Zones are those of the system's tzdata (IANA).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::talk {

using SystemSeconds = std::chrono::sys_seconds;

// "Europe/Berlin" for that, for "berlin" and for "" where the machine is there. NotFound, with what
// is like it, where there is none; Environment where the system has no zones.
[[nodiscard]] Result<std::string> zone_named(std::string_view name);

// "2026-11-30 18:51:37, Monday, Europe/Berlin (CET, UTC+01:00)". `zone` is of zone_named().
[[nodiscard]] Result<std::string> time_in_zone(SystemSeconds time, const std::string& zone);

// The next time after `now` at which clocks of a zone show this: "07:30" of some day, or
// "2026-12-24 18:00". A time that a clock which is put forward leaves out is the moment of that; of
// two of a clock that is put back it is the first. InvalidInput for other texts and for what is
// past.
[[nodiscard]] Result<SystemSeconds> next_time(std::string_view written, const std::string& zone,
                                              SystemSeconds now);

}  // namespace mynah::talk
