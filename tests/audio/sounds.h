// Sounds and files for the tests of audio/.
#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "audio/open.h"

namespace mynah::test {

// A folder of its own for one test, removed with it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "mynah-audio-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }

  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// `count` samples of a sine of half the full scale.
inline std::vector<float> sine(double hz, int rate_hz, size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    const double phase = 2 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz;
    samples[i] = static_cast<float>(0.5 * std::sin(phase));
  }
  return samples;
}

// All samples up to the end or the error, read in pieces of `piece`.
struct Heard {
  std::vector<float> samples;
  std::string error;  // empty: it ended well
};

inline Heard hear(AudioSource& source, size_t piece = 1000) {
  Heard heard;
  std::vector<float> block(piece);
  for (;;) {
    const auto got = source.read(block);
    if (!got) {
      heard.error = got.error().message;
      return heard;
    }
    if (*got == 0) {
      return heard;
    }
    heard.samples.insert(heard.samples.end(), block.begin(),
                         block.begin() + static_cast<std::ptrdiff_t>(*got));
  }
}

// The same, from opening on: an error of opening is returned too.
inline Heard hear(const std::string& path, const AudioOpenOptions& options = {},
                  size_t piece = 1000) {
  auto source = open_audio(path, options);
  if (!source) {
    return {.samples = {}, .error = source.error().message};
  }
  return hear(**source, piece);
}

inline float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

}  // namespace mynah::test
