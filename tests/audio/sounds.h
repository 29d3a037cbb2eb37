// Sounds and files for the tests of audio/.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sndfile.h>

#include "audio/open.h"
#include "audio/sound_writer.h"
#include "temporary_folder.h"

namespace mynah::test {

// `count` samples of a sine of half the full scale.
inline std::vector<float> sine(double hz, int rate_hz, size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    const double phase = 2 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz;
    samples[i] = static_cast<float>(0.5 * std::sin(phase));
  }
  return samples;
}

// Writes with libsndfile: the formats that mynah itself does not write.
inline void write_with_sndfile(const std::string& path, int format,
                               const std::vector<float>& samples, int rate_hz, int channels = 1) {
  SF_INFO info{};
  info.samplerate = rate_hz;
  info.channels = channels;
  info.format = format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr) << sf_strerror(nullptr);
  const auto count = static_cast<sf_count_t>(samples.size());
  EXPECT_EQ(sf_write_float(file, samples.data(), count), count);
  sf_close(file);
}

enum class WavFormat { S16, F32 };

// Writes a WAV, whose 16-bit samples are what mynah makes of them.
inline void write_wav(const std::string& path, const std::vector<float>& samples, int rate_hz,
                      int channels, WavFormat format) {
  if (format == WavFormat::F32) {
    write_with_sndfile(path, SF_FORMAT_WAV | SF_FORMAT_FLOAT, samples, rate_hz, channels);
    return;
  }
  ASSERT_EQ(channels, 1);
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file);
  FileSink sink(std::move(*file));
  auto writer = make_sound_writer(sink, {.format = SoundFormat::Wav, .rate_hz = rate_hz});
  ASSERT_TRUE(writer && (*writer)->write(samples) && (*writer)->finish() && sink.commit());
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
