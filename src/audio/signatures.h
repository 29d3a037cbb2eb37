// What recordings begin with, where one is looked for in the bytes of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mynah {

// A FLAC's signature and its first block, which is always one of 34 bytes (RFC 9639, 8.2).
inline constexpr std::string_view kFlacBegin{"fLaC\x00\x00\x00\x22", 8};
inline constexpr std::string_view kLastFlacBegin{"fLaC\x80\x00\x00\x22", 8};
// The identifier of ASF's header ("Advanced Systems Format", 10.1), and Matroska's (RFC 8794, 11).
inline constexpr std::string_view kAsfBegin{
    "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C", 16};
inline constexpr std::string_view kMatroskaBegin{"\x1A\x45\xDF\xA3", 4};

// As many bytes of a recording tell that it begins.
inline constexpr int64_t kSignatureBytes = 64;

// Four printable letters, as chunks and boxes are called.
[[nodiscard]] bool is_chunk_name(std::string_view name);

// Where the bytes hold the beginning of a recording; npos: nowhere. It is told by more than can
// stand in another one's samples by chance. Tags between the frames of MPEG audio (`mpeg`) are no
// beginning.
[[nodiscard]] size_t find_signature(std::string_view text, bool mpeg);

}  // namespace mynah
