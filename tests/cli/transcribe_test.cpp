// `mynah transcribe` as a user meets it, with a recogniser that hears what it is told.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Transcribe, PrintsPlainTextToAPipe) {
  const std::string wav = write_wav(folder / "a.wav", 2);
  EXPECT_EQ(run({wav}), 0);
  EXPECT_EQ(out(), "second 0\nsecond 1\n");
  EXPECT_EQ(err(), "");
}

TEST_F(Transcribe, QuietKeepsBackWhichVariablesArePassedOver) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  environment["MYNAH_FORMAT"] = "srt";
  EXPECT_EQ(run({wav}), 0);
  EXPECT_EQ(err(), "mynah: MYNAH_FORMAT is passed over: --format is said anew for each run\n");
  EXPECT_EQ(run({wav, "--quiet"}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(Transcribe, QuietKeepsBackThatNoModelWasPulled) {
  TestProgram real({verb<TranscribeCommand>("transcribe", "Turns recordings into text.")});
  real.environment["MYNAH_HOME"] = folder / "home";
  real.environment["XDG_CACHE_HOME"] = folder / "cache";
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(real.run({"transcribe", wav, "--offline", "--quiet"}), 0);
  EXPECT_EQ(real.err.text(), "");
  EXPECT_EQ(real.run({"transcribe", wav, "--offline"}), 0);
  EXPECT_THAT(real.err.text(), HasSubstr("no model was pulled"));
}

TEST_F(Transcribe, PrintsTimesToATerminal) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  terminal = true;
  EXPECT_EQ(run({wav, "--no-progress"}), 0);
  EXPECT_EQ(out(), "[00:00.000 --> 00:01.000] second 0\n");
}

TEST_F(Transcribe, LinesOfNoWidthAreRefused) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "--format", "srt", "--max-line-width", "0"}), 2);
  EXPECT_THAT(err(), HasSubstr("--max-line-width: wanted 1 to 1000000, found 0"));
  EXPECT_EQ(run({wav, "--format", "srt", "--max-line-count", "-1"}), 2);
  EXPECT_EQ(run({wav, "--format", "srt", "--max-line-count", "2", "--cues", "raw"}), 0);
  EXPECT_THAT(err(), HasSubstr("--max-line-count does nothing to raw cues without --max-line-wid"));
  EXPECT_EQ(run({wav, "--format=srt", "--max_line_width", "None", "--max_line_count=None"}), 0);
}

TEST_F(Transcribe, ReadsAPartAndTellsItsTimesInTheWhole) {
  const std::string wav = write_wav(folder / "a.wav", 5);
  EXPECT_EQ(run({"-f", wav, "-ot", "2000", "-d", "1000"}), 0) << err();
  EXPECT_EQ(out(), "[00:00:02.000 --> 00:00:03.000]   second 0\n");
}

TEST_F(Transcribe, SaysThatAClipBeginsAfterTheEnd) {
  const std::string wav = write_wav(folder / "a.wav", 2);
  EXPECT_EQ(run({wav, "--clip", "5-8,2-"}), 1);
  EXPECT_EQ(err(),
            "mynah: " + wav + ": ends after 2.000 s, before the clips that begin at 5 s, 2 s\n");
  EXPECT_EQ(run({wav, "--clip", "1-,5-8"}), 0);
  EXPECT_EQ(err(), "mynah: " + wav + ": ends after 2.000 s, before the clip that begins at 5 s\n");
  EXPECT_EQ(run({wav, "--clip", "1-"}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(Transcribe, NamesTheLouderChannel) {
  const std::string wav = write_wav(folder / "a.wav", 1, 2, 1);
  EXPECT_EQ(run({"-f", wav, "-di", "-oj"}), 0) << err();
  EXPECT_EQ(out(), "[00:00:00.000 --> 00:00:01.000]  (speaker 1) second 0\n");
  EXPECT_EQ(Json::parse(folder.read("a.wav.json"))["transcription"][0]["speaker"], "1");
}

TEST_F(Transcribe, SaysWhySpeakersHaveNoNames) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "--stereo-speakers"}), 0);
  EXPECT_THAT(err(), HasSubstr("speakers are not named: that takes a channel for each"));
  EXPECT_EQ(out(), "second 0\n");
}

TEST_F(Transcribe, PrintsJsonLinesInTheOrderGiven) {
  const std::string b = write_wav(folder / "b.wav", 2);
  const std::string a = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({"--json", b, folder / "missing.wav", a}), 1);
  std::istringstream lines(out());
  std::vector<Json> objects;
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(Json::parse(line));
  }
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0]["file"], b);
  EXPECT_EQ(objects[0]["text"], "second 0 second 1");
  EXPECT_EQ(objects[0]["timings"][0]["stage"], "stt.encoder");
  EXPECT_EQ(objects[1]["file"], folder / "missing.wav");
  EXPECT_EQ(objects[1]["error"]["code"], "not_found");
  EXPECT_EQ(objects[2]["file"], a);
}

TEST_F(Transcribe, GoesOnAfterABadRecordingAndSaysWhichFailed) {
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string c = write_wav(folder / "c.wav", 1);
  std::ofstream(folder / "b.wav") << "this is no recording";
  EXPECT_EQ(run({a, folder / "b.wav", c, "-o", folder / "out", "--format", "txt,vtt"}), 1);
  EXPECT_TRUE(folder.has("out/a.txt"));
  EXPECT_TRUE(folder.has("out/c.vtt"));
  EXPECT_FALSE(folder.has("out/b.txt"));
  EXPECT_THAT(err(), HasSubstr("1 of 3 recordings failed: " + folder / "b.wav" + "\n"));
}

TEST_F(Transcribe, AnEnglishModelThatDoubtsItsTextNamesOneThatKnowsOtherLanguages) {
  const std::string a = write_wav(folder / "a.wav", 2);
  fake->doubts = true;
  fake->name = "tiny.en";
  EXPECT_EQ(run({"--json", a}), 0);
  const std::string told =
      "this may not be English: tiny.en knows English only, and doubts most of the text; tiny "
      "knows other languages too: 'mynah pull tiny' brings it, --model tiny uses it";
  EXPECT_EQ(Json::parse(out())["notes"], Json::array({told}));
  EXPECT_EQ(err(), "mynah: " + a + ": " + told + "\n");
  EXPECT_EQ(run({a, "--quiet"}), 0);
  EXPECT_EQ(err(), "");
  fake->knows_languages = true;
  EXPECT_EQ(run({a}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(Transcribe, NamesEachRecordingOfSeveral) {
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string b = write_wav(folder / "b.wav", 1);
  EXPECT_EQ(run({a, b}), 0);
  EXPECT_EQ(out(), a + ":\nsecond 0\n" + b + ":\nsecond 0\n");
}

TEST_F(Transcribe, TwoRecordingsOfOneNameGetTwoOutputs) {
  std::filesystem::create_directory(folder / "x");
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string other = write_wav(folder / "x/a.wav", 2);
  EXPECT_EQ(run({a, other, "-o", folder / "out"}), 0) << err();
  EXPECT_EQ(folder.read("out/a.txt"), "second 0\n");
  EXPECT_EQ(folder.read("out/a-2.txt"), "second 0\nsecond 1\n");
  EXPECT_THAT(err(), HasSubstr("another recording's outputs are called"));
}

TEST_F(Transcribe, AnExtensionOfAFormatStaysAsItIsAndChoosesIt) {
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string b = write_wav(folder / "b.wav", 1);
  EXPECT_EQ(run({a, b, "--output-file", folder / "one.srt", "--output-file", folder / "one.json"}),
            0);
  EXPECT_THAT(folder.read("one.srt"), StartsWith("1\n00:00:00,000 --> "));
  EXPECT_EQ(Json::parse(folder.read("one.json"))["text"], "second 0");
  EXPECT_EQ(err(), "");
  EXPECT_EQ(run({a, "--output-file", folder / "two.srt", "--format", "srt,vtt"}), 0);
  EXPECT_TRUE(folder.has("two.srt"));
  EXPECT_TRUE(folder.has("two.vtt"));
  EXPECT_EQ(run({a, "--output-file", folder / "three.srt", "--format", "vtt"}), 0);
  EXPECT_TRUE(folder.has("three.srt.vtt"));
  EXPECT_EQ(run({a, "--output-file", folder / "four.v2"}), 0);
  EXPECT_TRUE(folder.has("four.v2.txt"));
  EXPECT_EQ(run({a, "--output-file", folder / "five.wts"}), 0);
  EXPECT_TRUE(fake->last_options.decoding.words);
  const std::string six = folder / "six.txt";
  EXPECT_EQ(run({a, b, "--output-file", six, "--output-file", six}), 0);
  EXPECT_TRUE(folder.has("six-2.txt"));
}

TEST_F(Transcribe, ResumeSkipsWhatIsDone) {
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string b = write_wav(folder / "b.wav", 1);
  const std::vector<std::string> arguments = {a,          b,      "-o",      folder / "out",
                                              "--format", "json", "--resume"};
  EXPECT_EQ(run(arguments), 0) << err();
  EXPECT_THAT(fake->opened, ElementsAre(a, b));
  std::filesystem::resize_file(folder / "out/b.json", 20);  // cut short
  EXPECT_EQ(run(arguments), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, b, b));
  EXPECT_THAT(err(), HasSubstr("1 recording is done already, 1 to do"));
  // A recording that changed is done again.
  std::filesystem::last_write_time(
      a, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(run(arguments), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, b, b, a));
}

TEST_F(Transcribe, WritesFilesOfARecordingThatIsDoneBeforeItsTurn) {
  const std::string a = write_wav(folder / "a.wav", 2);
  const std::string b = write_wav(folder / "b.wav", 1);
  bool first = true;
  bool second = false;
  fake->before_done = [&] {
    first = folder.has("out/a.txt");
    second = folder.has("out/b.txt");
  };
  EXPECT_EQ(run({a, b, "-o", folder / "out", "--format", "txt", "--json"}), 0) << err();
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_EQ(folder.read("out/a.txt"), "second 0\nsecond 1\n");
  EXPECT_EQ(folder.read("out/b.txt"), "second 0\n");
  EXPECT_LT(out().find("a.wav"), out().find("b.wav"));
}

TEST_F(Transcribe, FilesSayTheSameWhetherTheirTurnHasComeOrNot) {
  const std::string a = write_wav(folder / "a.wav", 10);
  const std::string b = write_wav(folder / "b.wav", 10);
  fake->name = "tiny.en";
  fake->doubts = true;
  fake->before_done = [] {};
  EXPECT_EQ(run({a, b, "-o", folder / "out", "--format", "json"}), 0) << err();
  EXPECT_THAT(folder.read("out/a.json"), HasSubstr("this may not be English"));
  EXPECT_THAT(folder.read("out/b.json"), HasSubstr("this may not be English"));
}

TEST_F(Transcribe, KeepsWhatWasHeardWhenStopped) {
  const std::string a = write_wav(folder / "a.wav", 5);
  const std::string b = write_wav(folder / "b.wav", 1);
  fake->stop_after = 2;
  EXPECT_EQ(run({a, b, "-o", folder / "out", "--format", "srt"}), 128 + SIGINT);
  EXPECT_FALSE(folder.has("out/a.srt"));
  EXPECT_EQ(folder.read("out/a.srt.partial"),
            "1\n00:00:00,000 --> 00:00:02,000\nsecond 0 second 1\n\n");
  EXPECT_THAT(err(),
              HasSubstr("what was recognised so far is kept in " + folder / "out/a.srt.partial"));
  EXPECT_THAT(err(), HasSubstr("stopped: 2 of 2 recordings are not finished"));
}

TEST_F(Transcribe, ThePartThatIsKeptSaysWhatHeardIt) {
  fake->name = "tiny.en";
  fake->stop_after = 2;
  EXPECT_EQ(run({write_wav(folder / "a.wav", 5), "-o", folder / "out", "--format", "json"}),
            128 + SIGINT);
  const auto part = nlohmann::json::parse(folder.read("out/a.json.partial"));
  EXPECT_EQ(part.at("model"), "tiny.en");
  EXPECT_EQ(part.at("device"), "cpu");
  EXPECT_EQ(part.at("language"), "en");
  EXPECT_EQ(part.at("segments").size(), 2);
}

TEST_F(Transcribe, PrintsAsJsonWhatWasHeardWhenStopped) {
  fake->stop_after = 2;
  EXPECT_EQ(run({"--json", write_wav(folder / "a.wav", 5)}), 128 + SIGINT);
  const Json part = Json::parse(out());
  EXPECT_EQ(part["file"], folder / "a.wav");
  EXPECT_EQ(part["error"]["code"], "cancelled");
  EXPECT_EQ(part["text"], "second 0 second 1");
  EXPECT_EQ(part["segments"].size(), 2U);
  EXPECT_EQ(part["duration"], 2.0);
  EXPECT_EQ(part["notes"], Json::array({"not the whole recording: stopped"}));
}

TEST_F(Transcribe, AWholeTextReplacesThePartOfOne) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "-o", folder / "out"}), 0);
  std::ofstream(folder / "out/a.txt.partial") << "second 0";
  EXPECT_EQ(run({wav, "-o", folder / "out"}), 0);
  EXPECT_FALSE(folder.has("out/a.txt.partial"));
  EXPECT_EQ(folder.read("out/a.txt"), "second 0\n");
}

TEST_F(Transcribe, RefusesTwoPlacesForTheSameFiles) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "-o", folder / "out", "--output-beside"}), 2);
  EXPECT_THAT(err(), HasSubstr("two places"));
}

TEST_F(Transcribe, DoesNotGuessTheLanguageWithAModelOfOne) {
  EXPECT_EQ(run({write_wav(folder / "a.wav", 1), "--detect-language"}), 1);
  EXPECT_THAT(err(), HasSubstr("fake knows English only; small knows other languages too: 'mynah "
                               "pull small' brings it, --model small uses it"));
  fake->name = "tiny.en";
  EXPECT_EQ(run({write_wav(folder / "a.wav", 1), "--detect-language"}), 1);
  EXPECT_THAT(err(), HasSubstr("tiny.en knows English only; tiny knows other languages too"));
}

TEST_F(Transcribe, KeepsWhatWasHeardOfADamagedRecording) {
  // A header that promises more than there is.
  const std::string wav = write_wav(folder / "a.wav", 3);
  std::filesystem::resize_file(wav, 44 + 32000 + 16000);
  const int code = run({wav, "-o", folder / "out"});
  if (code == 0) {
    EXPECT_THAT(folder.read("out/a.txt"), StartsWith("second 0\n"));
  } else {
    EXPECT_EQ(code, 1);
    EXPECT_THAT(folder.read("out/a.txt.partial"), StartsWith("second 0\n"));
  }
}

TEST_F(Transcribe, AFullDiskLeavesNothingHalfWritten) {
  const std::string wav = write_wav(folder / "a.wav", 200);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const int code = run({wav, "-o", folder / "out"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(code, 1);
  EXPECT_THAT(err(), HasSubstr(folder / "out/a.txt"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out"));
}

TEST_F(Transcribe, SaysThatAnOutputFolderCannotBeMade) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "-o", wav + "/out"}), 1);
  EXPECT_THAT(err(), HasSubstr("making the folder "));
  EXPECT_TRUE(fake->opened.empty());
}

TEST_F(Transcribe, SaysWhenNothingWasSpoken) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  fake->silent = true;
  EXPECT_EQ(run({wav}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "mynah: " + wav + ": no speech found\n");
  EXPECT_EQ(run({wav, "-q"}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(Transcribe, ARecordingNamedTwiceIsHeardOnceButWhereEachNameIsAnswered) {
  std::filesystem::create_directory(folder / "x");
  const std::string a = write_wav(folder / "x/a.wav", 1);
  std::filesystem::create_symlink(a, folder / "x/link.wav");
  const std::string again = folder / "x/../x/a.wav";
  EXPECT_EQ(run({a, again, folder / "x/link.wav"}), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, folder / "x/link.wav"));
  EXPECT_EQ(err(), "mynah: " + again + " is named before: it is heard once\n");
  EXPECT_EQ(run({a, folder / "x", "-o", folder / "out"}), 0);
  EXPECT_FALSE(folder.has("out/a-2.txt"));
  EXPECT_EQ(run({a, a, a, "-q"}), 0);
  EXPECT_EQ(out(), "second 0\n");
  EXPECT_EQ(err(), "");
  EXPECT_EQ(run({a, a, "--json"}), 0);
  EXPECT_EQ(std::ranges::count(out(), '\n'), 2);
  EXPECT_EQ(run({a, a, "--output-file", folder / "1,5.txt", "--output-file", folder / "2.txt"}), 0);
  EXPECT_TRUE(folder.has("1,5.txt"));
  EXPECT_TRUE(folder.has("2.txt"));
}

TEST_F(Transcribe, TakesFoldersAndPatterns) {
  std::filesystem::create_directory(folder / "x");
  const std::string a = write_wav(folder / "x/a.wav", 1);
  const std::string b = write_wav(folder / "x/b.wav", 1);
  std::ofstream(folder / "x/notes.txt") << "not a recording";
  EXPECT_EQ(run({folder / "x"}), 0) << err();
  EXPECT_THAT(fake->opened, ElementsAre(a, b));
  EXPECT_EQ(run({folder / "x/b*"}), 0) << err();
  EXPECT_THAT(fake->opened, ElementsAre(a, b, b));
  EXPECT_EQ(run({folder / "y*", a, "--json"}), 1);
  EXPECT_THAT(out(), StartsWith(R"({"file":")" + folder / "y*" + R"(","error":)"));
}

struct BadLine {
  std::vector<std::string> arguments;
  int code;
  std::string message;
};

TEST_F(Transcribe, AnswersABadCommandLineInOneLine) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  const std::vector<BadLine> lines = {
      {{}, 2, "wanted a recording"},
      {{wav, "--format", "str"}, 2, "found 'str' (did you mean srt?)"},
      {{wav, "--beam", "0"}, 2, "--beam: wanted 1 to 64, found 0"},
      {{wav, "--temperature", "2"}, 2, "--temperature: wanted 0 to 1, found 2"},
      {{wav, "--repetition-penalty", "0"}, 2, "--repetition-penalty: wanted 0.01 to 100, found 0"},
      {{wav, "--clip", "5-3"}, 2, "--clip: wanted an end after the start, found '5-3'"},
      {{wav, "--clip", "abc"}, 2, "times as 75 (seconds), 1:15 or 0:01:15.5, found 'abc'"},
      {{wav, "--task", "translat"}, 2, "found 'translat' (did you mean translate?)"},
      {{wav, "--task", "translate"}, 1, "the model fake is English only"},
      {{wav, "--start", "-1"}, 2, "--start: wanted 0 to"},
      {{wav, "--start", "1:75"}, 2, "--start: wanted a time as 75 (seconds), 1:15 or 0:01:15.5"},
      {{wav, "-f", "srt"}, 2, "whisperX's -f srt is --format srt here"},
      {{"-", "-"}, 2, "standard input (-) can be read once only"},
      {{wav, "--output-file", "a", "--output-file", "b"},
       2,
       "--output-file: wanted one a recording (1), found 2"},
      {{wav, "--grammar", "x"}, 2, "--grammar is not done"},
      {{wav, "--modle", "x"}, 2, "unknown option --modle (did you mean --model?)"},
      {{folder / "missing.wav"}, 1, "missing.wav"},
  };
  for (const BadLine& line : lines) {
    EXPECT_EQ(run(line.arguments), line.code) << err();
    EXPECT_THAT(err(), HasSubstr(line.message));
    const auto n_lines = std::ranges::count(err(), '\n');
    EXPECT_EQ(n_lines, line.code == 2 ? 2 : 1) << err();  // a usage error also says --help
    EXPECT_EQ(out(), "");
  }
}

TEST_F(Transcribe, EveryBadRecordingIsOneLine) {
  std::filesystem::create_directory(folder / "folder");
  std::ofstream(folder / "empty.wav");
  std::ofstream(folder / "text.wav") << "not a recording at all, only words";
  write_wav(folder / "header.wav", 0);
  for (const std::string name : {"empty.wav", "text.wav", "missing.wav"}) {
    // 3 where mynah-media, which is asked about what libsndfile does not know, is not built.
    EXPECT_THAT(run({folder / name}), testing::AnyOf(1, 3)) << name;
    EXPECT_EQ(std::ranges::count(err(), '\n'), 1) << err();
    EXPECT_THAT(err(), HasSubstr(name));
  }
  EXPECT_LE(run({folder / "header.wav"}), 1);
  EXPECT_EQ(std::ranges::count(err(), '\n'), 1) << err();
}

TEST_F(Transcribe, ColoursWordsByConfidence) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  terminal = true;
  EXPECT_EQ(run({wav, "--confidence", "--no-progress"}), 0);
  EXPECT_TRUE(fake->last_options.decoding.words);
  EXPECT_THAT(out(), HasSubstr("\033[38;5;154m second\033[0m\033[38;5;196m 0\033[0m"));
  EXPECT_EQ(run({wav, "--print-confidence", "--no-progress"}), 0);
  EXPECT_THAT(out(), HasSubstr("\033[2m second\033[0m\033[7m 0\033[0m"));
  environment["NO_COLOR"] = "1";
  EXPECT_EQ(run({wav, "--confidence", "--no-progress"}), 0);
  EXPECT_THAT(out(), Not(HasSubstr("\033")));
}

TEST_F(Transcribe, ExplainsWhatWasChosen) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "--explain"}), 0);
  EXPECT_THAT(err(), HasSubstr("mynah: model fake: a test's\n"));
  EXPECT_THAT(err(), HasSubstr("stt.encoder    cpu           1.5 ms"));
}

TEST_F(Transcribe, OptionsReachTheRecogniser) {
  const std::string wav = write_wav(folder / "a.wav", 6);
  EXPECT_EQ(run({wav,    "--beam_size",
                 "5",    "--word_timestamps",
                 "True", "--temperature",
                 "0.4",  "--hallucination_silence_threshold",
                 "2",    "--clip",
                 "1-2",  "--clip",
                 "5-",   "--suppress_tokens",
                 "-1,5", "--compression_ratio_threshold",
                 "none", "--condition_on_previous_text",
                 "True", "--vad_onset",
                 "0.4"}),
            0)
      << err();
  const RecognizerOptions& options = fake->last_options;
  EXPECT_EQ(options.decoding.whisper.beam_size, 5);
  EXPECT_TRUE(options.decoding.words);
  EXPECT_THAT(
      options.decoding.whisper.temperatures,
      ElementsAre(0.4F, testing::FloatEq(0.6F), testing::FloatEq(0.8F), testing::FloatEq(1.0F)));
  EXPECT_EQ(options.cutting.hallucination_silence_s, 2.0);
  ASSERT_EQ(options.cutting.clips.size(), 2U);
  EXPECT_EQ(options.cutting.clips[1].start_s, 5);
  EXPECT_EQ(options.cutting.clips[1].end_s, 1e9);  // a number that can be counted in samples
  EXPECT_THAT(options.decoding.whisper.suppress_tokens, ElementsAre(-1, 5));
  EXPECT_FALSE(options.decoding.whisper.compression_ratio_threshold.has_value());
  EXPECT_TRUE(options.cutting.condition_on_previous_text);
  EXPECT_FLOAT_EQ(options.cutting.vad_options.threshold, 0.4F);
}

TEST_F(Transcribe, DefaultsAreTheProducts) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav}), 0);
  const RecognizerOptions product;
  const RecognizerOptions& options = fake->last_options;
  EXPECT_THAT(options.decoding.whisper.temperatures,
              testing::Pointwise(testing::FloatEq(), product.decoding.whisper.temperatures));
  EXPECT_EQ(options.decoding.whisper.beam_size, product.decoding.whisper.beam_size);
  EXPECT_EQ(options.cutting.vad, product.cutting.vad);
  EXPECT_EQ(options.decoding.words, product.decoding.words);
}

TEST_F(Transcribe, NamesTheLanguageAndNothingMore) {
  const std::string wav = write_wav(folder / "a.wav", 40);
  fake->knows_languages = true;
  EXPECT_EQ(run({"-f", wav, "-dl"}), 0);
  EXPECT_EQ(out(), wav + ": en (p = 1.00)\n");
}

TEST_F(Transcribe, PrintsProgressLines) {
  const std::string wav = write_wav(folder / "a.wav", 4);
  EXPECT_EQ(run({"-f", wav, "-pp"}), 0);
  EXPECT_THAT(err(), StartsWith("progress =   5%\n"));
  EXPECT_THAT(err(), testing::EndsWith("progress = 100%\n"));
  EXPECT_EQ(std::ranges::count(err(), '\n'), 20);
}

}  // namespace
}  // namespace mynah::cli
