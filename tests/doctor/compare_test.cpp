#include "doctor/plans/compare.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipes.h"
#include "doctor/reports/stack_report.h"

namespace mynah::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Facts requirements(const std::string& text) {
  Facts facts;
  facts.recipes.push_back(*parse_recipe(text, "requirements.txt"));
  return facts;
}

Machine machine(const std::string& card, const std::string& driver) {
  Machine made;
  Card& only = made.cards.emplace_back();
  const Product* const product = builtin_knowledge().card(card);
  only.name = product->name;
  only.compute_capability = product->compute_capability;
  only.vendor = "10de";
  only.kernel_driver = "nvidia";
  made.driver = driver;
  return made;
}

const std::string kOld =
    "--extra-index-url https://download.pytorch.org/whl/cu126\n"
    "torch==2.7.1\nnumpy==2.1.0\ntqdm==4.66.0\n";
const std::string kNew =
    "--extra-index-url https://download.pytorch.org/whl/cu128\n"
    "torch==2.7.1\nnumpy==2.2.0\nctranslate2==4.8.5\n";

TEST(Compare, AnotherBuildOfOneReleaseIsNamedWithItsCudaAndItsOutcome) {
  const Comparison found = compare(requirements(kOld), requirements(kNew),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  std::vector<std::string> changes;
  changes.reserve(found.packages.size());
  for (const PackageChange& change : found.packages) {
    changes.push_back(change.name + " " + std::string(change_name(change.kind)));
  }
  EXPECT_THAT(changes,
              ElementsAre("ctranslate2 added", "numpy newer", "torch rebuilt", "tqdm removed"));
  EXPECT_EQ(found.packages[2].from, "2.7.1+cu126");
  EXPECT_EQ(found.packages[2].to, "2.7.1+cu128");
  EXPECT_THAT(found.packages[2].effect, HasSubstr("CUDA 12.6 to 12.8"));
  EXPECT_EQ(found.same, 0U);
  EXPECT_THAT(found.verdicts,
              Contains(AllOf(Field(&VerdictChange::framework, "torch"),
                             Field(&VerdictChange::before, Outcome::FailsAtFirstKernel),
                             Field(&VerdictChange::after, Outcome::Works))));
  EXPECT_FALSE(found.is_worse());
  EXPECT_THAT(found.mended, Contains(Field(&Finding::level, Level::Fail)));
}

TEST(Compare, TheOtherWayRoundItIsWorse) {
  const Comparison found = compare(requirements(kNew), requirements(kOld),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_TRUE(found.is_worse());
  EXPECT_THAT(comparison_text(found, {}), AllOf(HasSubstr("What breaks\n    fail: "),
                                                HasSubstr("torch: 2.7.1+cu128 to 2.7.1+cu126")));
}

std::vector<std::string> commands(const std::vector<Remedy>& steps) {
  std::vector<std::string> commands;
  commands.reserve(steps.size());
  for (const Remedy& step : steps) {
    commands.push_back(step.command);
  }
  return commands;
}

Facts environment(const std::vector<std::pair<const char*, const char*>>& packages,
                  const char* python = "3.11") {
  Facts facts;
  PythonEnvironment& made = facts.environments.emplace_back();
  made.path = "/venv";
  made.python = python;
  for (const auto& [name, version] : packages) {
    Package& package = made.packages.emplace_back();
    package.name = name;
    package.version = version;
  }
  return facts;
}

// A requirements file names no library of NVIDIA's, which its torch needs; and what it no longer
// names, another package may need.
TEST(Compare, StepsOfARequirementsFileBringWhatItsPackagesAskFor) {
  const Comparison found = compare(requirements(kOld), requirements(kNew + "jinja2>=3\n"),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(commands(found.steps),
              ElementsAre("pip install ctranslate2==4.8.5 numpy==2.2.0 torch==2.7.1+cu128 "
                          "'jinja2>=3' --extra-index-url https://download.pytorch.org/whl/cu128",
                          "", "pip check && mynah doctor"));
  EXPECT_THAT(found.steps[1].text, HasSubstr("tqdm may stay"));
}

// A lock file may leave out what torch brings; then it comes with torch.
TEST(Compare, StepsOfALockFileTakeItAloneWhereItIsWhole) {
  const auto lock = [](const std::string& libraries) {
    Facts facts;
    facts.recipes.push_back(*parse_recipe(
        "version = 1\n[[package]]\nname = \"torch\"\nversion = \"2.7.1\"\n" + libraries,
        "uv.lock"));
    return facts;
  };
  const auto first_command = [&](const std::string& libraries) {
    return commands(compare(environment({}), lock(libraries), machine("RTX 4090", "580.95.05"),
                            builtin_knowledge())
                        .steps)
        .at(0);
  };
  EXPECT_EQ(first_command(""), "pip install torch==2.7.1");
  EXPECT_EQ(first_command("[[package]]\nname = \"nvidia-cudnn-cu12\"\nversion = \"9.5.1.17\"\n"),
            "pip install --no-deps nvidia-cudnn-cu12==9.5.1.17 torch==2.7.1");
}

// Of an environment all is known: it is made the same, what is gone last.
TEST(Compare, StepsOfAnEnvironmentInstallBeforeTheyUninstall) {
  const Comparison found = compare(environment({{"numpy", "1.26.4"}, {"tqdm", "4.66.0"}}),
                                   environment({{"numpy", "2.2.0"}, {"torch", "2.7.1+cu128"}}),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(commands(found.steps),
              ElementsAre("pip install --no-deps numpy==2.2.0 torch==2.7.1+cu128 "
                          "--extra-index-url https://download.pytorch.org/whl/cu128",
                          "pip uninstall --yes tqdm", "pip check && mynah doctor"));
}

// Uninstalling one of two that write the same files takes the other's.
TEST(Compare, StepsBringBackFilesThatGoWithAnotherPackage) {
  const Machine card = machine("RTX 4090", "580.95.05");
  const Comparison found =
      compare(environment({{"onnxruntime", "1.23.2"}, {"onnxruntime-gpu", "1.23.2"}}),
              environment({{"onnxruntime-gpu", "1.23.2"}}), card, builtin_knowledge());
  EXPECT_THAT(commands(found.steps),
              ElementsAre("pip uninstall --yes onnxruntime",
                          "pip install --force-reinstall --no-deps onnxruntime-gpu==1.23.2",
                          "pip check && mynah doctor"));
  const Comparison cudnn =
      compare(environment({{"nvidia-cudnn-cu12", "9.10.2.21"}, {"nvidia-nvtx-cu12", "12.6.77"}}),
              environment({{"nvidia-cudnn-cu13", "9.28.1.4"}}), card, builtin_knowledge());
  EXPECT_THAT(commands(cudnn.steps),
              ElementsAre("pip uninstall --yes nvidia-cudnn-cu12",
                          "pip install --no-deps nvidia-cudnn-cu13==9.28.1.4",
                          "pip uninstall --yes nvidia-nvtx-cu12", "pip check && mynah doctor"));
}

TEST(Compare, AnotherPythonIsAnEnvironmentOfItsOwnWithAllOfIt) {
  const Comparison found = compare(environment({{"numpy", "1.26.4"}, {"tqdm", "4.66.0"}}),
                                   environment({{"numpy", "1.26.4"}, {"jinja2", "3.1.6"}}, "3.12"),
                                   machine("RTX 4090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(commands(found.steps),
              ElementsAre("python3.12 -m venv NEW && . NEW/bin/activate",
                          "pip install --no-deps jinja2==3.1.6 numpy==1.26.4",
                          "pip check && mynah doctor"));
}

// What a requirements file does not name is not gone from an environment.
TEST(Compare, AFileThatNamesLittleRemovesNothing) {
  const Comparison found = compare(environment({{"numpy", "1.26.4"}, {"tqdm", "4.66.0"}}),
                                   requirements("numpy==2.2.0\n"), machine("RTX 4090", "580.95.05"),
                                   builtin_knowledge());
  ASSERT_EQ(found.packages.size(), 1U);
  EXPECT_EQ(found.packages[0].name, "numpy");
  EXPECT_THAT(commands(found.steps),
              ElementsAre("pip install numpy==2.2.0", "pip check && mynah doctor"));
}

// A finding that both have, of whatever version or file, neither breaks nor is mended; and one that
// an environment and its recipe have is one.
TEST(Compare, WhatBothHaveIsNoDifferenceAndNothingIsToldTwice) {
  Facts first = requirements("torch==2.5.1+cu124\nfaster-whisper==1.0.3\n");
  Facts second = requirements("torch==2.6.0+cu124\nfaster-whisper==1.1.1\n");
  second.recipes.front().path = "other/requirements.txt";
  const Machine card = machine("RTX 5090", "580.95.05");
  const Comparison same = compare(first, second, card, builtin_knowledge());
  EXPECT_THAT(same.breaks, IsEmpty());
  EXPECT_THAT(same.mended, IsEmpty());
  // auditwheel's hash is no difference of what is missing.
  const auto lacks = [&](const char* version, const char* hash) {
    Facts facts = environment({{"ctranslate2", version}});
    Framework& framework = facts.environments.front().frameworks.emplace_back();
    framework.name = framework.package = "ctranslate2";
    framework.version = version;
    framework.folder = "/venv/ctranslate2";
    framework.cuda = "12.8";
    LibraryWant& want = framework.wants.emplace_back();
    want.library = "libcublas.so.12";
    want.by = std::string("/venv/ctranslate2.libs/libctranslate2-") + hash + ".so." + version;
    return facts;
  };
  const Comparison missing =
      compare(lacks("4.5.0", "bc15bf3f"), lacks("4.8.5", "a7a60d30"), card, builtin_knowledge());
  EXPECT_THAT(missing.breaks, IsEmpty());
  EXPECT_THAT(compare(requirements("numpy==1.26.4\n"), lacks("4.8.5", "a7a60d30"), card,
                      builtin_knowledge())
                  .breaks,
              testing::SizeIs(1));
  EXPECT_THAT(compare(lacks("4.8.5", "a7a60d30"), requirements("numpy==1.26.4\n"), card,
                      builtin_knowledge())
                  .mended,
              IsEmpty())
      << "a file that does not name it mends nothing";
  const Comparison better = compare(first, requirements(kNew), card, builtin_knowledge());
  std::vector<std::string> mended;
  mended.reserve(better.mended.size());
  for (const Finding& finding : better.mended) {
    mended.push_back(finding.subject + finding.text);
  }
  std::ranges::sort(mended);
  EXPECT_EQ(std::ranges::adjacent_find(mended), mended.end());
}

// Rules for recipes and for environments both know these faults.
TEST(Compare, WhatIsWrongWithThePinsOfAFileIsToldOnce) {
  const Comparison found = compare(
      requirements(kOld),
      requirements("--extra-index-url https://download.pytorch.org/whl/cu128\ntorch==2.7.1+cu128\n"
                   "torchaudio==2.6.0+cu128\nctranslate2==4.4.0\nonnxruntime==1.20.1\n"
                   "onnxruntime-gpu==1.20.2\n"),
      machine("RTX 4090", "580.95.05"), builtin_knowledge());
  EXPECT_TRUE(found.is_worse());
  for (const char* const words :
       {"torchaudio 2.6.0", "wants cuDNN 8", "both write the folder onnxruntime"}) {
    EXPECT_EQ(std::ranges::count_if(found.breaks,
                                    [&](const Finding& finding) {
                                      return finding.text.find(words) != std::string::npos;
                                    }),
              1)
        << words;
  }
}

// Of two machines what is not known is told, too: what becomes certain breaks, and is told there.
TEST(Compare, WhatIsWorseOrLessBadThanBeforeIsToldOnce) {
  const auto too_new = [](bool sure) {
    Facts facts;
    facts.machine = machine("RTX 3060", "450.80.02");
    PythonEnvironment& environment = facts.environments.emplace_back();
    environment.path = "/venv";
    Framework& framework = environment.frameworks.emplace_back();
    framework.name = framework.package = "ctranslate2";
    framework.version = "4.8.5";
    framework.folder = "/venv/ctranslate2";
    framework.cuda = "12.8";
    if (!sure) {
      framework.unverified = {"libraries"};
    }
    return facts;
  };
  const auto times = [](const Comparison& comparison) {
    std::ptrdiff_t found = 0;
    for (const auto* const list : {&comparison.breaks, &comparison.mended, &comparison.both}) {
      found += std::ranges::count_if(*list, [](const Finding& finding) {
        return finding.text.find("does not start") != std::string::npos;
      });
    }
    return found;
  };
  const Knowledge& knowledge = builtin_knowledge();
  const Comparison worse = compare_machines(too_new(false), too_new(true), knowledge);
  EXPECT_TRUE(worse.is_worse());
  EXPECT_EQ(times(worse), 1);
  const Comparison better = compare_machines(too_new(true), too_new(false), knowledge);
  EXPECT_FALSE(better.is_worse());
  EXPECT_EQ(times(better), 1);
  EXPECT_EQ(times(compare_machines(too_new(true), too_new(true), knowledge)), 1);
}

TEST(Compare, OfSeveralEnvironmentsAFailureCountsBeforeWhatIsNotKnown) {
  // torch in one place has no code for the card, in the other nothing is known of that release.
  Facts second = requirements("torch==2.7.1+cu126\n");
  second.recipes.push_back(*parse_recipe("torch==99.0+cu126\n", "other/requirements.txt"));
  const Comparison found =
      compare(requirements(kNew), second, machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(found.verdicts,
              Contains(AllOf(Field(&VerdictChange::framework, "torch"),
                             Field(&VerdictChange::after, Outcome::FailsAtFirstKernel))));
}

// A file that is installed into an environment brings what it names, and no library of NVIDIA's
// that the environment misses: faster-whisper and CTranslate2 ask for none (their wheels'
// metadata).
TEST(Compare, ALibraryThatNothingBringsStaysMissing) {
  Facts first = environment({{"ctranslate2", "4.4.0"}});
  Framework& framework = first.environments.front().frameworks.emplace_back();
  framework.name = framework.package = "ctranslate2";
  framework.version = "4.4.0";
  framework.folder = "/venv/ctranslate2";
  framework.cuda = "12.2";
  LibraryWant& want = framework.wants.emplace_back();
  want.library = "libcublas.so.12";
  want.by = "/venv/ctranslate2.libs/libctranslate2-bc15bf3f.so.4.4.0";
  const Machine card = machine("RTX 3090", "570.86");
  const auto becomes = [&](const char* text) {
    return compare(first, requirements(text), card, builtin_knowledge());
  };
  const Comparison found = becomes("ctranslate2==4.5.0\nfaster-whisper==1.1.1\n");
  EXPECT_THAT(found.mended, IsEmpty());
  EXPECT_THAT(found.verdicts,
              ElementsAre(AllOf(Field(&VerdictChange::before, Outcome::FailsAtLoad),
                                Field(&VerdictChange::after, Outcome::Unknown),
                                Field(&VerdictChange::reason, HasSubstr("libcublas.so.12")))));
  for (const char* const bringing :
       {"ctranslate2==4.6.3\nnvidia-cublas-cu12==12.9.1.4\n", "ctranslate2==4.5.0\ntorch==2.7.1\n",
        "ctranslate2==4.5.0\nonnxruntime-gpu[cuda,cudnn]==1.23.2\n",
        "ctranslate2==4.5.0\nnvidia-cudnn-cu12\n"}) {
    EXPECT_THAT(becomes(bringing).verdicts, Contains(Field(&VerdictChange::after, Outcome::Works)))
        << bringing;
    EXPECT_THAT(becomes(bringing).mended, testing::Not(IsEmpty())) << bringing;
  }
}

// What an extra brings is lost with it; a package that has another one is installed, too.
TEST(Compare, StepsKeepTheExtrasOfTheSecond) {
  const auto command = [](const char* from, const char* to) {
    const Comparison found = compare(requirements(from), requirements(to),
                                     machine("RTX 4090", "580.95.05"), builtin_knowledge());
    return found.steps.empty() ? std::string() : found.steps.front().command;
  };
  EXPECT_EQ(command("onnxruntime-gpu==1.22.0\n", "onnxruntime-gpu[cuda,cudnn]==1.23.2\n"),
            "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2'");
  EXPECT_EQ(command("onnxruntime-gpu==1.23.2\n", "onnxruntime-gpu[cuda,cudnn]==1.23.2\n"),
            "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2'");
  EXPECT_EQ(command("numpy==1.26.4\n", "numpy==1.26.4\nkokoro-onnx[gpu]>=0.4\n"),
            "pip install 'kokoro-onnx[gpu]>=0.4'");
  EXPECT_EQ(command("onnxruntime-gpu[cuda]==1.23.2\n", "onnxruntime-gpu[cuda]==1.23.2\n"), "");
}

TEST(Compare, WhatIsTheSameNeedsNoSteps) {
  const Comparison found = compare(requirements(kOld), requirements(kOld),
                                   machine("RTX 4090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(found.packages, IsEmpty());
  EXPECT_EQ(found.same, 3U);
  EXPECT_THAT(found.verdicts, IsEmpty());
  EXPECT_THAT(found.steps, IsEmpty());
}

// conda's pytorch is torch, and its packages are none of pip's.
TEST(Compare, WhatCondaMakesIsMadeByConda) {
  Facts conda;
  conda.recipes.push_back(
      *parse_recipe("dependencies:\n"
                    "  - python=3.10\n"
                    "  - pytorch=2.1.2\n"
                    "  - pytorch-cuda=12.1\n"
                    "  - numpy=2.0\n",
                    "envs/environment.yml"));
  const Facts pip = requirements("torch==2.1.2+cu118\nnumpy==1.26.4\n");
  const Machine card = machine("RTX 4090", "570.86");
  const auto commands_of = [](const Comparison& found) {
    std::vector<std::string> commands;
    for (const Remedy& step : found.steps) {
      commands.push_back(step.command);
    }
    return commands;
  };
  const Comparison there = compare(pip, conda, card, builtin_knowledge());
  ASSERT_EQ(there.packages.size(), 1U);
  EXPECT_EQ(there.packages[0].name, "torch");
  EXPECT_EQ(there.packages[0].kind, ChangeKind::Rebuilt);
  EXPECT_EQ(there.packages[0].to, "2.1.2");
  EXPECT_THAT(commands_of(there),
              ElementsAre("conda env create --name NEW --file 'envs/environment.yml'",
                          "conda activate NEW && pip check && mynah doctor"));
  EXPECT_THAT(there.breaks, Contains(Field(&Finding::rule, "numpy is too new")));
  const Comparison back = compare(conda, pip, card, builtin_knowledge());
  ASSERT_GE(back.steps.size(), 2U);
  EXPECT_EQ(back.steps[0].command, "python3 -m venv NEW && . NEW/bin/activate");
  EXPECT_THAT(back.steps[1].command, HasSubstr("torch==2.1.2+cu118"));
  for (const Remedy& step : back.steps) {
    EXPECT_THAT(step.command + step.text, testing::Not(HasSubstr("pytorch-cuda")));
  }
}

// A range that lets in what is there is no removal of it.
TEST(Compare, ARangeOfTheSecondRemovesNothing) {
  const Comparison found = compare(requirements("tqdm==4.66.0\n"), requirements("tqdm>=4\n"),
                                   machine("RTX 4090", "570.86"), builtin_knowledge());
  EXPECT_THAT(found.packages, IsEmpty());
  EXPECT_THAT(found.steps, IsEmpty());
}

}  // namespace
}  // namespace mynah::doctor
