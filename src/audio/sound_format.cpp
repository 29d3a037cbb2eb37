#include "audio/sound_format.h"

#include <algorithm>
#include <filesystem>

#include "base/ascii.h"
#include "base/check.h"

namespace mynah {

std::string_view name(SoundFormat format) {
  const auto* const found = std::ranges::find(kSoundFormats, format, &SoundFormatName::format);
  MYNAH_CHECK(found != kSoundFormats.end());
  return found->name;
}

std::optional<SoundFormat> sound_format_of(const std::string& path) {
  const std::string extension = ascii_lower(std::filesystem::path(path).extension().string());
  if (extension == ".ogg" || extension == ".oga") {
    return SoundFormat::Opus;
  }
  if (extension == ".raw") {
    return SoundFormat::Pcm;
  }
  for (const SoundFormatName& known : kSoundFormats) {
    if (extension.size() > 1 && extension.substr(1) == known.name) {
      return known.format;
    }
  }
  return std::nullopt;
}

}  // namespace mynah
