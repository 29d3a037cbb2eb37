// Stops that end no sentence because of what a language writes beside numbers.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

// Whether the stop at `stop` is a short form's that stands before a number or behind one ("Nr. 5",
// "2,5 Mio. Euro", "2024 г. было"), or a date's ("am 3.10. kam er"), by what follows at `next`.
// False where it may end the sentence, and in languages without data.
[[nodiscard]] bool is_stop_at_number(std::string_view language, std::string_view text, size_t stop,
                                     size_t next);

}  // namespace mynah
