// MP3 and Ogg: their sound, and what is said of those that are cut off or damaged.
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <unistd.h>

#include "audio/open.h"
#include "audio/sounds.h"
#include "base/process.h"
#include "test_paths.h"

namespace mynah {
namespace {

using testing::HasSubstr;

constexpr int kMp3 = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
constexpr int kVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;

struct Kind {
  const char* name;
  int format;
};

constexpr std::array<Kind, 3> kKinds = {{{"a.mp3", kMp3}, {"a.ogg", kVorbis}, {"a.opus", kOpus}}};

test::Heard hear_lossy(const std::string& path, double start_s = 0) {
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  options.start_s = start_s;
  return test::hear(path, options);
}

// The same bytes through standard input.
test::Heard hear_piped(const std::string& path) {
  const UniqueFd saved(::dup(STDIN_FILENO));
  auto pipe = Pipe::create();
  EXPECT_TRUE(pipe);
  EXPECT_GE(::dup2(pipe->read_end.get(), STDIN_FILENO), 0);
  std::thread writer([&path, out = std::move(pipe->write_end)] {
    const std::string bytes = test::read_file(path);
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = ::write(out.get(), bytes.data() + at, bytes.size() - at);
      ASSERT_GT(wrote, 0);
      at += static_cast<size_t>(wrote);
    }
  });
  auto heard = hear_lossy("-");
  writer.join();
  ::dup2(saved.get(), STDIN_FILENO);
  return heard;
}

// Rises from 300 Hz by 50 Hz a second.
std::vector<float> rise(int seconds) {
  std::vector<float> samples(size_t{16000} * static_cast<size_t>(seconds));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16000;
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * (300 * t + 25 * t * t)));
  }
  return samples;
}

class Lossy : public testing::Test {
 protected:
  std::string write(const Kind& kind, const std::vector<float>& samples, int rate_hz = 16000) {
    std::string path = folder_ / kind.name;
    test::write_with_sndfile(path, kind.format, samples, rate_hz);
    return path;
  }

  // Where the pages of the Ogg file begin, and its end.
  static std::vector<size_t> pages(const std::string& bytes) {
    std::vector<size_t> found;
    for (size_t at = bytes.find("OggS"); at != std::string::npos; at = bytes.find("OggS", at + 1)) {
      found.push_back(at);
    }
    found.push_back(bytes.size());
    return found;
  }

  std::string file(const std::string& name, const std::string& bytes) {
    std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Lossy, LengthAndSoundAreKeptByNameAndThroughAPipe) {
  for (const int rate_hz : {16000, 48000}) {
    const auto sound = test::sine(440, rate_hz, static_cast<size_t>(rate_hz) * 14);
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(kind.name);
      const std::string path = write(kind, sound, rate_hz);
      const auto heard = hear_lossy(path);
      EXPECT_EQ(heard.error, "");
      ASSERT_EQ(heard.samples.size(), 224000U);
      const auto expected = test::sine(440, 16000, 224000);
      double squares = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        squares += std::pow(heard.samples[i] - expected[i], 2);
      }
      // A shift by one sample would be 0.061.
      EXPECT_LT(std::sqrt(squares / static_cast<double>(expected.size())), 0.02);
      EXPECT_EQ(hear_piped(path).samples, heard.samples);
    }
  }
}

// Short ones are on one page, and end within a packet.
TEST_F(Lossy, VorbisOfAnyLengthIsKeptAndSoWhenJoined) {
  std::string joined;
  std::vector<float> joined_samples;
  for (const size_t samples : {1000, 4000, 8000, 16000, 24000, 32000, 100000}) {
    SCOPED_TRACE(samples);
    const std::string path = write(kKinds[1], test::sine(440, 16000, samples));
    joined += test::read_file(path);
    const auto heard = hear_lossy(path);
    EXPECT_EQ(heard.error, "");
    EXPECT_EQ(heard.samples.size(), samples);
    EXPECT_EQ(hear_piped(path).samples, heard.samples);
    joined_samples.insert(joined_samples.end(), heard.samples.begin(), heard.samples.end());
  }
  const auto heard = hear_lossy(file("joined.ogg", joined));
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples, joined_samples);
}

TEST_F(Lossy, TheFirstHalfGivesWhatIsThereThenTheError) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const std::string path = write(kind, rise(40));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const auto heard = hear_lossy(path);
    EXPECT_GT(heard.samples.size(), 16000U * 4);
    EXPECT_THAT(heard.error, HasSubstr(std::string(kind.name) + " is cut off after "));
    EXPECT_THAT(hear_piped(path).error, HasSubstr("standard input is cut off after "));
  }
}

TEST_F(Lossy, AnMp3WithoutALengthIsCutOffWhereItsLastFrameIs) {
  const std::string bytes = test::read_file(write(kKinds[0], rise(4)));
  // MPEG 2 and a constant rate: the frames are of one length, and the first is the header.
  const size_t first = bytes.find("\xFF\xF3");
  ASSERT_NE(first, std::string::npos);
  const std::string sync = bytes.substr(first, 2);
  const size_t second = bytes.find(sync, first + 4);
  const std::string frames = bytes.substr(second);
  EXPECT_EQ(hear_lossy(file("whole.mp3", frames)).error, "");
  EXPECT_THAT(hear_lossy(file("cut.mp3", frames.substr(0, frames.size() - 20))).error,
              HasSubstr("cut.mp3 is cut off after 4."));
}

TEST_F(Lossy, TagsZerosAndJoinedRecordingsAreNoDamage) {
  const std::string mp3 = test::read_file(write(kKinds[0], rise(2)));
  EXPECT_EQ(hear_lossy(file("tag.mp3", mp3 + "TAG" + std::string(125, 'x'))).error, "");
  EXPECT_EQ(hear_lossy(file("zeros.mp3", mp3 + std::string(5000, '\0'))).error, "");
  EXPECT_EQ(hear_lossy(file("joined.mp3", mp3 + mp3)).error, "");
  const std::string opus = test::read_file(write(kKinds[2], rise(2)));
  EXPECT_EQ(hear_lossy(file("tag.opus", opus + "TAG" + std::string(125, 'x'))).error, "");
  EXPECT_EQ(hear_lossy(file("joined.opus", opus + opus)).error, "");
}

TEST_F(Lossy, DamageInTheMiddleIsToldAndLeavesTheRestInItsPlace) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    std::string bytes = test::read_file(write(kind, rise(40)));
    std::minstd_rand random(1);
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 3000; ++i) {
      bytes[i] = static_cast<char>(random() >> 8U);
    }
    const std::string path = file(kind.name, bytes);
    const auto heard = hear_lossy(path);
    EXPECT_THAT(heard.error, HasSubstr(std::string(kind.name) + " is damaged after "));
    EXPECT_THAT(hear_piped(path).error, HasSubstr("standard input is damaged after "));
    // Of MP3, the length of what is lost is a guess: within two frames of 576 samples.
    ASSERT_NEAR(static_cast<double>(heard.samples.size()), 40.0 * 16000, 2 * 576 + 1105);
    for (const size_t at : {size_t{2} * 16000, size_t{36} * 16000}) {
      int crossings = 0;
      for (size_t i = at; i < at + 16000; ++i) {
        crossings += heard.samples[i] < 0 && heard.samples[i + 1] >= 0 ? 1 : 0;
      }
      // The pitch in the middle of that second; 0.1 s are 5 Hz.
      EXPECT_NEAR(crossings, 300 + 50 * (static_cast<double>(at) / 16000 + 0.5), 5);
    }
  }
}

TEST_F(Lossy, AnOggPageThatIsMissingIsDamageAndALastOneIsACut) {
  const std::string bytes = test::read_file(write(kKinds[2], rise(14)));
  const auto starts = pages(bytes);
  ASSERT_GT(starts.size(), 8U);
  const std::string dropped = bytes.substr(0, starts[5]) + bytes.substr(starts[6]);
  const auto heard = hear_lossy(file("gap.opus", dropped));
  EXPECT_THAT(heard.error, HasSubstr("gap.opus is damaged after "));
  EXPECT_EQ(heard.samples.size(), 14U * 16000);
  const std::string ends_early = bytes.substr(0, starts[starts.size() - 2]);
  EXPECT_THAT(hear_lossy(file("early.opus", ends_early)).error,
              HasSubstr("early.opus is cut off after"));
}

TEST_F(Lossy, ACutOutStretchEqualsThatPartOfTheWhole) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const std::string path = write(kind, rise(14));
    const auto whole = hear_lossy(path).samples;
    const auto part = hear_lossy(path, 11.7);
    EXPECT_EQ(part.error, "");
    ASSERT_EQ(part.samples.size(), whole.size() - 187200);
    EXPECT_LE(test::largest_difference(part.samples, {whole.begin() + 187200, whole.end()}), 0.02F);
  }
}

TEST_F(Lossy, NothingIsPrinted) {
  const std::string path = write(kKinds[0], rise(4));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  testing::internal::CaptureStderr();
  hear_lossy(path);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace mynah
