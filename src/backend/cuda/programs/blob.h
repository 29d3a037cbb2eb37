// The form that programs are embedded in: written by pack_programs while mynah is built, read by
// programs.cpp.
#pragma once

#include <cstdint>

namespace mynah::cuda {

// The blob is a u64 count, so many of these, then the packed bytes, all of this machine's order.
struct BlobEntry {
  char group[24];  // ends with zeros
  uint32_t level;
  uint32_t text_bytes;
  uint64_t offset;  // of the packed bytes from the blob's start
  uint64_t packed_bytes;
};

}  // namespace mynah::cuda
