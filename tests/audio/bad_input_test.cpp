// What open_audio says of recordings that are none, or not whole.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio/open.h"
#include "audio/sounds.h"

namespace mynah {
namespace {

using test::hear;
using testing::HasSubstr;

class BadInput : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& bytes) {
    std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string wav(size_t count, int rate_hz = 16000) {
    std::string path = folder_ / "a.wav";
    test::write_wav(path, test::sine(440, rate_hz, count), rate_hz, 1, test::WavFormat::S16);
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(BadInput, AMissingFile) {
  const auto source = open_audio(folder_ / "none.wav", {});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::NotFound);
  EXPECT_THAT(source.error().message, HasSubstr("none.wav does not exist"));
}

TEST_F(BadInput, AFolder) {
  EXPECT_THAT(hear(folder_ / ".").error, HasSubstr("is a folder, wanted a recording"));
}

TEST_F(BadInput, AnEmptyFile) {
  EXPECT_THAT(hear(file("a.wav", "")).error, HasSubstr("is empty (0 bytes)"));
}

TEST_F(BadInput, AnUnreadableFile) {
  const std::string path = wav(100);
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  // Root may read every file, so it is `nobody` for as long as it reads this one.
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::seteuid(user == 0 ? kNobody : user), 0);
  const std::string error = hear(path).error;
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_THAT(error, HasSubstr("may not be read by this user"));
}

TEST_F(BadInput, ARecordingOfNoSamples) {
  EXPECT_THAT(hear(wav(0)).error, HasSubstr("holds no sound"));
}

TEST_F(BadInput, ACutWavGivesWhatIsThereThenTheError) {
  const std::string path = wav(16000);
  std::filesystem::resize_file(path, 44 + 2 * 5000);
  const auto heard = hear(path);
  EXPECT_EQ(heard.samples.size(), 5000U);
  EXPECT_THAT(heard.error, HasSubstr("is cut off after 0.312 s: its header promises 32000 bytes of "
                                     "samples, 10000 are there"));
}

TEST_F(BadInput, AWavWhoseLengthWasNeverFilledInIsWhole) {
  const std::string path = wav(16000);
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(40);
  stream.write("\xFF\xFF\xFF\xFF", 4);
  stream.close();
  const auto heard = hear(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.samples.size(), 16000U);
}

TEST_F(BadInput, AnErrorComesAfterTheResampledRest) {
  const std::string path = wav(44100, 44100);
  std::filesystem::resize_file(path, 44 + 2 * 22050);
  const auto heard = hear(path);
  EXPECT_EQ(heard.samples.size(), 8000U);
  EXPECT_THAT(heard.error, HasSubstr("is cut off"));
}

TEST_F(BadInput, AFileThatVanishesWhileItIsReadIsReadToItsEnd) {
  const std::string path = wav(100000);
  auto source = open_audio(path, {});
  ASSERT_TRUE(source);
  std::vector<float> first(10);
  ASSERT_TRUE((*source)->read(first));
  std::filesystem::remove(path);
  EXPECT_EQ(hear(**source).samples.size(), 99990U);
}

TEST_F(BadInput, AFileThatShrinksWhileItIsReadGivesAnError) {
  const std::string path = wav(1000000);
  auto source = open_audio(path, {});
  ASSERT_TRUE(source);
  std::vector<float> first(10);
  ASSERT_TRUE((*source)->read(first));
  std::filesystem::resize_file(path, 44 + 2 * 5000);
  const auto heard = hear(**source);
  EXPECT_LT(heard.samples.size(), 100000U);
  EXPECT_THAT(heard.error, HasSubstr("cut off"));
}

TEST_F(BadInput, OptionsOutOfRange) {
  const std::string path = wav(100);
  AudioOpenOptions options;
  options.start_s = -1;
  EXPECT_THAT(hear(path, options).error, HasSubstr("wanted a start of 0 s or later"));
  options.start_s = 0;
  options.duration_s = 0;
  EXPECT_THAT(hear(path, options).error, HasSubstr("wanted a duration of more than 0 s"));
  options.duration_s.reset();
  options.rate_hz = 0;
  EXPECT_THAT(hear(path, options).error, HasSubstr("wanted a sample rate of 1000 to 768000 Hz"));
}

}  // namespace
}  // namespace mynah
