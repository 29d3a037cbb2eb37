// `mynah doctor` as a user types it: of facts written down, knowledge, and commands that hang.
#include "cli/doctor/doctor.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/doctor/doctor_knowledge.h"
#include "cli/doctor_fixture.h"
#include "doctor/knowledge/knowledge_files.h"
#include "gpu/machine.h"

namespace mynah::cli {
namespace {

using mynah::test::read_file;
using mynah::test::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST_F(DoctorVerb, ReasonsAboutAnotherMachine) {
  const Outcome told = mynah({"--as", facts_file()});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, AllOf(StartsWith("Debian GNU/Linux 12 (bookworm)\nno card\n"),
                              HasSubstr("/home/joe/acme/data: no permission")));
  // From standard input as well.
  EXPECT_EQ(mynah({"--as", "-"}, read_file(facts_file())).out, told.out);
  const Json json = Json::parse(mynah({"--as", facts_file(), "--json"}).out);
  EXPECT_EQ(json["format"], "mynah doctor report");
  EXPECT_EQ(json["skipped"].size(), 1U);
}

TEST_F(DoctorVerb, PrintsFactsThatCanBeCarried) {
  const std::string file = facts_file();
  const Outcome printed = mynah({"--as", file, "--facts"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(Json::parse(printed.out), Json::parse(read_file(file)));
  const Outcome line = mynah({"--as", file, "--facts", "--json"});
  EXPECT_EQ(std::ranges::count(line.out, '\n'), 1);
  const Outcome redacted = mynah({"--as", file, "--facts", "--redact"});
  EXPECT_THAT(redacted.out, AllOf(Not(HasSubstr("joe")), Not(HasSubstr("acme")),
                                  HasSubstr("/home/USER/folder1/.venv"),
                                  HasSubstr("/home/USER/folder1/folder3: no permission")));
}

TEST_F(DoctorVerb, StartsNothingWhereNoCardIsToBeSeen) {
  if (gpu::read_machine().shows_card()) {
    GTEST_SKIP() << "this machine has a card";
  }
  // The program that the driver would be asked in leaves a sign that it was started.
  const std::string worker = folder / "worker";
  const std::string sign = folder / "started";
  write_file(worker, "#!/bin/sh\ntouch '" + sign + "'\n");
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  environment["MYNAH_WORKER"] = worker;
  std::filesystem::create_directory(folder / "project");
  write_file(folder / "project/requirements.txt", "requests==2.32.3\n");
  const Outcome told = mynah({"--facts", folder / "project"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_FALSE(std::filesystem::exists(sign));
  // Who names a driver wants it to be asked.
  environment["MYNAH_CUDA_DRIVER"] = folder / "libcuda.so";
  EXPECT_EQ(mynah({"--facts", folder / "project"}).code, 0) << "a driver that cannot be asked";
  EXPECT_TRUE(std::filesystem::exists(sign));
  // Another machine's facts are told by its file.
  std::filesystem::remove(sign);
  EXPECT_EQ(mynah({"--as", facts_file()}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(sign));
}

TEST_F(DoctorVerb, OfThisFolderLooksAtTheRecipesInItAlone) {
  write_file(folder / "here/requirements.txt", "-r more/base.txt\n");
  write_file(folder / "here/more/base.txt", "numpy==1.26.4\n");
  write_file(folder / "here/more/requirements.txt", "numpy==2.0.0\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "here");
  const Outcome all = mynah({"--json"});
  const Outcome named = mynah({".", "--json"});
  std::filesystem::current_path(before);
  EXPECT_EQ(Json::parse(all.out)["looked_at"]["recipes"].size(), 2U) << all.out;
  EXPECT_EQ(Json::parse(named.out)["looked_at"]["recipes"].size(), 3U) << named.out;
}

TEST_F(DoctorVerb, TakesNoCardFromTheEnvironment) {
  environment["MYNAH_GPU"] = "RTX 5090";
  const Outcome planned = mynah({"plan", "--want", "torch", "--as", facts_file()});
  EXPECT_THAT(planned.err, HasSubstr("MYNAH_GPU is passed over: --gpu is said anew for each run"));
  EXPECT_THAT(planned.out, Not(HasSubstr("RTX 5090")));
}

TEST_F(DoctorVerb, WritesAPageToAttach) {
  const std::string page = folder / "report.html";
  const Outcome told = mynah({"--as", facts_file(), "--html", page, "--redact"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, AllOf(HasSubstr("no card"), Not(HasSubstr("joe"))));
  EXPECT_THAT(read_file(page), AllOf(StartsWith("<!doctype html>"), Not(HasSubstr("<script")),
                                     Not(HasSubstr("joe")), HasSubstr("&lt;script&gt;")));
  EXPECT_THAT(mynah({"--as", facts_file(), "--html", "-"}).out,
              AllOf(StartsWith("<!doctype html>"), testing::EndsWith("</html>\n")));
}

TEST_F(DoctorVerb, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(mynah({"--html", "-", "--json"}).code, 2);
  EXPECT_EQ(mynah({"--html", "x", "--facts"}).code, 2);
  EXPECT_EQ(mynah({"--as", facts_file(), "--html", facts_file()}).code, 2);
  EXPECT_EQ(mynah({"--show"}).code, 2);
  EXPECT_EQ(mynah({"explain", "--html", "x", "text"}).code, 2);
  EXPECT_EQ(mynah({"try", "ls"}).code, 2);
  EXPECT_EQ(mynah({"try", "--timeout", "0", "--", "ls"}).code, 2);
  EXPECT_EQ(mynah({"try", "--timeout", "nan", "--", "ls"}).code, 2);
  EXPECT_EQ(mynah({"update"}).code, 2);
  EXPECT_EQ(mynah({"update", "--show", "x"}).code, 2);
  // The doctor itself failed.
  EXPECT_EQ(mynah({folder / "nowhere"}).code, 1);
  write_file(folder / "bad.json", R"({"machine": {"cards": [{"memory_mib": "much"}]}})");
  const Outcome bad = mynah({"--as", folder / "bad.json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("machine.cards[0].memory_mib: wanted a whole number"));
}

TEST_F(DoctorVerb, SaysOfAPlaceWhyThereIsNothingToJudge) {
  std::filesystem::create_directories(folder / "empty");
  const Outcome empty = mynah({folder / "empty"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, AllOf(HasSubstr("found nothing to look at"), HasSubstr("no recipe")));
  EXPECT_THAT(mynah({"/dev/null"}).err, HasSubstr("found a pipe, a socket or a device"));
  write_file(folder / "noise", std::string("a\0b", 3));
  EXPECT_THAT(mynah({folder / "noise"}).err, HasSubstr("found bytes that are no text"));
  write_file(folder / "other/requirements.txt", std::string("a\0b", 3));
  EXPECT_THAT(mynah({folder / "other"}).err,
              AllOf(HasSubstr("found nothing to judge"), HasSubstr("found bytes")));
}

TEST_F(DoctorVerb, LooksAtAPlaceThatIsNamedTwiceOnce) {
  write_file(folder / "p/requirements.txt", "numpy==1.26.4\n");
  const Outcome twice =
      mynah({folder / "p", folder / "p/", folder / "p/requirements.txt", "--json"});
  EXPECT_EQ(Json::parse(twice.out)["looked_at"]["recipes"].size(), 1U) << twice.out;
}

TEST_F(DoctorVerb, RefusesOptionsThatContradictEachOther) {
  const Outcome two = mynah({"plan", "--want", "torch", "--gpu", "8.9", "--as", facts_file()});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("both say which card is meant"));
  const Outcome python =
      mynah({"plan", "--want", "torch", "--gpu", "8.9", "--driver", "580", "--python", "x"});
  EXPECT_EQ(python.code, 2);
  EXPECT_THAT(python.err, HasSubstr("--python: wanted a version"));
  EXPECT_THAT(mynah({"compare", "a"}).err, HasSubstr("found 1"));
}

// Warnings never decide the exit code; what is unknown does with --strict.
TEST_F(DoctorVerb, TheWorstLevelDecidesTheExitCode) {
  const std::string file = folder / "machine.json";
  const auto codes = [&](const char* machine) {
    write_file(file, fmt::format(R"({{"machine": {}}})", machine));
    return std::pair(mynah({"--as", file}).code, mynah({"--as", file, "--strict"}).code);
  };
  EXPECT_EQ(codes("{}"), std::pair(0, 0)) << "a note";
  EXPECT_EQ(codes(R"({"release": "CentOS Linux 7", "glibc": "2.17"
})"),
            std::pair(0, 0))
      << "a warning";
  EXPECT_EQ(codes(R"({"container": {"inside": true},
                      "variables": {"NVIDIA_VISIBLE_DEVICES": "all"}})"),
            std::pair(0, 3))
      << "unknown";
  EXPECT_EQ(codes(R"({"driver": "595.71.05", "cards": [{"name": "TITAN Xp"}]})"), std::pair(3, 3))
      << "a fail";
}

TEST_F(DoctorVerb, TakesNewerKnowledgeAndUsesIt) {
  const std::string own = doctor::builtin_knowledge().date;
  EXPECT_THAT(mynah({"update", "--show"}).out,
              AllOf(HasSubstr("knowledge of " + own), HasSubstr("the program's own")));
  const Outcome taken = mynah({"update", knowledge_file("2999-01-01")});
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_THAT(taken.out, HasSubstr("knowledge of 2999-01-01 is used from now on"));
  const Json shown = Json::parse(mynah({"update", "--show", "--json"}).out);
  EXPECT_EQ(shown["date"], "2999-01-01");
  EXPECT_EQ(shown["program_date"], own);
  EXPECT_EQ(shown["file"], folder / ".local/share/mynah/doctor/knowledge.json");
  EXPECT_EQ(Json::parse(mynah({"--as", facts_file(), "--json"}).out)["knowledge"], "2999-01-01");
  EXPECT_EQ(mynah({"update", "-"}, read_file(knowledge_file("3000-01-01"))).code, 0);
}

TEST_F(DoctorVerb, RefusesDamagedAndOlderKnowledgeAndKeepsWhatItHas) {
  EXPECT_EQ(mynah({"update", knowledge_file("2999-01-01")}).code, 0);
  const Outcome older = mynah({"update", knowledge_file("2998-01-01")});
  EXPECT_EQ(older.code, 1);
  EXPECT_THAT(older.err, HasSubstr("nothing newer"));
  const std::string whole = read_file(knowledge_file("3000-01-01"));
  const Outcome damaged = mynah({"update", "-"}, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("standard input: wanted JSON"));
  Json other = Json::parse(whole);
  other["format"] = 99;
  EXPECT_EQ(mynah({"update", "-"}, other.dump()).code, 1);
  EXPECT_EQ(mynah({"update", folder / "nowhere.json"}).code, 1);
  EXPECT_THAT(mynah({"update", "--show"}).out, HasSubstr("knowledge of 2999-01-01"));
  // What was damaged later is told, and is no reason to stop.
  write_file(folder / ".local/share/mynah/doctor/knowledge.json", "{");
  const Outcome shown = mynah({"update", "--show"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.err, HasSubstr("the program's own knowledge is used"));
  EXPECT_EQ(mynah({"update", knowledge_file("2999-01-01")}).code, 0);
}

TEST_F(DoctorVerb, TriesACommand) {
  const Outcome well = mynah({"try", "--", "/bin/sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(well.code, 0) << well.err;
  EXPECT_EQ(well.out, "out\n");
  EXPECT_THAT(well.err, AllOf(HasSubstr("mynah: runs /bin/sh and watches it, for 120 s at most\n"),
                              HasSubstr("err\n"), HasSubstr("mynah: exited 0 after ")));
  // The command's options are its own.
  const Outcome json = mynah({"try", "--", "/bin/echo", "--json", "--help"});
  EXPECT_EQ(json.out, "--json --help\n");
}

TEST_F(DoctorVerb, ExplainsWhatACommandFailedWith) {
  const Outcome failed =
      mynah({"try", "--", "/bin/sh", "-c", "echo '" + std::string(kCudnnError) + "' >&2; exit 5"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("mynah: exited 5 after "), HasSubstr("[E25]")));
  const Outcome json = mynah({"try", "--json", "--", "/bin/sh", "-c",
                              "echo talk; echo '" + std::string(kCudnnError) + "' >&2; exit 5"});
  const Json object = Json::parse(json.out);  // what the command said went to standard error
  EXPECT_EQ(object["end"], "exited");
  EXPECT_EQ(object["exit_code"], 5);
  EXPECT_EQ(object["explanations"][0]["id"], "E25");
  EXPECT_THAT(json.err, HasSubstr("talk\n"));
}

TEST_F(DoctorVerb, SaysThatACommandHangsOrCrashes) {
  const Outcome hang = mynah({"try", "--timeout", "1", "--", "/bin/sleep", "1000"});
  EXPECT_EQ(hang.code, 3);
  EXPECT_THAT(hang.err, HasSubstr("mynah: hangs: after 1."));
  const Outcome crash = mynah({"try", "--", "/bin/sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(crash.code, 3);
  EXPECT_THAT(crash.err, HasSubstr("SIGSEGV (Segmentation fault)"));
  const Outcome none = mynah({"try", "--", "no-such-program-here"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no program 'no-such-program-here' in the folders"));
}

TEST_F(DoctorVerb, SaysWhyWhatIsToBeTriedIsNoProgram) {
  EXPECT_THAT(mynah({"try", "--", "python app.py"}).err, HasSubstr("words of their own"));
  EXPECT_THAT(mynah({"try", "--", "/usr"}).err, HasSubstr("'/usr' is a folder"));
  EXPECT_THAT(mynah({"try", "--", "/etc/passwd"}).err, HasSubstr("chmod +x"));
  EXPECT_THAT(mynah({"try", "--", "/nothing/here"}).err, HasSubstr("no program '/nothing/here'"));
}

TEST_F(DoctorVerb, ThatACommandWasStoppedIsNoFault) {
  const Outcome stopped = mynah({"try", "--json", "--", "/bin/sh", "-c", "kill -INT $$"});
  EXPECT_EQ(stopped.code, 130);
  EXPECT_EQ(Json::parse(stopped.out)["end"], "stopped");
}

TEST_F(DoctorVerb, PlansVersionsForACardAsRequirementsDockerfileAndJson) {
  const std::vector<std::string> words = {"plan",     "--gpu",  "RTX 5090",
                                          "--driver", "570.86", "--python",
                                          "3.11",     "--want", "torch>=2.7,<2.12,onnxruntime-gpu"};
  const Outcome plain = mynah(words);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.out, AllOf(StartsWith("# For Python 3.11.\n"), HasSubstr("\ntorch==2."),
                               HasSubstr("\nonnxruntime-gpu==")));
  std::vector<std::string> docker = words;
  docker.emplace_back("--dockerfile");
  EXPECT_THAT(mynah(docker).out, HasSubstr("\nFROM python:3.11-slim\n"));
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  const Json answer = Json::parse(mynah(json).out);
  EXPECT_EQ(answer["plan"]["requirements"], plain.out);
  EXPECT_EQ(answer["plan"]["packages"][0]["name"], "torch");
}

TEST_F(DoctorVerb, ThatThereIsNoPlanIsACodeOfItsOwnWithWhatWouldMakeOne) {
  const Outcome none =
      mynah({"plan", "--gpu", "RTX 5090", "--driver", "535.104", "--want", "torch"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.out, AllOf(HasSubstr("# No versions are known to work as asked."),
                              HasSubstr("a driver of branch 5")));
}

TEST_F(DoctorVerb, APlanSaysWhatItDoesNotUnderstand) {
  const auto refused = [&](const std::vector<std::string>& words) {
    const Outcome outcome = mynah(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refused({"plan", "--gpu", "RTX 5090"}), HasSubstr("--want faster-whisper,torch"));
  EXPECT_THAT(refused({"plan", "--gpu", "Voodoo 2", "--want", "torch"}),
              HasSubstr("no card \"Voodoo 2\""));
  EXPECT_THAT(refused({"plan", "--gpu", "8.6", "--driver", "new", "--want", "torch"}),
              HasSubstr("--driver: wanted a version"));
  EXPECT_THAT(refused({"plan", "torch"}), HasSubstr("say --want torch"));
  EXPECT_THAT(refused({"explain", "--want", "torch", "text"}), HasSubstr("explain has no --want"));
}

TEST_F(DoctorVerb, ComparesTwoLockFilesAndSaysWhichIsWorse) {
  const std::string old_file = folder / "old-requirements.txt";
  const std::string new_file = folder / "new-requirements.txt";
  write_file(old_file, "--index-url https://download.pytorch.org/whl/cu126\ntorch==2.7.1\n");
  write_file(new_file, "--index-url https://download.pytorch.org/whl/cu128\ntorch==2.7.1\n");
  const std::vector<std::string> card = {"--gpu", "RTX 5090", "--driver", "580.95.05"};
  std::vector<std::string> words = {"compare", old_file, new_file};
  words.insert(words.end(), card.begin(), card.end());
  const Outcome better = mynah(words);
  EXPECT_EQ(better.code, 0) << better.err;
  EXPECT_THAT(better.out, HasSubstr("torch: 2.7.1+cu126 to 2.7.1+cu128, rebuilt"));
  std::swap(words[1], words[2]);
  words.emplace_back("--json");
  const Outcome worse = mynah(words);
  EXPECT_EQ(worse.code, 3) << worse.err;
  EXPECT_EQ(Json::parse(worse.out)["worse"], true);
  EXPECT_THAT(mynah({"compare", old_file}).err, HasSubstr("wanted two"));
}

// An environment with numpy 1.26.4, whose python is a script.
class DoctorResolve : public DoctorVerb {
 protected:
  void SetUp() override {
    write_file(environment + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.9\n");
    write_file(environment + "/lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA",
               "Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n");
    write_file(recipe, "numpy>=2\n");
  }

  void write_python(const std::string& script) {
    const std::string python = environment + "/bin/python";
    write_file(python, "#!/bin/sh\n" + script);
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  }

  std::string environment = folder / "venv";
  std::string recipe = folder / "requirements.txt";
};

TEST_F(DoctorResolve, ShowsWhatPipWouldReplaceAndThatPipRuns) {
  write_python(
      "[ \"$1 $2 $3 $4\" = '-m pip install --dry-run' ] || exit 9\n"
      "for last; do :; done\n"
      "[ -f \"$last\" ] || exit 8\n"
      "echo '{\"version\": \"1\", \"install\": [{\"metadata\": {\"name\": \"numpy\", "
      "\"version\": \"2.1.3\"}}]}'\n");
  const Outcome shown = mynah({environment, recipe, "--resolve"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("numpy: 1.26.4 to 2.1.3, newer"));
  EXPECT_THAT(shown.err, HasSubstr("bin/python -m pip install --dry-run"));
  // Nothing of it runs without being asked.
  EXPECT_THAT(mynah({environment, recipe}).err, Not(HasSubstr("--dry-run")));
  const Outcome json = mynah({environment, recipe, "--resolve", "--json"});
  const Json answer = Json::parse(json.out.substr(json.out.find('\n') + 1));
  EXPECT_EQ(answer["environment"], environment);
  EXPECT_EQ(answer["packages"][0]["to"], "2.1.3");
}

TEST_F(DoctorResolve, GoesOnWherePipHasNoAnswer) {
  const int before = mynah({environment, recipe}).code;
  const auto expect = [&](const std::string& text) {
    const Outcome outcome = mynah({environment, recipe, "--resolve"});
    EXPECT_EQ(outcome.code, before);
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  expect("has no bin/python");
  write_python("exit 1\n");
  expect("pip did not say what it would install");
  write_python("echo nonsense\n");
  expect("pip's report");
}

TEST_F(DoctorResolve, WantsAnEnvironmentAndARequirementsFile) {
  EXPECT_EQ(mynah({environment, "--resolve"}).code, 2);
  EXPECT_EQ(mynah({recipe, "--resolve"}).code, 2);
  EXPECT_EQ(mynah({environment, recipe, "--resolve", "--redact"}).code, 2);
  EXPECT_EQ(mynah({"plan", "--resolve"}).code, 2);
}

}  // namespace
}  // namespace mynah::cli
