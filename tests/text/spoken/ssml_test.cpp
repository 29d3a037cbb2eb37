#include "text/spoken/ssml.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/spoken/english_spoken.h"
#include "text/spoken/inline_marks.h"

namespace mynah {
namespace {

using testing::HasSubstr;

// A script in one line: parts in bars, what is not the default behind them.
std::string show(const SpeakScript& script) {
  std::string line;
  for (const SpeakPart& part : script.parts) {
    line += line.empty() ? "" : "|";
    line += part.kind == SpeakPart::Kind::Pause ? fmt::format("<{:g}s>", part.pause_s) : part.text;
    line += part.voice.empty() ? "" : " voice=" + part.voice;
    line += part.language.empty() ? "" : " lang=" + part.language;
    line += part.rate == 1.0 ? "" : fmt::format(" rate={:.3g}", part.rate);
    line += part.volume == 1.0 ? "" : fmt::format(" volume={:.3g}", part.volume);
  }
  return line;
}

std::string read_ssml(std::string_view document) {
  const auto script = parse_ssml(document);
  return script ? show(*script) : script.error().message;
}

// What is said for the text of all parts.
std::string said(std::string_view document) {
  const auto script = parse_ssml(document);
  std::string text;
  for (const SpeakPart& part : script ? script->parts : std::vector<SpeakPart>{}) {
    text += spoken_english(part.text, {}, part.marks).text;
  }
  return text;
}

TEST(InlineMarks, PhonemesPausesVoicesAndRates) {
  InlineMarks marks;
  const SpeakScript script = marks.read(
      "Say [tomato](/t\u0259m\u02c8\u0251t\u0259\u028a/) now.[pause:1.5s] [voice:af_sky]Hi "
      "[rate:1.5]there");
  EXPECT_EQ(show(script), "Say tomato now.|<1.5s>|Hi  voice=af_sky|there voice=af_sky rate=1.5");
  ASSERT_EQ(script.parts[0].marks.size(), 1U);
  EXPECT_EQ(script.parts[0].marks[0].begin, 4U);
  EXPECT_EQ(script.parts[0].marks[0].end, 10U);
  EXPECT_EQ(script.parts[0].marks[0].value, "t\u0259m\u02c8\u0251t\u0259\u028a");
  EXPECT_EQ(script.parts[0].source.source_of({4, 10}), (ByteRange{5, 11}));
  EXPECT_EQ(show(marks.read("More.[pause:300ms][rate:][voice:]End", 100)),
            "More. voice=af_sky rate=1.5|<0.3s> voice=af_sky rate=1.5|End");
  EXPECT_TRUE(script.warnings.empty());
}

TEST(InlineMarks, WhatIsNoMarkIsTextAndWhatIsAWrongOneIsLeftOut) {
  InlineMarks marks;
  EXPECT_EQ(show(marks.read("[a] [b](c) [d](/e \\[pause:1s] \\n [pause:2s")),
            "[a] [b](c) [d](/e [pause:1s] \\n [pause:2s");
  for (const std::string_view wrong :
       {"[pause:soon]", "[pause:-1s]", "[pause:61s]", "[rate:9]", "[rate:fast]", "[rate:1e3]"}) {
    const SpeakScript script = marks.read("a " + std::string(wrong) + "b");
    EXPECT_EQ(show(script), "a b") << wrong;
    ASSERT_EQ(script.warnings.size(), 1U) << wrong;
    EXPECT_THAT(script.warnings[0], HasSubstr(std::string(wrong)));
  }
}

TEST(Ssml, BreaksProsodyAndVoicesMakeParts) {
  EXPECT_EQ(read_ssml("<speak>One <break time=\"500ms\"/> two</speak>"), "One |<0.5s>|two");
  EXPECT_EQ(
      read_ssml("<speak><break/><break strength=\"none\"/><break strength=\"x-strong\"/></speak>"),
      "<0.75s>|<0s>|<1.25s>");
  EXPECT_EQ(read_ssml("<speak>a<prosody rate=\"150%\" volume=\"-6dB\">b<prosody rate=\"+20%\">c"
                      "</prosody></prosody>d</speak>"),
            "a|b rate=1.5 volume=0.501|c rate=1.8 volume=0.501|d");
  EXPECT_EQ(read_ssml("<speak><prosody rate=\"x-slow\" volume=\"silent\">a</prosody></speak>"),
            "a rate=0.5 volume=0");
  EXPECT_EQ(read_ssml("<speak xml:lang=\"en-US\"><voice name=\"af_sky\">a<lang xml:lang=\"fr\">b"
                      "</lang></voice> c</speak>"),
            "a voice=af_sky lang=en-US|b voice=af_sky lang=fr|c lang=en-US");
}

TEST(Ssml, ParagraphsAndSentencesEndParts) {
  const auto script = parse_ssml(
      "<?xml version=\"1.0\"?>\n<speak>\n <p>\n  <s>One</s>\n <s>Two</s></p> "
      "<p>Three</p>\n</speak>\n");
  ASSERT_TRUE(script);
  EXPECT_EQ(show(*script), "One|Two|Three");
  EXPECT_FALSE(script->parts[0].ends_paragraph);
  EXPECT_TRUE(script->parts[1].ends_paragraph);
  EXPECT_TRUE(script->parts[2].ends_paragraph);
}

TEST(Ssml, SayAsPhonemeAndSubMarkTheText) {
  EXPECT_EQ(said("<speak><say-as interpret-as=\"characters\">Ab-1</say-as></speak>"),
            "A B dash one");
  EXPECT_EQ(said("<speak>Code <say-as interpret-as=\"digits\">120</say-as>.</speak>"),
            "Code one two zero.");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"ordinal\">3</say-as></speak>"), "third");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"cardinal\">2024</say-as></speak>"),
            "two thousand twenty-four");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"date\" format=\"dmy\">1/2/2024</say-as></speak>"),
            "the first of February, twenty twenty-four");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"date\" format=\"mdy\">1/2/2024</say-as></speak>"),
            "January second, twenty twenty-four");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"date\">1/2/2024</say-as></speak>"),
            "January second, twenty twenty-four");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"time\">7:30pm</say-as></speak>"),
            "seven thirty P M");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"telephone\">+1 23-45</say-as></speak>"),
            "plus one, two three, four five");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"currency\">$5</say-as></speak>"), "five dollars");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"fraction\">1+1/2</say-as></speak>"),
            "one and a half");
  EXPECT_EQ(said("<speak><say-as interpret-as=\"unit\">5 km</say-as></speak>"), "five kilometers");
  EXPECT_EQ(said("<speak>Oh <say-as interpret-as=\"expletive\">darn</say-as>!</speak>"),
            "Oh beep!");
  EXPECT_EQ(said("<speak><sub alias=\"World Wide Web\">W3</sub> &amp; more</speak>"),
            "World Wide Web and more");
  const auto script =
      parse_ssml("<speak>a <phoneme alphabet=\"ipa\" ph=\"hu\">Who</phoneme></speak>");
  ASSERT_TRUE(script);
  const SpokenText spoken = spoken_english(script->parts[0].text, {}, script->parts[0].marks);
  EXPECT_EQ(spoken.pieces.back().phonemes, "hu");
}

// SSML 1.1, 1.2 step 3: tokens do not go across tags but inside of <token> and <w>.
TEST(Ssml, WordsEndAtTags) {
  EXPECT_EQ(
      read_ssml("<speak><emphasis>big</emphasis><audio src=\"x\">dog</audio><mark name=\"m\"/>ran."
                "<emphasis>Then</emphasis>it<emphasis>cost</emphasis>$5</speak>"),
      "big dog ran. Then it cost $5");
  EXPECT_EQ(said("<speak>the<sub alias=\"World Wide Web\">W3</sub>is<say-as "
                 "interpret-as=\"digits\">12</say-as>years<phoneme ph=\"x\">old</phoneme></speak>"),
            "the World Wide Web is one two years old");
  EXPECT_EQ(read_ssml("<speak>a<w>cup<emphasis>board</emphasis></w>b <token>un<mark "
                      "name=\"m\"/>do</token></speak>"),
            "a cupboard b undo");
  EXPECT_EQ(read_ssml("<speak>cup<!-- no tag -->board</speak>"), "cupboard");
}

TEST(Ssml, WhatTouchesAWordTouchesItBehindATagToo) {
  EXPECT_EQ(read_ssml("<speak>(<emphasis>big</emphasis>), \"<emphasis>so</emphasis>\" the "
                      "<emphasis>dog</emphasis>'s well-<emphasis>known</emphasis> "
                      "l'<emphasis>homme</emphasis>, 5<emphasis>%</emphasis>!</speak>"),
            "(big), \"so\" the dog's well-known l'homme, 5%!");
  EXPECT_EQ(said("<speak>the <sub alias=\"World Wide Web\">W3</sub>'s rules</speak>"),
            "the World Wide Web's rules");
  // Scripts without spaces: "Nanjing" and "city".
  EXPECT_EQ(read_ssml("<speak>\u5357\u4EAC<emphasis>\u5E02</emphasis></speak>"),
            "\u5357\u4EAC\u5E02");
}

TEST(Ssml, SourcesAreTheDocumentsBytes) {
  const std::string_view document = "<speak>a &amp; <s>Bob</s></speak>";
  const auto script = parse_ssml(document);
  ASSERT_TRUE(script);
  ASSERT_EQ(script->parts.size(), 2U);
  EXPECT_EQ(script->parts[0].source.source_of({2, 3}), (ByteRange{9, 14}));
  const ByteRange bob = script->parts[1].source.source_of({0, 3});
  EXPECT_EQ(document.substr(bob.begin, bob.end - bob.begin), "Bob");
  const std::string_view joined = "<speak>one<mark name=\"m\"/>two</speak>";
  const auto two = parse_ssml(joined);
  ASSERT_TRUE(two);
  ASSERT_EQ(two->parts[0].text, "one two");
  EXPECT_EQ(two->parts[0].source.source_of({0, 3}), (ByteRange{7, 10}));
  EXPECT_EQ(two->parts[0].source.source_of({4, 7}), (ByteRange{joined.find("two"), 29}));
}

TEST(Ssml, TheRestIsIgnoredWithAWarningEach) {
  const auto script = parse_ssml(
      "<speak><emphasis>a</emphasis><emphasis>b</emphasis><prosody pitch=\"+2st\" "
      "contour=\"x\">c</prosody>"
      "<audio src=\"x\">d<desc>not this</desc></audio><say-as interpret-as=\"song\">e</say-as>"
      "<phoneme alphabet=\"x-sampa\" ph=\"q\">f</phoneme><amazon:effect "
      "name=\"w\">g</amazon:effect>"
      "<prosody rate=\"9\">h</prosody><break time=\"90s\"/></speak>");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_EQ(show(*script), "a b c d e f g|h rate=4|<60s>");
  EXPECT_EQ(script->warnings.size(), 9U) << testing::PrintToString(script->warnings);
}

TEST(Ssml, MalformedIsAClearErrorWithItsPlace) {
  EXPECT_THAT(read_ssml("<speak>a <b>c</speak>"), HasSubstr("line 1, column"));
  EXPECT_THAT(read_ssml("<speak>a\n <s>c</speak>"),
              HasSubstr("SSML line 2, column 8: </s> was expected"));
  EXPECT_THAT(read_ssml("<speak>a & b</speak>"), HasSubstr("&amp;"));
  EXPECT_THAT(read_ssml("<speak>&nbsp;</speak>"), HasSubstr("XML knows only"));
  EXPECT_THAT(read_ssml("<speak>a"), HasSubstr("</speak>"));
  EXPECT_THAT(read_ssml("just text"), HasSubstr("put the text into <speak>"));
  EXPECT_THAT(read_ssml(""), HasSubstr("<speak>"));
  EXPECT_THAT(read_ssml("<html/>"), HasSubstr("the first element is <html>"));
  EXPECT_THAT(read_ssml("<speak/><speak/>"), HasSubstr("one <speak>"));
  EXPECT_THAT(read_ssml("<speak><sub>x</sub></speak>"), HasSubstr("<sub> has no alias"));
  EXPECT_THAT(read_ssml("<speak><phoneme>x</phoneme></speak>"), HasSubstr("has no ph"));
  EXPECT_THAT(read_ssml("<speak><say-as>x</say-as></speak>"), HasSubstr("has no interpret-as"));
  EXPECT_THAT(read_ssml("<speak><break time=\"soon\"/></speak>"), HasSubstr("write 1.5s or 300ms"));
  EXPECT_THAT(read_ssml("<speak><prosody rate=\"brisk\"/></speak>"), HasSubstr("is no rate"));
  EXPECT_THAT(read_ssml("<speak><prosody volume=\"101\"/></speak>"), HasSubstr("is no volume"));
  EXPECT_THAT(read_ssml("<speak>\xFF</speak>"), HasSubstr("UTF-8"));
}

TEST(Ssml, ADocumentTypeThatDeclaresNothingIsRead) {
  EXPECT_EQ(read_ssml("<?xml version=\"1.0\"?>\n<!DOCTYPE speak PUBLIC \"-//W3C//DTD SYNTHESIS "
                      "1.0//EN\" \"http://www.w3.org/TR/speech-synthesis/synthesis.dtd\">\n"
                      "<speak version=\"1.0\">Hello.</speak>"),
            "Hello.");
}

TEST(Ssml, BombsAreRefused) {
  EXPECT_THAT(
      read_ssml("<!DOCTYPE speak [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><speak>&b;</speak>"),
      HasSubstr("document type"));
  EXPECT_THAT(read_ssml("<!DOCTYPE speak SYSTEM \"a.dtd\"><speak>&b;</speak>"),
              HasSubstr("XML knows only"));
  std::string deep = "<speak>";
  for (int i = 0; i < 100000; ++i) {
    deep += "<s>";
  }
  EXPECT_THAT(read_ssml(deep), HasSubstr("more than 64 deep"));
}

TEST(Ssml, IsKnownByItsFirstElement) {
  EXPECT_TRUE(
      looks_like_ssml("\xEF\xBB\xBF <?xml version=\"1.0\"?><!-- a --> <speak version=\"1.1\">"));
  EXPECT_TRUE(looks_like_ssml("<speak>"));
  EXPECT_FALSE(looks_like_ssml("<speaker>"));
  EXPECT_FALSE(looks_like_ssml("speak <speak>"));
  EXPECT_FALSE(looks_like_ssml("<?xml"));
  EXPECT_FALSE(looks_like_ssml(""));
  EXPECT_TRUE(
      looks_like_ssml("<?xml version=\"1.0\"?>\n<!DOCTYPE speak PUBLIC \"-//W3C//DTD SYNTHESIS "
                      "1.0//EN\" \"a>b\" [<!ENTITY x \"y]\">]>\n<!-- <p> --><speak>"));
  EXPECT_FALSE(looks_like_ssml("<!DOCTYPE html><html>"));
  EXPECT_FALSE(looks_like_ssml("<!DOCTYPE speak"));
  // In pieces: what can still become one.
  const std::string_view document = "<?xml?><!-- a --><!DOCTYPE speak []> <speak>";
  for (size_t size = 1; size < document.size(); ++size) {
    EXPECT_EQ(look_for_ssml(document.substr(0, size), false), SsmlSign::NeedsMore) << size;
  }
  EXPECT_EQ(look_for_ssml(document, false), SsmlSign::Yes);
  EXPECT_EQ(look_for_ssml("H", false), SsmlSign::No);
  EXPECT_EQ(look_for_ssml("<p", false), SsmlSign::No);
}

}  // namespace
}  // namespace mynah
