// The files that English is read by: JSON, as it is or as gzip packs it.
#pragma once

#include <string>

#include "base/result.h"

namespace mynah {

// The largest of them, the tagger, has 4.6 MB. A file that claims or unpacks to more than this is
// refused.
inline constexpr size_t kMaxDataFileBytes = size_t{64} << 20;

// The whole of a file; what begins as a gzip file does (RFC 1952) is unpacked and its checksum
// held to.
[[nodiscard]] Result<std::string> read_data_file(const std::string& path);

}  // namespace mynah
