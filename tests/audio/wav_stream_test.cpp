// WAVs that come through a pipe: their samples are given as they come.
#include <array>
#include <bit>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio/media_reader.h"
#include "audio/mono_source.h"
#include "audio/open.h"
#include "audio/raw_reader.h"
#include "audio/sounds.h"
#include "audio/wav_header.h"
#include "base/process.h"

namespace mynah {
namespace {

using test::hear;
using testing::HasSubstr;

class WavStream : public testing::Test {
 protected:
  // A reader may close its pipe while what it does not want still comes.
  WavStream() { std::signal(SIGPIPE, SIG_IGN); }

  // A stereo sine as libsndfile writes it.
  std::string written(int format) {
    std::string path = folder_ / "a.wav";
    SF_INFO info{};
    info.samplerate = 16000;
    info.channels = 2;
    info.format = format;
    SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
    EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
    sf_set_string(file, SF_STR_TITLE, "three");  // a LIST chunk, before the samples or after
    const std::vector<float> samples = test::sine(440, 16000, 2 * 20000);
    EXPECT_EQ(sf_write_float(file, samples.data(), 2 * 20000), 2 * 20000);
    sf_close(file);
    return path;
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
  }

  std::string named_pipe() {
    std::string path = folder_ / "pipe";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  // The same bytes through a pipe.
  static test::Heard hear_piped(std::string bytes, size_t block = 1000) {
    auto pipe = Pipe::create();
    EXPECT_TRUE(pipe);
    std::thread writer([out = std::move(pipe->write_end), bytes = std::move(bytes), block] {
      for (size_t at = 0; at < bytes.size();) {
        const ssize_t wrote =
            ::write(out.get(), bytes.data() + at, std::min(block, bytes.size() - at));
        if (wrote <= 0) {
          break;
        }
        at += static_cast<size_t>(wrote);
      }
    });
    AudioOpenOptions options;
    options.media_program = MYNAH_MEDIA_PROGRAM;
    test::Heard heard = hear("/dev/fd/" + std::to_string(pipe->read_end.get()), options);
    pipe->read_end.reset();
    writer.join();
    return heard;
  }

  test::TemporaryFolder folder_;
};

TEST_F(WavStream, EveryEncodingGivesWhatTheFileGives) {
  for (const int container : {SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64, SF_FORMAT_W64}) {
    for (const int encoding :
         {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
          SF_FORMAT_DOUBLE, SF_FORMAT_ULAW, SF_FORMAT_ALAW}) {
      SCOPED_TRACE(container);
      SCOPED_TRACE(encoding);
      const std::string path = written(container | encoding);
      const test::Heard file = hear(path);
      ASSERT_EQ(file.error, "");
      const std::string bytes = bytes_of(path);
      auto header = probe_wav(std::as_bytes(std::span(bytes)));
      EXPECT_EQ(header.state, WavProbe::State::Found);
      const test::Heard piped = hear_piped(bytes);
      EXPECT_EQ(piped.error, "");
      EXPECT_EQ(piped.samples, file.samples);
    }
  }
}

TEST_F(WavStream, SamplesAreGivenWhileTheStreamIsStillOpen) {
  const std::string bytes = bytes_of(written(SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  const auto header = probe_wav(std::as_bytes(std::span(bytes)));
  ASSERT_EQ(header.state, WavProbe::State::Found);
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  const size_t written_bytes = header.header.header_bytes + 4 * 160;  // ten milliseconds
  ASSERT_EQ(::write(pipe->write_end.get(), bytes.data(), written_bytes),
            static_cast<ssize_t>(written_bytes));
  auto source = open_audio("/dev/fd/" + std::to_string(pipe->read_end.get()), {});
  ASSERT_TRUE(source);
  std::vector<float> out(1000);
  EXPECT_EQ((*source)->read(out).value(), 160U);
}

TEST_F(WavStream, AHeaderThatComesByteByByteIsOne) {
  const std::string path = written(SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  EXPECT_EQ(hear_piped(bytes_of(path).substr(0, 4000), 1).samples.size(),
            hear_piped(bytes_of(path).substr(0, 4000)).samples.size());
}

TEST_F(WavStream, WhatFollowsTheSamplesIsNoSound) {
  const std::string path = written(SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  EXPECT_EQ(hear_piped(bytes_of(path) + std::string(1000, 'x')).samples, hear(path).samples);
}

TEST_F(WavStream, ALengthThatWasNeverFilledInIsNoPromise) {
  const std::string path = written(SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  std::string bytes = bytes_of(path);
  const size_t data = bytes.find("data");
  for (const std::string& unknown :
       {std::string(4, '\xFF'), std::string(4, '\0'), std::string("\x00\x00\x00\x80", 4)}) {
    bytes.replace(data + 4, 4, unknown);
    const std::string whole = bytes.substr(0, data + 8 + 4 * 20000);
    const test::Heard heard = hear_piped(whole);
    EXPECT_EQ(heard.error, "");
    EXPECT_EQ(heard.samples, hear(path).samples);
  }
}

TEST_F(WavStream, ACutStreamGivesWhatIsThereThenTheError) {
  const std::string bytes = bytes_of(written(SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  const auto header = probe_wav(std::as_bytes(std::span(bytes)));
  const test::Heard heard = hear_piped(bytes.substr(0, header.header.header_bytes + 4 * 5000));
  EXPECT_EQ(heard.samples.size(), 5000U);
  EXPECT_THAT(heard.error, HasSubstr("is cut off after 0.312 s: its header promises 80000 bytes of "
                                     "samples, 20000 are there"));
}

TEST_F(WavStream, AStreamWithoutSamplesIsSaidToHoldNone) {
  const std::string bytes = bytes_of(written(SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  std::string header = bytes.substr(0, bytes.find("data") + 8);
  header.replace(header.size() - 4, 4, std::string(4, '\xFF'));
  EXPECT_THAT(hear_piped(header).error, HasSubstr("holds no sound"));
}

TEST_F(WavStream, CompressedWavsGoToTheDecoderWithEveryByte) {
  const std::string path = written(SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM);
  auto file = open_input_file(path);
  ASSERT_TRUE(file);
  auto decoder = open_with_media(std::move(*file), {.program = MYNAH_MEDIA_PROGRAM});
  ASSERT_TRUE(decoder);
  auto decoded = MonoSource::create(std::move(*decoder), path, {});
  ASSERT_TRUE(decoded);
  const test::Heard heard = hear_piped(bytes_of(path));
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples, hear(**decoded).samples);
}

TEST_F(WavStream, OtherContainersGoToTheDecoderWithEveryByte) {
  const std::string path = MYNAH_SOURCE_DIR "/tests/audio/data/rise.webm";
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  EXPECT_EQ(hear_piped(bytes_of(path)).samples, hear(path, options).samples);
}

TEST_F(WavStream, AStreamThatEndsInItsHeaderIsNoRecording) {
  const std::string bytes = bytes_of(written(SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  EXPECT_THAT(hear_piped(bytes.substr(0, 30)).error, HasSubstr("/dev/fd/"));
  EXPECT_THAT(hear_piped("RI").error, HasSubstr("is not a recording that mynah can read"));
  EXPECT_THAT(hear_piped("").error, HasSubstr("is empty (0 bytes)"));
}

TEST_F(WavStream, ANamedPipeWaitsForItsWriter) {
  const std::string path = written(SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  const std::string pipe = named_pipe();
  std::thread writer(
      [&] { std::ofstream(pipe, std::ios::binary) << bytes_of(path) << std::flush; });
  const test::Heard heard = hear(pipe);
  writer.join();
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples, hear(path).samples);
}

TEST_F(WavStream, AStopEndsTheWaitForANamedPipe) {
  const std::string pipe = named_pipe();
  for (const bool has_silent_writer : {false, true}) {
    SCOPED_TRACE(has_silent_writer);
    const UniqueFd writer(has_silent_writer ? ::open(pipe.c_str(), O_RDWR | O_CLOEXEC) : -1);
    std::stop_source source;
    AudioOpenOptions options;
    options.stop = source.get_token();
    std::thread stopper([&source] { source.request_stop(); });
    const auto opened = open_audio(pipe, options);
    stopper.join();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::Cancelled);
  }
}

}  // namespace
}  // namespace mynah
