// The reader of mynah-media's answers, against good and hostile ones.
#include "audio/media_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/memory_bytes.h"

namespace mynah {
namespace {

using testing::HasSubstr;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string message(MediaKind kind, const std::string& payload) {
  return bytes_of(
             MediaHeader{.kind = kind, .payload_bytes = static_cast<uint32_t>(payload.size())}) +
         payload;
}

std::string format(uint32_t rate_hz, uint32_t channels, int64_t frames = -1) {
  return message(MediaKind::Format, bytes_of(MediaFormat{.rate_hz = rate_hz,
                                                         .channels = channels,
                                                         .frames = frames,
                                                         .first_frame = 0,
                                                         .tracks = 1,
                                                         .track = 1}));
}

std::string data(const std::vector<float>& samples) {
  return message(MediaKind::Data,
                 {reinterpret_cast<const char*>(samples.data()), samples.size() * 4});
}

struct Answer {
  std::vector<float> samples;
  std::string error;
  std::string notes;
};

Answer read(const std::string& bytes, size_t piece = 1000) {
  Answer answer;
  MediaStream stream(std::make_unique<test::MemoryBytes>(bytes, piece),
                     [&answer](const std::string& note) { answer.notes += note + ";"; });
  if (const auto header = stream.read_format(); !header) {
    return {.samples = {}, .error = header.error().message};
  }
  std::vector<float> block(6);
  for (;;) {
    const auto got = stream.read_frames(block);
    if (!got || *got == 0) {
      answer.error = got ? "" : got.error().message;
      return answer;
    }
    answer.samples.insert(answer.samples.end(), block.begin(),
                          block.begin() + static_cast<std::ptrdiff_t>(*got) * 2);
  }
}

const std::vector<float> kSamples = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(MediaStream, FramesComeThroughWhateverThePieces) {
  const std::string bytes =
      format(16000, 2) + data(kSamples) + data({9, 10}) + message(MediaKind::End, "");
  for (const size_t piece : {1, 3, 8, 1000}) {
    const Answer answer = read(bytes, piece);
    EXPECT_EQ(answer.samples, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(answer.error, "");
  }
}

TEST(MediaStream, AnErrorComesAfterTheFramesBeforeIt) {
  const Answer answer =
      read(format(16000, 2) + data(kSamples) + message(MediaKind::Error, "is cut"));
  EXPECT_EQ(answer.samples, kSamples);
  EXPECT_EQ(answer.error, "is cut");
}

TEST(MediaStream, AnErrorMayStandAlone) {
  EXPECT_EQ(read(message(MediaKind::Error, "is no recording")).error, "is no recording");
}

TEST(MediaStream, TextIsCleanedOfWhatATerminalObeys) {
  EXPECT_EQ(read(message(MediaKind::Error, "a\x1B[2J\nb")).error, "a?[2J?b");
}

TEST(MediaStream, EveryPlaceToEndTooEarlyIsAnError) {
  const std::string bytes = format(16000, 2) + data(kSamples) + message(MediaKind::End, "");
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(read(bytes.substr(0, length)).error, HasSubstr("ended in the middle")) << length;
  }
}

TEST(MediaStream, SilenceIsToldAsACountAndNotesGoTheirWay) {
  const auto silence = [](int64_t frames) { return message(MediaKind::Silence, bytes_of(frames)); };
  const Answer answer = read(message(MediaKind::Note, "has two\ntracks") + format(16000, 2) +
                             data({1, 2}) + silence(5) + message(MediaKind::Note, "late") +
                             data({3, 4}) + message(MediaKind::End, ""));
  EXPECT_EQ(answer.samples, (std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 4}));
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.notes, "has two?tracks;late;");
  EXPECT_THAT(read(format(16000, 2) + silence(-1)).error, HasSubstr("a silence of -1 frames"));
  EXPECT_THAT(read(format(16000, 2) + silence(int64_t{16000} * 3600 * 25)).error,
              HasSubstr("a silence of"));
  EXPECT_THAT(read(format(16000, 2) + message(MediaKind::Silence, "1234")).error,
              HasSubstr("a silence of 4 bytes"));
  std::string notes;
  for (int i = 0; i <= kMostMediaNotes; ++i) {
    notes += message(MediaKind::Note, "x");
  }
  EXPECT_THAT(read(notes).error, HasSubstr("too many"));
}

TEST(MediaStream, ARecordingThatWasJoinedOnHasAFormatOfItsOwn) {
  MediaStream stream(std::make_unique<test::MemoryBytes>(
      format(16000, 2) + data({1, 2}) + message(MediaKind::Next, "") + format(8000, 1) + data({3}) +
          message(MediaKind::End, ""),
      1000));
  std::vector<float> block(6);
  ASSERT_EQ(stream.read_format().value().rate_hz, 16000U);
  EXPECT_EQ(stream.read_frames(block).value(), 1U);
  EXPECT_EQ(stream.read_frames(block).value(), 0U);
  ASSERT_TRUE(stream.has_next());
  ASSERT_EQ(stream.read_format().value().rate_hz, 8000U);
  EXPECT_EQ(stream.read_frames(block).value(), 1U);
  EXPECT_EQ(stream.read_frames(block).value(), 0U);
  EXPECT_FALSE(stream.has_next());
}

TEST(MediaStream, SpeakersAreOneForEachChannelOrNone) {
  const MediaFormat two{
      .rate_hz = 16000, .channels = 2, .frames = -1, .first_frame = 0, .tracks = 1, .track = 1};
  MediaStream stream(std::make_unique<test::MemoryBytes>(
      message(MediaKind::Format, bytes_of(two) + std::string("\2\3", 2)), 1000));
  ASSERT_TRUE(stream.read_format());
  EXPECT_THAT(stream.speakers(), testing::ElementsAre(kFrontCentre, kLowFrequency));
  EXPECT_THAT(read(message(MediaKind::Format, bytes_of(two) + "\1")).error,
              HasSubstr("1 speakers for 2 channels"));
}

TEST(MediaStream, NumbersOutOfRangeAreErrors) {
  EXPECT_THAT(read(format(16000, 0)).error, HasSubstr("0 channels"));
  EXPECT_THAT(read(format(16000, 1U << 31U)).error, HasSubstr("2147483648 channels"));
  EXPECT_THAT(read(format(0, 1)).error, HasSubstr("sample rate of 0 Hz"));
  EXPECT_THAT(read(format(16000, 1, -2)).error, HasSubstr("length below 0"));
  EXPECT_THAT(read(data(kSamples)).error, HasSubstr("where its format was wanted"));
  EXPECT_THAT(read(format(16000, 2) + data({1, 2, 3})).error, HasSubstr("block of 12 bytes"));
  EXPECT_THAT(read(format(16000, 2) + message(MediaKind::Data, "")).error, HasSubstr("block of 0"));
  EXPECT_THAT(read(format(16000, 2) +
                   bytes_of(MediaHeader{.kind = MediaKind::Data, .payload_bytes = 0xFFFFFFF8}))
                  .error,
              HasSubstr("block of 4294967288 bytes"));
  EXPECT_THAT(read(format(16000, 2) + message(MediaKind{7}, "")).error,
              HasSubstr("unknown message of kind 0x7"));
  // The text of an error is as long as is allowed, not as long as it says.
  EXPECT_THAT(
      read(bytes_of(MediaHeader{.kind = MediaKind::Error, .payload_bytes = 0xFFFFFFFF})).error,
      HasSubstr("ended in the middle"));
}

}  // namespace
}  // namespace mynah
