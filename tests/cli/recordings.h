// Recordings made for a test.
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

namespace mynah::cli {

// A 16 kHz WAV file of 16-bit samples.
inline std::string write_wav_of(const std::string& path, double seconds, int channels,
                                const std::function<double(int channel, uint32_t frame)>& sample) {
  const auto frames = static_cast<uint32_t>(std::lround(seconds * 16000));
  std::string data;
  const auto put = [&data](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      data += static_cast<char>(value >> (8 * i));
    }
  };
  const auto n_channels = static_cast<uint32_t>(channels);
  data += "RIFF";
  put(36 + frames * n_channels * 2, 4);
  data += "WAVEfmt ";
  put(16, 4);
  put(1, 2);
  put(n_channels, 2);
  put(16000, 4);
  put(16000 * n_channels * 2, 4);
  put(n_channels * 2, 2);
  put(16, 2);
  data += "data";
  put(frames * n_channels * 2, 4);
  for (uint32_t i = 0; i < frames; ++i) {
    for (int channel = 0; channel < channels; ++channel) {
      put(static_cast<uint16_t>(std::lround(sample(channel, i))), 2);
    }
  }
  std::ofstream(path, std::ios::binary) << data;
  return path;
}

// A tone, on one channel alone where `loud_channel` says so.
inline std::string write_wav(const std::string& path, double seconds, int channels = 1,
                             int loud_channel = -1) {
  return write_wav_of(path, seconds, channels, [loud_channel](int channel, uint32_t frame) {
    return loud_channel < 0 || loud_channel == channel ? 8000 * std::sin(frame * 0.2) : 0.0;
  });
}

}  // namespace mynah::cli
