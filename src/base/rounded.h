// Numbers as they stand in JSON: no longer than what they mean.
#pragma once

namespace mynah {

// Milliseconds to three decimals: a clock tells no more.
[[nodiscard]] double rounded_ms(double ms);

// An error or another ratio to three digits.
[[nodiscard]] double rounded_ratio(double ratio);

}  // namespace mynah
