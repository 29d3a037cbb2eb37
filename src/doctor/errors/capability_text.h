// What PyTorch's warnings about a card's compute capability come to by the numbers in them: the
// same words are printed of cards that are too old, too new, and of those that it runs on all the
// same.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah::doctor {

// The error that a warning stands for, of which a pattern of the error `id` stands in the text at
// `at`: "E01" (the card is newer than all that the wheel holds), "E04" (it is older), "E153" (the
// wheel holds code of the same major capability and a minor one not above the card's, which the
// card runs: CUDA C++ Programming Guide, "Binary Compatibility"). `id` itself where the warning is
// another one, or the numbers are not there.
[[nodiscard]] std::string_view error_by_capability(std::string_view id, std::string_view text,
                                                   size_t at);

}  // namespace mynah::doctor
