// `mynah doctor` about a machine that is not this one: --as, --gpu, --driver, plans, comparisons.
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/doctor_fixture.h"

namespace mynah::cli {
namespace {

using mynah::test::read_file;
using mynah::test::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class DoctorElsewhere : public DoctorVerb {
 protected:
  // A machine with one card and Docker, as somebody writes it down.
  std::string machine_file(const std::string& card, const std::string& driver,
                           const std::string& more = {}) {
    const std::string name = folder / ("machine" + std::to_string(++machines_) + ".json");
    write_file(name, fmt::format(R"({{"machine": {{"name": "server", "driver": "{}",
      "cards": [{{"name": "{}", "vendor": "10de"}}]{}}}}})",
                                 driver, card, more));
    return name;
  }

  // Recipes whose torch has no code for RTX 50, one of each kind.
  std::vector<std::string> old_recipes() {
    const std::string torch = "torch==2.5.1+cu124";
    const std::string index = "--extra-index-url https://download.pytorch.org/whl/cu124";
    write_file(folder / "a/requirements.txt", index + "\n" + torch + "\n");
    write_file(folder / "b/pyproject.toml",
               "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"" + torch + "\"]\n");
    write_file(folder / "c/Dockerfile",
               "FROM python:3.11-slim\nRUN pip install " + torch + " " + index + "\n");
    write_file(folder / "d/compose.yaml", "services:\n  tts:\n    build: .\n    gpus: all\n");
    write_file(folder / "d/Dockerfile", read_file(folder / "c/Dockerfile"));
    write_file(folder / "e/environment.yml",
               "dependencies:\n  - python=3.11\n  - pip:\n    - " + torch + "\n");
    return {folder / "a/requirements.txt", folder / "b", folder / "c/Dockerfile",
            folder / "d/compose.yaml", folder / "e/environment.yml"};
  }

 private:
  int machines_ = 0;
};

TEST_F(DoctorElsewhere, JudgesEveryKindOfRecipeForAToldCard) {
  for (const std::string& recipe : old_recipes()) {
    const Outcome told = mynah({recipe, "--gpu", "RTX 5090", "--driver", "580.95.05", "--json"});
    EXPECT_EQ(told.code, 3) << recipe << told.err;
    const Json json = Json::parse(told.out);
    EXPECT_EQ(json["verdicts"][0]["card"], "GeForce RTX 5090") << recipe;
    EXPECT_EQ(json["verdicts"][0]["outcome"], "fails at the first kernel") << recipe;
    EXPECT_EQ(json["machine"]["driver"], "580.95.05");
    EXPECT_EQ(json["machine"]["cards"][0]["compute_capability"], "12.0");
    EXPECT_EQ(mynah({recipe, "--gpu", "8.9", "--driver", "580.95.05"}).code, 0) << recipe;
  }
}

TEST_F(DoctorElsewhere, JudgesRecipesOfHereForTheMachineOfFacts) {
  const std::string facts = machine_file("NVIDIA GeForce RTX 5090", "580.95.05");
  for (const std::string& recipe : old_recipes()) {
    const Outcome told = mynah({recipe, "--as", facts});
    EXPECT_EQ(told.code, 3) << recipe << told.err;
    EXPECT_THAT(told.out, AllOf(StartsWith("Another machine, as " + facts.substr(0, 4)),
                                HasSubstr("NVIDIA GeForce RTX 5090 (sm_120)"),
                                HasSubstr("torch 2.5.1+cu124")));
  }
  // A folder of services, and what the host of those services lacks.
  const std::string bare = machine_file("NVIDIA GeForce RTX 4090", "580.95.05",
                                        R"(, "container": {"docker": true, "toolkit": false})");
  EXPECT_THAT(mynah({folder / "d", "--as", bare}).out,
              HasSubstr("Docker cannot give one out here"));
  // Of which nothing is said, nothing is missing.
  const std::string unsaid =
      machine_file("NVIDIA GeForce RTX 4090", "580.95.05", R"(, "container": {"docker": true})");
  EXPECT_THAT(mynah({folder / "d", "--as", unsaid}).out, Not(HasSubstr("FAIL: ")));
  // Of a told card nothing is known of Docker: nothing is missing.
  EXPECT_THAT(mynah({folder / "d", "--gpu", "RTX 4090", "--driver", "580.95.05"}).out,
              Not(HasSubstr("cannot give")));
}

TEST_F(DoctorElsewhere, SaysInEveryReportWhichMachineItIsAbout) {
  write_file(folder / "requirements.txt", "torch==2.9.1\n");
  const std::string recipe = folder / "requirements.txt";
  const std::string page = folder / "report.html";
  const std::vector<std::string> card = {recipe, "--gpu", "RTX 5090", "--driver", "580.95.05"};
  std::vector<std::string> words = card;
  words.insert(words.end(), {"--html", page});
  EXPECT_THAT(mynah(words).out,
              StartsWith("Another machine, as --gpu and --driver tell of it; what is judged was "
                         "read here"));
  EXPECT_THAT(read_file(page), HasSubstr("<li>Another machine, as --gpu and --driver tell of it"));
  const Json json = Json::parse(mynah({recipe, "--gpu", "RTX 5090", "--json"}).out);
  EXPECT_EQ(json["machine"]["about"],
            "Another machine, as --gpu tells of it: its driver is not known; what is judged was "
            "read here");
  EXPECT_THAT(mynah({recipe, "--driver", "580.95.05"}).out,
              StartsWith("This machine, with the driver of --driver\n"));
  // The file's name is somebody's, too.
  const std::string facts = machine_file("NVIDIA GeForce RTX 5090", "580.95.05");
  EXPECT_THAT(mynah({recipe, "--as", facts, "--redact"}).out, Not(HasSubstr(folder.path())));
}

// What is installed here stays as it is; its card is told, and what its libraries find elsewhere is
// not known.
TEST_F(DoctorElsewhere, JudgesAnEnvironmentOfHereForAToldCard) {
  const std::string venv = folder / "venv";
  write_file(venv + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.9\n");
  write_file(venv + "/lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA",
             "Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n");
  const Outcome told = mynah({venv, "--gpu", "RTX 5090", "--driver", "580.95.05", "--json"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(Json::parse(told.out)["looked_at"]["environments"].size(), 1U);
  const std::string facts = machine_file("NVIDIA GeForce RTX 5090", "580.95.05");
  EXPECT_EQ(mynah({venv, "--as", facts}).code, 0);
}

TEST_F(DoctorElsewhere, RefusesValuesThatSayNothing) {
  const auto refused = [&](const std::vector<std::string>& words) {
    const Outcome outcome = mynah(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out << testing::PrintToString(words);
    return outcome.err;
  };
  write_file(folder / "requirements.txt", "torch==2.9.1\n");
  const std::string recipe = folder / "requirements.txt";
  for (const char* const option : {"--gpu", "--driver", "--as", "--html"}) {
    EXPECT_THAT(refused({recipe, option, ""}), HasSubstr("found nothing")) << option;
  }
  EXPECT_THAT(refused({recipe, "--gpu", "banana"}), HasSubstr("no card \"banana\""));
  EXPECT_THAT(refused({recipe, "--gpu", "sm_banana"}), HasSubstr("no card \"sm_banana\""));
  EXPECT_THAT(refused({recipe, "--gpu", "9.9"}), HasSubstr("no cards of compute capability 9.9"));
  EXPECT_THAT(refused({recipe, "--gpu", "RTX 5090", "--driver", "banana"}),
              HasSubstr("--driver: wanted a version such as 580.95.05, found \"banana\""));
  for (const char* const driver : {"5", "580.", "580..1", "v580", "-1", "0580", "99999"}) {
    refused({recipe, "--gpu", "RTX 5090", "--driver", driver});
  }
  EXPECT_THAT(refused({recipe, "--gpu", "RTX 5090", "--driver", "12.8"}),
              HasSubstr("what nvidia-smi calls CUDA Version is not the driver's"));
  const std::vector<std::string> plan = {"plan", "--gpu", "sm_89", "--driver", "580.95.05"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = plan;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(mynah(with({"--want", "torch"})).code, 0);
  for (const char* const python : {"banana", "4.2", "2.7", "311", "3", "3.11.4.5", "3.11rc1", ""}) {
    refused(with({"--want", "torch", "--python", python}));
  }
  EXPECT_EQ(mynah(with({"--want", "torch", "--python", "3.11.4"})).out,
            mynah(with({"--want", "torch", "--python", "3.11"})).out);
  EXPECT_THAT(refused(with({"--want", "fasterwhisper"})),
              HasSubstr("did you mean faster-whisper?"));
  EXPECT_THAT(refused(with({"--want", "banana"})), HasSubstr("no releases of banana"));
  EXPECT_THAT(refused(with({"--want", "torch @ https://x.org/torch.whl"})),
              HasSubstr("the address of a file"));
  EXPECT_THAT(refused(with({"--want", "torch; python_version < '3'"})), HasSubstr("a condition"));
  EXPECT_THAT(refused(with({"--want", ",,"})), HasSubstr("found nothing"));
}

TEST_F(DoctorElsewhere, PlansForTheCardOfFactsByItsNameAlone) {
  const std::string facts = machine_file("NVIDIA GeForce RTX 5090", "580.95.05");
  EXPECT_EQ(mynah({"plan", "--as", facts, "--want", "torch"}).out,
            mynah({"plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--want", "torch"}).out);
  const Outcome other = mynah({"plan", "--as", machine_file("Voodoo 2", "580"), "--want", "torch"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("what Voodoo 2 can do"));
  write_file(folder / "bad.json", R"({"machine": {"cards": [{"compute_capability": "banana"}]}})");
  EXPECT_THAT(mynah({"plan", "--as", folder / "bad.json", "--want", "torch"}).err,
              HasSubstr("machine.cards[0].compute_capability: wanted two numbers such as 12.0"));
}

TEST_F(DoctorElsewhere, PlansNothingBesideAnArmProcessor) {
  const std::vector<std::string> wanted = {"--want", "torch,onnxruntime-gpu"};
  const auto planned = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    words.insert(words.end(), wanted.begin(), wanted.end());
    return mynah(words);
  };
  const std::string arm = machine_file("NVIDIA GeForce RTX 4090", "580.95.05",
                                       R"(, "processor_flags": ["fp", "asimd"])");
  for (const Outcome& told :
       {planned({"--gpu", "GB10", "--driver", "580.95.05"}), planned({"--as", arm})}) {
    EXPECT_EQ(told.code, 3) << told.err;
    EXPECT_THAT(told.out, AllOf(HasSubstr("# No versions are known to work as asked.\n"),
                                HasSubstr("for Arm processors (aarch64) holds is not known"),
                                Not(HasSubstr("PTX")), Not(HasSubstr("=="))));
  }
}

// Names and versions, as somebody writes them down.
TEST_F(DoctorElsewhere, JudgesTheFrameworksOfPackagesThatAreTold) {
  const auto told = [&](const char* torch) {
    std::string name = folder / (std::string(torch) + ".json");
    write_file(name, fmt::format(R"({{"machine": {{"driver": "580.95.05", "cards": [
      {{"name": "rtx5090"}}]}}, "environments": [{{"path": "/srv/venv", "packages": [
      {{"name": "torch", "version": "{}"}}]}}]}})",
                                 torch));
    return name;
  };
  const std::string old = told("2.7.1+cu126");
  const std::string good = told("2.7.1+cu128");
  const Outcome judged = mynah({"--as", old});
  EXPECT_EQ(judged.code, 3) << judged.err;
  EXPECT_THAT(judged.out, AllOf(HasSubstr("torch 2.7.1+cu126  fails at the first kernel"),
                                Not(HasSubstr("no framework that computes on cards"))));
  EXPECT_EQ(mynah({"--as", good}).code, 0);
  const Outcome worse = mynah({"compare", good, old});
  EXPECT_EQ(worse.code, 3) << worse.err;
  EXPECT_THAT(worse.out,
              AllOf(HasSubstr("What breaks"), HasSubstr("now 2.7.1+cu126 fails at the first")));
  EXPECT_EQ(mynah({"compare", old, good}).code, 0);
  EXPECT_EQ(mynah({"compare", good, old, "--gpu", "4090", "--driver", "580.95.05"}).code, 0);
}

// A recipe has no folder of packages yet: an image of Python says where it will be, else Python is
// asked.
TEST_F(DoctorElsewhere, LinesForTheLoaderNameAFolderThatIsThere) {
  write_file(folder / "requirements.txt", "onnxruntime-gpu==1.31.1\n");
  write_file(folder / "python/Dockerfile",
             "FROM python:3.11-slim\nRUN pip install onnxruntime-gpu==1.31.1\n");
  write_file(folder / "ubuntu/Dockerfile",
             "FROM ubuntu:22.04\nRUN pip install onnxruntime-gpu==1.31.1\n");
  const auto told = [&](const std::string& recipe) {
    return mynah({recipe, "--gpu", "TITAN Xp", "--driver", "580.95.05"}).out;
  };
  const auto asks = AllOf(
      HasSubstr("SITE=\"$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])')/..\" && "
                "export LD_LIBRARY_PATH=\"$SITE/nvidia/cublas/lib:"),
      Not(HasSubstr("/lib/python/")));
  EXPECT_THAT(told(folder / "requirements.txt"), asks);
  EXPECT_THAT(told(folder / "ubuntu/Dockerfile"), asks);
  EXPECT_THAT(told(folder / "python/Dockerfile"),
              AllOf(HasSubstr("LD_LIBRARY_PATH=\"/usr/local/lib/python3.11/site-packages/nvidia/"),
                    Not(HasSubstr("SITE="))));
}

TEST_F(DoctorElsewhere, ComparesTwoMachines) {
  const std::string first = machine_file("NVIDIA GeForce RTX 4090", "580.95.05");
  const std::string second =
      machine_file("NVIDIA GeForce RTX 5090", "570.86.15", R"(, "closed_kernel_module": true)");
  const Outcome told = mynah({"compare", first, second});
  EXPECT_EQ(told.code, 3) << told.err;
  EXPECT_THAT(told.out, AllOf(HasSubstr("The machines\n"),
                              HasSubstr("driver: 580.95.05; in the second 570.86.15"),
                              HasSubstr("kernel module: nothing known; in the second closed"),
                              HasSubstr("What breaks"), HasSubstr("is run by the open one alone")));
  const Json json = Json::parse(mynah({"compare", first, second, "--json"}).out);
  EXPECT_EQ(json["machine"][0]["what"], "cards");
  // What works in neither is told, too.
  EXPECT_THAT(mynah({"compare", second, second}).out,
              AllOf(HasSubstr("What is wrong in both"), Not(HasSubstr("The machines"))));
}

}  // namespace
}  // namespace mynah::cli
