// Tokens and keys, which stand in files of their own and in no configuration.
#pragma once

#include <string>

#include "base/result.h"

namespace mynah::talk {

// The one line of a file that its user alone may read, without white space around it. InvalidInput
// where others may read it (mode 0600 is wanted), or where it is no line of visible ASCII; NotFound
// where there is none.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path);

}  // namespace mynah::talk
