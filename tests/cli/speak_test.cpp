// `mynah speak`, `voices` and `phonemes` as a user meets them, with the built-in voices and with
// one that hums.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../text/documents/zip_file.h"
#include "base/process.h"
#include "speak_fixture.h"
#include "test_paths.h"

namespace mynah::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string read(const std::string& path) {
  return test::read_file(path);
}

TEST_F(SpeakVerb, WritesAFileAndSaysThatABetterVoiceCanBePulled) {
  const std::string wav = folder_ / "a.wav";
  EXPECT_EQ(speak({"Hello there, this is a test.", "--out", wav}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("'mynah pull kokoro' brings better ones"));
  EXPECT_THAT(err(), HasSubstr(wav));
  EXPECT_GT(seconds_of(wav), 1.0);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(SpeakVerb, JoinsWordsOfTheCommandLine) {
  EXPECT_EQ(speak({"one", "two", "-m", "hum", "-o", folder_ / "a.wav"}), 0);
  EXPECT_THAT(said_, testing::ElementsAre("one two"));
}

TEST_F(SpeakVerb, StreamsAWavToAPipe) {
  EXPECT_EQ(speak({"one two.", "-m", "hum"}), 0);
  EXPECT_TRUE(out().starts_with("RIFF\xFF\xFF\xFF\xFF"));
  EXPECT_EQ((out().size() - 44) % 2, 0U);
  EXPECT_GT(out().size(), 44U + 2 * 400U);
}

TEST_F(SpeakVerb, TellsTheFormatByTheNameOrByTheOption) {
  EXPECT_EQ(speak({"one.", "-m", "hum", "-o", folder_ / "a.flac"}), 0);
  EXPECT_TRUE(read(folder_ / "a.flac").starts_with("fLaC"));
  EXPECT_EQ(speak({"one.", "-m", "hum", "-o", folder_ / "b", "--format", "opus"}), 0);
  EXPECT_TRUE(read(folder_ / "b").starts_with("OggS"));
  EXPECT_EQ(speak({"one.", "-m", "hum", "-o", folder_ / "c.txt"}), 2);
  EXPECT_THAT(err(), HasSubstr("cannot tell the format from the name"));
  EXPECT_EQ(speak({"one.", "-m", "hum", "-o", folder_ / "c", "--format", "wave"}), 2);
  EXPECT_THAT(err(), HasSubstr("found 'wave' (did you mean wav?)"));
  EXPECT_EQ(speak({"one.", "-m", "hum", "-o", folder_ / "c.opus", "--rate", "44100"}), 2);
  EXPECT_THAT(err(), HasSubstr("opus has no rate of 44100 Hz"));
}

TEST_F(SpeakVerb, WritesCaptionsBesideTheSound) {
  EXPECT_EQ(speak({"One two. Three.", "-m", "hum", "-o", folder_ / "a.wav", "--srt",
                   folder_ / "a.srt", "--vtt", folder_ / "a.vtt"}),
            0);
  EXPECT_THAT(read(folder_ / "a.srt"), HasSubstr("1\n00:00:00,"));
  EXPECT_THAT(read(folder_ / "a.srt"), HasSubstr("\nOne two. Three.\n"));  // they flicker apart
  EXPECT_THAT(read(folder_ / "a.vtt"), HasSubstr("WEBVTT"));
}

TEST_F(SpeakVerb, BreaksLongCaptionsIntoCuesOfTwoLines) {
  std::string text = "It";
  for (int i = 0; i < 40; ++i) {
    text += " goes on";
  }
  std::ofstream(folder_ / "book.txt") << text << ".";
  for (const std::string& what : {text + ".", folder_ / "book.txt"}) {
    EXPECT_EQ(speak({what, "-m", "hum", "-o", folder_ / "a.wav", "--srt", folder_ / "a.srt"}), 0);
    std::istringstream srt(read(folder_ / "a.srt"));
    int cues = 0;
    int lines_of_cue = 0;
    for (std::string line; std::getline(srt, line);) {
      lines_of_cue = line.empty() || line.find("-->") != std::string::npos ? 0 : lines_of_cue + 1;
      cues += line.find("-->") != std::string::npos ? 1 : 0;
      EXPECT_LE(lines_of_cue, 2);
      EXPECT_LE(line.size(), 43U) << line;
    }
    EXPECT_GE(cues, 4);
  }
}

TEST_F(SpeakVerb, PrintsWordsAndPhonemesAsJson) {
  EXPECT_EQ(speak({"One two. Three.", "-m", "hum", "-o", folder_ / "a.wav", "--json"}), 0);
  const auto objects = lines();
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0]["words"][1]["word"], "two.");
  EXPECT_EQ(objects[0]["words"][1]["phonemes"][0]["phoneme"], "t");
  EXPECT_EQ(objects[2]["voice"], "hum");
  EXPECT_NEAR(objects[2]["duration"].get<double>(), seconds_of(folder_ / "a.wav"), 0.01);
  EXPECT_EQ(speak({"One.", "-m", "hum", "--json", "-o", "-"}), 2);
  EXPECT_THAT(err(), HasSubstr("both want standard output"));
}

TEST_F(SpeakVerb, PlaysWithAProgramThatReadsAWav) {
  const std::string player = folder_ / "player";
  std::ofstream(player) << "#!/bin/sh\ncat > " << (folder_ / "played.wav") << "\n";
  ::chmod(player.c_str(), 0755);
  EXPECT_EQ(speak({"one two.", "-m", "hum", "--play", "--player", player}), 0) << err();
  EXPECT_TRUE(read(folder_ / "played.wav").starts_with("RIFF"));
  std::ofstream(player) << "#!/bin/sh\nexit 1\n";
  EXPECT_EQ(speak({"one two.", "-m", "hum", "--play", "--player", player}), 3);
  EXPECT_THAT(err(), HasSubstr("did not play"));
}

TEST_F(SpeakVerb, RefusesWhatItCannotDo) {
  const std::string wav = folder_ / "a.wav";
  EXPECT_EQ(speak({}), 2);
  EXPECT_THAT(err(), HasSubstr("wanted something to say"));
  EXPECT_EQ(speak({"a", "--file", "b", "-o", wav}), 2);
  EXPECT_EQ(speak({"a", "-m", "hum", "-o", wav, "--speed", "-1"}), 2);
  EXPECT_THAT(err(), HasSubstr("speed: wanted 0.25 to 4, found -1"));
  EXPECT_EQ(speak({"a", "-m", "hum", "-o", wav, "--voice", "him"}), 2);
  EXPECT_EQ(speak({"a", "-m", "builtin", "-o", wav, "--voice", "slr"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean slt?"));
  EXPECT_EQ(speak({"a", "-m", "builtin", "-o", wav, "--lang", "fr"}), 1);
  EXPECT_THAT(err(), HasSubstr("the built-in voices speak English"));
  EXPECT_EQ(speak({"a", "-m", "hum", "-o", "/proc/nowhere/a.wav"}), 1);
  EXPECT_THAT(err(), HasSubstr("making the folder /proc/nowhere"));
  EXPECT_EQ(speak({"a", "-m", "hum", "-o", "/proc/a.wav"}), 1);
  EXPECT_THAT(err(), HasSubstr("cannot create /proc/a.wav"));
  EXPECT_EQ(speak({"-m", "hum", "--file", "/nowhere/a", "-o", wav}), 1);
  EXPECT_FALSE(std::filesystem::exists(wav));
}

TEST_F(SpeakVerb, MakesTheFoldersOfItsFiles) {
  const std::filesystem::path made = folder_ / "made";
  EXPECT_EQ(
      speak({"one two.", "-m", "hum", "-o", made / "a" / "a.wav", "--srt", made / "b" / "a.srt"}),
      0)
      << err();
  EXPECT_TRUE(read(made / "a" / "a.wav").starts_with("RIFF"));
  EXPECT_THAT(read(made / "b" / "a.srt"), HasSubstr("one two."));
}

TEST_F(SpeakVerb, OfNothingToSayMakesAnEmptyFileAndSaysSo) {
  EXPECT_EQ(speak({"...", "-m", "hum", "-o", folder_ / "a.wav"}), 1);
  EXPECT_THAT(err(), HasSubstr("nothing in it can be spoken"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.wav"));
}

TEST_F(SpeakVerb, SpeaksADocumentChapterByChapter) {
  std::ofstream(folder_ / "book.txt") << "Chapter 1\n\nOne two.\n\nChapter 2: Two/Three\n\nFour.\n";
  EXPECT_EQ(speak({folder_ / "book.txt", "-m", "hum", "-o", folder_ / "book.flac", "--srt",
                   folder_ / "book.srt"}),
            0)
      << err();
  EXPECT_THAT(err(), HasSubstr("2 chapters"));
  EXPECT_GT(seconds_of(folder_ / "book.flac"), 2.4);
  EXPECT_THAT(read(folder_ / "book.srt"), HasSubstr("Four."));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "book.flac.parts"));
  EXPECT_EQ(speak({folder_ / "book.txt", "-m", "hum", "-o", folder_ / "dir/", "--format", "wav"}),
            0)
      << err();
  EXPECT_TRUE(folder_.has("dir/01 Chapter 1.wav"));
  EXPECT_TRUE(folder_.has("dir/02 Chapter 2_ Two_Three.wav"));
}

TEST_F(SpeakVerb, TellsOfPagesThatABookLacks) {
  test::write_zip(
      folder_ / "a.epub",
      {{"META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"},
       {"b.opf",
        "<package><manifest><item id='a' href='a.xhtml'/><item id='b' href='b.xhtml'/>"
        "</manifest><spine><itemref idref='a'/><itemref idref='b'/></spine></package>"},
       {"a.xhtml", "<p>One two.</p>"}});
  for (const std::string& out : {folder_ / "a.wav", std::string("-")}) {
    EXPECT_EQ(speak({folder_ / "a.epub", "-m", "hum", "-o", out}), 0) << err();
    EXPECT_THAT(err(), HasSubstr("a.epub: page 'b.xhtml' of the book is missing"));
  }
  EXPECT_EQ(speak({folder_ / "a.epub", "-m", "hum", "-o", folder_ / "a.wav"}), 0);
  EXPECT_THAT(err(), HasSubstr("with warnings, see above"));
  EXPECT_EQ(speak({folder_ / "a.epub", "-m", "hum", "-o", folder_ / "a.wav", "--json"}), 0);
  EXPECT_THAT(lines().back()["warnings"].dump(), HasSubstr("b.xhtml"));
}

TEST_F(SpeakVerb, GoesOnWithABookThatWasStopped) {
  std::ofstream(folder_ / "book.txt") << "One two. Three four. Five six.";

  EXPECT_EQ(speak_until("Three", {folder_ / "book.txt", "-m", "hum", "-o", folder_ / "book.wav"}),
            130);
  EXPECT_THAT(err(), HasSubstr("the same command goes on from there"));
  EXPECT_FALSE(folder_.has("book.wav"));
  said_.clear();
  EXPECT_EQ(speak({folder_ / "book.txt", "-m", "hum", "-o", folder_ / "book.wav"}), 0);
  EXPECT_THAT(said_, testing::ElementsAre("Five six."));
  EXPECT_THAT(err(), HasSubstr("going on after"));
  EXPECT_GT(seconds_of(folder_ / "book.wav"), 0.7);
}

TEST_F(SpeakVerb, SaysThatABookIsBegunAnew) {
  std::ofstream(folder_ / "book.txt") << "One two. Three four. Five six.";
  EXPECT_EQ(speak_until("Three", {folder_ / "book.txt", "-m", "hum", "-o", folder_ / "book.wav"}),
            130);
  EXPECT_THAT(err(), testing::Not(HasSubstr("begun anew")));
  EXPECT_EQ(speak({folder_ / "book.txt", "-m", "hum", "-o", folder_ / "book.wav", "--speed", "2"}),
            0);
  EXPECT_THAT(err(), HasSubstr("begun anew"));
}

TEST_F(SpeakVerb, FollowsTheLanguageThatADocumentNames) {
  const auto say = [this](const std::string& language, std::vector<std::string> more) {
    std::ofstream(folder_ / "a.html")
        << "<html lang='" << language << "'><body><p>On 3/4/2024.</p></body></html>";
    more.insert(more.end(), {folder_ / "a.html", "-m", "hum", "-o", folder_ / "a.wav"});
    said_.clear();
    EXPECT_EQ(speak(more), 0) << err();
    return fmt::format("{}", fmt::join(said_, "|"));
  };
  EXPECT_THAT(say("en", {}), HasSubstr("March fourth"));
  EXPECT_THAT(say("en-GB", {}), HasSubstr("third of April"));
  EXPECT_THAT(say("en-GB", {"--lang", "en-US"}), HasSubstr("March fourth"));
  EXPECT_THAT(say("und", {}), HasSubstr("March fourth"));
  EXPECT_THAT(err(), testing::Not(HasSubstr("as it says")));
  EXPECT_THAT(say("fr-FR", {}), HasSubstr("March fourth"));
  EXPECT_THAT(err(), HasSubstr("the text is in 'fr-FR', as it says"));
}

TEST_F(SpeakVerb, WritesAFileForEachLine) {
  std::ofstream(folder_ / "lines") << "One.\n\nTwo two.\n";
  EXPECT_EQ(speak({"-m", "hum", "-f", folder_ / "lines", "--output-dir", folder_ / "out"}), 0)
      << err();
  EXPECT_EQ(out(), (folder_ / "out/0001.wav") + "\n" + (folder_ / "out/0003.wav") + "\n");
  EXPECT_THAT(said_, testing::ElementsAre("One.", "Two two."));
  EXPECT_EQ(speak({"a", "-m", "hum", "-o", "b.wav", "--output-dir", "c"}), 2);
}

TEST_F(SpeakVerb, TakesLinesOfJson) {
  std::ofstream(folder_ / "lines") << R"({"text": "One.", "output_file": "a.flac"})" << "\n"
                                   << R"({"text": "Two.", "speaker": "him"})" << "\n"
                                   << "no json\n"
                                   << R"({"text": "Three.", "speed": 2})";
  EXPECT_EQ(speak({"-m", "hum", "-f", folder_ / "lines", "--json-input", "--output-dir",
                   folder_ / "out", "--json"}),
            1);
  EXPECT_TRUE(read(folder_ / "out/a.flac").starts_with("fLaC"));
  EXPECT_THAT(err(), HasSubstr("line 2: fake has no voice 'him'"));
  EXPECT_THAT(err(), HasSubstr("line 3: wanted a JSON object"));
  EXPECT_TRUE(folder_.has("out/0004.wav"));
  EXPECT_EQ(lines().size(), 4U);
}

TEST_F(SpeakVerb, VoicesAreListedAndHeard) {
  EXPECT_EQ(run({"voices"}), 0);
  EXPECT_THAT(out(), HasSubstr("slt"));
  EXPECT_EQ(run({"voices", "--lang", "fr"}), 1);
  EXPECT_EQ(run({"voices", "slt", "--model", "builtin", "--out", folder_ / "samples"}), 0) << err();
  EXPECT_GT(seconds_of(folder_ / "samples/slt.wav"), 1.0);
  // A voice is found in the model that has it.
  EXPECT_EQ(run({"voices", "rms", "--out", folder_ / "samples"}), 0) << err();
  EXPECT_EQ(speak({"Hello.", "--voice", "rms", "--out", folder_ / "rms.wav", "--json"}), 0);
  EXPECT_EQ(lines().back()["voice"], "rms");
  EXPECT_EQ(run({"voices", "slt"}), 2);
  EXPECT_EQ(run({"voices", "--json"}), 0);
  EXPECT_EQ(lines().front()["voice"], "slt");
}

TEST_F(SpeakVerb, SsmlIsKnownByItsBeginAndByTheFilesName) {
  const std::string document =
      "<?xml version='1.0'?><!-- a -->\n<!DOCTYPE speak SYSTEM 'a.dtd'>"
      "<speak>One <break/>two.</speak>";
  std::ofstream(folder_ / "a.txt") << document;
  std::ofstream(folder_ / "a.ssml") << document;
  std::ofstream(folder_ / "b.SSML") << "no SSML";
  const std::string wav = folder_ / "a.wav";
  for (const auto& input : std::vector<std::vector<std::string>>{
           {document}, {folder_ / "a.txt"}, {"-f", folder_ / "a.txt"}, {folder_ / "a.ssml"}}) {
    said_.clear();
    std::vector<std::string> arguments = input;
    arguments.insert(arguments.end(), {"-m", "hum", "-o", wav});
    EXPECT_EQ(speak(arguments), 0) << err();
    EXPECT_THAT(said_, testing::ElementsAre("One", "two."));
  }
  EXPECT_EQ(speak({folder_ / "b.SSML", "-m", "hum", "-o", wav}), 1);
  EXPECT_THAT(err(), HasSubstr("put the text into <speak>"));
}

TEST_F(SpeakVerb, PhonemesFollowMarksAsSpeakDoes) {
  const std::filesystem::path home = folder_ / "home/models/english-phonemes";
  std::filesystem::create_directories(home);
  std::filesystem::copy(test::source_path("tests/text/data/small_english"), home);
  const std::string digest(64, '0');
  std::ofstream(home / "source.json")
      << R"({"name": "english-phonemes", "family": "english-phonemes", "storage": "files",)"
      << R"( "licence": "CC0-1.0", "source": "a test", "created": "2026-01-01T00:00:00Z",)"
      << R"( "file": {"name": "", "sha256": ")" << digest << R"(", "size": 1},)"
      << R"( "set": [{"name": "tagger.json", "sha256": ")" << digest << R"(", "size": 1}]})";
  std::ofstream(folder_ / "a.md")
      << "# The cat\n\n[dog](/h\u02C8u/) and [rate:2] cat.[^1]\n\n[^1]: no\n";
  std::ofstream(folder_ / "a")
      << "<?xml version='1.0'?><speak>the <phoneme ph='h\u02C8u'>dog</phoneme></speak>";
  std::ofstream(folder_ / "words") << "cat\th\u02C8u\n";
  EXPECT_EQ(run({"phonemes", "the cat", "--lexicon", folder_ / "words"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("h\u02C8u"));
  EXPECT_EQ(run({"phonemes", "the [dog](/h\u02C8u/) [pause:1s] and [rate:2] cat"}), 0) << err();
  EXPECT_EQ(out(), "\u00F0\u0259 h\u02C8u \u00E6nd k\u02C8\u00E6t\n");
  EXPECT_EQ(run({"phonemes", "-f", folder_ / "a.md"}), 0) << err();
  EXPECT_EQ(out(), "\u00F0\u0259 k\u02C8\u00E6t\nh\u02C8u \u00E6nd k\u02C8\u00E6t.\n");
  EXPECT_EQ(run({"phonemes", "-f", folder_ / "a", "--json"}), 0) << err();
  EXPECT_EQ(lines().at(0)["phonemes"], "\u00F0\u0259 h\u02C8u");
  EXPECT_EQ(lines()[0]["words"][1]["begin"], 51);
  EXPECT_EQ(run({"phonemes", "--markup", "html", "<p>the <b>cat</b></p>"}), 0) << err();
  EXPECT_EQ(out(), "\u00F0\u0259 k\u02C8\u00E6t\n");
  EXPECT_EQ(run({"phonemes", "\u4F60 cat"}), 0);
  EXPECT_THAT(err(), HasSubstr("1 character of Han was left out"));
  EXPECT_EQ(run({"phonemes", "<speak>a"}), 1);
  EXPECT_THAT(err(), HasSubstr("SSML line 1"));
}

TEST_F(SpeakVerb, PhonemesReadADocumentInItsOwnLanguage) {
  if (!find_program("espeak-ng")) {
    GTEST_SKIP() << "not here: espeak-ng (apt install espeak-ng)";
  }
  std::ofstream(folder_ / "a.html")
      << "<html lang='de'><body><p>Am 3. Oktober kam Dr. Klein.</p></body></html>";
  EXPECT_EQ(run({"phonemes", "-f", folder_ / "a.html"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("d\u027E\u02C8\u026At\u0259n"));
  EXPECT_EQ(std::ranges::count(out(), '\n'), 1);
}

TEST_F(SpeakVerb, PhonemesSayWhatIsMissing) {
  EXPECT_EQ(run({"phonemes", "Hello"}), 3);
  EXPECT_THAT(err(), HasSubstr("mynah pull english-phonemes"));
  EXPECT_EQ(run({"phonemes", "Annyeong", "--lang", "ko"}), 1);
  EXPECT_THAT(err(), HasSubstr("a dictionary that mynah does not have yet"));
  EXPECT_EQ(run({"phonemes"}), 2);
}

}  // namespace
}  // namespace mynah::cli
