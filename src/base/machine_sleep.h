// What a machine's sleep does to its clocks.
#pragma once

namespace mynah {

// Seconds that this machine was suspended since it started: by those the clock that counts them
// (CLOCK_BOOTTIME) is ahead of the one that stands still meanwhile (CLOCK_MONOTONIC), to some
// microseconds. 0 where there is no such clock.
[[nodiscard]] double asleep_s();

}  // namespace mynah
