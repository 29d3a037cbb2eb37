// Whether letters can be said as a word.
#pragma once

#include <string_view>

namespace mynah {

// Whether English words begin and end as this one does: "STOP" and "OPEC" do, "AAPL" and "TSLA" do
// not. ASCII letters of either case; it has a vowel.
[[nodiscard]] bool is_sayable(std::string_view word);

}  // namespace mynah
