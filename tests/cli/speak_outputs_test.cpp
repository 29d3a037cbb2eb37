// Where `mynah speak` writes, and what it must not destroy.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/letters_voice.h"
#include "cli/speak/sound_output.h"
#include "cli/speak/speak_book.h"
#include "speak_fixture.h"
#include "store/store.h"
#include "test_paths.h"

namespace mynah::cli {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::write_file;
using testing::HasSubstr;

TEST_F(SpeakVerb, WritesIntoPipesAndDevices) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string heard;
  {
    std::jthread reader([&] { heard = read_file(pipe); });
    EXPECT_EQ(speak({"One.", "-m", "hum", "-o", pipe, "--format", "wav"}), 0) << err();
  }
  EXPECT_TRUE(heard.starts_with("RIFF\xFF\xFF\xFF\xFF"));
  EXPECT_TRUE(is_device_or_pipe(pipe));
  // The text of captions too.
  {
    std::jthread reader([&] { heard = read_file(pipe); });
    EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav", "--srt", pipe}), 0) << err();
  }
  EXPECT_THAT(heard, HasSubstr("One."));
}

// `> o.wav` and `>> all.wav`: a sound behind what stood there before, in a file that standard
// output is. Gives the whole file.
std::string redirected(const std::string& path, int flags, SoundFormat format) {
  write_file(path, "before");
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | flags));
  EXPECT_TRUE(fd);
  if ((flags & (O_TRUNC | O_APPEND)) == 0) {
    EXPECT_EQ(::lseek(fd.get(), 6, SEEK_SET), 6);
  }
  OutputStream out(fd.get());
  const auto sound = open_sound_output("-", out, {.format = format, .rate_hz = 8000});
  EXPECT_TRUE(sound.has_value());
  for (int i = 0; sound && i < 4; ++i) {
    EXPECT_TRUE((*sound)->write(std::vector<float>(250, 0.5F)));
  }
  EXPECT_TRUE((*sound)->finish());
  // Whoever writes next to the same file stands behind the sound.
  EXPECT_EQ(::write(fd.get(), "after", 5), 5);
  return read_file(path);
}

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

TEST(SoundOnStandardOutput, AWavInAFileHasItsTrueSizes) {
  const test::TemporaryFolder folder;
  for (const int flags : {O_TRUNC, O_APPEND, 0}) {
    std::string bytes = redirected(folder / "o.wav", flags, SoundFormat::Wav);
    if (flags != O_TRUNC) {
      ASSERT_TRUE(bytes.starts_with("before"));
      bytes.erase(0, 6);
    }
    ASSERT_EQ(bytes.size(), 44U + 2000U + 5U) << flags;
    EXPECT_TRUE(bytes.starts_with("RIFF"));
    EXPECT_EQ(number_at(bytes, 4), 44U + 2000U - 8U);
    EXPECT_EQ(number_at(bytes, 40), 2000U);
    EXPECT_TRUE(bytes.ends_with("after"));
  }
}

// As a file that is named: FLAC has its number of samples in its header.
TEST(SoundOnStandardOutput, OtherFormatsAreWhatANamedFileIs) {
  const test::TemporaryFolder folder;
  for (const SoundFormat format : {SoundFormat::Flac, SoundFormat::Mp3, SoundFormat::Opus}) {
    std::string bytes = redirected(folder / "o", O_TRUNC, format);
    bytes.resize(bytes.size() - 5);
    write_file(folder / "o2", bytes);
    EXPECT_NEAR(seconds_of(folder / "o2"), 0.125, format == SoundFormat::Mp3 ? 0.15 : 0.001)
        << name(format);
  }
}

TEST_F(SpeakVerb, LoudnessIsANumberOrNone) {
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav", "--loudness", "-30"}), 0) << err();
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "b.wav", "--loudness", "loud"}), 2);
  EXPECT_THAT(err(), HasSubstr("--loudness: wanted LUFS such as -23, or none, found 'loud'"));
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "b.wav", "--loudness", "-80"}), 2);
  EXPECT_THAT(err(), HasSubstr("loudness: wanted -50 to -8, found -80"));
}

TEST_F(SpeakVerb, WritesBehindLinks) {
  write_file(folder_ / "there/real.wav", "old");
  fs::create_symlink("there/real.wav", folder_ / "link.wav");
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "link.wav"}), 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.wav"));
  EXPECT_TRUE(folder_.read("there/real.wav").starts_with("RIFF"));
}

TEST_F(SpeakVerb, NeverWritesOverItsInput) {
  const std::string text = folder_ / "text.txt";
  write_file(text, "One.");
  for (const char* option : {"--out", "--srt", "--vtt"}) {
    EXPECT_EQ(speak({text, "-m", "hum", "--format", "wav", option, text}), 2) << option;
    EXPECT_THAT(err(), HasSubstr("are one file"));
  }
  fs::create_symlink("text.txt", folder_ / "link.wav");
  EXPECT_EQ(speak({"-f", text, "-m", "hum", "-o", folder_ / "link.wav"}), 2);
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav", "--lexicon", folder_ / "a.wav"}),
            2);
  EXPECT_EQ(folder_.read("text.txt"), "One.");
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav", "--srt", folder_ / "./a.wav"}), 2);
  EXPECT_THAT(err(), HasSubstr("--out and --srt both want"));
  EXPECT_EQ(speak({"One.", "-m", "hum", "--srt", "-"}), 2);
  EXPECT_THAT(err(), HasSubstr("both want standard output"));
  EXPECT_FALSE(folder_.has("a.wav"));
}

TEST_F(SpeakVerb, WritesCaptionsToStandardOutput) {
  EXPECT_EQ(speak({"One two.", "-m", "hum", "-o", folder_ / "a.wav", "--srt", "-"}), 0);
  EXPECT_THAT(out(), HasSubstr("1\n00:00:00,"));
  EXPECT_THAT(out(), HasSubstr("One two."));
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav", "--srt", "-", "--json"}), 2);
}

TEST_F(SpeakVerb, QuietSaysNothingOfWhatWentWell) {
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "a.wav"}), 0);
  EXPECT_THAT(err(), HasSubstr("of speech to"));
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "b.wav", "--quiet"}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_EQ(folder_.read("b.wav"), folder_.read("a.wav"));
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", "/proc/no/such/b.wav", "-q"}), 1);
  EXPECT_THAT(err(), HasSubstr("no/such"));
}

TEST_F(SpeakVerb, KeepsWhatWasSaidBeforeAStop) {
  EXPECT_EQ(speak_until("Two", {"One one. Two two. Three three.", "-m", "hum", "-o",
                                folder_ / "a.wav", "--srt", folder_ / "a.srt"}),
            130);
  EXPECT_FALSE(folder_.has("a.wav"));
  EXPECT_FALSE(folder_.has("a.srt"));
  EXPECT_THAT(err(), HasSubstr("kept as " + (folder_ / "a.wav.partial")));
  fs::rename(folder_ / "a.wav.partial", folder_ / "kept.wav");
  EXPECT_GT(seconds_of(folder_ / "kept.wav"), 0.2);
  EXPECT_THAT(folder_.read("a.srt.partial"), HasSubstr("One one."));
  EXPECT_THAT(folder_.read("a.srt.partial"), testing::Not(HasSubstr("Three")));
}

TEST_F(SpeakVerb, MakesAnM4bOfAnyText) {
  EXPECT_EQ(speak({"One two.", "-m", "hum", "-o", folder_ / "a.m4b"}), 0) << err();
  EXPECT_EQ(folder_.read("a.m4b").substr(4, 4), "ftyp");
  EXPECT_EQ(speak({"One two.", "-m", "hum", "-o", folder_ / "a.m4a"}), 0) << err();
  EXPECT_EQ(folder_.read("a.m4a").substr(4, 4), "ftyp");
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", "-", "--format", "m4b"}), 2);
  EXPECT_THAT(err(), HasSubstr("wanted --out BOOK.m4b"));
}

TEST_F(SpeakVerb, TellsDocumentsFromWords) {
  EXPECT_EQ(speak({"bok.epub", "-m", "hum", "-o", folder_ / "a.wav"}), 1);
  EXPECT_THAT(err(), HasSubstr("there is no document bok.epub here"));
  EXPECT_EQ(speak({"Open notes.md", "-m", "hum", "-o", folder_ / "a.wav"}), 0);
  write_file(folder_ / "book.md", "# One\n\nTwo.\n\n# Two\n\nFour.\n");
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "--output-dir", folder_ / "out"}), 2);
  EXPECT_THAT(err(), HasSubstr("--out FOLDER/ writes a file for each of its chapters"));
  // Lines may stand in a plain text.
  write_file(folder_ / "lines.txt", "One.\nTwo.\n");
  EXPECT_EQ(speak({folder_ / "lines.txt", "-m", "hum", "--output-dir", folder_ / "out"}), 0)
      << err();
  EXPECT_TRUE(folder_.has("out/0002.wav"));
  // A folder's files are WAV where nothing else is said.
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", folder_ / "chapters/"}), 0) << err();
  EXPECT_TRUE(folder_.has("chapters/01 One.wav"));
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", folder_ / "a.wav", "--play"}), 2);
  EXPECT_EQ(speak({"One.", "-m", "hum", "-o", folder_ / "words/"}), 2);
  EXPECT_THAT(err(), HasSubstr("a folder is for the chapters of a document"));
  EXPECT_EQ(speak({folder_.path(), "-m", "hum", "-o", folder_ / "a.wav"}), 2);
  EXPECT_THAT(err(), HasSubstr("is a folder"));
  EXPECT_EQ(speak({folder_ / "lines.txt", "-m", "hum", "--output-dir", folder_ / "out", "--srt",
                   folder_ / "a.srt"}),
            2);
  EXPECT_THAT(err(), HasSubstr("--srt and --vtt are of one sound"));
}

TEST_F(SpeakVerb, TellsNamesOfFilesFromWords) {
  write_file(folder_ / "a.md", "One.");
  write_file(folder_ / "b.txt", "Two.");
  write_file(folder_ / "notes.org", "Three.");
  write_file(folder_ / "lines.jsonl", R"({"text": "Four.", "out": "x.wav", "out": "y.wav"})");
  const std::string wav = folder_ / "a.wav";
  EXPECT_EQ(speak({folder_ / "a.md", folder_ / "b.txt", "-m", "hum", "-o", wav}), 2);
  EXPECT_THAT(err(), HasSubstr("wanted one document, found 2"));
  EXPECT_EQ(speak({folder_ / "a.md", "and", folder_ / "b.txt", "-m", "hum", "-o", wav}), 0);
  EXPECT_EQ(speak({folder_ / "notes.org", "-m", "hum", "-o", wav}), 2);
  EXPECT_THAT(err(), HasSubstr("notes.org is a file: --file "));
  EXPECT_EQ(speak({"notes.org", "-m", "hum", "-o", wav}), 0);
  EXPECT_EQ(speak({folder_ / "a.md", "there-is-no.srt", "-m", "hum", "-o", wav}), 1);
  EXPECT_THAT(err(), HasSubstr("there is no document there-is-no.srt here"));
  EXPECT_EQ(speak({"report.docx", "-m", "hum", "-o", wav}), 1);
  EXPECT_THAT(err(), HasSubstr("there is no document report.docx here"));
  write_file(folder_ / "report.docx", "PK");
  EXPECT_EQ(speak({folder_ / "report.docx", "-m", "hum", "-o", wav}), 2);
  EXPECT_THAT(err(), HasSubstr("report.docx -t markdown"));
  EXPECT_EQ(speak({folder_ / "lines.jsonl", "-m", "hum", "-o", wav}), 2);
  EXPECT_THAT(err(), HasSubstr("wanted --json-input with it"));
  EXPECT_EQ(speak({folder_ / "lines.jsonl", "-m", "hum", "--json-input", "--output-dir",
                   folder_ / "out"}),
            0)
      << err();
  EXPECT_TRUE(folder_.has("out/0001.wav"));
  EXPECT_THAT(err(), HasSubstr("line 1: \"out\" is not known and passed over"));
  EXPECT_EQ(speak({folder_ / "lines.jsonl", "-m", "hum", "--json-input", "-o", wav}), 2);
  EXPECT_THAT(err(), HasSubstr("is one file, and --json-input makes one a line"));
}

TEST_F(SpeakVerb, SuggestsVoicesOfEveryModel) {
  const Store store({.home = folder_ / "home", .cache = folder_ / "home/cache"});
  StoreObserver quiet;
  const std::vector<float> styles(512);
  write_file(folder_ / "af_bella.bin",
             {reinterpret_cast<const char*>(styles.data()), styles.size() * sizeof(float)});
  ASSERT_TRUE(import_voices(store, {folder_ / "af_bella.bin"}, quiet, {}));
  StoredModel model;
  model.name = "kokoro";
  model.family = "kokoro";
  model.folder = store.model_folder("kokoro");
  model.sha256 = std::string(64, 'a');
  model.size = 7;
  write_file(model.path(), "weights");
  ASSERT_TRUE(write_source_json(model));
  const auto error_of = [this](const std::string& voice) {
    EXPECT_EQ(speak({"One.", "--voice", voice, "-o", folder_ / "a.wav"}), 2) << voice;
    return err();
  };
  for (const char* slip : {"bella", "Bella", "AF_BELLA"}) {
    EXPECT_THAT(error_of(slip), HasSubstr("did you mean af_bella?")) << slip;
  }
  EXPECT_THAT(error_of("stl"), HasSubstr("did you mean slt?"));
  EXPECT_THAT(error_of("nobody-at-all"), HasSubstr("no model here has a voice 'nobody-at-all'"));
  EXPECT_EQ(speak({"One.", "-m", "kokoro", "--voice", "slt", "-o", folder_ / "a.wav"}), 2);
  EXPECT_THAT(err(),
              HasSubstr("the model kokoro has no voice 'slt', the model builtin has: --model "
                        "builtin --voice slt, or --voice slt without --model"));
  EXPECT_EQ(run({"voices", "bella", "--out", folder_ / "voices"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean af_bella?"));
}

TEST_F(SpeakVerb, RefusesWhatIsNoText) {
  const std::string wav = folder_ / "a.wav";
  for (const char* name : {"picture.txt", "picture"}) {
    write_file(folder_ / name, std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16));
    EXPECT_EQ(speak({"-f", folder_ / name, "-m", "hum", "-o", wav}), 1);
    EXPECT_THAT(err(), HasSubstr("wanted a text, found bytes that are none"));
  }
  write_file(folder_ / "wide", std::string("\xFF\xFEO\0n\0e\0", 8));
  EXPECT_EQ(speak({"-f", folder_ / "wide", "-m", "hum", "-o", wav}), 1);
  EXPECT_THAT(err(), HasSubstr("iconv -f UTF-16 -t UTF-8"));
  write_file(folder_ / "wide.txt", std::string("\xFF\xFEO\0n\0e\0", 8));
  said_.clear();
  EXPECT_EQ(speak({folder_ / "wide.txt", "-m", "hum", "-o", wav}), 0) << err();
  EXPECT_THAT(said_, testing::Contains(HasSubstr("One")));
}

TEST_F(SpeakVerb, PausesBetweenChaptersOnAPipeAsInAFile) {
  const auto seconds = [this](const std::string& name, const std::string& text) {
    write_file(folder_ / name, text);
    EXPECT_EQ(speak({folder_ / name, "-m", "hum", "--output-raw"}), 0) << err();
    return static_cast<double>(out().size()) / 2 / test::FakeVoice::kRate;
  };
  const double chapters = seconds("a.md", "# One\n\nTwo.\n\n# Three\n\nFour.\n");
  const double one = seconds("b.md", "One\n\nTwo.\n\nThree\n\nFour.\n");
  EXPECT_NEAR(chapters - one, kChapterSilence_s - 0.6, 0.01);  // instead of a paragraph's
  // In a file the same, and nothing behind the last.
  EXPECT_EQ(speak({folder_ / "a.md", "-m", "hum", "-o", folder_ / "a.wav"}), 0);
  EXPECT_NEAR(seconds_of(folder_ / "a.wav"), chapters, 0.01);
}

TEST_F(SpeakVerb, PrintsClausesOfADocumentAsJson) {
  write_file(folder_ / "book.txt", "Chapter 1\n\nOne two. Three.\n\nChapter 2\n\nFour.\n");
  EXPECT_EQ(speak({folder_ / "book.txt", "-m", "hum", "-o", folder_ / "a.wav", "--json"}), 0)
      << err();
  const auto objects = lines();
  ASSERT_GE(objects.size(), 4U);
  const auto& last = objects[objects.size() - 2];
  EXPECT_EQ(last["chapter"], 2);
  EXPECT_EQ(last["text"], "Four.");
  EXPECT_GT(last["start"], objects.front()["end"]);
  EXPECT_LE(last["end"], objects.back()["duration"]);
}

TEST_F(SpeakVerb, KeepsLinesInTheirFolder) {
  std::ofstream(folder_ / "lines")
      << R"({"text": "One.", "output_file": "sub/a.wav"})" << "\n"
      << R"({"text": "Two.", "output_file": "../b.wav"})" << "\n"
      << R"({"text": "Two.", "output_file": ")" << (folder_ / "c.wav") << R"("})" << "\n"
      << R"({"text": "Four.", "output_file": "sub/../sub/a.wav"})" << "\n"
      << R"({"text": 5})" << "\n"
      << R"({"text": "...", "output_file": "empty.wav"})" << "\n"
      << R"({"text": "Seven.", "output_file": "seven.wav", "voice": "nobody"})" << "\n"
      << R"({"text": "Seven.", "output_file": "seven.wav"})";
  EXPECT_EQ(speak({"-m", "hum", "-f", folder_ / "lines", "--json-input", "--output-dir",
                   folder_ / "out"}),
            1);
  // The name of a line that could not be spoken is free.
  EXPECT_EQ(out(), (folder_ / "out/sub/a.wav") + "\n" + (folder_ / "out/seven.wav") + "\n");
  EXPECT_THAT(err(), HasSubstr("line 2: \"output_file\": wanted a name in the folder"));
  EXPECT_THAT(err(), HasSubstr("line 3: \"output_file\": wanted a name in the folder"));
  EXPECT_THAT(err(), HasSubstr("was written for a line before"));
  EXPECT_THAT(err(), HasSubstr("line 5: \"text\": wanted text, found 5"));
  EXPECT_THAT(err(), HasSubstr("line 6: nothing in it can be spoken"));
  EXPECT_FALSE(folder_.has("b.wav"));
  EXPECT_FALSE(folder_.has("c.wav"));
  EXPECT_FALSE(folder_.has("out/empty.wav"));
}

TEST_F(SpeakVerb, ALineMayNameAVoiceOfAnotherModel) {
  const Store store({.home = folder_ / "home", .cache = folder_ / "home/cache"});
  cli::keep_letters_voice(store, folder_ / "voices", "one", R"({"ann": 0, "ben": 1})");
  cli::keep_letters_voice(store, folder_ / "voices", "two", R"({"cat": 0, "dan": 1})");
  std::ofstream(folder_ / "lines") << R"({"text": "ab cd.", "voice": "ann"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "dan"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "slt"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "nobody"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "ben"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "two"})" << "\n"
                                   << R"({"text": "ab cd.", "voice": "cat(2)+dan"})" << "\n"
                                   << R"({"text": "ab cd."})";
  EXPECT_EQ(speak({"-f", folder_ / "lines", "--json-input", "--json", "--explain", "--output-dir",
                   folder_ / "out"}),
            1);
  const auto told = lines();
  ASSERT_EQ(told.size(), 8U) << err();
  std::vector<std::string> models;
  models.reserve(told.size());
  for (const auto& line : told) {
    models.push_back(line.value("model", "none"));
  }
  const std::string first = models.back();
  EXPECT_THAT(models,
              testing::ElementsAre("one", "two", "builtin", "none", "one", "two", "none", first));
  EXPECT_TRUE(first == "one" || first == "two");
  EXPECT_THAT(told[3]["error"]["message"], HasSubstr("no model here has a voice 'nobody'"));
  EXPECT_THAT(told[6]["error"]["message"], HasSubstr("two has no voice 'cat(2)+dan'"))
      << "the model of the voices says that it mixes none";
  EXPECT_EQ(told.back()["placement"]["stages"].size(), 4U) << "of both, on one placer";
  EXPECT_THAT(err(), HasSubstr("it has the voice"));

  EXPECT_EQ(speak({"-m", "one", "-f", folder_ / "lines", "--json-input", "--json", "--output-dir",
                   folder_ / "named"}),
            1);
  EXPECT_EQ(lines()[0]["model"], "one");
  EXPECT_EQ(lines()[1]["error"]["code"], "not_found") << "the model was asked for by name";
}

TEST_F(SpeakVerb, TakesPipersFlags) {
  write_file(folder_ / "text", "One two.");
  EXPECT_EQ(speak({"-m", "hum", "-i", folder_ / "text", "--output_raw", "--length-scale", "2"}), 0)
      << err();
  const size_t slow = out().size();
  EXPECT_EQ(speak({"-m", "hum", "-s", "hum", "--output_raw", "--", "One two."}), 0) << err();
  EXPECT_FALSE(out().starts_with("RIFF"));
  EXPECT_GT(slow, out().size());
  EXPECT_EQ(speak({"a", "-m", "hum", "--length-scale", "0"}), 2);
  EXPECT_THAT(err(), HasSubstr("--length-scale: wanted a number above 0"));
  EXPECT_EQ(speak({"a", "-m", "hum", "--phoneme_silence", "a 0.2"}), 2);
  EXPECT_THAT(err(), HasSubstr("use --sentence-silence"));
  EXPECT_EQ(speak({"-m", "hum", "--list-speakers"}), 0);
  EXPECT_THAT(out(), HasSubstr("0  hum"));
}

TEST_F(SpeakVerb, TakesAnEmptyValueForOne) {
  EXPECT_EQ(speak({"One.", "-m", "hum", "--voice", "", "-o", folder_ / "a.wav"}), 0) << err();
  EXPECT_TRUE(folder_.has("a.wav"));
  EXPECT_EQ(speak({"One.", "-m", "hum", "--voice=", "-o", folder_ / "b.wav"}), 0) << err();
  EXPECT_TRUE(folder_.has("b.wav"));
}

}  // namespace
}  // namespace mynah::cli
