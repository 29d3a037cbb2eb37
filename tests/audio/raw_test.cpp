// Raw samples: every encoding, from files and pipes.
#include <array>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <unistd.h>

#include "audio/open.h"
#include "audio/raw_reader.h"
#include "audio/sounds.h"

namespace mynah {
namespace {

using test::hear;
using testing::ElementsAre;
using testing::HasSubstr;

class RawAudio : public testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    std::string path = folder_ / "a.raw";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  static AudioOpenOptions raw(const std::string& encoding, int channels = 1) {
    AudioOpenOptions options;
    options.raw = {.rate_hz = 16000, .channels = channels, .encoding = encoding};
    return options;
  }

  test::TemporaryFolder folder_;
};

TEST_F(RawAudio, IntegersAndFloats) {
  EXPECT_THAT(hear(file({"\x00\x80\xC0", 3}), raw("u8")).samples, ElementsAre(-1.0F, 0, 0.5F));
  EXPECT_THAT(hear(file({"\x00\x80\x00\x40", 4}), raw("s16le")).samples, ElementsAre(-1.0F, 0.5F));
  EXPECT_THAT(hear(file({"\x00\x00\x80\x00\x00\x40", 6}), raw("s24le")).samples,
              ElementsAre(-1.0F, 0.5F));
  EXPECT_THAT(hear(file({"\x00\x00\x00\x80\x00\x00\x00\x40", 8}), raw("s32le")).samples,
              ElementsAre(-1.0F, 0.5F));
  EXPECT_THAT(hear(file({"\x00\x00\x80\xBE", 4}), raw("f32le")).samples, ElementsAre(-0.25F));
}

// libsndfile's tables are the oracle: every one of the 256 codes.
TEST_F(RawAudio, CompandedCodesEqualLibsndfile) {
  std::string codes;
  for (int i = 0; i < 256; ++i) {
    codes.push_back(static_cast<char>(i));
  }
  const std::string path = file(codes);
  for (const auto& [name, format] :
       {std::pair{"mulaw", SF_FORMAT_ULAW}, {"alaw", SF_FORMAT_ALAW}}) {
    SCOPED_TRACE(name);
    SF_INFO info{};
    info.samplerate = 16000;
    info.channels = 1;
    info.format = SF_FORMAT_RAW | format;
    SNDFILE* oracle = sf_open(path.c_str(), SFM_READ, &info);
    ASSERT_NE(oracle, nullptr);
    std::vector<float> expected(256);
    EXPECT_EQ(sf_read_float(oracle, expected.data(), 256), 256);
    sf_close(oracle);
    EXPECT_EQ(hear(path, raw(name)).samples, expected);
  }
}

TEST_F(RawAudio, StartAndDurationCutFilesWithoutReadingThem) {
  std::string bytes;
  for (int i = 0; i < 16000; ++i) {
    bytes.push_back(static_cast<char>(i & 0x7F));
    bytes.push_back(0);
  }
  AudioOpenOptions options = raw("s16le");
  options.start_s = 0.5;
  options.duration_s = 2.0 / 16000;
  EXPECT_THAT(hear(file(bytes), options).samples,
              ElementsAre(static_cast<float>(8000 & 0x7F) / 32768,
                          static_cast<float>(8001 & 0x7F) / 32768));
}

TEST_F(RawAudio, HalfAFrameAtTheEndIsAnErrorAfterTheWholeOnes) {
  const auto heard = hear(file({"\x00\x40\x00\x40\x00", 5}), raw("s16le", 2));
  EXPECT_THAT(heard.samples, ElementsAre(0.5F));
  EXPECT_THAT(heard.error, HasSubstr("ends with 1 of a frame's 4 bytes"));
}

TEST_F(RawAudio, FramesOfAPipeAreGivenAsTheyCome) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd writer(ends[1]);
  auto reader = open_raw({.fd = UniqueFd(ends[0]), .name = "pipe"}, {});
  ASSERT_TRUE(reader);
  std::vector<float> out(100);
  ASSERT_EQ(::write(writer.get(), "\x00\x40\x00", 3), 3);
  EXPECT_EQ((*reader)->read(out).value(), 1U);
  ASSERT_EQ(::write(writer.get(), "\x20", 1), 1);
  EXPECT_EQ((*reader)->read(out).value(), 1U);
  EXPECT_EQ(out[0], 0.25F);
}

TEST_F(RawAudio, WhatCannotBeMeantIsRefused) {
  EXPECT_THAT(hear(file("x"), raw("s17")).error,
              HasSubstr("unknown raw encoding 's17': wanted u8"));
  EXPECT_THAT(hear(file("x"), raw("u8", 0)).error, HasSubstr("wanted 1 to 1024 raw channels"));
}

}  // namespace
}  // namespace mynah
