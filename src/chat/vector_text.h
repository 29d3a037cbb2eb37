// A vector as text: the fewest digits that each number is read back from.
#pragma once

#include <span>
#include <string>

namespace mynah {

// "[0.25,-1e-05]": JSON; null for what is no number.
[[nodiscard]] std::string vector_json(std::span<const float> vector);

// "0.25 -1e-05": for people and for programs that read columns.
[[nodiscard]] std::string vector_columns(std::span<const float> vector);

}  // namespace mynah
