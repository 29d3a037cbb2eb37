// What mynah-media writes to its standard output: messages, each a MediaHeader and its payload, in
// the byte order of the machine (both ends run on it).
//
//   recording  (next recording)*  (end | error)      or      error
//   recording: note* format (data | silence | note)*
#pragma once

#include <cstddef>
#include <cstdint>

namespace mynah {

enum class MediaKind : uint32_t {
  Format = 0x594D0001,   // MediaFormat
  Data = 0x594D0002,     // interleaved float32 frames
  Error = 0x594D0003,    // what is wrong, one line to be read after the recording's name
  End = 0x594D0004,      // nothing: the recording was read to its end
  Silence = 0x594D0005,  // int64_t: so many frames are silent
  Note = 0x594D0006,     // what a user should know, one line to be read after the recording's name
  Next = 0x594D0007,     // nothing: another recording was joined on, whose format comes next
};

struct MediaHeader {
  MediaKind kind;
  uint32_t payload_bytes;
};

// What follows it in the message: for each channel the speaker that it is for (audio/speakers.h), a
// byte each; or nothing, where that is not known.
struct MediaFormat {
  uint32_t rate_hz;
  uint32_t channels;
  int64_t frames;       // of the whole recording, or -1: not known
  int64_t first_frame;  // where the data begin: 0 unless a start was asked for
  uint32_t tracks;      // of audio, that the file holds
  uint32_t track;       // which of them this is, from 1
};

static_assert(sizeof(MediaHeader) == 8 && sizeof(MediaFormat) == 32);

constexpr size_t kMostMediaDataBytes = 1 << 16;
constexpr size_t kMostMediaErrorBytes = 4096;
// Silence that is told in all: a day. A hostile file of a few bytes must not become more.
constexpr int64_t kMostMediaSilence_s = int64_t{24} * 3600;
constexpr int kMostMediaNotes = 16;
constexpr size_t kMostMediaHeadBytes = 1 << 16;
constexpr uint32_t kMostMediaChannels = 1024;

// The descriptors that mynah-media is given: the recording, its output, a file to spool to, and one
// with bytes of a piped recording that were read already and come before the rest.
constexpr int kMediaInputFd = 0;
constexpr int kMediaOutputFd = 1;
constexpr int kMediaSpoolFd = 3;
constexpr int kMediaHeadFd = 4;

}  // namespace mynah
