// Files that voices are read from.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "models/kokoro/voice_mix.h"
#include "models/kokoro/voice_pack.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  // The second name lets bare values through.
  for (const char* path : {"fuzz", "fuzz.bin"}) {
    const auto voices = kokoro::read_voice_packs(MappedFile::from_bytes(bytes, path));
    if (!voices) {
      MYNAH_CHECK(!voices.error().message.empty(), "an error without a message");
      continue;
    }
    MYNAH_CHECK(!voices->empty(), "no voice and no error");
    for (const kokoro::NamedVoice& voice : *voices) {
      for (const size_t phonemes : {size_t{0}, voice.pack.rows, size_t{511}}) {
        for (const float value : voice.pack.style(phonemes)) {
          MYNAH_CHECK(std::isfinite(value), "a style that is no number");
        }
      }
    }
  }
  const auto shares = kokoro::parse_voice_mix({reinterpret_cast<const char*>(data), size});
  if (shares) {
    for (const kokoro::VoiceShare& share : *shares) {
      MYNAH_CHECK(!share.name.empty() && std::isfinite(share.weight), "a share of nothing");
    }
  }
  return 0;
}

}  // namespace mynah
