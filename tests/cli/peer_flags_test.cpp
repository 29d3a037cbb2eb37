#include "cli/command/peer_flags.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command/parse.h"
#include "cli/command/program.h"
#include "cli/hear/transcribe.h"
#include "engine/recognizer.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Arguments = std::vector<std::string>;

struct Row {
  std::string shorter;
  std::string longer;
  std::string value;  // empty: a switch
  Arguments becomes;
};

const std::string kStyle = "--style=whisper.cpp";

// Every flag of whisper-cli --help that mynah takes, in its order.
const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"-t", "--threads", "4", {"--threads=4"}},
      {"-ot", "--offset-t", "1500", {"--start=1.5"}},
      {"-on", "--offset-n", "3", {"--cue-offset=3"}},
      {"-d", "--duration", "30000", {"--length=30"}},
      {"-mc", "--max-context", "64", {"--max-context-tokens=64"}},
      {"-ml", "--max-len", "40", {"--max-segment-length=40"}},
      {"-sow", "--split-on-word", "", {}},
      {"-bo", "--best-of", "5", {"--best-of=5"}},
      {"-bs", "--beam-size", "5", {"--beam=5"}},
      {"-ac", "--audio-ctx", "768", {"--context=cached"}},
      {"-wt", "--word-thold", "0.01", {}},
      {"-et", "--entropy-thold", "2.4", {"--entropy-threshold=2.4"}},
      {"-lpt", "--logprob-thold", "-1.0", {"--log-probability-threshold=-1.0"}},
      {"-nth", "--no-speech-thold", "0.6", {"--no-speech-threshold=0.6"}},
      {"-tp", "--temperature", "0.0", {"--temperature=0.0"}},
      {"-tpi", "--temperature-inc", "0.2", {"--temperature-increment=0.2"}},
      {"-debug", "--debug-mode", "", {"--explain"}},
      {"-tr", "--translate", "", {"--task=translate"}},
      {"-di", "--diarize", "", {"--stereo-speakers", kStyle}},
      {"-nf", "--no-fallback", "", {"--no-fallback"}},
      {"-otxt", "--output-txt", "", {"--format=txt", "--output-beside", kStyle}},
      {"-ovtt", "--output-vtt", "", {"--format=vtt", "--output-beside", kStyle}},
      {"-osrt", "--output-srt", "", {"--format=srt", "--output-beside", kStyle}},
      {"-olrc", "--output-lrc", "", {"--format=lrc", "--output-beside", kStyle}},
      {"-owts", "--output-words", "", {"--format=wts", "--output-beside", kStyle}},
      {"-ocsv", "--output-csv", "", {"--format=csv", "--output-beside", kStyle}},
      {"-oj", "--output-json", "", {"--format=json", "--output-beside", kStyle}},
      {"-ojf", "--output-json-full", "", {"--format=json-full", "--output-beside", kStyle}},
      {"-of", "--output-file", "out/a", {"--output-file=out/a"}},
      {"-np", "--no-prints", "", {"--quiet", kStyle}},
      {"-ps", "--print-special", "", {"--special-tokens", kStyle}},
      {"-pc", "--print-colors", "", {"--confidence", kStyle}},
      {"", "--print-confidence", "", {"--confidence-marks", kStyle}},
      {"-pp", "--print-progress", "", {"--progress-lines"}},
      {"-nt", "--no-timestamps", "", {"--no-timestamps", kStyle}},
      {"-l", "--language", "de", {"--language=de"}},
      {"-dl", "--detect-language", "", {"--detect-language"}},
      {"", "--prompt", "Hello there", {"--initial-prompt=Hello there"}},
      {"", "--carry-initial-prompt", "", {"--carry-initial-prompt"}},
      {"-m", "--model", "ggml-tiny.en.bin", {"--model=ggml-tiny.en.bin"}},
      {"-f", "--file", "a b.wav", {"a b.wav", kStyle}},
      {"-dtw", "--dtw", "tiny.en", {"--words"}},
      {"-ng", "--no-gpu", "", {"--device=cpu"}},
      {"-dev", "--device", "0", {}},
      {"-fa", "--flash-attn", "", {}},
      {"-nfa", "--no-flash-attn", "", {}},
      {"-sns", "--suppress-nst", "", {"--suppress-tokens=-1"}},
      {"", "--suppress-regex", "[0-9]+", {"--suppress-regex=[0-9]+"}},
      {"", "--vad", "", {"--vad"}},
      {"-vm", "--vad-model", "silero.bin", {"--vad-model=silero.bin"}},
      {"-vt", "--vad-threshold", "0.5", {"--vad-threshold=0.5"}},
      {"-vspd", "--vad-min-speech-duration-ms", "250", {"--vad-min-speech-ms=250"}},
      {"-vsd", "--vad-min-silence-duration-ms", "100", {"--vad-min-silence-ms=100"}},
      {"-vmsd", "--vad-max-speech-duration-s", "30", {"--vad-max-speech-s=30"}},
      {"-vp", "--vad-speech-pad-ms", "30", {"--vad-speech-pad-ms=30"}},
      {"-vo", "--vad-samples-overlap", "0.1", {}},
      {"", "--output-format", "srt", {"--format=srt"}},
      {"", "--max-line-width", "42", {"--max-line-width=42"}},
      {"", "--max-line-count", "2", {"--max-line-count=2"}},
      {"", "--fp16", "False", {}},
      {"", "--compute-type", "float16", {"--storage=float16"}},
      {"", "--batch-size", "8", {"--batch=8"}},
      {"", "--chunk-size", "30", {"--chunk-length=30"}},
      {"", "--vad-onset", "0.5", {"--vad-threshold=0.5"}},
      {"", "--vad-offset", "0.363", {"--vad-negative-threshold=0.363"}},
  };
  return all;
}

class PeerFlags : public testing::TestWithParam<Row> {};

TEST_P(PeerFlags, BecomeMynahsOwn) {
  const Row& row = GetParam();
  for (const std::string& name : {row.shorter, row.longer}) {
    if (name.empty()) {
      continue;
    }
    Arguments written = {name};
    if (!row.value.empty()) {
      written.push_back(row.value);
      EXPECT_EQ(*translate_peer_flags(whisper_flags(), {name + "=" + row.value}), row.becomes);
    }
    EXPECT_EQ(*translate_peer_flags(whisper_flags(), written), row.becomes);
  }
}

TEST_P(PeerFlags, AreUnderstoodByTheParser) {
  const Row& row = GetParam();
  TranscribeCommand command([](const engine::RecognizerWish&,
                               const engine::Surroundings&) -> Result<engine::OpenedRecognizer> {
    return fail(ErrorCode::Environment, "not needed");
  });
  bool help = false;
  bool json = false;
  Fields fields = fields_of(command, help, json);
  const Status status = parse_flags(fields, row.becomes);
  EXPECT_TRUE(status) << status.error().message;
}

INSTANTIATE_TEST_SUITE_P(Table, PeerFlags, testing::ValuesIn(rows()), [](const auto& param_info) {
  std::string name = param_info.param.longer.substr(2);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(PeerFlagTable, EveryRowIsTestedOrRefused) {
  for (const PeerFlag& flag : whisper_flags()) {
    const auto row = std::ranges::find(rows(), flag.longer, &Row::longer);
    EXPECT_NE(row == rows().end(), flag.instead.empty()) << flag.longer;
    if (row != rows().end()) {
      EXPECT_EQ(row->shorter, flag.shorter);
    }
  }
}

TEST(PeerFlagTable, NamesWhatToUseForWhatItRefuses) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"-p", "--batch"},
      {"--processors", "--threads"},
      {"-fp", "leave it out"},
      {"--font-path", "leave it out"},
      {"-oved", "--device"},
      {"--ov-e-device", "--device"},
      {"-ls", "--words --json"},
      {"--log-score", "--words --json"},
      {"-tdrz", "--stereo-speakers"},
      {"--tinydiarize", "--stereo-speakers"},
      {"--grammar", "--hotwords"},
      {"--grammar-rule", "--hotwords"},
      {"--grammar-penalty", "--hotwords"},
      {"--min_speakers", "--stereo-speakers"},
      {"--max_speakers", "--stereo-speakers"}};
  for (const auto& [flag, instead] : refused) {
    const auto result = translate_peer_flags(whisper_flags(), {flag, "2"});
    ASSERT_FALSE(result) << flag;
    EXPECT_EQ(result.error().code, ErrorCode::Usage);
    EXPECT_THAT(result.error().message,
                testing::AllOf(HasSubstr(" is not done"), HasSubstr(instead)));
  }
}

TEST(PeerFlagTable, LeavesMynahsOwnAlone) {
  EXPECT_THAT(*translate_peer_flags(whisper_flags(),
                                    {"a.wav", "--device", "ref", "--vad=false", "--beam", "2"}),
              ElementsAre("a.wav", "--device=ref", "--vad=false", "--beam", "2"));
  EXPECT_THAT(*translate_peer_flags(whisper_flags(), {"--", "-otxt"}), ElementsAre("--", "-otxt"));
}

TEST(PeerFlagTable, AsksForNothingWhereTheValueIsOff) {
  EXPECT_THAT(*translate_peer_flags(whisper_flags(),
                                    {"-ot", "0", "-d", "0", "-ml", "0", "-mc", "-1", "-ac", "0"}),
              IsEmpty());
  EXPECT_THAT(
      *translate_peer_flags(whisper_flags(), {"-p", "1", "--processors=1", "--fp16", "True"}),
      IsEmpty());
  EXPECT_FALSE(translate_peer_flags(whisper_flags(), {"-p"}));
}

TEST(PeerFlagTable, SaysWhichFlagLacksAValue) {
  EXPECT_EQ(translate_peer_flags(whisper_flags(), {"-m"}).error().message, "-m wants a value");
  EXPECT_EQ(translate_peer_flags(whisper_flags(), {"-ot", "soon"}).error().message,
            "--offset-t: wanted milliseconds, found 'soon'");
}

}  // namespace
}  // namespace mynah::cli
