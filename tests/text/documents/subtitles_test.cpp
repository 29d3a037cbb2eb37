// Subtitles as text: what is said of them, when, and what is refused.
#include "text/documents/subtitles.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_paths.h"

namespace mynah {
namespace {

using namespace std::string_literals;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "1.5-2 Text" of each cue, with "/" for line breaks.
std::vector<std::string> cues_of(std::string_view text) {
  const auto subtitles = read_subtitles(text);
  if (!subtitles) {
    return {subtitles.error().message};
  }
  std::vector<std::string> cues;
  for (const SubtitleCue& cue : subtitles->cues) {
    std::string said = cue.text;
    std::ranges::replace(said, '\n', '/');
    cues.push_back(fmt::format("{}-{} {}", cue.start_s, cue.end_s, said));
  }
  return cues;
}

std::string said_of(std::string_view text) {
  const auto subtitles = read_subtitles(text);
  const Document document = subtitles ? document_of(*subtitles) : Document{};
  return document.chapters.empty() ? "" : document.chapters[0].text;
}

TEST(Subtitles, OfSubRipAreReadWithTheirTimes) {
  EXPECT_THAT(cues_of("1\n00:00:01,000 --> 00:00:04,000\nHello there.\n\n2\n00:01:05,250 --> "
                      "01:00:07,5\nWho\nis it?\n"),
              ElementsAre("1-4 Hello there.", "65.25-3607.5 Who/is it?"));
}

TEST(Subtitles, AreReadHoweverTheyAreWritten) {
  // A mark of the order of bytes, line ends of Windows and of old Macs, points for commas, places
  // behind the times, no numbers, no blank lines, too many, a short arrow.
  EXPECT_THAT(cues_of("\xEF\xBB\xBF"
                      "1\r\n0:00:01.000 --> 0:00:02.000 X1:10 X2:20\r\nA.\r\n\r\n\r\n2\r\n"
                      "00:00:03,000-->00:00:04,000\r\nB.\r\n"),
              ElementsAre("1-2 A.", "3-4 B."));
  EXPECT_THAT(
      cues_of("1\r00:00:01,000 --> 00:00:02,000\rA.\r\r2\r00:00:03,000 -> 00:00:04,000\rB."),
      ElementsAre("1-2 A.", "3-4 B."));
  EXPECT_THAT(
      cues_of("00:00:01,000 --> 00:00:02,000\nA.\n2\n00:00:03,000 --> 00:00:04,000\nB.\n\nC.\n"),
      ElementsAre("1-2 A.", "3-4 B./C."));
  EXPECT_THAT(cues_of("1\n00:00:01,000 --> 00:00:02,000\n1984\n\n2\n00:00:03,000 --> "
                      "00:00:04,000\nAt 12:30, B.\n"),
              ElementsAre("1-2 1984", "3-4 At 12:30, B."));
}

TEST(Subtitles, TagsAndNotesOfMusicAreNotSaid) {
  EXPECT_THAT(
      cues_of(
          "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>Who</i> <font color=\"#fff\">is</font> "
          "<b>it</b>?\\NAnn &amp; I < 3 {sic}\n\n2\n00:00:03,000 --> 00:00:04,000\n\u266A La la "
          "\u266A\n\n3\n00:00:05,000 --> 00:00:06,000\n# La la #\n\n4\n00:00:07,000 --> "
          "00:00:08,000\n<i></i>\u266A\n"),
      ElementsAre("1-2 Who is it? Ann & I < 3 {sic}", "3-4 La la", "5-6 La la"));
}

// One cue of these lines.
std::string cue_of(const std::string& lines, NoteReading how = NoteReading::Skip) {
  const auto subtitles = read_subtitles("00:00:01,000 --> 00:00:02,000\n" + lines, how);
  return !subtitles || subtitles->cues.empty() ? "" : subtitles->cues.front().text;
}

TEST(Subtitles, SoundsAndNamesOfSpeakersAreNotSaid) {
  EXPECT_EQ(cue_of("[door slams]\nJOHN: Who is there?"), "Who is there?");
  EXPECT_EQ(cue_of("- (LAUGHS) It's me.\n- MRS. SMITH: (whispering) Come in."),
            "It's me.\nCome in.");
  EXPECT_EQ(cue_of("[MAN ON RADIO]: Stop [sighs] it.\nMcCOY: No."), "Stop it.\nNo.");
  EXPECT_EQ(cue_of(">> REPORTER: It rained.\n>> Anna: Did it?\n>>> It did."),
            "It rained.\nDid it?\nIt did.");
  EXPECT_EQ(cue_of("[ON RADIO] MAN: (sighs) No."), "No.");
  EXPECT_EQ(cue_of("[dramatic music\ncontinues]"), "");
  EXPECT_EQ(cue_of("*sighs*"), "");
  EXPECT_EQ(cue_of("\uFF08\u7B11\uFF09\u3010\u97F3\u697D\u3011\u306F\u3044"), "\u306F\u3044");
}

TEST(Subtitles, WhatIsSaidStaysThoughItLooksLikeADescription) {
  for (const std::string said :
       {"The price (in dollars) rose.", "(I should never have come.)", "WARNING: keep out.",
        "Remember: it is 10:30.", "A [bracket is open.", "It is 5 * 3 and 4 * 2.", "a >> b"}) {
    EXPECT_EQ(cue_of(said), said);
  }
  EXPECT_EQ(cue_of("[door slams]\nJOHN: No.", NoteReading::Inline), "[door slams]\nJOHN: No.");
}

TEST(Subtitles, OfWebVttAreReadWithoutWhatIsNoText) {
  EXPECT_THAT(
      cues_of(
          "WEBVTT - A film\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnot this\n\n"
          "REGION\nid:x\n\nintro\n00:01.000 --> 00:04.000 align:start position:10%\n<v Ann>Hello "
          "<c.yellow>there</c>.\n\n00:00:05.000 --> 00:00:06.000\n<00:00:05.200><c>Go"
          "</c>\n<ruby>\u6F22<rt>kan</rt></ruby>\n\na name alone\n\n00:07.000 --> "
          "00:08.000\n&lrm;Good&nbsp;bye.\n"),
      ElementsAre("1-4 Hello there.", "5-6 Go/\u6F22", "7-8 Good bye."));
}

TEST(Subtitles, SpeakersAreToldApart) {
  EXPECT_THAT(cues_of("1\n00:00:01,000 --> 00:00:02,000\n- Who is it?\n- Me\n\u2014 You\n\n2\n"
                      "00:00:03,000 --> 00:00:04,000\n-5 degrees.\n"),
              ElementsAre("1-2 Who is it?/Me//You", "3-4 -5 degrees."));
}

TEST(Subtitles, RollingCaptionsAreSaidOnce) {
  EXPECT_THAT(
      cues_of("WEBVTT\n\n00:01.000 --> 00:03.000\n \nhello\n\n00:03.000 --> 00:03.010\nhello\n \n\n"
              "00:03.010 --> 00:05.000\nhello\nhow are you\n\n00:05.000 --> 00:05.010\nhow are "
              "you\n\n00:05.010 --> 00:07.000\nhow are you\nfine\n"),
      ElementsAre("1-3 hello", "3.01-5 how are you", "5.01-7 fine"));
  EXPECT_THAT(
      cues_of("1\n00:00:01,000 --> 00:00:02,000\nNo.\n\n2\n00:00:02,000 --> 00:00:03,000\nNo.\n"),
      ElementsAre("1-2 No.", "2-3 No."));
}

TEST(Subtitles, OutOfOrderAreSortedAndTold) {
  const auto subtitles = read_subtitles(
      "1\n00:00:05,000 --> 00:00:06,000\nB.\n\n2\n00:00:01,000 --> 00:00:02,000\nA.\n\n3\n"
      "00:00:07,000 --> 00:00:03,000\nC.\n");
  ASSERT_TRUE(subtitles);
  EXPECT_EQ(subtitles->cues[0].text, "A.");
  EXPECT_EQ(subtitles->cues[2].end_s, 7);
  EXPECT_THAT(subtitles->warnings,
              ElementsAre("line 10: the cue ends before it begins: it is read as one of no length",
                          "its cues stand out of order, the first at 0:00:01.000: they are read by "
                          "their times"));
}

TEST(Subtitles, OfOtherFormatsAreReadWithTheirTimes) {
  const auto read = [](std::string_view text) {
    std::string out;
    const auto subtitles = read_subtitles(text);
    for (const SubtitleCue& cue : subtitles ? subtitles->cues : std::vector<SubtitleCue>()) {
      std::string said = cue.text;
      std::ranges::replace(said, '\n', '/');
      out += cue_time(cue.start_s) + " " + cue_time(cue.end_s) + " " + said + "|";
    }
    return subtitles ? out : subtitles.error().message;
  };
  const std::string wanted =
      "0:00:01.500 0:00:03.000 Hello there,/old friend.|0:00:04.000 0:00:06.000 Come in.|";
  const std::string script =
      "[Script Info]\nTitle: x\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: "
      "A,Arial\n\n[Events]\n"
      "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
      "Comment: 0,0:00:00.00,0:00:01.00,A,,0,0,0,,Not this.\n"
      "Dialogue: 0,0:00:01.50,0:00:03.00,A,,0,0,0,,{\\an8\\i1}Hello there,\\Nold {no}friend.\n"
      "Dialogue: 1,0:00:01.50,0:00:03.00,A,,0,0,0,,{\\an8}Hello there,\\Nold friend.\n"
      "Dialogue: 0,0:00:02.00,0:00:03.00,A,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}\n"
      "Dialogue: 0,0:00:04.00,0:00:06.00,A,,0,0,0,,Come in.\n";
  EXPECT_EQ(read(script), wanted);
  EXPECT_EQ(
      read("<?xml version='1.0'?>\n<!-- x --><tt xmlns='http://www.w3.org/ns/ttml' "
           "xmlns:ttp='http://www.w3.org/ns/ttml#parameter' ttp:frameRate='25'><head><metadata>"
           "<title>Not this</title></metadata></head><body begin='1s'><div><p "
           "begin='500ms' end='00:00:02:00'>Hello there,<br/>old\n <span>friend</span>.</p><p "
           "begin='75f' dur='2s'>Come in.</p></div></body></tt>"),
      wanted);
  EXPECT_EQ(read("0:00:01.500,0:00:03.000\nHello there,\nold friend.\n\n"
                 "0:00:04.000,0:00:06.000\nCome in.\n"),
            wanted);
  EXPECT_EQ(read("[Script Info]\nTitle: x\n"), "wanted subtitles, found no text with times");
  for (size_t bytes = 1; bytes < script.size(); bytes += 5) {
    EXPECT_NE(look_for_subtitles(std::string_view(script).substr(0, bytes), false),
              SubtitleSign::No);
  }
  EXPECT_EQ(look_for_subtitles("<?x", false), SubtitleSign::NeedsMore);
  EXPECT_EQ(look_for_subtitles("<?xml version='1.0'?><speak>Hello.</speak>", false),
            SubtitleSign::No);
}

TEST(Subtitles, NamesWithWhereTheySpeakAreNotSaid) {
  const auto subtitles =
      read_subtitles("1\n00:00:01,000 --> 00:00:02,000\nMRS. SMITH (O.S.): Come in.\n");
  ASSERT_TRUE(subtitles);
  EXPECT_EQ(subtitles->cues.at(0).text, "Come in.");
}

TEST(Subtitles, ThatAreBrokenAreRefusedWithTheirLine) {
  const std::string good = "1\n00:00:01,000 --> 00:00:02,000\nA.\n\n2\n";
  EXPECT_THAT(cues_of(good + "00:00:0x,000 --> 00:00:04,000\nB.\n"),
              ElementsAre("line 6: wanted times such as 00:01:02,500 --> 00:01:04,000, found "
                          "'00:00:0x,000 --> 00:00:04,000'"));
  EXPECT_THAT(cues_of(good + "00:00:03,000 --> 00:0"),
              ElementsAre(HasSubstr("line 6: wanted times")));
  EXPECT_THAT(cues_of(good + "00:00:03,000\nB.\n"), ElementsAre(HasSubstr("line 6: wanted times")));
  EXPECT_THAT(cues_of("WEBVTT\n\n00:61.000 --> 00:62.000\nA\n"),
              ElementsAre(HasSubstr("line 3: wanted times")));
  EXPECT_THAT(
      cues_of("Once upon a time.\n"),
      ElementsAre("line 1: wanted the number of a cue or its times, found 'Once upon a time.'"));
  EXPECT_THAT(cues_of(""), ElementsAre(HasSubstr("found no line of times")));
  EXPECT_THAT(cues_of("1\n2\n3\n"), ElementsAre(HasSubstr("found no line of times")));
}

TEST(Subtitles, AreToldByTheirBegin) {
  EXPECT_EQ(look_for_subtitles("WEBVTT\n", false), SubtitleSign::Yes);
  EXPECT_EQ(look_for_subtitles("\xEF\xBB\xBFWEBVTT", true), SubtitleSign::Yes);
  EXPECT_EQ(look_for_subtitles("WEB", false), SubtitleSign::NeedsMore);
  EXPECT_EQ(look_for_subtitles("WEBVTTS", false), SubtitleSign::No);
  EXPECT_EQ(look_for_subtitles("1\r\n00:00:01,000 --> 00:00:02,000\r\n", false), SubtitleSign::Yes);
  EXPECT_EQ(look_for_subtitles("00:01.000 --> 00:02.000\n", false), SubtitleSign::Yes);
  EXPECT_EQ(look_for_subtitles("1\n00:00:01", false), SubtitleSign::NeedsMore);
  EXPECT_EQ(look_for_subtitles("1\n00:00:01", true), SubtitleSign::No);
  EXPECT_EQ(look_for_subtitles("1\n2\n", false), SubtitleSign::No);
  EXPECT_EQ(look_for_subtitles("Hello", false), SubtitleSign::No);
  EXPECT_EQ(look_for_subtitles("", false), SubtitleSign::NeedsMore);
  EXPECT_EQ(look_for_subtitles("", true), SubtitleSign::No);
}

TEST(Subtitles, AreOneTextWhoseSentencesGoOverCues) {
  EXPECT_EQ(said_of("1\n00:00:01,000 --> 00:00:02,000\nI went to\n\n2\n00:00:02,100 --> "
                    "00:00:03,000\nthe store.\n\n3\n00:00:10,000 --> 00:00:11,000\nIt was\n\n4\n"
                    "00:00:12,000 --> 00:00:13,000\nClosed\n"),
            "I went to\nthe store.\n\nIt was\n\nClosed");
}

TEST(Subtitles, OfAnyEncodingAreDocuments) {
  const TemporaryFolder folder;
  std::ofstream(folder / "old.srt", std::ios::binary)
      << "1\r\n00:00:01,000 --> 00:00:02,000\r\nIt\x92s a caf\xE9.\r\n";
  const auto old = read_document(folder / "old.srt");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->chapters[0].text, "It\u2019s a caf\u00E9.");
  EXPECT_THAT(old->warnings, ElementsAre(HasSubstr("windows-1252")));
  // By its content, whatever it is called.
  std::ofstream(folder / "film.txt") << "1\n00:00:01,000 --> 00:00:02,000\nHello.\n";
  EXPECT_EQ(read_document(folder / "film.txt")->chapters[0].text, "Hello.");
  std::ofstream(folder / "no.vtt") << "Once upon a time.";
  EXPECT_THAT(read_document(folder / "no.vtt").error().message,
              HasSubstr("no.vtt: line 1: wanted the number of a cue"));
  std::ofstream(folder / "empty.srt") << "1\n00:00:01,000 --> 00:00:02,000\n\n";
  EXPECT_THAT(read_document(folder / "empty.srt")->chapters, IsEmpty());
}

TEST(Subtitles, OfTheSharedCaseSayTheirText) {
  const std::string path = test::shared_path("cases/speak/27-srt-as-text/q.srt");
  MYNAH_SKIP_WITHOUT(path);
  EXPECT_EQ(read_document(path)->chapters[0].text, "Hello there.\nWho is it?");
}

}  // namespace
}  // namespace mynah
