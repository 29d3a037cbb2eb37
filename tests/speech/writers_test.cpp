#include "speech/writers.h"

#include <cmath>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "much.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string read_golden(const std::string& name) {
  std::ifstream file(std::string(MYNAH_TEST_SOURCE) + "/golden/subtitles/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

enum class WithWords : uint8_t { No, Yes };

Transcript golden_transcript(WithWords with_words) {
  const Json json = Json::parse(read_golden("transcript.json"));
  Transcript transcript{.language = json["language"]};
  for (const Json& entry : json["segments"]) {
    Segment segment{
        .id = entry["id"], .start_s = entry["start"], .end_s = entry["end"], .text = entry["text"]};
    for (const Json& word : entry["words"]) {
      if (with_words == WithWords::Yes) {
        segment.words.push_back({.text = word["word"],
                                 .start_s = word["start"],
                                 .end_s = word["end"],
                                 .probability = word["probability"]});
      }
    }
    transcript.segments.push_back(segment);
  }
  return transcript;
}

// The reference leaves an arrow in the text of words, where it reads as a line of times; mynah
// writes it as the reference does without words.
std::string without_arrows(const std::string& subtitles) {
  std::istringstream lines(subtitles);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const size_t arrow = std::isdigit(static_cast<unsigned char>(line[0])) != 0 ? std::string::npos
                                                                                : line.find("-->");
    if (arrow != std::string::npos) {
      line.replace(arrow, 3, "->");
    }
    result += line + "\n";
  }
  return result;
}

struct SubtitleCase {
  std::string name;
  std::optional<int> width;
  std::optional<int> count;
  bool highlight = false;
};

class Subtitles : public testing::TestWithParam<SubtitleCase> {};

TEST_P(Subtitles, EqualOpenAiWhispersOwn) {
  const SubtitleCase& param = GetParam();
  const Transcript transcript = golden_transcript(WithWords::Yes);
  const WriterOptions options{.max_line_width = param.width,
                              .max_line_count = param.count,
                              .highlight_words = param.highlight};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Srt, options),
            without_arrows(read_golden(param.name + ".srt")));
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Vtt, options),
            without_arrows(read_golden(param.name + ".vtt")));
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Subtitles,
    testing::Values(SubtitleCase{"plain", {}, {}}, SubtitleCase{"width", 20, {}},
                    SubtitleCase{"width_and_count", 24, 2}, SubtitleCase{"one_line", 42, 1},
                    SubtitleCase{"count_alone", {}, 1}, SubtitleCase{"highlight", {}, {}, true},
                    SubtitleCase{"highlight_width", 30, 2, true}),
    [](const auto& param_info) { return param_info.param.name; });

// The reference lets its second segment run 0.2 s into the third; mynah's cues end before.
std::string without_overlap(std::string subtitles) {
  for (const char* mark : {".", ","}) {
    const size_t at = subtitles.find(std::string("08") + mark + "870\n");
    if (at != std::string::npos) {
      subtitles.replace(at + 3, 3, "670");
    }
  }
  return subtitles;
}

TEST(Writers, EqualOpenAiWhispersWithoutWords) {
  const Transcript transcript = golden_transcript(WithWords::No);
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Srt, {}),
            without_overlap(read_golden("no_words.srt")));
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Vtt, {}),
            without_overlap(read_golden("no_words.vtt")));
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Tsv, {}), read_golden("no_words.tsv"));
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Txt, {}), read_golden("no_words.txt"));
}

// A line of a subtitle file: when, and what.
struct ParsedCue {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string text;

  bool operator==(const ParsedCue&) const = default;
};

int64_t parse_clock(const std::string& text) {
  std::smatch parts;
  EXPECT_TRUE(std::regex_match(text, parts, std::regex(R"((?:(\d+):)?(\d\d):(\d\d)[.,](\d\d\d))")))
      << text;
  const int64_t hours = parts[1].matched ? std::stoll(parts[1]) : 0;
  return ((hours * 60 + std::stoll(parts[2])) * 60 + std::stoll(parts[3])) * 1000 +
         std::stoll(parts[4]);
}

// SRT and WebVTT alike: blocks between empty lines that have a line of times.
std::vector<ParsedCue> parse_subtitles(const std::string& text) {
  std::vector<ParsedCue> cues;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t arrow = line.find(" --> ");
    if (arrow == std::string::npos) {
      continue;
    }
    ParsedCue cue{.start_ms = parse_clock(line.substr(0, arrow)),
                  .end_ms = parse_clock(line.substr(arrow + 5))};
    while (std::getline(lines, line) && !line.empty()) {
      cue.text += (cue.text.empty() ? "" : "\n") + line;
    }
    cues.push_back(cue);
  }
  return cues;
}

Transcript random_transcript(uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> words = {" a",    " \"b\"", " c,d", " größer", " 日本",
                                          " it's", " 100 %", " x;y", " ok."};
  Transcript transcript{.language = "en", .duration_s = 5000};
  int64_t now_ms = 0;
  for (int i = 0; i < 20; ++i) {
    Segment segment{.id = i};
    now_ms += static_cast<int64_t>(random() % 300'000);
    segment.start_s = static_cast<double>(now_ms) / 1000;
    for (size_t n = 1 + random() % 12; n > 0; --n) {
      Word word{.text = words[random() % words.size()],
                .start_s = static_cast<double>(now_ms) / 1000};
      now_ms += static_cast<int64_t>(random() % 900);
      word.end_s = static_cast<double>(now_ms) / 1000;
      segment.text += word.text;
      segment.words.push_back(word);
    }
    segment.end_s = static_cast<double>(now_ms) / 1000;
    transcript.segments.push_back(segment);
  }
  return transcript;
}

std::vector<ParsedCue> expected_cues(const Transcript& transcript) {
  std::vector<ParsedCue> cues;
  cues.reserve(transcript.segments.size());
  for (const Segment& segment : transcript.segments) {
    cues.push_back({.start_ms = std::llround(segment.start_s * 1000),
                    .end_ms = std::llround(segment.end_s * 1000),
                    .text = segment.text.substr(1)});
  }
  return cues;
}

TEST(Writers, SubtitlesReadBackAsTheyWere) {
  for (uint32_t seed = 0; seed < test::much(20); ++seed) {
    const Transcript transcript = random_transcript(seed);
    EXPECT_EQ(parse_subtitles(write_transcript(transcript, TranscriptFormat::Srt, {})),
              expected_cues(transcript));
    EXPECT_EQ(parse_subtitles(write_transcript(transcript, TranscriptFormat::Vtt, {})),
              expected_cues(transcript));
  }
}

TEST(Writers, BrokenLinesKeepEveryCharacter) {
  for (uint32_t seed = 0; seed < test::much(20); ++seed) {
    Transcript transcript = random_transcript(seed);
    for (const WithWords with_words : {WithWords::Yes, WithWords::No}) {
      if (with_words == WithWords::No) {
        for (Segment& segment : transcript.segments) {
          segment.words.clear();
        }
      }
      const WriterOptions options{.max_line_width = 12, .max_line_count = 2};
      std::string written;
      for (const ParsedCue& cue :
           parse_subtitles(write_transcript(transcript, TranscriptFormat::Srt, options))) {
        EXPECT_LE(std::ranges::count(cue.text, '\n'), 1);
        written += cue.text;
      }
      std::string spoken;
      for (const Segment& segment : transcript.segments) {
        spoken += segment.text;
      }
      const auto drop_space = [](std::string text) {
        std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
        return text;
      };
      EXPECT_EQ(drop_space(written), drop_space(spoken));
    }
  }
}

TEST(Writers, JoinsSegmentsWithoutWordsAtASpace) {
  const Transcript transcript{.segments = {{.start_s = 0, .end_s = 1, .text = " Some nature."},
                                           {.start_s = 1, .end_s = 2, .text = " Others too."}}};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Srt,
                             {.max_line_width = 30, .max_line_count = 2}),
            "1\n00:00:00,000 --> 00:00:02,000\nSome nature. Others too.\n\n");
}

TEST(Writers, BreaksALanguageWithoutSpacesBetweenCharacters) {
  const Transcript transcript{
      .language = "ja", .segments = {{.start_s = 0, .end_s = 9, .text = "今日はいい天気ですね"}}};
  const std::string srt = write_transcript(transcript, TranscriptFormat::Srt,
                                           {.max_line_width = 4, .max_line_count = 2});
  EXPECT_EQ(srt,
            "1\n00:00:00,000 --> 00:00:07,200\n今日はい\nい天気で\n\n"
            "2\n00:00:07,200 --> 00:00:09,000\nすね\n\n");
}

TEST(Writers, CuesDoNotOverlapAndNoneIsBackwards) {
  const Transcript transcript{.segments = {{.start_s = 0, .end_s = 5, .text = " one"},
                                           {.start_s = 4, .end_s = 3, .text = " two"},
                                           {.start_s = 4, .end_s = 6, .text = " three"}}};
  for (const TranscriptStyle style : {TranscriptStyle::OpenAi, TranscriptStyle::WhisperCpp}) {
    for (const TranscriptFormat format : {TranscriptFormat::Srt, TranscriptFormat::Vtt}) {
      const auto cues = parse_subtitles(write_transcript(transcript, format, {.style = style}));
      ASSERT_EQ(cues.size(), 3U);
      EXPECT_EQ(cues[0].end_ms, 4000);
      EXPECT_EQ(cues[1].end_ms, 4000);
      EXPECT_EQ(cues[2].end_ms, 6000);
    }
  }
}

TEST(Writers, SegmentsWithoutTextAreNoCues) {
  const Transcript transcript{.segments = {{.start_s = 0, .end_s = 1, .text = " "},
                                           {.start_s = 1, .end_s = 2, .text = ""},
                                           {.start_s = 2, .end_s = 3, .text = " word"}}};
  for (const std::optional<int> width : {std::optional<int>(), std::optional(10)}) {
    const auto cues = parse_subtitles(
        write_transcript(transcript, TranscriptFormat::Srt, {.max_line_width = width}));
    ASSERT_EQ(cues.size(), 1U);
    EXPECT_EQ(cues[0].start_ms, 2000);
    EXPECT_EQ(cues[0].text, "word");
  }
  EXPECT_EQ(write_transcript({}, TranscriptFormat::Srt, {}), "");
  EXPECT_EQ(write_transcript({}, TranscriptFormat::Vtt, {}), "WEBVTT\n\n");
}

TEST(Writers, AWordLongerThanALineIsCutBetweenLettersWithTheirMarks) {
  // Right to left, with vowel points; and a family of four code points joined to one picture.
  const std::string pointed = "שָׁלוֹם";
  const std::string family = "👩\u200D👧";
  const std::vector<std::string> words = {pointed + pointed, family + family + family};
  for (const std::string& word : words) {
    const Transcript transcript{.segments = {{.start_s = 0, .end_s = 4, .text = " " + word}}};
    const auto cues = parse_subtitles(write_transcript(transcript, TranscriptFormat::Srt,
                                                       {.max_line_width = 2, .max_line_count = 9}));
    ASSERT_EQ(cues.size(), 1U);
    std::string joined = cues[0].text;
    EXPECT_GT(std::erase(joined, '\n'), 0U);
    EXPECT_EQ(joined, word);
    std::istringstream lines(cues[0].text);
    for (std::string line; std::getline(lines, line);) {
      const char32_t first = next_code_point(line).code_point;
      EXPECT_FALSE(is_mark(first) || first == U'\u200D') << line;
    }
  }
  const Transcript latin{.segments = {{.start_s = 0, .end_s = 4, .text = " in Llanfairpwll"}}};
  EXPECT_EQ(
      write_transcript(latin, TranscriptFormat::Srt, {.max_line_width = 5, .max_line_count = 9}),
      "1\n00:00:00,000 --> 00:00:04,000\nin\nLlanf\nairpw\nll\n\n");
}

TEST(Writers, ReplacesBrokenUtf8) {
  const Transcript transcript{.segments = {{.start_s = 0, .end_s = 1, .text = " caf\xC3"}}};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Txt, {}), "caf\xEF\xBF\xBD\n");
  EXPECT_EQ(Json::parse(transcript_json_line(transcript, {}))["text"], "caf\xEF\xBF\xBD");
}

TEST(Writers, EscapesMarkupInWebVttOnly) {
  const Transcript transcript{.segments = {{.start_s = 0, .end_s = 1, .text = " a < b & c"}}};
  EXPECT_THAT(write_transcript(transcript, TranscriptFormat::Vtt, {}),
              HasSubstr("\na &lt; b &amp; c\n"));
  EXPECT_THAT(write_transcript(transcript, TranscriptFormat::Srt, {}), HasSubstr("\na < b & c\n"));
}

// RFC 4180, as far as one table needs it.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[i++];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Writers, TablesReadBackAsTheyWere) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Transcript transcript = random_transcript(seed);
    const auto csv = parse_csv(write_transcript(transcript, TranscriptFormat::Csv, {}));
    ASSERT_EQ(csv.size(), transcript.segments.size() + 1);
    EXPECT_THAT(csv[0], testing::ElementsAre("start", "end", "text"));
    std::istringstream tsv(write_transcript(transcript, TranscriptFormat::Tsv, {}));
    std::string line;
    std::getline(tsv, line);
    for (size_t i = 0; i < transcript.segments.size(); ++i) {
      const ParsedCue expected = expected_cues(transcript)[i];
      EXPECT_THAT(csv[i + 1], testing::ElementsAre(std::to_string(expected.start_ms),
                                                   std::to_string(expected.end_ms), expected.text));
      std::getline(tsv, line);
      EXPECT_EQ(line, std::to_string(expected.start_ms) + "\t" + std::to_string(expected.end_ms) +
                          "\t" + expected.text);
    }
  }
}

TEST(Writers, LyricsHaveHundredths) {
  const Transcript transcript{.segments = {{.start_s = 61.239, .end_s = 62, .text = " One"},
                                           {.start_s = 7200, .end_s = 7201, .text = " Two"}}};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Lrc, {}),
            "[by:mynah]\n[01:01.23]One\n[120:00.00]Two\n");
}

TEST(Writers, AudacityLabelsAreSeconds) {
  const Transcript transcript{.segments = {{.start_s = 1.5, .end_s = 2.25, .text = " One\ttwo"}}};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Aud, {}), "1.500\t2.250\tOne two\n");
}

TEST(Writers, JsonHasTheFieldsOfVerboseJson) {
  Transcript transcript{
      .language = "en",
      .language_probability = 0.5F,
      .duration_s = 2.0000001,
      .segments = {{.id = 0,
                    .start_s = 0.1,
                    .end_s = 1.9,
                    .text = " Hi there",
                    .tokens = {1, 2},
                    .words = {{.text = " Hi", .start_s = 0.1, .end_s = 0.3, .probability = 0.25F}},
                    .mean_log_probability = -0.5F}},
      .model = "tiny.en",
      .device = "cpu",
      .timings = {{.stage = "stt.encoder", .device = "cpu", .milliseconds = 12.34567}},
      .notes = {"the built-in recogniser was used"},
      .explanations = {"one window was decoded again"}};
  const std::string line = transcript_json_line(transcript, {.file = "a.wav"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(
      line,
      R"({"file":"a.wav","task":"transcribe","language":"en","duration":2.0,"text":"Hi there",)"
      R"("segments":[{"id":0,"seek":10,"start":0.1,"end":1.9,"text":" Hi there","tokens":[1,2],)"
      R"("temperature":0.0,"avg_logprob":-0.5,"compression_ratio":0.0,"no_speech_prob":0.0,)"
      R"("words":[{"word":" Hi","start":0.1,"end":0.3,"probability":0.25}]}],)"
      R"("words":[{"word":"Hi","start":0.1,"end":0.3}],"language_probability":0.5,)"
      R"("model":"tiny.en","device":"cpu",)"
      R"("timings":[{"stage":"stt.encoder","device":"cpu","milliseconds":12.346}],)"
      R"("notes":["the built-in recogniser was used","one window was decoded again"]})");
}

TEST(Formats, NamesAreKnownBothWays) {
  for (const std::string& name : transcript_format_names()) {
    EXPECT_TRUE(parse_transcript_format(name)) << name;
  }
  EXPECT_FALSE(parse_transcript_format("doc"));
  EXPECT_EQ(extension(TranscriptFormat::JsonFull), "json");
}

}  // namespace
}  // namespace mynah
