// Which tables of a project each installer reads: uv its own, Poetry and PDM theirs, pip none.
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"
#include "temporary_folder.h"

namespace mynah::doctor {

namespace {

using test::read_file;
using test::TemporaryFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kProject =
    "[project]\nname = 'asr'\nversion = '1'\nrequires-python = '>=3.11'\n"
    "dependencies = [\n    'torch==2.7.0',\n]\n";

// A project whose tables have torch come from PyTorch's index of CUDA 12.8, which has code for the
// card: the build of the Python index has none.
constexpr const char* kUvProject =
    "[project]\nname = 'asr'\nversion = '1'\nrequires-python = '>=3.11'\n"
    "dependencies = [\n    'torch==2.7.0',\n]\n"
    "[tool.uv.sources]\ntorch = { index = 'pytorch-cu128' }\n"
    "[[tool.uv.index]]\nname = 'pytorch-cu128'\nexplicit = true\n"
    "url = 'https://download.pytorch.org/whl/cu128'\n";

constexpr const char* kPoetryProject =
    "[tool.poetry]\nname = 'asr'\nversion = '1'\n[tool.poetry.dependencies]\npython = '^3.11'\n"
    "torch = { version = '2.7.0', source = 'pytorch' }\n"
    "[[tool.poetry.source]]\nname = 'pytorch'\npriority = 'explicit'\n"
    "url = 'https://download.pytorch.org/whl/cu128'\n";

std::string image_of(const std::string& command) {
  return "FROM python:3.11-slim\nWORKDIR /app\nCOPY . .\nRUN " + command + "\n";
}

// Outcomes of an image that a command installs a project into.
std::vector<std::string> outcomes(const std::string& command, const char* project_text) {
  const TemporaryFolder folder;
  const std::string image = image_of(command);
  const Facts facts = project(folder.path(), {{"Dockerfile", image.c_str()},
                                              {"pyproject.toml", project_text},
                                              {"requirements.txt", "-e .\n"},
                                              {"server/pyproject.toml", project_text}});
  std::vector<std::string> said;
  for (const FrameworkVerdict& verdict : judge(facts).verdicts) {
    if (verdict.environment.ends_with("Dockerfile")) {
      said.push_back(verdict.version + " " + std::string(outcome_name(verdict.outcome)));
    }
  }
  return said;
}

// What the first remedy of the first failure does, each step on a line; empty: there is none.
std::string script_of_remedy(const Report& report, size_t remedy = 0) {
  for (const Finding& finding : report.findings) {
    if (finding.level == Level::Fail && finding.remedies.size() > remedy) {
      std::string script = finding.remedies[remedy].command + "\n";
      for (const RemedyStep& step : finding.remedies[remedy].steps) {
        script += step.command + "\n";
      }
      return script;
    }
  }
  return {};
}

// A folder's failures after one of the remedies of the first was done, as a shell does it.
std::vector<std::string> failures_after(const TemporaryFolder& folder, const Report& report,
                                        size_t remedy = 0) {
  const std::string script = folder / "remedy.sh";
  std::ofstream(script) << "set -e\n" << script_of_remedy(report, remedy);
  EXPECT_EQ(std::system(("sh '" + script + "'").c_str()), 0) << read_file(script);
  return failures(judge(project(folder.path(), {})));
}

}  // namespace

TEST(RecipeInstallers, PipReadsNoTableOfUvs) {
  for (const char* command :
       {"pip install .", "pip install -e .", "python -m pip install '.[dev]'", "pip install /app",
        "pip install ./server", "pip install -r requirements.txt"}) {
    EXPECT_THAT(outcomes(command, kUvProject), ElementsAre("2.7.0+cu126 fails at the first kernel"))
        << command;
  }
}

TEST(RecipeInstallers, UvReadsItsTables) {
  for (const char* command : {"uv sync", "uv pip install --system .", "uv run asr",
                              "uv pip install -r requirements.txt"}) {
    EXPECT_THAT(outcomes(command, kUvProject), ElementsAre("2.7.0+cu128 works")) << command;
  }
}

TEST(RecipeInstallers, PoetryAndPdmReadTheirTablesAndNotUvs) {
  EXPECT_THAT(outcomes("poetry install", kUvProject),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
  EXPECT_THAT(outcomes("pdm install", kUvProject),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
  EXPECT_THAT(outcomes("poetry install", kPoetryProject), ElementsAre("2.7.0+cu128 works"));
  EXPECT_THAT(outcomes("pip install .", kPoetryProject),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
  const std::string pdm = std::string(kProject) +
                          "[[tool.pdm.source]]\nname = 'pytorch'\n"
                          "url = 'https://download.pytorch.org/whl/cu128'\n";
  EXPECT_THAT(outcomes("pdm install", pdm.c_str()), ElementsAre("2.7.0+cu128 works"));
  EXPECT_THAT(outcomes("uv sync", pdm.c_str()),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
}

TEST(RecipeInstallers, PipInstallsWhatAProjectAsksForWhateverUvPutsInItsPlace) {
  const std::string overrides =
      std::string(kProject) + "[tool.uv]\noverride-dependencies = ['torch==2.8.0']\n";
  EXPECT_THAT(outcomes("pip install .", overrides.c_str()),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
  EXPECT_THAT(outcomes("uv sync", overrides.c_str()), ElementsAre("2.8.0+cu128 works"));
  const std::string address =
      std::string(kProject) +
      "[tool.uv.sources]\ntorch = { url = 'https://download.pytorch.org/whl/cu128/"
      "torch-2.7.0%2Bcu128-cp311-cp311-manylinux_2_28_x86_64.whl' }\n";
  EXPECT_THAT(outcomes("pip install .", address.c_str()),
              ElementsAre("2.7.0+cu126 fails at the first kernel"));
}

TEST(RecipeInstallers, AProjectThatNobodyInstallsIsReadWithAllItsTables) {
  const TemporaryFolder folder;
  const Facts facts = project(folder.path(), {{"pyproject.toml", kUvProject}});
  EXPECT_THAT(facts.recipes, SizeIs(1));
  EXPECT_THAT(failures(judge(facts)), IsEmpty());
}

TEST(RecipeInstallers, AnEnvironmentOfCondasInstallsProjectsByPip) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(),
      {{"environment.yml", "dependencies:\n  - python=3.11\n  - pip\n  - pip:\n    - -e .\n"},
       {"pyproject.toml", kUvProject}});
  EXPECT_THAT(failures(judge(facts)), ElementsAre(HasSubstr("torch 2.7.0+cu126")));
}

// A script's commands are read as pip's where all that it takes in is pip's.
TEST(RecipeInstallers, AScriptInstallsProjectsAsItsCommandsDo) {
  const auto said = [](const char* script) {
    const TemporaryFolder folder;
    const std::string image = image_of("bash install.sh");
    return failures(judge(project(
        folder.path(),
        {{"Dockerfile", image.c_str()}, {"install.sh", script}, {"pyproject.toml", kUvProject}})));
  };
  EXPECT_THAT(said("set -e\npip install .\n"), ElementsAre(HasSubstr("torch 2.7.0+cu126")));
  EXPECT_THAT(said("set -e\nuv pip install --system .\n"), IsEmpty());
}

TEST(RecipeInstallers, AFailureSaysWhichTablesAreNotRead) {
  const auto seen = [](const char* command) {
    const TemporaryFolder folder;
    const std::string image = image_of(command);
    std::vector<std::string> texts;
    for (const auto& finding :
         of_rule(judge(project(folder.path(),
                               {{"Dockerfile", image.c_str()}, {"pyproject.toml", kUvProject}})),
                 "kernel image")) {
      for (const Evidence& evidence : finding->evidence) {
        texts.push_back(evidence.text);
      }
    }
    return texts;
  };
  EXPECT_THAT(seen("pip install ."), Contains(HasSubstr("pip installs it, which reads no table")));
  EXPECT_THAT(seen("poetry install"), Contains(HasSubstr("Poetry or PDM installs it")));
}

TEST(RecipeInstallers, OneFolderMayBeInstalledByBoth) {
  const TemporaryFolder folder;
  const std::string by_pip = image_of("pip install .");
  const std::string by_uv = image_of("uv sync");
  const Facts facts = project(folder.path(), {{"Dockerfile.pip", by_pip.c_str()},
                                              {"Dockerfile.uv", by_uv.c_str()},
                                              {"pyproject.toml", kUvProject}});
  EXPECT_THAT(failures(judge(facts)),
              ElementsAre(AllOf(HasSubstr("2.7.0+cu126"), HasSubstr("Dockerfile.pip"))));
}

TEST(RecipeInstallers, AProjectMayBeInstalledWithoutWhatItAsksFor) {
  EXPECT_THAT(outcomes("pip install --no-deps .", kUvProject), IsEmpty());
  EXPECT_THAT(outcomes("pip install torch==2.8.0 && pip install --no-deps -e .", kUvProject),
              ElementsAre("2.8.0+cu128 works"));
  for (const char* again : {"pip install --no-deps .", "uv pip install --system --no-deps ."}) {
    EXPECT_THAT(outcomes(std::string("pip install . && ") + again, kUvProject),
                ElementsAre("2.7.0+cu126 fails at the first kernel"))
        << again;
    EXPECT_THAT(outcomes(std::string(again) + " && pip install .", kUvProject),
                ElementsAre("2.7.0+cu126 fails at the first kernel"))
        << again;
  }
}

TEST(RecipeInstallers, AnIndexThatTheCommandNamesIsReadForTheProject) {
  const std::string option = " --extra-index-url https://download.pytorch.org/whl/cu128";
  EXPECT_THAT(outcomes("pip install ." + option, kProject), ElementsAre("2.7.0+cu128 works"));
  EXPECT_THAT(outcomes("pip install" + option + " -e .", kUvProject),
              ElementsAre("2.7.0+cu128 works"));
}

TEST(RecipeInstallers, WhatMendsIsALineOfTheImageThatPipReads) {
  for (const char* text : {kProject, kUvProject, kPoetryProject}) {
    const TemporaryFolder folder;
    const std::string image = image_of("pip install .");
    const Report report =
        judge(project(folder.path(), {{"Dockerfile", image.c_str()}, {"pyproject.toml", text}}));
    ASSERT_THAT(failures(report), SizeIs(1)) << text;
    EXPECT_THAT(script_of_remedy(report),
                AllOf(HasSubstr("PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128"),
                      HasSubstr("/Dockerfile'"), Not(HasSubstr("pyproject.toml"))));
    EXPECT_THAT(failures_after(folder, report), IsEmpty()) << text;
    EXPECT_EQ(read_file(folder / "pyproject.toml"), text);
  }
}

TEST(RecipeInstallers, APinOfABuildIsGivenALineThatPipReads) {
  const TemporaryFolder folder;
  const std::string image = image_of("pip install .");
  const Report report = judge(project(
      folder.path(),
      {{"Dockerfile", image.c_str()},
       {"pyproject.toml",
        "[project]\nname = 'asr'\nversion = '1'\ndependencies = [\n    'torch==2.7.0+cu128',\n]\n"
        "[[tool.uv.index]]\nname = 'pytorch'\n"
        "url = 'https://download.pytorch.org/whl/cu128'\n"}}));
  ASSERT_THAT(failures(report), ElementsAre(HasSubstr("index is not named")));
  EXPECT_THAT(failures_after(folder, report), IsEmpty());
}

TEST(RecipeInstallers, TablesOfUvsMendWhatUvInstalls) {
  const TemporaryFolder folder;
  const std::string image = image_of("uv sync");
  const Report report =
      judge(project(folder.path(), {{"Dockerfile", image.c_str()}, {"pyproject.toml", kProject}}));
  EXPECT_THAT(script_of_remedy(report),
              AllOf(HasSubstr("[[tool.uv.index]]"), Not(HasSubstr("poetry"))));
  EXPECT_THAT(failures_after(folder, report), IsEmpty());
}

TEST(RecipeInstallers, AProjectNamesAnIndexForWhoInstallsIt) {
  const auto remedy = [](const char* command) {
    const TemporaryFolder folder;
    const std::string image = image_of(command);
    return script_of_remedy(judge(
        project(folder.path(), {{"Dockerfile", image.c_str()}, {"pyproject.toml", kUvProject}})));
  };
  EXPECT_THAT(remedy("poetry install"),
              AllOf(HasSubstr("poetry source add --priority=explicit pytorch-cu128"),
                    HasSubstr("[[tool.pdm.source]]"), Not(HasSubstr("tool.uv"))));
  const TemporaryFolder folder;
  const std::string image = image_of("pdm install");
  const std::string text =
      std::string(kProject) + "[build-system]\nbuild-backend = 'pdm.backend'\n";
  const Report report = judge(
      project(folder.path(), {{"Dockerfile", image.c_str()}, {"pyproject.toml", text.c_str()}}));
  EXPECT_THAT(failures_after(folder, report), IsEmpty());
}

TEST(RecipeInstallers, AnotherReleaseMendsWhereThePythonIndexHasItsBuild) {
  for (const char* command : {"", "pip install .", "uv sync"}) {
    const TemporaryFolder folder;
    const std::string image = image_of(command);
    std::ofstream(folder / "pyproject.toml") << kProject;
    if (command[0] != '\0') {
      std::ofstream(folder / "Dockerfile") << image;
    }
    const Report report = judge(project(folder.path(), {}));
    EXPECT_THAT(script_of_remedy(report, 1),
                AllOf(HasSubstr("sed -i '6s|2\\.7\\.0|2.8.0|'"), HasSubstr("pyproject.toml'")))
        << command;
    EXPECT_THAT(failures_after(folder, report, 1), IsEmpty()) << command;
  }
}

TEST(RecipeInstallers, AnotherReleaseIsNotOutsideOfWhatAProjectAsksFor) {
  const TemporaryFolder folder;
  const Report report = judge(project(
      folder.path(), {{"pyproject.toml",
                       "[project]\nname = 'asr'\nversion = '1'\nrequires-python = '>=3.11'\n"
                       "dependencies = [\n    'torch>=2.6,<2.8',\n]\n"}}));
  ASSERT_THAT(failures(report), SizeIs(1));
  EXPECT_THAT(script_of_remedy(report, 0), HasSubstr("cu128"));
  EXPECT_THAT(script_of_remedy(report, 1), IsEmpty());
}

}  // namespace mynah::doctor
