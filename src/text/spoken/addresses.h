// Where links and e-mail addresses are, for every language.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/spoken/tokens.h"

namespace mynah {

// Of a link with more characters only the host is said: nobody listens to the rest.
inline constexpr size_t kLongLink = 80;

// The length of a host name with a known end ("example.com") at the beginning, or 0.
[[nodiscard]] size_t host_length(std::string_view text);

// Whether it is an e-mail address: one "@", and a host with a dot.
[[nodiscard]] bool is_mail(std::string_view text);

// One past the last token that belongs to the address that begins at `at`: marks behind it belong
// to the sentence. `at` where it has too many.
[[nodiscard]] size_t address_end(const Tokens& tokens, size_t at);

}  // namespace mynah
