// Where transcripts go, and what becomes of those that are there already.
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/files/output_records.h"
#include "cli/hear/transcript_sink.h"
#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Outputs : public Transcribe {
 protected:
  // Two recordings of one name.
  void SetUp() override {
    std::filesystem::create_directories(folder / "a");
    std::filesystem::create_directories(folder / "b");
    a = write_wav(folder / "a/talk.wav", 1);
    b = write_wav(folder / "b/talk.wav", 2);
  }

  std::string a;
  std::string b;
};

TEST_F(Outputs, ARecordingsTextIsNotReplacedByAnothersOfThatName) {
  EXPECT_EQ(run({a, "-o", folder / "out"}), 0) << err();
  EXPECT_EQ(run({b, "-o", folder / "out"}), 0);
  EXPECT_THAT(err(), HasSubstr("another recording's outputs are called"));
  EXPECT_EQ(folder.read("out/talk.txt"), "second 0\n");
  EXPECT_EQ(folder.read("out/talk-2.txt"), "second 0\nsecond 1\n");
  // Each again under the name it has.
  EXPECT_EQ(run({b, a, "-o", folder / "out"}), 0);
  EXPECT_EQ(folder.read("out/talk.txt"), "second 0\n");
  EXPECT_EQ(folder.read("out/talk-2.txt"), "second 0\nsecond 1\n");
  EXPECT_FALSE(folder.has("out/talk-3.txt"));
  // A name that is free again can be had.
  std::filesystem::remove(folder / "out/talk.txt");
  std::filesystem::remove(folder / "out/talk-2.txt");
  EXPECT_EQ(run({b, "-o", folder / "out"}), 0);
  EXPECT_EQ(folder.read("out/talk.txt"), "second 0\nsecond 1\n");
}

TEST_F(Outputs, ResumePassesOverTheRecordingThatAnOutputWasMadeOfAndNoOther) {
  EXPECT_EQ(run({a, "-o", folder / "out"}), 0) << err();
  // Older than the text that is there.
  std::filesystem::last_write_time(
      b, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(run({b, a, "-o", folder / "out", "--resume"}), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, b));
  EXPECT_EQ(folder.read("out/talk-2.txt"), "second 0\nsecond 1\n");
  EXPECT_EQ(run({b, "--output-file", folder / "out/talk.txt", "--resume"}), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, b, b));
}

TEST_F(Outputs, AnOutputOfAnUnknownRecordingIsTakenForItsNamesakes) {
  EXPECT_EQ(run({a, "-o", folder / "out"}), 0) << err();
  std::filesystem::remove(folder / "home/outputs.jsonl");
  EXPECT_EQ(run({a, "-o", folder / "out", "--resume"}), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a));
}

TEST_F(Outputs, ResumeHearsAgainWhatWasWrittenWithOtherOptions) {
  EXPECT_EQ(run({a, "-o", folder / "out"}), 0) << err();
  EXPECT_EQ(run({a, "-o", folder / "out", "--resume", "--language", "de"}), 0);
  EXPECT_THAT(err(), HasSubstr("1 of them was heard before with other options"));
  EXPECT_THAT(fake->opened, ElementsAre(a, a));
  // What shapes no text is no other option.
  EXPECT_EQ(run({a, "-o", folder / "out", "--resume", "--language", "de", "--threads", "1", "-q"}),
            0);
  EXPECT_THAT(fake->opened, ElementsAre(a, a));
}

TEST_F(Outputs, WordTimesThatGoNowhereAreSaid) {
  EXPECT_EQ(run({a, "-o", folder / "out", "--words"}), 0);
  EXPECT_THAT(err(), HasSubstr("only JSON has the times of words"));
  for (const std::string format : {"json", "txt,json-full", "wts"}) {
    EXPECT_EQ(run({a, "-o", folder / "out", "--words", "--format", format}), 0);
    EXPECT_EQ(err(), "") << format;
  }
  EXPECT_EQ(run({a, "-o", folder / "out", "--format", "srt", "--words", "--highlight-words"}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(Outputs, ALinkStaysALinkAndTheFileBehindItIsWritten) {
  std::filesystem::create_directories(folder / "out");
  std::filesystem::create_directories(folder / "elsewhere");
  std::filesystem::create_symlink("../elsewhere/first.txt", folder / "out/link");
  std::filesystem::create_symlink("link", folder / "out/talk.txt");
  for (int run_number = 0; run_number < 2; ++run_number) {  // to nothing, and to a file
    EXPECT_EQ(run({a, "-o", folder / "out"}), 0) << err();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "out/talk.txt"));
    EXPECT_EQ(folder.read("elsewhere/first.txt"), "second 0\n");
  }
}

TEST_F(Outputs, ResumeHearsAgainWhatIsEmptyUnlessNobodySpoke) {
  const std::vector<std::string> resume = {a,          "-o",       folder / "out",
                                           "--format", "srt,json", "--resume"};
  EXPECT_EQ(run(resume), 0) << err();
  std::filesystem::resize_file(folder / "out/talk.srt", 0);
  EXPECT_EQ(run(resume), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, a));
  EXPECT_THAT(folder.read("out/talk.srt"), HasSubstr("second 0"));

  fake->silent = true;
  const std::vector<std::string> silent = {b,          "-o",  folder / "silent",
                                           "--format", "txt", "--resume"};
  EXPECT_EQ(run(silent), 0);
  EXPECT_EQ(folder.read("silent/talk.txt"), "");
  EXPECT_EQ(run(silent), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, a, b));
  // Where nothing is known of the empty file it is no proof.
  std::filesystem::remove(folder / "home/outputs.jsonl");
  EXPECT_EQ(run(silent), 0);
  EXPECT_THAT(fake->opened, ElementsAre(a, a, b, b));
}

TEST_F(Outputs, AShorterPartDoesNotReplaceALongerOne) {
  const std::string wav = write_wav(folder / "a.wav", 5);
  std::filesystem::create_directories(folder / "out");
  const std::string longer = "second 0\nsecond 1\nsecond 2\nsecond 3\n";
  std::ofstream(folder / "out/a.txt.partial") << longer;
  fake->stop_after = 2;
  EXPECT_EQ(run({wav, "-o", folder / "out"}), 128 + SIGINT);
  EXPECT_EQ(folder.read("out/a.txt.partial"), longer);
}

TEST_F(Outputs, WhatCannotBeWrittenIsPrinted) {
  std::filesystem::create_directories(folder / "out/talk.txt/in the way");
  EXPECT_EQ(run({a, "-o", folder / "out"}), 1);
  EXPECT_THAT(err(), HasSubstr("talk.txt"));
  EXPECT_THAT(err(), HasSubstr("its text follows on standard output"));
  EXPECT_EQ(out(), "second 0\n");
}

// A sink of two recordings, without the program around it.
class Sink : public Outputs {
 protected:
  TranscriptSink& open(SinkOptions options) {
    options.print_segments = false;
    std::vector<SinkRecording> recordings;
    for (const char* name : {"a", "b"}) {
      const OutputPlan plan{.files = {{.path = folder / (std::string(name) + ".json")}},
                            .to_stdout = {}};
      recordings.push_back({.name = name, .plan = plan});
      recordings.back().plan.files.front().format = TranscriptFormat::Json;
    }
    return sink_.emplace(context_, std::move(options), std::move(recordings), ProgressStyle::Off);
  }

  SinkOptions with_placement() {
    SinkOptions options;
    options.placement = [this] {
      PlacementReport report;
      report.stages.emplace_back();
      report.stages.back().device = "simt:0";
      if (looks_ > 0) {
        report.moves.push_back({.stages = "stt", .from = "simt:0", .to = "", .reason = "wrong"});
      }
      return report;
    };
    options.settle = [this]() -> Status {
      ++looks_;
      return right_;
    };
    return options;
  }

  static Segment segment() {
    Segment segment;
    segment.text = " one";
    segment.end_s = 1;
    return segment;
  }

  int looks_ = 0;
  Status right_;
  TestProgram test_{{}};
  Context context_{.out = test_.out,
                   .err = test_.err,
                   .in = test_.in,
                   .environment = Environment(test_.environment),
                   .stop = test_.stop.get_token(),
                   .stopping_signal = {},
                   .verbs = test_.verbs,
                   .verb = {},
                   .json = true};
  std::optional<TranscriptSink> sink_;
};

TEST_F(Sink, LooksALastTimeWhateverBecameOfTheLastRecording) {
  right_ = fail(ErrorCode::Device, "simt:0 computes wrongly");
  TranscriptSink& sink = open(with_placement());
  sink.on_segment(0, segment());
  sink.on_done(0, Transcript{});
  EXPECT_EQ(looks_, 0);
  sink.on_done(1, fail(ErrorCode::NotFound, "there is none"));
  EXPECT_EQ(sink.finish(), 3);
  EXPECT_EQ(looks_, 1);
  EXPECT_THAT(test_.err.text(), HasSubstr("simt:0 computes wrongly\n"));
  EXPECT_THAT(test_.out.text(), HasSubstr(R"("reason":"wrong")")) << "before the last answer";
}

TEST_F(Sink, LooksALastTimeWhereItWasStopped) {
  TranscriptSink& sink = open(with_placement());
  sink.on_done(0, fail(ErrorCode::Cancelled, "stopped"));
  EXPECT_NE(sink.finish(), 0);
  EXPECT_EQ(looks_, 1);
}

TEST_F(Sink, EndsWithThreeWhereADeviceWasTheCause) {
  TranscriptSink& sink = open(with_placement());
  sink.on_done(0, fail(ErrorCode::NotFound, "there is none"));
  sink.on_done(1, fail(ErrorCode::Device, "simt:0 is lost"));
  EXPECT_EQ(sink.finish(), 3);
  TranscriptSink& other = open(with_placement());
  other.on_done(0, fail(ErrorCode::NotFound, "there is none"));
  other.on_done(1, fail(ErrorCode::Environment, "no decoder"));
  EXPECT_EQ(other.finish(), 1);
}

TEST_F(Sink, SaysInEveryAnswerWhereItWasHeard) {
  TranscriptSink& sink = open(with_placement());
  sink.on_segment(1, segment());
  sink.on_finished(1, Transcript{});
  EXPECT_THAT(folder.read("b.json"), HasSubstr("simt:0")) << "written before its turn";
  sink.on_done(0, fail(ErrorCode::Device, "simt:0 is lost"));
  EXPECT_THAT(test_.out.text(), HasSubstr(R"("device":"simt:0")")) << "nothing was heard";
}

TEST_F(Outputs, WhatWasHeardSoFarIsOnDisk) {
  TestProgram test{{}};
  Context context{.out = test.out,
                  .err = test.err,
                  .in = test.in,
                  .environment = Environment(test.environment),
                  .stop = test.stop.get_token(),
                  .stopping_signal = {},
                  .verbs = test.verbs,
                  .verb = {},
                  .json = false};
  SinkOptions options;
  options.print_segments = false;
  options.save_every = std::chrono::seconds(0);
  const OutputPlan plan{.files = {{.path = folder / "a.txt"}}, .to_stdout = {}};
  TranscriptSink sink(context, options, {{.name = "-", .plan = plan}}, ProgressStyle::Off);
  Segment segment;
  segment.text = " one";
  segment.end_s = 1;
  sink.on_segment(0, segment);
  EXPECT_EQ(folder.read("a.txt.partial"), "one\n");
  segment.text = " two";
  sink.on_segment(0, segment);
  EXPECT_EQ(folder.read("a.txt.partial"), "one\ntwo\n");
  Transcript whole;
  whole.duration_s = 2;
  sink.on_done(0, whole);
  EXPECT_EQ(folder.read("a.txt"), "one\ntwo\n");
  EXPECT_FALSE(folder.has("a.txt.partial"));
  EXPECT_EQ(test.err.text(), "");
  sink.on_done(0, fail(ErrorCode::Io, "it broke"));
  EXPECT_EQ(test.err.text(),
            "mynah: standard input: it broke\n"
            "mynah: standard input: what was recognised so far is kept in " +
                (folder / "a.txt.partial") + "\n");
}

TEST_F(Outputs, EachRecordingHasTheNameItWasGivenOrNoneHas) {
  EXPECT_EQ(run({a, b, "--output-file", folder / "w.srt"}), 2);
  EXPECT_THAT(err(), HasSubstr("--output-file: wanted one a recording (2), found 1"));
  EXPECT_TRUE(fake->opened.empty());
}

TEST_F(Outputs, ANameIsInTheFolderThatIsGivenToo) {
  EXPECT_EQ(run({a, "--output-file", "w.srt", "-o", folder / "out"}), 0) << err();
  EXPECT_TRUE(folder.has("out/w.srt"));
}

TEST_F(Outputs, AnExtensionCountsInEitherCaseAndStaysAsItIs) {
  EXPECT_EQ(run({a, "--output-file", folder / "talk.TXT"}), 0) << err();
  EXPECT_EQ(folder.read("talk.TXT"), "second 0\n");
  EXPECT_FALSE(folder.has("talk.TXT.txt"));
  EXPECT_EQ(run({a, "--output-file", folder / "talk.Srt", "--format", "srt,vtt"}), 0);
  EXPECT_TRUE(folder.has("talk.Srt"));
  EXPECT_TRUE(folder.has("talk.vtt"));
  EXPECT_EQ(run({a, "--output-file", folder / "talk.WTS"}), 0);
  EXPECT_TRUE(fake->last_options.decoding.words);
}

TEST_F(Outputs, ADeviceOrAPipeIsNotReplacedByAFile) {
  EXPECT_EQ(run({a, "--output-file", "/dev/full"}), 2);
  EXPECT_THAT(err(), HasSubstr("/dev/full is a device or a pipe"));
  ASSERT_EQ(::mkfifo((folder / "pipe.txt").c_str(), 0600), 0);
  EXPECT_EQ(run({a, "--output-file", folder / "pipe"}), 2);
  EXPECT_THAT(err(), HasSubstr("--output-file - for standard output"));
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe.txt"));
  EXPECT_TRUE(fake->opened.empty());
}

TEST_F(Outputs, JsonAndAnotherFormatDoNotShareStandardOutput) {
  EXPECT_EQ(run({a, "--json", "--format", "srt"}), 2);
  EXPECT_THAT(err(), HasSubstr("both want standard output"));
  EXPECT_EQ(run({a, "--json", "-o", folder / "out"}), 0);
  EXPECT_TRUE(folder.has("out/talk.json"));
  EXPECT_FALSE(folder.has("out/talk.txt"));
}

TEST_F(Outputs, SeveralFilesDoNotShareStandardOutput) {
  for (const std::string format : {"srt", "vtt", "tsv", "csv", "lrc", "aud", "wts"}) {
    EXPECT_EQ(run({a, b, "--format", format}), 2);
    EXPECT_THAT(err(), HasSubstr("2 files (" + format + ") want standard output"));
    EXPECT_EQ(run({a, "--format", format}), 0) << err();
  }
  EXPECT_EQ(run({a, "--output-file", "-", "--format", "txt,srt"}), 2);
  EXPECT_TRUE(fake->opened.size() == 7);
  EXPECT_EQ(run({a, b, "--format", "txt"}), 0) << err();
  EXPECT_EQ(run({a, b, "--format", "json"}), 0) << err();
  EXPECT_EQ(run({a, folder / "missing/*.wav", "--format", "srt"}), 1) << err();
  EXPECT_THAT(out(), HasSubstr("second 0"));
}

TEST_F(Outputs, NamesThatAreTooLongForTheirEndingsAreCutAndTold) {
  const std::string stem(251, 'x');
  const std::string other = std::string(250, 'x') + "y";
  const std::string long_a = write_wav(folder / (stem + ".wav"), 1);
  const std::string long_b = write_wav(folder / (other + ".wav"), 1);
  EXPECT_EQ(run({long_a, "-o", folder / "out", "--format", "srt"}), 0) << err();
  EXPECT_EQ(err(), "");
  EXPECT_TRUE(folder.has("out/" + stem + ".srt"));
  EXPECT_EQ(run({long_a, long_b, "-o", folder / "out", "--format", "srt,json"}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("its name is too long for the names of its outputs, which are"));
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / "out")) {
    files += file.path().filename().native().size() <= 255 ? 1 : 0;
  }
  EXPECT_EQ(files, 5U);
  EXPECT_EQ(run({long_a, long_b, "-o", folder / "out", "--format", "srt,json", "--resume"}), 0);
  EXPECT_THAT(err(), HasSubstr("2 recordings are done already"));
  EXPECT_EQ(run({long_a, "--output-beside", "--format", "srt"}), 0) << err();
}

TEST_F(Outputs, FoldersSayWhatTheyPassOver) {
  test::write_file(folder / "in/notes.txt", "x");
  write_wav(folder / "in/a.wav", 1);
  EXPECT_EQ(run({folder / "in"}), 0) << err();
  EXPECT_EQ(err(), "mynah: " + (folder / "in") + ": passed over as no recordings: 1 .txt\n");
  EXPECT_EQ(run({folder / "in", "-q"}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_EQ(run({folder / "in", "--json"}), 0);
  const auto first = nlohmann::json::parse(out().substr(0, out().find('\n')));
  EXPECT_EQ(first["passed_over"]["extensions"][".txt"], 1);
  EXPECT_EQ(first["file"], folder / "in");
}

TEST_F(Outputs, WhereFilesGoIsSaidIfNobodySaidIt) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "b");
  EXPECT_EQ(run({a, "--format", "srt,vtt"}), 0);
  std::filesystem::current_path(before);
  EXPECT_THAT(err(), HasSubstr("--output-dir names another folder"));
  EXPECT_TRUE(folder.has("b/talk.srt"));
}

TEST_F(Outputs, RecordsAreReadWhenSomethingIsAsked) {
  const std::string path = folder / "outputs.jsonl";
  const OutputRecords records(path);
  OutputRecords(path).add(a, b);
  EXPECT_TRUE(records.is_of_another(a, a));
  EXPECT_FALSE(records.is_of_another(a, b));
  EXPECT_FALSE(records.is_of_another(b, a));  // nothing is known of it
}

TEST_F(Outputs, RecordsThatSayNothingAnyMoreAreLeftOut) {
  const std::string path = folder / "outputs.jsonl";
  const auto line = [](const std::string& output, const std::string& recording) {
    return nlohmann::ordered_json{{"output", output}, {"recording", recording}, {"options", ""}}
               .dump() +
           "\n";
  };
  const std::string there = OutputRecords::identity(a);
  std::string text = line(there, "/first.wav");
  // As long as it may be: nothing is left out yet.
  while (text.size() < 60'000) {
    text += line(folder / ("gone-" + std::to_string(text.size())), "/x.wav");
  }
  text += line(there, "/last.wav");
  std::ofstream(path) << text;
  OutputRecords(path).add(b, b);
  EXPECT_GT(std::filesystem::file_size(path), text.size());
  // Longer, the end torn off by a power cut.
  std::ofstream(path, std::ios::app) << std::string(10'000, 'x');
  OutputRecords(path).add(folder / "gone.txt", b);
  const std::string b_itself = OutputRecords::identity(b);
  EXPECT_EQ(folder.read("outputs.jsonl"), line(there, "/last.wav") + line(b_itself, b_itself));
  // Nothing but what is of use: it stays, however long.
  text = line(there, std::string(100'000, 'y'));
  std::ofstream(path) << text;
  OutputRecords(path).add(b, b);
  EXPECT_EQ(folder.read("outputs.jsonl"), text + line(b_itself, b_itself));
}

// Locks are an open file's: threads are to each other what processes are.
TEST_F(Outputs, NoRecordIsLostWhereSeveralAddAndLeaveOutAtOnce) {
  const std::string path = folder / "outputs.jsonl";
  constexpr int kWriters = 4;
  constexpr int kOutputs = 50;
  const auto name = [&](int writer, int output) {
    return folder / (std::to_string(writer) + "-" + std::to_string(output) + ".txt");
  };
  const std::string long_recording(20'000, 'r');  // a few lines make the file too long
  const auto write = [&](int writer) {
    for (int i = 0; i < kOutputs; ++i) {
      std::ofstream(name(writer, i)) << "text\n";
      OutputRecords records(path);
      records.add(name(writer, i), a);
      records.add(folder / "gone.txt", long_recording);
      OutputRecords(path).add(folder / "gone.txt", long_recording);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kWriters);
    for (int writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back(write, writer);
    }
  }
  const OutputRecords records(path);
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int i = 0; i < kOutputs; ++i) {
      EXPECT_TRUE(records.is_of_another(name(writer, i), b));  // it is known what of
    }
  }
  EXPECT_LT(std::filesystem::file_size(path), 1'000'000U);  // of 8 MB
}

TEST_F(Outputs, RecordsAreReadAsFarAsTheyAreUnderstood) {
  const std::string path = folder / "outputs.jsonl";
  std::ofstream(folder / "a.txt") << "one\n";
  const nlohmann::json line = {{"output", OutputRecords::identity(folder / "a.txt")},
                               {"recording", "/a.wav"}};
  std::ofstream(path) << "{\"output\": 1}\nnot json\n" << line.dump() << "\n{\"output\": \"/b";
  const OutputRecords records(path);
  EXPECT_TRUE(records.is_of_another(folder / "a.txt", "/b.wav"));
  EXPECT_FALSE(records.is_of_another(folder / "a.txt", "/a.wav"));
  EXPECT_FALSE(records.is_made_otherwise(folder / "a.txt", "--model base"));  // not known
  EXPECT_FALSE(records.is_of_another("/b", "/a.wav"));
  EXPECT_FALSE(OutputRecords().is_of_another(folder / "a.txt", "/b.wav"));
}

}  // namespace
}  // namespace mynah::cli
