// Folders as projects keep them: images built from a folder above, services that extend each other,
// programs that an image clones.
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipe_rules.h"
#include "recipe_files.h"
#include "temporary_folder.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kOldTorch =
    "FROM python:3.11-slim\nRUN pip install torch==2.4.0 --index-url "
    "https://download.pytorch.org/whl/cu121\n";

}  // namespace

TEST(RecipeProjects, AnImageMayBeBuiltFromAFolderFurtherUp) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(),
      {{"docker/gpu/Dockerfile",
        "FROM python:3.11-slim\nCOPY requirements.txt .\n"
        "RUN pip install -r requirements.txt\n"},
       {"requirements.txt", "--index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.0\n"}});
  EXPECT_THAT(facts.skipped, IsEmpty());
  EXPECT_THAT(failures(judge(facts)), Contains(HasSubstr("docker/gpu/Dockerfile")));
}

TEST(RecipeProjects, WhatAnotherRepositoryAsksForIsNotWhatLiesBesideTheDockerfile) {
  const TemporaryFolder folder;
  const fs::path own = folder / "speech-server";
  const auto dockerfile = [](const std::string& repository) {
    return "FROM python:3.11-slim\nWORKDIR /app\nRUN git clone --depth 1 https://example.org/" +
           repository + " && cd " + repository.substr(repository.find('/') + 1) +
           " && pip install -r requirements.txt\n";
  };
  const std::string foreign = dockerfile("someone/other");
  const std::string same = dockerfile("me/speech-server");
  const char* requirements = "--index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.0\n";
  const Facts facts = project(own, {{"foreign/Dockerfile", foreign.c_str()},
                                    {"foreign/requirements.txt", requirements},
                                    {"same/Dockerfile", same.c_str()},
                                    {"same/requirements.txt", requirements}});
  const std::vector<std::string> fails = failures(judge(facts));
  EXPECT_THAT(fails, Contains(HasSubstr("same/Dockerfile")));
  EXPECT_THAT(fails, Not(Contains(HasSubstr("foreign/Dockerfile"))));
  EXPECT_THAT(of_rule(judge(facts), "recipe not understood"),
              Contains(testing::Pointee(Field(&Finding::subject, HasSubstr("foreign")))));
}

TEST(RecipeProjects, AServiceIsWhatItAndTheOneOfAnotherFileSay) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(), {{"compose.yml",
                       "services:\n  server:\n    extends:\n      file: compose.base.yml\n"
                       "      service: base\n    build:\n      target: server\n"},
                      {"compose.base.yml",
                       "services:\n  base:\n    build:\n      context: .\n      dockerfile: "
                       "docker/Dockerfile\n      args:\n        CUDA: cu121\n    gpus: all\n"},
                      {"docker/Dockerfile",
                       "FROM python:3.11-slim AS server\nARG CUDA=cu128\n"
                       "RUN pip install torch==2.4.0 --index-url "
                       "https://download.pytorch.org/whl/$CUDA\nFROM server AS other\n"}});
  EXPECT_THAT(facts.skipped, IsEmpty());
  const auto recipe = std::ranges::find(facts.recipes, folder / "compose.yml", &Recipe::path);
  ASSERT_NE(recipe, facts.recipes.end());
  ASSERT_THAT(recipe->services, SizeIs(1));
  const Service& service = recipe->services[0];
  EXPECT_EQ(service.build, folder / "docker/Dockerfile");
  EXPECT_EQ(service.target, "server");
  EXPECT_EQ(service.card, true);
  EXPECT_THAT(service.arguments, ElementsAre(std::pair("CUDA", "cu121")));
  EXPECT_THAT(recipe->doubts, IsEmpty());
  EXPECT_THAT(failures(judge(facts)), Contains(HasSubstr("torch 2.4.0+cu121")));
}

TEST(RecipeProjects, AServiceThatCannotBeReadIsADoubtAndFilesMayExtendEachOther) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(),
      {{"compose.a.yml",
        "services:\n  a:\n    extends: {file: compose.b.yml, service: b}\n"
        "  lost:\n    extends: {file: none.yml, service: b}\n"},
       {"compose.b.yml", "services:\n  b:\n    extends: {file: compose.a.yml, service: a}\n"}});
  ASSERT_THAT(facts.recipes, SizeIs(2));
  EXPECT_THAT(facts.recipes[0].doubts, Contains(HasSubstr("none.yml, which was not to be read")));
}

TEST(RecipeProjects, NothingFailsOnACardThatAServiceDoesNotGet) {
  const TemporaryFolder folder;
  const char* service = "services:\n  asr:\n    build: .\n";
  const Facts facts =
      project(folder.path(), {{"compose.cpu.yml", service}, {"Dockerfile", kOldTorch}});
  const Report report = judge(facts);
  EXPECT_THAT(failures(report), IsEmpty());
  ASSERT_THAT(report.verdicts, SizeIs(1));
  EXPECT_EQ(report.verdicts[0].outcome, Outcome::WorksSlowly);
  EXPECT_THAT(of_rule(report, "card not reserved"), SizeIs(1));
}

TEST(RecipeProjects, AnotherExtraOfTheProjectMayHaveTheBuildForTheCard) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(), {{"pyproject.toml",
                       "[project]\nname='a'\ndependencies=[]\n[project.optional-dependencies]\n"
                       "gpu=['torch==2.8.0+cu126']\ngpu-new=['torch==2.8.0+cu128']\n"},
                      {"Dockerfile",
                       "FROM python:3.11-slim\nCOPY . .\nRUN pip install .[gpu] "
                       "--extra-index-url https://download.pytorch.org/whl/cu126\n"}});
  const Report report = judge(facts);
  std::vector<std::string> first;
  for (const auto& finding : of_rule(report, "kernel image")) {
    first.push_back(finding->remedies.empty() ? "" : finding->remedies[0].text);
  }
  EXPECT_THAT(first, Contains(HasSubstr("Install the extra \"gpu-new\" in place of gpu: it brings "
                                        "torch 2.8.0+cu128")));
}

TEST(RecipeProjects, PipReadsNoLock) {
  const std::string image =
      "FROM pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel\nCOPY . .\nRUN pip install ";
  const auto fails = [&](const std::string& command) {
    const TemporaryFolder folder;
    const std::string dockerfile = image + command + "\n";
    return failures(judge(project(
        folder.path(), {{"pyproject.toml", "[project]\nname='a'\ndependencies=['torch>=2.5.1']\n"},
                        {"uv.lock",
                         "version = 1\n[[package]]\nname = 'torch'\nversion = '2.6.0'\n"
                         "source = { registry = 'https://mirror.example/simple' }\n"},
                        {"Dockerfile", dockerfile.c_str()}})));
  };
  EXPECT_THAT(fails("-e ."), IsEmpty());
  EXPECT_THAT(fails("uv && uv sync --frozen"), Not(IsEmpty()));
}

TEST(RecipeProjects, FilesForOtherMachinesAreNotes) {
  const char* const text =
      "--extra-index-url https://download.pytorch.org/whl/cu126\ntorch==2.7.1\n";
  const TemporaryFolder folder;
  const Report report = judge(project(folder.path(), {{"a/requirements-mps.txt", text},
                                                      {"b/requirements-l4t13.txt", text},
                                                      {"d/Dockerfile.cpu", kOldTorch},
                                                      {"c/requirements-cublas12.txt", text}}));
  const std::vector<std::string> fails = failures(report);
  for (const std::string& failure : fails) {
    EXPECT_THAT(failure, HasSubstr("cublas12"));
  }
  EXPECT_FALSE(fails.empty());
}

TEST(RecipeProjects, BuildsOfOneVersionAreNotPinnedApart) {
  const auto apart = [](const char* one, const char* other) {
    const Report report =
        judge(files({{"a/requirements.txt", one}, {"b/requirements.txt", other}}));
    return of_rule(report, "pinned apart").size();
  };
  EXPECT_EQ(apart("llama-cpp-binaries==0.124.0+cu124\n", "llama-cpp-binaries==0.124.0+cpu\n"), 0U);
  EXPECT_EQ(apart("sounddevice==0.5\n", "sounddevice==0.5.0\n"), 0U);
  EXPECT_EQ(apart("sounddevice==0.5\n", "sounddevice==0.5.1\n"), 1U);
}

TEST(RecipeProjects, ATorchForAnotherMakersCardsWantsNone) {
  const Report report = judge(
      files({{"compose.yml", "services:\n  tts:\n    build: .\n"},
             {"Dockerfile",
              "FROM python:3.12\nRUN pip install torch==2.8.0+rocm6.4 openai-whisper --index-url "
              "https://download.pytorch.org/whl/rocm6.4\n"}}));
  EXPECT_THAT(of_rule(report, "card not reserved"), IsEmpty());
}

TEST(RecipeProjects, AFileBesideItMayAddTheCard) {
  const TemporaryFolder folder;
  const Facts facts =
      project(folder.path(), {{"compose.yml", "services:\n  asr:\n    build: .\n"},
                              {"compose.gpu.yml", "services:\n  asr:\n    gpus: all\n"},
                              {"Dockerfile", kOldTorch}});
  EXPECT_THAT(failures(judge(facts)), Contains(HasSubstr("torch 2.4.0+cu121")));
}

TEST(RecipeProjects, TheSameOfSeveralServicesIsSaidOnce) {
  const TemporaryFolder folder;
  const char* service = "services:\n  asr:\n    build: .\n    gpus: all\n";
  const Facts facts =
      project(folder.path(),
              {{"compose.yml", service}, {"compose.cuda.yml", service}, {"Dockerfile", kOldTorch}});
  const Report report = judge(facts);
  EXPECT_THAT(report.verdicts, SizeIs(2));
  const auto kernels = of_rule(report, "kernel image");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_THAT(kernels[0]->subject, HasSubstr("compose.cuda.yml) and asr ("));
}

TEST(RecipeProjects, CudnnOfTheSystemServesWhatWantsIt) {
  const auto said = [](const std::string& system) {
    const std::string text =
        "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get install -y " + system +
        " && pip install ctranslate2==4.4.0 torch==2.5.1 --index-url "
        "https://download.pytorch.org/whl/cu124\n";
    return of_rule(judge(files({{"Dockerfile", text.c_str()}})), "cudnn of another version").size();
  };
  EXPECT_EQ(said("libcudnn8"), 0U);
  EXPECT_EQ(said("libcudnn9-cuda-12"), 1U);
}

TEST(RecipeProjects, NoRemedyChangesALineIntoItself) {
  const Report report = judge(files(
      {{"Dockerfile",
        "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN pip install --no-deps ctranslate2==4.1.0 "
        "torch==2.2.0\n"}}));
  ASSERT_THAT(report.findings, Not(IsEmpty()));
  for (const Finding& finding : report.findings) {
    for (const Remedy& remedy : finding.remedies) {
      for (const RemedyStep& step : remedy.steps) {
        EXPECT_THAT(step.text,
                    Not(HasSubstr("12.1.1-devel-ubuntu22.04, not nvidia/cuda:12.1.1-devel")));
      }
    }
  }
}

// uv, Poetry and PDM make the lock that is not there, of the project; told to take it as it is they
// stop.
TEST(RecipeProjects, AMissingLockIsMadeOfTheProject) {
  const auto said = [](const char* image, const char* project_text, const char* card_name,
                       const char* capability) {
    const TemporaryFolder folder;
    Facts facts = project(folder.path(), {{"Dockerfile", image}, {"pyproject.toml", project_text}});
    facts.machine.cards = {card(card_name, capability)};
    std::vector<std::string> found;
    for (const Finding& finding : judge(facts).findings) {
      if (finding.level == Level::Fail || finding.rule == "recipe is missing") {
        found.push_back(finding.rule);
      }
    }
    return found;
  };
  static constexpr const char* kOld =
      "[project]\nname='a'\nversion='0'\nrequires-python='>=3.9'\ndependencies=['torch==2.1.2']\n";
  const auto of_old = [&](const std::string& command) {
    const std::string image =
        "FROM python:3.12-slim-bookworm\nWORKDIR /app\nCOPY pyproject.toml .\nRUN " + command +
        "\n";
    return said(image.c_str(), kOld, "GeForce RTX 3090", "8.6");
  };
  // torch 2.1.2 has wheels for Python 3.8 to 3.11.
  EXPECT_THAT(of_old("pip install uv && uv sync"), ElementsAre("other Python"));
  EXPECT_THAT(of_old("pip install uv && uv sync --frozen"), ElementsAre("recipe is missing"));
  EXPECT_THAT(of_old("pip install uv && uv sync --locked"), ElementsAre("recipe is missing"));
  EXPECT_THAT(of_old("pip install pdm && pdm sync"), ElementsAre("recipe is missing"));
  // uv may bring the Python that it is told of.
  EXPECT_THAT(of_old("uv python install 3.11 && uv sync"), IsEmpty());
  EXPECT_THAT(of_old("uv sync --python 3.11"), IsEmpty());
  static constexpr const char* kExtras =
      "[project]\nname='a'\nversion='0'\nrequires-python='>=3.10'\n"
      "[project.optional-dependencies]\ngpu=['torch==2.8.0+cu129']\ncpu=['torch==2.8.0']\n"
      "[tool.uv.sources]\ntorch=[{index='cpu',extra='cpu'},{index='cuda',extra='gpu'}]\n"
      "[[tool.uv.index]]\nname='cpu'\nurl='https://download.pytorch.org/whl/cpu'\nexplicit=true\n"
      "[[tool.uv.index]]\nname='cuda'\nurl='https://download.pytorch.org/whl/cu129'\n"
      "explicit=true\n";
  const auto of_extras = [&](const std::string& command) {
    const std::string image = "FROM python:3.11\nCOPY pyproject.toml .\nRUN " + command + "\n";
    return said(image.c_str(), kExtras, "GeForce GTX 1080", "6.1");
  };
  EXPECT_THAT(of_extras("uv sync --extra gpu"), ElementsAre("kernel image"));
  EXPECT_THAT(of_extras("uv pip install --system .[gpu]"), ElementsAre("kernel image"));
  // Poetry does not read uv's tables.
  EXPECT_THAT(of_extras("poetry install --extras gpu"),
              ElementsAre("index is not named", "kernel image"));
  EXPECT_THAT(of_extras("uv sync --extra cpu"), IsEmpty());
}

}  // namespace mynah::doctor
