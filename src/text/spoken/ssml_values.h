// Values of SSML's attributes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah {

using SsmlAttributes = std::vector<std::pair<std::string, std::string>>;

// A number, or what is wrong with it and what to write.
struct SsmlValue {
  double value = 0.0;
  std::string fault{};
};

[[nodiscard]] const std::string* find_attribute(const SsmlAttributes& attributes,
                                                std::string_view name);

// Seconds of a break: its time, else its strength (250 ms more for each step, as Azure has it;
// none is 0), else medium.
[[nodiscard]] SsmlValue break_seconds(const SsmlAttributes& attributes);

// prosody's rate as a factor of the rate around it: "1.5", "150%", "+20%", "-10%", or a label
// (x-slow 0.5, slow 0.64, medium 1, fast 1.55, x-fast 2: Azure's numbers).
[[nodiscard]] SsmlValue rate_factor(std::string_view value);

// prosody's volume as a factor of the amplitude around it: "+6dB", "-3dB", "+10%", a number from 0
// to 100, or a label (silent 0, x-soft 0.25, soft 0.5, medium and default 1, loud 1.5, x-loud 2).
[[nodiscard]] SsmlValue volume_factor(std::string_view value);

}  // namespace mynah
