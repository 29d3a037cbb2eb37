// What a BCP 47 tag says about English.
#pragma once

#include <string_view>

namespace mynah {

// In either case, with "-" or "_".
[[nodiscard]] bool is_english(std::string_view language);

// Whether its region is one that writes and speaks as Oxford's dictionary does and not as
// Webster's.
[[nodiscard]] bool is_british(std::string_view language);

}  // namespace mynah
