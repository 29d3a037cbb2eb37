// SoundFormat: the kinds of sound files that mynah writes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

enum class SoundFormat : uint8_t {
  Wav,   // RIFF, 16 bits
  Flac,  // 16 bits
  Mp3,
  Opus,  // in Ogg
  Aac,   // ADTS
  Pcm    // samples alone: 16 bits, signed, little-endian
};

struct SoundFormatName {
  SoundFormat format;
  std::string_view name;        // as --format takes it; OpenAI's /v1/audio/speech has the same
  std::string_view media_type;  // of an HTTP answer
};

inline constexpr std::array<SoundFormatName, 6> kSoundFormats = {{
    {SoundFormat::Wav, "wav", "audio/wav"},
    {SoundFormat::Flac, "flac", "audio/flac"},
    {SoundFormat::Mp3, "mp3", "audio/mpeg"},
    {SoundFormat::Opus, "opus", "audio/ogg"},
    {SoundFormat::Aac, "aac", "audio/aac"},
    {SoundFormat::Pcm, "pcm", "audio/pcm"},
}};

[[nodiscard]] std::string_view name(SoundFormat format);

// The format by the end of a file's name, in either case; .ogg and .oga are Opus, .raw is Pcm.
// None: another ending, or no ending.
[[nodiscard]] std::optional<SoundFormat> sound_format_of(const std::string& path);

}  // namespace mynah
