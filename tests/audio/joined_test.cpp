// Recordings joined on behind each other, crashed recorders' WAVs, and samples without a header.
#include "audio/joined.h"

#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <sys/stat.h>

#include "audio/book_writer.h"
#include "audio/open.h"
#include "audio/sounds.h"
#include "base/process.h"
#include "test_paths.h"

namespace mynah {
namespace {

using testing::HasSubstr;

constexpr int kWav = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
constexpr int kAiff = SF_FORMAT_AIFF | SF_FORMAT_PCM_16;
constexpr int kOggVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOggOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;

class Joined : public testing::Test {
 protected:
  // A second of a sine, as bytes of a format.
  std::string bytes(int format, int rate_hz = 16000, int channels = 1) {
    const std::string path = folder_ / "part";
    const auto count = static_cast<size_t>(rate_hz) * static_cast<size_t>(channels);
    test::write_with_sndfile(path, format, test::sine(440, rate_hz * channels, count), rate_hz,
                             channels);
    return test::read_file(path);
  }

  // A second of a sine as AAC in an MP4.
  std::string mp4_bytes() {
    const std::string path = folder_ / "part.m4a";
    auto writer = BookWriter::create(path, 16000, {}, MYNAH_MEDIA_PROGRAM);
    EXPECT_TRUE(writer && writer->write(test::sine(440, 16000, 16000)) && writer->finish());
    return test::read_file(path);
  }

  test::Heard hear(const std::string& bytes, const std::string& name = "joined") {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    AudioOpenOptions options;
    options.media_program = MYNAH_MEDIA_PROGRAM;
    options.note = [this](const std::string& note) { notes_ += note; };
    return test::hear(path, options);
  }

  test::TemporaryFolder folder_;
  std::string notes_;
};

TEST_F(Joined, EachIsHeardWhateverItsFormatRateAndChannels) {
  const std::string wav = bytes(kWav);
  const std::string other = bytes(SF_FORMAT_WAV | SF_FORMAT_PCM_24, 44100, 2);
  const std::string flac = bytes(kFlac);
  for (const std::string& joined :
       {wav + other + wav, flac + bytes(kFlac, 48000, 2) + flac, wav + flac + wav,
        bytes(kAiff) + wav + flac,
        bytes(kOggVorbis) + bytes(kOggOpus, 48000) + bytes(kOggVorbis, 48000, 2)}) {
    const auto heard = hear(joined);
    EXPECT_EQ(heard.error, "");
    EXPECT_NEAR(static_cast<double>(heard.samples.size()), 48000, 40);
    EXPECT_EQ(notes_, "");
  }
}

TEST_F(Joined, EachMp4IsHeard) {
  const std::string mp4 = mp4_bytes();
  const auto one = hear(mp4, "one.m4a");
  EXPECT_EQ(one.error, "");
  for (const std::string& joined : {mp4 + mp4 + mp4, mp4 + bytes(kWav) + mp4}) {
    const auto heard = hear(joined, "joined.m4a");
    EXPECT_EQ(heard.error, "");
    EXPECT_NEAR(static_cast<double>(heard.samples.size()),
                3.0 * static_cast<double>(one.samples.size()), 3000);
    EXPECT_EQ(notes_, "");
  }
}

TEST_F(Joined, WhatFollowsAFormatThatSaysNothingOfItsLengthIsHeard) {
  const std::string mp4 = mp4_bytes();
  const std::string rf64 = bytes(SF_FORMAT_RF64 | SF_FORMAT_PCM_16);
  const std::string tag = std::string("ID3\x03\0\0\0\0\0\x0A", 10) + std::string(10, '\0');
  for (const std::string& joined :
       {bytes(kFlac) + mp4, bytes(kOggVorbis) + mp4, rf64 + rf64, mp4 + bytes(kOggOpus, 48000)}) {
    const auto heard = hear(joined);
    EXPECT_EQ(heard.error, "");
    EXPECT_NEAR(static_cast<double>(heard.samples.size()), 32000, 3000);
    EXPECT_EQ(notes_, "");
  }
  EXPECT_EQ(hear(tag + bytes(kFlac)).samples.size(), 16000U);
}

std::optional<int64_t> next_of(const std::string& bytes) {
  const ReadAt read_at = [&bytes](int64_t offset, std::span<std::byte> out) {
    const auto from = std::min(bytes.size(), static_cast<size_t>(offset));
    const size_t count = std::min(out.size(), bytes.size() - from);
    std::memcpy(out.data(), bytes.data() + from, count);
    return count;
  };
  return look_behind(read_at, static_cast<int64_t>(bytes.size()), 0).next;
}

TEST_F(Joined, BehindMatroskaAndAviIsFoundByTheirSizes) {
  const std::string mp4 = mp4_bytes();
  const std::string header("\x1A\x45\xDF\xA3\x84webm", 9);
  // A segment has all kinds of bytes in it: what looks like a recording there is none.
  const std::string inside = mp4 + std::string(1000, 'x');
  const auto size = static_cast<uint32_t>(inside.size());
  std::string segment("\x18\x53\x80\x67\x08", 5);
  std::string avi = "RIFF";
  for (int shift = 24; shift >= 0; shift -= 8) {
    segment += static_cast<char>(size >> static_cast<unsigned>(shift));
    avi += static_cast<char>((size + 4) >> static_cast<unsigned>(24 - shift));
  }
  segment += inside;
  avi += "AVI " + inside + std::string(size % 2, '\0');
  EXPECT_EQ(next_of(header + segment + mp4), static_cast<int64_t>((header + segment).size()));
  EXPECT_EQ(next_of(header + segment), std::nullopt);
  EXPECT_EQ(next_of(avi + mp4), static_cast<int64_t>(avi.size()));
  EXPECT_EQ(next_of(avi), std::nullopt);
  // Written to a pipe: a size that is not known.
  EXPECT_EQ(next_of(header + std::string("\x18\x53\x80\x67\xFF", 5) + inside), std::nullopt);
}

TEST_F(Joined, NothingIsFoundInSamplesByChance) {
  std::string noise(4000000, '\0');
  std::minstd_rand random(1);
  for (char& byte : noise) {
    byte = static_cast<char>(random() >> 8U);
  }
  EXPECT_EQ(next_of(noise), std::nullopt);
  EXPECT_EQ(next_of(bytes(kFlac) + noise), std::nullopt);
}

TEST_F(Joined, EachMp4OfAPipeIsHeard) {
  const std::string mp4 = mp4_bytes();
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << mp4 + mp4; });
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  const auto heard = test::hear(path, options);
  writer.join();
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(static_cast<double>(heard.samples.size()), 32000, 3000);
}

TEST_F(Joined, WhatAPipeCannotGoOnWithIsNoted) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string joined = bytes(kWav) + mp4_bytes();
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << joined; });
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  options.note = [this](const std::string& note) { notes_ += note; };
  const auto heard = test::hear(path, options);
  writer.join();
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples.size(), 16000U);
  EXPECT_THAT(notes_, HasSubstr("is not heard through a pipe: give it as a file"));
}

TEST_F(Joined, AnMp4WithoutItsTableSaysWhatIsMissing) {
  const std::string mp4 = mp4_bytes();
  std::string cut;
  for (size_t at = 0; at + 8 <= mp4.size();) {
    const size_t size = static_cast<unsigned char>(mp4[at + 2]) << 8U |
                        static_cast<unsigned char>(mp4[at + 3]) |
                        static_cast<unsigned char>(mp4[at + 1]) << 16U;
    cut += mp4.substr(at + 4, 4) == "moov" ? "" : mp4.substr(at, size);
    at += std::max<size_t>(size, 8);
  }
  ASSERT_LT(cut.size(), mp4.size());
  for (const std::string& part : {cut, cut.substr(0, cut.size() - 500)}) {
    EXPECT_THAT(hear(part, "cut.mp4").error, AllOf(HasSubstr("wanted an MP4 with its table"),
                                                   HasSubstr("moov"), HasSubstr("untrunc")));
  }
}

TEST_F(Joined, WhatFollowsAndIsNoRecordingIsNoted) {
  EXPECT_EQ(hear(bytes(kWav) + std::string(9000, '\x01')).error, "");
  EXPECT_THAT(notes_, HasSubstr("8 KB follow its samples and are not heard"));
}

TEST_F(Joined, ACutBehindTheFirstIsOfTheNext) {
  const std::string path = folder_ / "joined.wav";
  std::ofstream(path, std::ios::binary) << bytes(kWav) + bytes(kWav, 48000);
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  options.start_s = 1.5;
  const auto heard = test::hear(path, options);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(static_cast<double>(heard.samples.size()), 8000, 2);
}

// As AVAudioFile begins: JUNK, fmt, a filler up to 4096 bytes, and no sizes yet.
TEST_F(Joined, ARecorderThatCrashedLeavesWhatItRecorded) {
  const std::string wav = bytes(kWav);
  const std::string fmt = wav.substr(12, 24);
  const std::string samples = wav.substr(44);
  const std::string junk = std::string("JUNK\x1C\0\0\0", 8) + std::string(28, '\0');
  const size_t filler = 4096 - 12 - junk.size() - fmt.size() - 8 - 8;
  std::string fill = "FLLR";
  fill += {static_cast<char>(filler & 0xFFU), static_cast<char>(filler >> 8U), '\0', '\0'};
  fill += std::string(filler, '\0');
  const std::string zero("\0\0\0\0", 4);
  for (const std::string& size : {zero, std::string("\xF8\x0F\0\0", 4)}) {
    const std::string crashed =
        "RIFF" + size + "WAVE" + junk + fmt + fill + "data" + zero + samples;
    const auto heard = hear(crashed, "crashed.wav");
    EXPECT_EQ(heard.error, "");
    EXPECT_EQ(heard.samples, hear(wav, "whole.wav").samples);
  }
}

// The size of the file may have been mended by a tool that did not know of the samples' one.
TEST_F(Joined, SamplesThatTheSizeOfTheFileCountsAreHeard) {
  std::string wav = bytes(kWav);
  const auto whole = hear(wav, "whole.wav");
  wav.replace(40, 4, 4, '\0');
  const auto heard = hear(wav, "zero.wav");
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples, whole.samples);
  // Tags behind no samples are none.
  std::string empty = wav.substr(0, 44) + std::string("LIST\x0A\0\0\0INFOISFT\0\0", 18);
  empty[4] = static_cast<char>(empty.size() - 8);
  empty.replace(5, 3, 3, '\0');
  EXPECT_THAT(hear(empty, "empty.wav").error, HasSubstr("holds no sound"));
}

TEST_F(Joined, SamplesWithoutAHeaderAreRefusedUnlessTheyHaveOne) {
  const std::string noise(9000, '\x7E');
  for (const char* name : {"a.ul", "a.AL", "a.sw", "a.ulaw", "a.alaw", "a.pcm", "a.raw", "a.s16"}) {
    EXPECT_THAT(hear(noise, name).error, HasSubstr("such as --raw ")) << name;
  }
  EXPECT_THAT(hear(noise, "a.vox").error, HasSubstr("--raw has not"));
  EXPECT_EQ(hear(bytes(kWav), "misnamed.raw").samples.size(), 16000U);
}

}  // namespace
}  // namespace mynah
