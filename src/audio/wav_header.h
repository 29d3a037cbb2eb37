// The header of a WAV stream, read from its first bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mynah {

// What stands before the samples of a RIFF/WAVE, RF64, BW64 or Sony Wave64 stream.
struct WavHeader {
  int rate_hz = 0;
  int channels = 0;
  std::string encoding;                 // as AudioOpenOptions::Raw names it
  uint32_t channel_mask = 0;            // of an extensible one
  int frame_bytes = 0;                  // of all channels
  size_t header_bytes = 0;              // where the samples begin
  std::optional<int64_t> sample_bytes;  // none: the writer did not know yet
};

// What the first bytes of a stream say so far.
struct WavProbe {
  enum class State : uint8_t {
    MoreBytes,  // the header goes on: at least `wanted_bytes` in all must be there to know more
    Found,      // samples that open_raw() can decode
    Other,      // another format, a compressed or damaged WAV
  };

  State state = State::Other;
  size_t wanted_bytes = 0;
  WavHeader header{};
};

// A header that goes on for longer is not looked at: it is Other.
constexpr size_t kMostWavHeaderBytes = 1 << 16;

// Looks at the first bytes of a stream. Believes no number of theirs: whatever they hold, the
// result's header lies within them, and its frame is as long as its channels and encoding make it.
// Sources: Microsoft's "Multiple Channel Audio Data and WAVE Files" (fmt, extensible), EBU Tech
// 3306 and ITU-R BS.2088 (RF64, BW64, ds64), Sony's Wave64 (identifiers of 16 bytes, sizes that
// count their own header, chunks at multiples of 8).
WavProbe probe_wav(std::span<const std::byte> bytes);

}  // namespace mynah
