#include "cli/command/program.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "cli/command/parse.h"
#include "cli/command/signals.h"
#include "cli/command/version.h"
#include "cli/test_context.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

enum class Fruit : uint8_t { Apple, Pear };

// A verb with an option of each kind; prints what it got.
class Sample : public Command {
 public:
  void fields(Fields& fields) override {
    fields.positional("FILE", files, "Files.");
    fields.section("Things");
    fields.option("beam", "N", beam, "Width of the beam.").also("beam-size");
    fields.option("threshold", "P", threshold, "A probability.");
    fields.option("limit", "S", limit, "Seconds.").within(0, 60);
    fields.flag("vad", vad, "Cut at silence.");
    fields.flag("words", words, "Word times.").shorter('w');
    fields.list("format", "LIST", formats, "Formats.").shorter('o');
    fields.flag("dry", dry, "Do nothing, this once.").once();
    fields.choice("fruit", "NAME", fruit, {{"apple", Fruit::Apple}, {"pear", Fruit::Pear}},
                  "A fruit.");
  }

  Result<int> run(Context& context) override {
    if (files == std::vector<std::string>{"missing"}) {
      return fail(ErrorCode::NotFound, "missing: wanted a file,\nfound nothing");
    }
    if (files == std::vector<std::string>{"slow"}) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    Fields list;
    fields(list);
    for (const Field& field : list.all()) {
      if (!field.flag_only) {
        context.out.line(field.name + "=" + field.print());
      }
    }
    for (const std::string& file : files) {
      context.out.line(file);
    }
    return 0;
  }

  std::vector<std::string> files;
  std::vector<std::string> formats = {"txt"};
  int beam = 1;
  float threshold = 0.5F;
  std::optional<double> limit;
  bool vad = true;
  bool words = false;
  bool dry = false;
  Fruit fruit = Fruit::Apple;
};

std::vector<Verb> sample_verbs() {
  return {verb<Sample>("sample", "Prints its options."),
          verb<VersionCommand>("version", "Prints the version.")};
}

TEST(Program, WithoutAVerbSaysHowItIsUsedAndExitsWith2) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("sample       Prints its options."));
  EXPECT_EQ(program.out.text(), "");
}

TEST(Program, HelpGoesToStandardOutput) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"--help"}), 0);
  EXPECT_THAT(program.out.text(), StartsWith("mynah: "));
  EXPECT_EQ(program.err.text(), "");
}

TEST(Program, NamesTheNearestVerb) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"smaple"}), 2);
  EXPECT_THAT(program.err.text(),
              StartsWith("mynah: there is no verb 'smaple' (did you mean sample?)\n"));
}

TEST(Program, KnowsWhatOtherProgramsCallItsVerbs) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"run"}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("no verb 'run' (did you mean chat?)"));
}

TEST(Program, TakesAFileInTheVerbsPlaceForARecording) {
  const std::string path = testing::TempDir() + "mynah_talk.wav";
  std::ofstream(path) << "samples";
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({path}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("(did you mean `mynah transcribe " + path + "`?)"));
  std::filesystem::remove(path);
}

TEST(Program, TakesFlagsInTheVerbsPlaceForARecordingsToo) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"-m", "tiny.en", "-f", "talk.wav"}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("(did you mean `mynah transcribe -m ...`?)"));
}

TEST(Program, NamesTheNearestFlag) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "--beem", "5"}), 2);
  EXPECT_THAT(program.err.text(),
              StartsWith("mynah: sample: unknown option --beem (did you mean --beam?)\n"));
}

TEST(Program, SaysWhichOptionWantsAValue) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "--beam"}), 2);
  EXPECT_THAT(program.err.text(), StartsWith("mynah: sample: --beam wants a value\n"));
}

TEST(Program, RefusesNumbersOutsideTheirRange) {
  for (const char* const good : {"0", "60", "2.5", "none"}) {
    TestProgram program(sample_verbs());
    EXPECT_EQ(program.run({"sample", "--limit", good}), 0);
  }
  for (const char* const wrong : {"-0.1", "61", "inf"}) {
    TestProgram program(sample_verbs());
    EXPECT_EQ(program.run({"sample", std::string("--limit=") + wrong}), 2);
    EXPECT_THAT(program.err.text(),
                HasSubstr(std::string("--limit: wanted a number from 0 to 60, found ") + wrong));
  }
}

TEST(Program, PrintsAnErrorAsOneLine) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "missing"}), 1);
  EXPECT_EQ(program.err.text(), "mynah: sample: missing: wanted a file, found nothing\n");
}

TEST(Program, PrintsAnErrorAsJsonWhereJsonIsAskedFor) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "--json", "missing"}), 1);
  EXPECT_EQ(program.err.text(),
            R"({"error":{"code":"not_found","message":"missing: wanted a file, found nothing"}})"
            "\n");
}

TEST(Program, SaysInJsonThatThereIsNoSuchVerb) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"smaple", "--json"}), 2);
  EXPECT_THAT(program.err.text(),
              StartsWith(R"({"error":{"code":"usage","message":"there is no verb 'smaple' (did )"));
}

TEST(Program, ExitsAsTheSignalThatStoppedIt) {
  TestProgram program(sample_verbs());
  program.stop.request_stop();
  EXPECT_EQ(program.run({"sample", "slow"}), 128 + SIGINT);
}

// Runs --help with `fd` as standard output; returns the exit code.
int print_help_to(int fd, OutputStream& err) {
  OutputStream out(fd);
  InputStream in{std::string()};
  const std::vector<Verb> verbs = sample_verbs();
  Context context{.out = out,
                  .err = err,
                  .in = in,
                  .environment = {},
                  .stop = {},
                  .stopping_signal = {},
                  .verbs = verbs,
                  .verb = {},
                  .json = false};
  return run_program({"--help"}, context);
}

TEST(Program, EndsQuietlyWhenStandardOutputIsClosed) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  ::close(fds[0]);
  ::signal(SIGPIPE, SIG_IGN);
  OutputStream err;
  EXPECT_EQ(print_help_to(fds[1], err), kClosedOutputExitCode);
  EXPECT_EQ(err.text(), "");
  ::close(fds[1]);
}

TEST(Program, SaysThatADiskIsFull) {
  const int fd = ::open("/dev/full", O_WRONLY);
  if (fd < 0) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  OutputStream err;
  EXPECT_EQ(print_help_to(fd, err), 1);
  EXPECT_EQ(err.text(), "mynah: writing to standard output: No space left on device\n");
  ::close(fd);
}

TEST(Program, TakesFlagsInEverySpelling) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "a.wav", "--beam_size", "5", "-w", "--no-vad",
                         "--format=srt,vtt", "-o", "json", "--threshold", "-1", "--limit", "2.5",
                         "--fruit", "pear", "--", "-b.wav"}),
            0)
      << program.err.text();
  EXPECT_EQ(program.out.text(),
            "beam=5\nthreshold=-1\nlimit=2.5\nvad=false\nwords=true\nformat=srt,vtt,json\n"
            "fruit=pear\na.wav\n-b.wav\n");
}

TEST(Program, TakesTrueAndFalseBehindASwitch) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "--words", "True", "--vad", "False", "a.wav"}), 0);
  EXPECT_THAT(program.out.text(), HasSubstr("vad=false\nwords=true\n"));
  EXPECT_THAT(program.out.text(), EndsWith("\na.wav\n"));
}

TEST(Program, RefusesValuesThatAreNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--beam", "five"}, "--beam: wanted a whole number, found 'five'"},
      {{"--beam", "99999999999"}, "--beam: wanted a number from -2147483648 to 2147483647"},
      {{"--threshold", "nan"}, "--threshold: wanted a number, found 'nan'"},
      {{"--fruit", "paer"}, "--fruit: wanted apple, pear, found 'paer' (did you mean pear?)"},
      {{"--beam"}, "--beam"},
  };
  for (const auto& [arguments, message] : cases) {
    TestProgram program(sample_verbs());
    std::vector<std::string> all = {"sample"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(program.run(all), 2);
    EXPECT_THAT(program.err.text(), HasSubstr(message));
  }
}

TEST(Program, AFlagWinsOverTheEnvironmentAndThatOverTheFile) {
  const std::string path = testing::TempDir() + "mynah_config_test.toml";
  std::ofstream(path) << "beam = 2\nthreshold = 0.25\nformat = [\"srt\", \"vtt\"]\n"
                         "[sample]\nbeam = 3\nwords = true\n";
  TestProgram program(sample_verbs());
  program.environment["MYNAH_CONFIG"] = path;
  program.environment["MYNAH_THRESHOLD"] = "0.75";
  EXPECT_EQ(program.run({"sample", "--format", "csv"}), 0) << program.err.text();
  EXPECT_EQ(program.out.text(),
            "beam=3\nthreshold=0.75\nlimit=none\nvad=true\nwords=true\nformat=csv\nfruit=apple\n");
  std::filesystem::remove(path);
}

TEST(Program, SaysWhichVariablesItPassesOver) {
  TestProgram program(sample_verbs());
  program.environment["MYNAH_BAEM"] = "2";
  program.environment["MYNAH_DRY"] = "true";
  program.environment["MYNAH_FAKE_CARDS"] = "none";  // the tests' simulated driver reads it
  program.environment["MYNAH_HOME"] = "/models";
  program.environment["MYNAH_LIMIT"] = "2";
  program.environment["MYNAH_X"] = "2";
  program.environment["NOT_MYNAH_BAEM"] = "2";
  EXPECT_EQ(program.run({"sample"}), 0);
  EXPECT_EQ(program.err.text(),
            "mynah: MYNAH_BAEM is passed over: no option has this variable (did you mean "
            "MYNAH_BEAM?)\n"
            "mynah: MYNAH_DRY is passed over: --dry is said anew for each run\n"
            "mynah: MYNAH_X is passed over: no option has this variable\n");
}

TEST(Config, NamesTheLineOfWhatItDoesNotKnow) {
  const std::vector<Verb> verbs = sample_verbs();
  const auto wrong_key = parse_config("\nbaem = 2\n", "c.toml");
  ASSERT_TRUE(wrong_key);
  EXPECT_EQ(check_config(*wrong_key, verbs).error().message,
            "c.toml:2: unknown option 'baem' (did you mean beam?)");
  const auto wrong_verb = parse_config("[smaple]\nbeam = 2\n", "c.toml");
  ASSERT_TRUE(wrong_verb);
  EXPECT_EQ(check_config(*wrong_verb, verbs).error().message,
            "c.toml:2: there is no verb [smaple] (did you mean sample?)");
}

TEST(Config, SaysWhyAnOptionOfOneRunCannotStandThere) {
  const std::vector<Verb> verbs = sample_verbs();
  for (const char* text : {"dry = true\n", "[sample]\ndry = true\n"}) {
    const auto config = parse_config(text, "c.toml");
    ASSERT_TRUE(config);
    EXPECT_THAT(check_config(*config, verbs).error().message,
                HasSubstr(": 'dry' is said anew for each run, as scripts rely on what they "
                          "get: give --dry on the command line"));
  }
}

TEST(Config, LettersThatAreNotAsciiStandInQuotes) {
  for (const char* text :
       {"\xC3\xA9 = 1\n", "[\xC3\xA9]\n", "a = \xC3\xA9\n", "a = \"b\" \xC3\xA9"}) {
    const auto config = parse_config(std::string("# a comment\n") + text, "c.toml");
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, StartsWith("c.toml:2: wanted ASCII")) << text;
  }
  for (const char* text : {"a = \"\xC3\xA9\"", "a = '\xC3\xA9' # \xC3\xA9", "\"\xC3\xA9\" = 1",
                           "a = \"\"\"\n\xC3\xA9 \\\" \n\"\"\"\nb = 1", "a = \"\\\"\xC3\xA9\""}) {
    EXPECT_TRUE(parse_config(text, "c.toml")) << text;
  }
}

TEST(Config, RefusesWhatIsNotToml) {
  EXPECT_THAT(parse_config("beam = = 2", "c.toml").error().message, StartsWith("c.toml:1: "));
  EXPECT_THAT(parse_config("beam = {a = 1}", "c.toml")->entries,
              ElementsAre(testing::Field(&ConfigEntry::key, "a")));
  EXPECT_THAT(parse_config("beam = 1979-05-27", "c.toml").error().message,
              HasSubstr("wanted text, a number"));
}

TEST(Config, AFileThatIsNamedMustBeThere) {
  TestProgram program(sample_verbs());
  program.environment["MYNAH_CONFIG"] = "/nonexistent/mynah.toml";
  EXPECT_EQ(program.run({"sample"}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("/nonexistent/mynah.toml: No such file"));
}

TEST(Help, ShowsDefaultsAndChoices) {
  TestProgram program(sample_verbs());
  EXPECT_EQ(program.run({"sample", "-h"}), 0);
  EXPECT_THAT(program.out.text(), StartsWith("usage: mynah sample FILE... [options]\n"));
  EXPECT_THAT(program.out.text(),
              HasSubstr("  --beam N                      Width of the beam. [1]"));
  EXPECT_THAT(program.out.text(),
              HasSubstr("  --[no-]vad                    Cut at silence. [on]"));
  EXPECT_THAT(program.out.text(), HasSubstr("A fruit. One of: apple, pear. [apple]"));
}

// In a process of its own: signals are the whole process's, and a second one ends it.
TEST(StopSignals, SayWhatIsWaitedForAfterASecond) {
  constexpr int kSaid = 7;
  constexpr int kNotSaid = 8;
  const auto stop_and_wait = [&] {
    StopSignals signals;
    signals.when_late([&] { ::_exit(signals.token().stop_requested() ? kSaid : kNotSaid); });
    ::raise(SIGTERM);
    ::sleep(60);
    ::_exit(kNotSaid);
  };
  EXPECT_EXIT(stop_and_wait(), testing::ExitedWithCode(kSaid), "");
  const auto stop_and_end = [&] {
    {
      StopSignals signals;
      signals.when_late([&] { ::_exit(kSaid); });
      ::raise(SIGTERM);
    }
    ::_exit(kNotSaid);
  };
  EXPECT_EXIT(stop_and_end(), testing::ExitedWithCode(kNotSaid), "");
}

TEST(Environment, FollowsTheXdgFolders) {
  const Environment home(std::map<std::string, std::string>{{"HOME", "/h"}});
  EXPECT_EQ(home.config_folder(), "/h/.config/mynah");
  EXPECT_EQ(home.data_folder(), "/h/.local/share/mynah");
  const Environment set(std::map<std::string, std::string>{
      {"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}, {"XDG_DATA_HOME", "relative"}});
  EXPECT_EQ(set.cache_folder(), "/c/mynah");
  EXPECT_EQ(set.data_folder(), "/h/.local/share/mynah");
}

TEST(Environment, WithoutHomeItIsThatOfThePasswordDatabaseAndNoneThatOthersWriteInto) {
  const passwd* const user = ::getpwuid(::getuid());
  const std::string home = user == nullptr ? "/nonexistent" : user->pw_dir;
  const Environment empty((std::map<std::string, std::string>()));
  EXPECT_EQ(empty.cache_folder(), home + "/.cache/mynah");
  EXPECT_EQ(empty.data_folder(), home + "/.local/share/mynah");
}

}  // namespace
}  // namespace mynah::cli
