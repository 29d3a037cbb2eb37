// What tells one state of a file from another without reading it.
#pragma once

#include <string>

#include <sys/stat.h>

namespace mynah {

// Its size, when it was written, and where it lies: a line without a newline.
[[nodiscard]] std::string file_identity(const struct stat& info);

}  // namespace mynah
