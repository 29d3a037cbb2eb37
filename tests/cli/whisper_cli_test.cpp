// `mynah transcribe` with whisper-cli's flags: what is printed and written is what it would be
// there.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using WhisperCli = Transcribe;

TEST_F(WhisperCli, PrintsWhatWhisperCliPrints) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"-m", "ggml-tiny.en.bin", "-f", wav}), 0);
  EXPECT_EQ(out(), "[00:00:00.000 --> 00:00:01.000]   second 0\n");
  EXPECT_EQ(run({"-f", wav, "-nt"}), 0);
  EXPECT_EQ(out(), " second 0\n");
}

TEST_F(WhisperCli, WithoutTimesARecordingIsOneLineAsOfWhisperCli) {
  const std::string a = write_wav(folder / "a.wav", 2);
  const std::string b = write_wav(folder / "b.wav", 1);
  EXPECT_EQ(run({"-nt", "-np", a, b}), 0) << err();
  EXPECT_EQ(out(), a + ":\n second 0 second 1\n" + b + ":\n second 0\n");
  fake->stop_after = 4;  // of all segments: a line that was begun is ended
  EXPECT_EQ(run({"-nt", "-np", a}), 128 + SIGINT);
  EXPECT_EQ(out(), " second 0\n");
}

TEST_F(WhisperCli, SpecialTokensAreInAllThatIsWritten) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  fake->timestamps = true;
  EXPECT_EQ(run({"-f", wav, "-ps", "-osrt"}), 0) << err();
  EXPECT_EQ(out(), "[00:00:00.000 --> 00:00:01.000]  [_BEG_] second 0[_TT_50]\n");
  EXPECT_THAT(folder.read("a.wav.srt"), HasSubstr("\n[_BEG_] second 0[_TT_50]\n"));
  EXPECT_EQ(run({wav, "--special-tokens"}), 0);
  EXPECT_EQ(out(), "<|0.00|> second 0<|1.00|>\n");
}

TEST_F(WhisperCli, KaraokeLinesAreShortUnlessALengthIsGiven) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"-f", wav, "-owts", "-ml", "1"}), 0) << err();
  EXPECT_THAT(folder.read("a.wav.wts"), HasSubstr("} second\n"));
  EXPECT_EQ(run({"-f", wav, "-owts"}), 0) << err();
  EXPECT_THAT(folder.read("a.wav.wts"), HasSubstr("} second{"));
  EXPECT_TRUE(fake->last_options.decoding.words);
}

TEST_F(WhisperCli, WritesWhatWhisperCliWritesBesideTheRecording) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"-f", wav, "-otxt", "-osrt", "-oj", "-ojf", "-np", "-m", "x.bin"}), 0) << err();
  EXPECT_EQ(folder.read("a.wav.txt"), " second 0\n");
  EXPECT_EQ(folder.read("a.wav.srt"), "1\n00:00:00,000 --> 00:00:01,000\n second 0\n\n");
  const Json json = Json::parse(folder.read("a.wav.json"));
  EXPECT_EQ(json["params"]["model"], "x.bin");
  EXPECT_TRUE(json["transcription"][0].contains("tokens"));
  EXPECT_EQ(out(), "[00:00:00.000 --> 00:00:01.000]   second 0\n");
}

TEST_F(WhisperCli, OutputFileNamesTheOutputs) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"-f", wav, "-otxt", "-of", folder / "b"}), 0) << err();
  EXPECT_TRUE(folder.has("b.txt"));
  EXPECT_FALSE(folder.has("a.wav.txt"));
  // whisper-cli adds its extension to whatever name it is given.
  EXPECT_EQ(run({"-f", wav, "-osrt", "-of", folder / "c.srt"}), 0) << err();
  EXPECT_TRUE(folder.has("c.srt.srt"));
  EXPECT_EQ(run({wav, "--format", "srt", "--output-file", "-"}), 0);
  EXPECT_THAT(out(), StartsWith("1\n00:00:00,000 --> "));
}

TEST_F(WhisperCli, CutsSegmentsAndCountsCues) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"-f", wav, "-ml", "1", "-sow", "-osrt", "-on", "10"}), 0) << err();
  EXPECT_EQ(out(),
            "[00:00:00.000 --> 00:00:00.500]   second\n[00:00:00.500 --> 00:00:01.000]   0\n");
  EXPECT_EQ(folder.read("a.wav.srt"),
            "11\n00:00:00,000 --> 00:00:00,500\n second\n\n"
            "12\n00:00:00,500 --> 00:00:01,000\n 0\n\n");
}

}  // namespace
}  // namespace mynah::cli
