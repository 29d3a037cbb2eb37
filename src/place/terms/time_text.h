// Spans of time, and how they compare, as people say them.
#pragma once

#include <string>
#include <string_view>

namespace mynah::place {

// "3 s", "12 min", "7 h", "3 days": whole numbers, the unit that leaves two of them or more.
[[nodiscard]] std::string time_text(double seconds);

// "3.1", "34": milliseconds.
[[nodiscard]] std::string milliseconds_text(double ms);

// How many times: "1.3", "15", "170": two digits that mean something.
[[nodiscard]] std::string times_text(double ratio);

// What takes `ms` beside what takes `other_ms`: "15 times faster than cpu", "170 times slower than
// cpu", "as fast as cpu" where they differ by no more than one run from the next. Without a name of
// the other "15 times faster", and "" for as fast. "": a time is not known.
[[nodiscard]] std::string speed_text(double ms, double other_ms, std::string_view other);

}  // namespace mynah::place
