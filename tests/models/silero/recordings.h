// Recordings of the shared folder as the oracles of voice activity hear them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/open.h"

namespace mynah::test {

// All samples of a 16 kHz recording; at 8000 Hz every second one, as tools/silero_oracle.py takes
// them.
inline std::vector<float> read_recording(const std::string& path, int rate_hz) {
  auto source = open_audio(path, {});
  EXPECT_TRUE(source) << source.error().message;
  std::vector<float> samples;
  std::array<float, 4096> piece;
  while (source) {
    const Result<size_t> count = (*source)->read(piece);
    EXPECT_TRUE(count) << count.error().message;
    if (!count || *count == 0) {
      break;
    }
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(*count));
  }
  const size_t step = static_cast<size_t>(16000 / rate_hz);
  std::vector<float> kept;
  for (size_t i = 0; i < samples.size(); i += step) {
    kept.push_back(samples[i]);
  }
  return kept;
}

}  // namespace mynah::test
