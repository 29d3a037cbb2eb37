// The header of a WAV that comes through a pipe.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "audio/wav_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mynah::WavProbe;
  const auto bytes = std::as_bytes(std::span(data, size));
  const WavProbe probe = mynah::probe_wav(bytes);
  const bool found = probe.state == WavProbe::State::Found;
  if (found && (probe.header.header_bytes > size || probe.header.channels <= 0 ||
                probe.header.rate_hz <= 0 || probe.header.sample_bytes.value_or(1) <= 0)) {
    std::abort();
  }
  // Asking for more is asking for progress, and never for too much.
  if (probe.state == WavProbe::State::MoreBytes &&
      (probe.wanted_bytes <= size || probe.wanted_bytes > mynah::kMostWavHeaderBytes)) {
    std::abort();
  }
  // Every byte of the header was needed, and none behind it is looked at.
  if (found) {
    const WavProbe less = mynah::probe_wav(bytes.first(probe.header.header_bytes - 1));
    const WavProbe exact = mynah::probe_wav(bytes.first(probe.header.header_bytes));
    if (less.state != WavProbe::State::MoreBytes || exact.state != WavProbe::State::Found) {
      std::abort();
    }
  }
  return 0;
}
