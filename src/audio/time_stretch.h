// Speech made to last longer or shorter, at its own pitch.
#pragma once

#include <span>
#include <vector>

namespace mynah {

// `samples` in 1 / `speed` of their time: at 2 they take half of it. `speed` is above 0. Pitch
// periods are overlapped and added, or left out (libsonic), so that voices keep their pitch. What
// was at sample i is then near i / speed, to one or two pitch periods. At 1 they stay as they are.
[[nodiscard]] std::vector<float> stretch_time(std::span<const float> samples, int rate_hz,
                                              double speed);

}  // namespace mynah
