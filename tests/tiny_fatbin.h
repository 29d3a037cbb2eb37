// Tiny fat binaries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "byte_builder.h"

namespace mynah::test {

struct TinyImage {
  uint16_t kind = 2;  // 1 PTX, 2 machine code, 8 LTO-IR
  uint32_t architecture = 80;
  uint64_t flags = 0x11;  // 0x2000 LZ4, 0x8000 zstd, 0x100000 'a', 0x200000 'f'
  uint16_t ptx_major = 0;
  uint16_t ptx_minor = 0;
  std::string payload = "machine code";
};

inline std::string fatbin_bytes(const std::vector<TinyImage>& images) {
  ByteBuilder body;
  for (const TinyImage& image : images) {
    const bool packed = (image.flags & 0xA000) != 0;
    const size_t padded = (image.payload.size() + 7) / 8 * 8;
    body.u16(image.kind).u16(0x0101).u32(64).u64(padded).u32(packed ? image.payload.size() : 0);
    body.u32(0).u16(image.ptx_minor).u16(image.ptx_major).u32(image.architecture).u32(0).u32(0);
    body.u64(image.flags).u64(0).u64(packed ? 1000 : 0).text(image.payload).align(8);
  }
  ByteBuilder fatbin;
  fatbin.u32(0xBA55ED50).u16(1).u16(16).u64(body.size()).text(body.bytes());
  return fatbin.bytes();
}

}  // namespace mynah::test
