// The central directory of a zip archive.
#pragma once

#include <vector>

#include "formats/zip.h"

namespace mynah {

// All members, each checked: see ZipArchive. Names that come twice are the caller's to find.
[[nodiscard]] Result<std::vector<ZipMember>> read_zip_directory(const MappedFile& file);

}  // namespace mynah
