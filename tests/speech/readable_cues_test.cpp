#include <cmath>
#include <random>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "much.h"
#include "speech/cue_atoms.h"
#include "speech/writer_parts.h"
#include "speech/writers.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

WriterOptions readable() {
  return {.cues = CueShape::Readable};
}

Word word(std::string text, double start_s, double end_s) {
  return {.text = std::move(text), .start_s = start_s, .end_s = end_s, .probability = 1};
}

// A segment whose words follow one another, each as long as `word_s`.
Segment spoken(const std::string& text, double start_s, double word_s) {
  Segment segment{.start_s = start_s, .end_s = start_s, .text = text};
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin + 1), text.size());
    segment.words.push_back(
        word(text.substr(begin, end - begin), segment.end_s, segment.end_s + word_s));
    segment.end_s += word_s;
    begin = end;
  }
  return segment;
}

std::vector<Cue> cues_of(std::vector<Segment> segments, const WriterOptions& options = readable(),
                         double duration_s = 0) {
  Transcript transcript;
  transcript.segments = std::move(segments);
  transcript.duration_s = duration_s;
  return subtitle_cues(transcript, options);
}

std::vector<std::string> texts_of(const std::vector<Cue>& cues) {
  std::vector<std::string> texts;
  std::ranges::transform(cues, std::back_inserter(texts), &Cue::text);
  return texts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(ReadableCues, OfSpeakersWhoSpeakTogetherStandTogether) {
  std::vector<Segment> segments = {spoken(" one two three", 0, 0.5),
                                   spoken(" four five six", 0.5, 0.5),
                                   spoken(" seven eight", 3, 0.5)};
  segments[0].speaker = segments[2].speaker = "0";
  segments[1].speaker = "1";
  const std::vector<Cue> cues = cues_of(segments, readable(), 5);
  ASSERT_EQ(cues.size(), 3U);
  EXPECT_EQ(cues[1].start_s, 0.5);
  EXPECT_EQ(cues[1].speaker, "1");
  EXPECT_GE(cues[0].end_s, 1.5);
  EXPECT_EQ(cues[2].start_s, 3);
}

TEST(ReadableCues, ASegmentThatCanBeReadIsOneCue) {
  const auto cues = cues_of({spoken(" It is a quarter past seven.", 1.5, 0.3)});
  ASSERT_EQ(cues.size(), 1U);
  EXPECT_EQ(cues[0].text, "It is a quarter past seven.");
  EXPECT_DOUBLE_EQ(cues[0].start_s, 1.5);
  EXPECT_NEAR(cues[0].end_s, 1.5 + 6 * 0.3, 0.001);
}

TEST(ReadableCues, ALongSentenceIsCutBehindAClause) {
  const auto cues = cues_of({spoken(
      " When the storm had passed over the island at last, everybody went down to the harbour, "
      "and the boats that were left were counted.",
      0, 0.4)});
  EXPECT_THAT(texts_of(cues),
              ElementsAre("When the storm had passed\nover the island at last,",
                          "everybody went down to the harbour,\nand the boats that were left were "
                          "counted."));
}

TEST(ReadableCues, AShortWordIsShownInTheSilenceBehindIt) {
  const auto cues = cues_of({spoken(" Yes.", 1, 0.2), spoken(" I know that.", 10, 0.4)});
  ASSERT_EQ(cues.size(), 2U);
  EXPECT_NEAR(cues[0].end_s - cues[0].start_s, 0.7, 1e-9);
}

TEST(ReadableCues, AShortWordWithoutSilenceStandsWithItsNeighbour) {
  const auto cues = cues_of({spoken(" We went to the harbour.", 0, 0.4), spoken(" Yes.", 2, 0.2),
                             spoken(" The boats were all gone by then.", 2.2, 0.4)});
  EXPECT_THAT(texts_of(cues),
              ElementsAre("We went to the harbour.", "Yes. The boats were all gone by then."));
}

TEST(ReadableCues, NothingStandsLongerThanSevenSeconds) {
  Segment slow{.start_s = 0, .end_s = 30, .text = " Wait."};
  const auto cues = cues_of({slow});
  ASSERT_EQ(cues.size(), 1U);
  EXPECT_DOUBLE_EQ(cues[0].end_s, 7);
}

TEST(ReadableCues, ACueEndsAtAPauseAndBeginsWithItsSpeech) {
  Segment segment = spoken(" I think", 5, 0.4);
  segment.text += " we should go.";
  for (const Word& later : spoken(" we should go.", 9, 0.4).words) {
    segment.words.push_back(later);
  }
  segment.end_s = 10.2;
  const auto cues = cues_of({segment});
  EXPECT_THAT(texts_of(cues), ElementsAre("I think", "we should go."));
  EXPECT_DOUBLE_EQ(cues[1].start_s, 9);
  EXPECT_LT(cues[0].end_s, 6);
}

TEST(ReadableCues, WordsWithoutTimeHaveSharesOfWhatThereIs) {
  Segment segment{.start_s = 3, .end_s = 3, .text = ""};
  for (int i = 0; i < 40; ++i) {
    segment.words.push_back(word(" word", 3, 3));
    segment.text += " word";
  }
  const auto cues = cues_of({segment, spoken(" And then it ended.", 20, 0.4)});
  ASSERT_GE(cues.size(), 3U);
  for (const Cue& cue : cues) {
    EXPECT_GE(cue.end_s - cue.start_s, 0.7);
  }
}

TEST(ReadableCues, HanAndKanaCountTwiceAndBreakBetweenCharactersButNotBeforePunctuation) {
  Segment segment{.start_s = 0,
                  .end_s = 12,
                  .text =
                      "昨日は雨が降っていましたが、今日はとても天気が良いので、"
                      "みんなで海の近くの公園まで散歩に行くことにしました。"};
  std::string joined;
  for (const Cue& cue : cues_of({segment})) {
    for (const std::string& line : lines_of(cue.text)) {
      EXPECT_LE(column_count(line), 42U) << line;
      EXPECT_THAT(line, Not(testing::StartsWith("、")));
      EXPECT_THAT(line, Not(testing::StartsWith("。")));
      joined += line;
    }
  }
  EXPECT_EQ(joined, segment.text);
}

TEST(ReadableCues, KoreanBreaksAtItsSpaces) {
  Segment segment{
      .start_s = 0, .end_s = 6, .text = " 안녕하세요 여러분 오늘은 날씨가 정말 좋습니다 그래서"};
  for (const Cue& cue : cues_of({segment})) {
    for (const std::string& line : lines_of(cue.text)) {
      EXPECT_THAT(segment.text + " ", HasSubstr(" " + line + " "));
    }
  }
}

TEST(ReadableCues, NeverMixSpeakers) {
  Segment first = spoken(" Hello.", 0, 0.3);
  first.speaker = "0";
  Segment second = spoken(" Hello to you.", 0.3, 0.3);
  second.speaker = "1";
  const auto cues = cues_of({first, second});
  EXPECT_THAT(texts_of(cues), ElementsAre("Hello.", "Hello to you."));
  Transcript transcript;
  transcript.segments = {first, second};
  EXPECT_THAT(write_srt(transcript, readable()), HasSubstr("\n(speaker 1) Hello to you.\n"));
  EXPECT_THAT(write_vtt(transcript, readable()), HasSubstr("\n<v Speaker 1>Hello to you.\n"));
}

TEST(ReadableCues, EndWithTheRecording) {
  const auto cues = cues_of({spoken(" Stop.", 9.7, 0.2)}, readable(), 10);
  ASSERT_EQ(cues.size(), 1U);
  EXPECT_DOUBLE_EQ(cues[0].end_s, 10);
}

TEST(ReadableCues, AskedLimitsHold) {
  WriterOptions options = readable();
  options.max_line_width = 20;
  options.max_line_count = 1;
  const auto cues =
      cues_of({spoken(" one two three four five six seven eight nine ten", 0, 0.5)}, options);
  for (const Cue& cue : cues) {
    EXPECT_LE(cue.text.size(), 20U);
    EXPECT_THAT(cue.text, Not(HasSubstr("\n")));
  }
  options = readable();
  options.max_cue_characters = 3;
  EXPECT_EQ(cues_of({spoken(" one two three", 0, 1)}, options).size(), 3U);
}

TEST(ReadableCues, HighlightEachWordForATime) {
  WriterOptions options = readable();
  options.highlight_words = true;
  Segment segment = spoken(" It is so.", 1, 0.5);
  segment.words[1].start_s = segment.words[1].end_s = segment.words[2].start_s;  // no length
  const auto cues = cues_of({segment}, options);
  std::vector<std::string> marked;
  for (const Cue& cue : cues) {
    EXPECT_GT(to_milliseconds(cue.end_s), to_milliseconds(cue.start_s)) << cue.text;
    if (cue.text.find("<u>") != std::string::npos) {
      marked.push_back(cue.text);
    }
  }
  EXPECT_THAT(marked, ElementsAre("<u>It</u> is so.", "It <u>is</u> so.", "It is <u>so.</u>"));
}

TEST(ReadableCues, WordsLongerThanALineAreCutBehindTheirHyphens) {
  const std::string text =
      "He saw the Llanfairpwllgwyngyll-and-then-some-more-of-the-very-long-name and a "
      "state-of-the-art machine there.";
  std::string joined;
  for (const Cue& cue : cues_of({spoken(" " + text, 0, 0.6)})) {
    for (const std::string& line : lines_of(cue.text)) {
      joined += (joined.empty() || joined.ends_with('-') ? "" : " ") + line;
    }
  }
  EXPECT_EQ(joined, text);
}

// Segments as a recogniser might give them at its worst: words without length, backwards, over one
// another, longer than a line, of any script; segments without words, without text, without time.
std::vector<Segment> random_segments(std::mt19937& random) {
  const std::vector<std::string> vocabulary = {
      " I",
      " the",
      " harbour,",
      " yes.",
      " Donaudampfschifffahrtsgesellschaftskapitänsmütze",
      "-like",
      " Mr.",
      " 日本語",
      "。",
      "語",
      " ไทย",
      "!",
      " —",
      " 안녕하세요",
      " \"so\"",
      " न्द्र",
      " e\u0301a\u0301",
      " 👩‍💻",
      " a  b",
      " https://example.org/a/very/long/address/indeed/of/a/page"};
  const auto below = [&random](int most) {
    return std::uniform_int_distribution<int>(0, most - 1)(random);
  };
  std::vector<Segment> segments;
  double now_s = 0;
  for (int i = below(12); i >= 0; --i) {
    Segment segment{.start_s = now_s, .end_s = now_s, .text = ""};
    const bool backwards = below(10) == 0;
    const bool timed = below(4) > 0;
    const double word_s = below(3) == 0 ? 0 : 0.05 * below(20);
    for (int words = below(40); words > 0; --words) {
      const std::string& text =
          vocabulary[static_cast<size_t>(below(static_cast<int>(vocabulary.size())))];
      segment.text += text;
      const double start_s = std::max(0.0, segment.end_s - (backwards ? 0.5 : 0));
      if (timed) {
        segment.words.push_back(word(text, start_s, start_s + word_s));
      }
      segment.end_s += word_s + (below(15) == 0 ? 0.3 * below(20) : 0);
    }
    if (below(8) == 0) {
      segment.speaker = std::to_string(below(2));
    }
    now_s = segment.end_s + (below(3) == 0 ? 0.2 * below(30) : 0);
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(ReadableCues, KeepTheirPromisesWhateverTheRecogniserSays) {
  std::mt19937 random(7);
  size_t cue_count = 0;
  for (size_t round = 0; round < test::much(400); ++round) {
    const std::vector<Segment> segments = random_segments(random);
    std::string said;
    for (const Segment& segment : segments) {
      said += segment.text;
    }
    for (const bool highlight : {false, true}) {
      WriterOptions options = readable();
      options.highlight_words = highlight;
      const std::vector<Cue> cues = cues_of(segments, options);
      std::string shown;
      int64_t last_ms = 0;
      for (const Cue& cue : cues) {
        const int64_t start_ms = to_milliseconds(cue.start_s);
        const int64_t end_ms = to_milliseconds(cue.end_s);
        ASSERT_GE(start_ms, last_ms) << round;
        ASSERT_GT(end_ms, start_ms) << round << cue.text;
        ASSERT_LE(end_ms - start_ms, 7000) << round;
        last_ms = end_ms;
        const std::string text = std::regex_replace(cue.text, std::regex("</?u>"), "");
        const auto lines = lines_of(text);
        ASSERT_LE(lines.size(), 2U) << round << text;
        for (const std::string& line : lines) {
          ASSERT_LE(column_count(line), 42U) << round << line;
          ASSERT_EQ(line, one_line(line)) << round;
        }
        shown += highlight ? "" : text;
      }
      if (!highlight) {
        ASSERT_EQ(without_spaces(shown), without_spaces(said)) << round;
        cue_count += cues.size();
      }
    }
  }
  EXPECT_GT(cue_count, test::much(2000));
}

// Where speech is as fast as people speak, every cue can be read.
TEST(ReadableCues, OfOrdinarySpeechAreNeitherTooShortNorTooFast) {
  std::mt19937 random(11);
  const std::vector<std::string> vocabulary = {" I",      " the",  " harbour,", " yes.", " people",
                                               " island", " when", " storm.",   " no?",  " of"};
  for (int round = 0; round < 100; ++round) {
    std::vector<Segment> segments;
    double now_s = 0.5;
    for (int i = 0; i < 10; ++i) {
      std::string text;
      size_t columns = 0;
      for (auto words = random() % 25 + 1; words > 0; --words) {
        text += vocabulary[random() % vocabulary.size()];
      }
      columns = text.size();
      segments.push_back(spoken(text, now_s, 0));
      // 15 characters a second, word by word.
      double at_s = now_s;
      for (Word& one : segments.back().words) {
        one.start_s = at_s;
        at_s += static_cast<double>(one.text.size()) / 15;
        one.end_s = at_s;
      }
      segments.back().end_s = at_s;
      now_s += static_cast<double>(columns) / 15 + (random() % 3 == 0 ? 1.0 : 0.0);
    }
    const auto cues = cues_of(segments);
    for (const Cue& cue : cues) {
      const double length_s = cue.end_s - cue.start_s;
      ASSERT_GE(length_s, 0.699) << round << cue.text;
      ASSERT_LE(static_cast<double>(column_count(cue.text)) / length_s, 21.01) << round << cue.text;
    }
  }
}

}  // namespace
}  // namespace mynah
