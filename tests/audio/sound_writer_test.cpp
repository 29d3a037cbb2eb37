// Sound files that mynah writes, heard again: values, lengths, headers, streams.
#include "audio/sound_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/sounds.h"

namespace mynah {
namespace {

using test::hear;
using test::sine;
using testing::HasSubstr;

// A pipe: what was written is gone.
class StreamSink final : public ByteSink {
 public:
  Status write(std::span<const std::byte> bytes) override {
    if (bytes_.size() >= most_) {
      return fail(ErrorCode::Io, "the reader is gone");
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    ADD_FAILURE() << "a stream cannot be written over";
    return {};
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  void fail_after(size_t bytes) { most_ = bytes; }

 private:
  std::vector<std::byte> bytes_;
  size_t most_ = std::numeric_limits<size_t>::max();
};

SoundWriterOptions options_of(SoundFormat format, int rate_hz) {
  return {.format = format, .rate_hz = rate_hz, .media_program = MYNAH_MEDIA_PROGRAM};
}

Status write_in_pieces(SoundWriter& writer, std::span<const float> samples, size_t piece) {
  for (; !samples.empty(); samples = samples.subspan(std::min(piece, samples.size()))) {
    MYNAH_TRY_STATUS(writer.write(samples.first(std::min(piece, samples.size()))));
  }
  return writer.finish();
}

class SoundFile : public testing::TestWithParam<SoundFormat> {
 protected:
  std::string write_file(const std::vector<float>& samples, int rate_hz, size_t piece) {
    std::string path = folder_ / ("a." + std::string(name(GetParam())));
    auto file = AtomicFile::create(path);
    EXPECT_TRUE(file);
    FileSink sink(std::move(*file));
    auto writer = make_sound_writer(sink, options_of(GetParam(), rate_hz));
    EXPECT_TRUE(writer) << writer.error().message;
    EXPECT_TRUE(write_in_pieces(**writer, samples, piece));
    EXPECT_TRUE(sink.commit());
    return path;
  }

  std::string write_stream(const std::vector<float>& samples, int rate_hz, size_t piece) {
    StreamSink sink;
    auto writer = make_sound_writer(sink, options_of(GetParam(), rate_hz));
    EXPECT_TRUE(writer) << writer.error().message;
    EXPECT_TRUE(write_in_pieces(**writer, samples, piece));
    std::string path = folder_ / ("stream." + std::string(name(GetParam())));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(sink.bytes().data()),
               static_cast<std::streamsize>(sink.bytes().size()));
    return path;
  }

  static AudioOpenOptions open_options(int rate_hz) {
    AudioOpenOptions options;
    options.rate_hz = rate_hz;
    options.media_program = MYNAH_MEDIA_PROGRAM;
    if (GetParam() == SoundFormat::Pcm) {
      options.raw = {.rate_hz = rate_hz, .channels = 1, .encoding = "s16le"};
    }
    return options;
  }

  // Correlation of two sounds at the shift, of up to `most` samples, where it is best: 1 where one
  // is the other but for its level.
  static double likeness(std::span<const float> sound, std::span<const float> heard, size_t most) {
    double best = 0;
    for (size_t shift = 0; shift <= most && shift + sound.size() <= heard.size(); ++shift) {
      double product = 0;
      double a = 0;
      double b = 0;
      for (size_t i = 0; i < sound.size(); ++i) {
        product += static_cast<double>(sound[i]) * heard[i + shift];
        a += static_cast<double>(sound[i]) * sound[i];
        b += static_cast<double>(heard[i + shift]) * heard[i + shift];
      }
      best = std::max(best, product / std::sqrt(a * b + 1e-30));
    }
    return best;
  }

  static bool lossless() {
    return GetParam() == SoundFormat::Wav || GetParam() == SoundFormat::Flac ||
           GetParam() == SoundFormat::Pcm;
  }

  // A rising tone, which is like itself at one shift alone.
  static std::vector<float> sweep(int rate_hz, size_t count) {
    std::vector<float> samples(count);
    double phase = 0;
    for (size_t i = 0; i < count; ++i) {
      const double hz = 200 + 2000.0 * static_cast<double>(i) / static_cast<double>(count);
      phase += 2 * std::numbers::pi * hz / rate_hz;
      samples[i] = static_cast<float>(0.4 * std::sin(phase));
    }
    return samples;
  }

  test::TemporaryFolder folder_;
};

TEST_P(SoundFile, IsHeardAsItWas) {
  constexpr int kRate = 24000;
  const auto sound = sweep(kRate, 30011);
  for (const std::string& path : {write_file(sound, kRate, 997), write_stream(sound, kRate, 997)}) {
    const auto heard = hear(path, open_options(kRate));
    EXPECT_EQ(heard.error, "");
    if (lossless()) {
      EXPECT_LE(test::largest_difference(heard.samples, sound), 0.5F / 32768) << path;
      continue;
    }
    // Codecs add their delay in front, and fill their last frame.
    constexpr size_t kMostDelay = 2600;
    EXPECT_GE(heard.samples.size() + 2, sound.size()) << path;
    EXPECT_LE(heard.samples.size(), sound.size() + 2 * kMostDelay) << path;
    const std::span inside = std::span(sound).subspan(4000, 20000);
    // A delay of half a sample alone gives 0.96 at the top of the sweep.
    EXPECT_GT(likeness(inside, std::span(heard.samples).subspan(4000), kMostDelay), 0.95) << path;
  }
}

TEST_P(SoundFile, IsTheSameInOnePieceAndInMany) {
  const auto sound = sweep(24000, 9000);
  const auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator(file), {});
  };
  const std::string whole = bytes(write_file(sound, 24000, sound.size()));
  if (GetParam() == SoundFormat::Opus) {
    // A stream's serial number is drawn anew: the sound is compared.
    EXPECT_EQ(hear(write_file(sound, 24000, 100), open_options(24000)).samples,
              hear(write_file(sound, 24000, sound.size()), open_options(24000)).samples);
    return;
  }
  EXPECT_EQ(bytes(write_file(sound, 24000, 100)) == whole, true);
}

TEST_P(SoundFile, TakesARateThatItHasNotByTheNextAbove) {
  // 22050 Hz, Piper's, is none of Opus's.
  const auto sound = sweep(22050, 22050);
  const auto heard = hear(write_file(sound, 22050, 4096), open_options(22050));
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(static_cast<double>(heard.samples.size()), 22050, 2600);
}

TEST_P(SoundFile, OfNothingIsStillAFile) {
  const std::string path = write_file({}, 24000, 1);
  EXPECT_TRUE(std::ifstream(path).good());
}

TEST_P(SoundFile, SaysThatItsReaderIsGone) {
  StreamSink sink;
  sink.fail_after(600);
  auto writer = make_sound_writer(sink, options_of(GetParam(), 24000));
  ASSERT_TRUE(writer);
  Status status;
  const auto sound = sweep(24000, 24000);
  for (int i = 0; i < 100 && status; ++i) {
    status = (*writer)->write(sound);
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the reader is gone");
}

INSTANTIATE_TEST_SUITE_P(Formats, SoundFile, testing::ValuesIn([] {
                           std::vector<SoundFormat> formats;
                           for (const SoundFormatName& known : kSoundFormats) {
                             formats.push_back(known.format);
                           }
                           return formats;
                         }()),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(SoundWriter, CutsOffWhatIsTooLoudAndSilencesWhatIsNoNumber) {
  StreamSink sink;
  auto writer = make_sound_writer(sink, {.format = SoundFormat::Pcm, .rate_hz = 24000});
  const std::vector<float> sound = {2.0F, -2.0F, std::numeric_limits<float>::quiet_NaN(), 0.5F};
  ASSERT_TRUE(writer && (*writer)->write(sound) && (*writer)->finish());
  std::array<int16_t, 4> values{};
  ASSERT_EQ(sink.bytes().size(), sizeof values);
  std::memcpy(values.data(), sink.bytes().data(), sizeof values);
  EXPECT_THAT(values, testing::ElementsAre(32767, -32768, 0, 16384));
}

TEST(SoundWriter, AWavOnAPipeHasSizesOfNoEnd) {
  StreamSink sink;
  auto writer = make_sound_writer(sink, {.format = SoundFormat::Wav, .rate_hz = 24000});
  ASSERT_TRUE(writer && (*writer)->write(sine(440, 24000, 10)) && (*writer)->finish());
  ASSERT_EQ(sink.bytes().size(), 44 + 20U);
  for (const size_t at : {4, 40}) {
    uint32_t size = 0;
    std::memcpy(&size, &sink.bytes()[at], sizeof size);
    EXPECT_EQ(size, 0xFFFFFFFFU);
  }
}

TEST(SoundWriter, RefusesARateThatTheFormatHasNot) {
  StreamSink sink;
  const auto writer = make_sound_writer(
      sink, {.format = SoundFormat::Opus, .rate_hz = 24000, .file_rate_hz = 44100});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::Usage);
  EXPECT_THAT(writer.error().message,
              HasSubstr("opus has no rate of 44100 Hz; wanted one of 8000, 12000"));
}

TEST(SoundWriter, SaysThatTheMediaProgramIsMissing) {
  StreamSink sink;
  const auto writer = make_sound_writer(
      sink, {.format = SoundFormat::Aac, .rate_hz = 24000, .media_program = "/nowhere/media"});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::Environment);
  EXPECT_THAT(writer.error().message, HasSubstr("/nowhere/media"));
}

TEST(SoundFormatOf, KnowsTheEndsOfNames) {
  EXPECT_EQ(sound_format_of("a.wav"), SoundFormat::Wav);
  EXPECT_EQ(sound_format_of("/x/B.MP3"), SoundFormat::Mp3);
  EXPECT_EQ(sound_format_of("a.ogg"), SoundFormat::Opus);
  EXPECT_EQ(sound_format_of("a.txt"), std::nullopt);
  EXPECT_EQ(sound_format_of("wav"), std::nullopt);
}

}  // namespace
}  // namespace mynah
