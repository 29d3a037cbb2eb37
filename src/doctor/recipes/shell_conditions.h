// What a shell's test comes to, by its words alone.
#pragma once

#include <span>
#include <string>

#include "doctor/recipes/markers.h"

namespace mynah::doctor {

// Words of "[ a = b ]", "[[ a == b ]]", "test -n a": texts that are compared or looked at, numbers
// that are compared, with "!" in front or not. What looks at files, holds patterns or words that a
// shell has yet to replace, and all that is no test, is not known.
[[nodiscard]] Truth truth_of_test(std::span<const std::string> words);

[[nodiscard]] Truth opposite(Truth truth);

}  // namespace mynah::doctor
