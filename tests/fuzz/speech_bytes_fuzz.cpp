// Any bytes as the sound that a service answers with: in whichever pieces, the samples are the same
// and no more than the bytes can hold.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "talk/organs/speech_bytes.h"

namespace {

constexpr int kSpeechRate_hz = 24000;

struct ReadSpeech {
  std::vector<float> samples;
  bool taken = false;

  bool operator==(const ReadSpeech&) const = default;
};

ReadSpeech read_speech(std::span<const std::byte> bytes, size_t piece) {
  mynah::talk::SpeechBytes reader(kSpeechRate_hz, kSpeechRate_hz);
  ReadSpeech read;
  bool pushed = true;
  for (size_t at = 0; at < bytes.size() && pushed; at += piece) {
    pushed = reader.push(bytes.subspan(at, std::min(piece, bytes.size() - at)), read.samples)
                 .has_value();
  }
  read.taken = pushed && reader.finish(read.samples);
  if (!read.taken) {
    read.samples.clear();
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const ReadSpeech whole = read_speech(bytes, size + 1);
  for (const float sample : whole.samples) {
    MYNAH_CHECK(std::isfinite(sample), "samples are numbers");
  }
  MYNAH_CHECK(whole == read_speech(bytes, 1), "pieces change nothing");
  return 0;
}
