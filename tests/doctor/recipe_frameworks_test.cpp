// What recipes pin, on a card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A recipe on a machine with one card.
Report judged(const char* path, const std::string& text, const Card& card) {
  Facts facts = files({{path, text.c_str()}});
  facts.machine.cards = {card};
  facts.machine.driver = "580.95.05";
  return judge(facts);
}

Report on_5090(const std::string& text, const char* path = "requirements.txt") {
  return judged(path, text, card("RTX 5090", "12.0"));
}

// "torch 2.5.1+cu124: fails at the first kernel".
std::vector<std::string> rows(const Report& report) {
  std::vector<std::string> found;
  for (const FrameworkVerdict& verdict : report.verdicts) {
    found.push_back(verdict.framework + " " + verdict.version + ": " +
                    std::string(outcome_name(verdict.outcome)));
  }
  return found;
}

}  // namespace

TEST(RecipeFrameworks, OfAVersionThatNobodyKnowsNoDeviceCodeIsInvented) {
  for (const char* index :
       {"--find-links ./wheels\n", "--index-url https://mirror.example/simple\n",
        "--extra-index-url https://download.pytorch.org/whl/cu124\n"}) {
    for (const Card& card : {card("RTX 5090", "12.0"), card("RTX 3090", "8.6")}) {
      const Report report = judged("requirements.txt", std::string(index) + "torch==2.5.9\n", card);
      EXPECT_THAT(failures(report), IsEmpty()) << index;
      ASSERT_THAT(rows(report), ElementsAre(HasSubstr(": unknown"))) << index;
      EXPECT_THAT(report.verdicts[0].version, ::testing::StartsWith("2.5.9")) << index;
    }
  }
  const Report plain = on_5090("torch==2.5.9\n");
  EXPECT_THAT(failures(plain), ElementsAre("no such version: torch 2.5.9 in requirements.txt"));
  EXPECT_THAT(rows(plain), ElementsAre("torch 2.5.9: unknown"));
  EXPECT_THAT(of_rule(plain, "device code not known"), IsEmpty()) << "it is said already";
  EXPECT_THAT(rows(on_5090("onnxruntime-gpu==1.20.0rc9\nctranslate2==4.6.9\n")),
              ElementsAre("ctranslate2 4.6.9: unknown", "onnxruntime 1.20.0rc9: unknown"));
  const Report early = on_5090("onnxruntime-gpu==1.20.0rc9\n");
  ASSERT_EQ(of_rule(early, "device code not known").size(), 1U);
  EXPECT_THAT(of_rule(early, "device code not known")[0]->text,
              HasSubstr("has no list of the cards"));
}

TEST(RecipeFrameworks, AnOverrideOfUvStandsInPlaceOfWhatItOverrides) {
  const std::string project =
      "[project]\nname = 'a'\ndependencies = ['torch==2.5.1']\n"
      "[project.optional-dependencies]\nold = ['torch==2.4.1']\n[tool.uv]\n";
  const Report report =
      on_5090(project + "override-dependencies = ['torch==2.8.0']\n", "pyproject.toml");
  EXPECT_THAT(failures(report), IsEmpty());
  EXPECT_THAT(rows(report), ElementsAre("torch 2.8.0+cu128: works"));
  EXPECT_THAT(of_rule(report, "recipe not understood"), IsEmpty());
  EXPECT_THAT(of_rule(report, "requirements contradict"), IsEmpty());
  EXPECT_THAT(failures(on_5090("[project]\nname = 'a'\ndependencies = ['torch==2.8.0']\n"
                               "[tool.uv]\noverride-dependencies = ['torch==2.5.1']\n",
                               "pyproject.toml")),
              ElementsAre("kernel image: torch 2.5.1+cu124 in pyproject.toml"));
}

TEST(RecipeFrameworks, AConstraintOfUvBoundsAndBringsNothing) {
  const Report bound = on_5090(
      "[project]\nname = 'a'\ndependencies = ['torch==2.5.1', 'faster-whisper==1.1.1']\n"
      "[tool.uv]\nconstraint-dependencies = ['torch>=2.7', 'ctranslate2==4.5.0', 'numpy<2']\n",
      "pyproject.toml");
  EXPECT_THAT(of_rule(bound, "requirements contradict").size(), 1U);
  EXPECT_THAT(of_rule(bound, "pin drifts"), IsEmpty()) << "ctranslate2 is bound";
  EXPECT_THAT(of_rule(bound, "recipe not understood"), IsEmpty());
  EXPECT_THAT(rows(on_5090("[project]\nname = 'a'\ndependencies = ['numpy']\n"
                           "[tool.uv]\nconstraint-dependencies = ['torch==2.5.1']\n",
                           "pyproject.toml")),
              IsEmpty());
}

TEST(RecipeFrameworks, AnIndexOfBuildsOfItsOwnLeavesTheDeviceCodeOpen) {
  const std::string pin = "torch==2.5.1\n";
  EXPECT_THAT(failures(on_5090(pin)).size(), 1U);
  EXPECT_THAT(failures(on_5090("--index-url https://mirror.example/simple\n" + pin)).size(), 1U);
  for (const char* index :
       {"--index-url https://feeds.mirror.example/cuda/simple\n", "--find-links ./wheels\n"}) {
    const Report report = on_5090(index + pin);
    EXPECT_THAT(failures(report), IsEmpty()) << index;
    EXPECT_THAT(rows(report), ElementsAre("torch 2.5.1+cu124: unknown")) << index;
  }
  EXPECT_THAT(rows(on_5090("--index-url https://download.pytorch.org/whl/cu128\n"
                           "--find-links ./wheels\ntorch==2.8.0\n")),
              ElementsAre("torch 2.8.0+cu128: works"));
}

TEST(RecipeFrameworks, ARangeOfWhichAllFailsFailsAsAPinDoes) {
  for (const char* range : {"torch~=2.6.0", "torch==2.6.*", "torch<2.7", "torch>=2.4,<2.7"}) {
    const Report report = on_5090(std::string(range) + "\n");
    EXPECT_THAT(failures(report),
                ElementsAre("kernel image: torch 2.6.0+cu124 in requirements.txt"))
        << range;
    EXPECT_THAT(of_rule(report, "kernel image")[0]->evidence[0].text,
                HasSubstr(std::string(range) + " lets in 2.6.0"))
        << range;
  }
  EXPECT_THAT(rows(on_5090("torch~=2.8.0\n")), ElementsAre("torch 2.8.0+cu128: works"));
  const std::string cu128 = "--index-url https://download.pytorch.org/whl/cu128\n";
  EXPECT_THAT(rows(on_5090(cu128 + "torch<2.8\n")), ElementsAre("torch 2.7.1+cu128: works"));
}

TEST(RecipeFrameworks, ARangeOfWhichSomeWorksOrIsNotKnownIsNoFailure) {
  // 2.7.1 of the Python index is cu126, 2.8.0 is cu128; newer ones than are known may come.
  for (const char* text :
       {"torch>=2.6,<2.9\n", "torch>=2.6\n", "torch\n", "torch!=2.7.0\n",
        "--find-links ./wheels\ntorch~=2.6.0\n", "torch~=2.6.0 ; python_version < '3.9'\n",
        "torch~=2.6.0\ntorch @ https://wheels.example/torch.whl\n"}) {
    EXPECT_THAT(failures(on_5090(text)), IsEmpty()) << text;
  }
  // What is older than the list may have code for an old card.
  EXPECT_THAT(failures(judged("requirements.txt", "torch<2.3\n", card("Tesla K40", "3.5"))),
              IsEmpty());
}

// CUDA 12.1 ended with torch 2.5.1, 12.4 with 2.6.0: neither was built with code for sm_120.
TEST(RecipeFrameworks, AnIndexThatGetsNoNewReleasesBoundsWhatComesFromItAlone) {
  const std::string whl = "https://download.pytorch.org/whl/";
  const Report bare = on_5090("--index-url " + whl + "cu121\ntorch\ntorchaudio\n");
  EXPECT_THAT(failures(bare), ElementsAre("kernel image: torch 2.5.1+cu121 in requirements.txt"));
  const auto found = of_rule(bare, "kernel image");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->evidence[0].text,
            "torch comes from the index for cu121 alone, which ends with 2.5.1+cu121; what is "
            "older fares alike");
  ASSERT_FALSE(found[0]->remedies.empty());
  std::string commands;
  for (const RemedyStep& step : found[0]->remedies[0].steps) {
    commands += step.command + "\n";
  }
  EXPECT_THAT(commands, HasSubstr("sed -i '1s|cu121|cu128|' 'requirements.txt'"));
  EXPECT_THAT(failures(on_5090("--index-url " + whl + "cu124/\ntorch>=2.4\n")),
              ElementsAre("kernel image: torch 2.6.0+cu124 in requirements.txt"));
  const std::string poetry =
      "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\npython = '^3.10'\n"
      "torch = {version = '^2.5.1', source = 'p'}\n[[tool.poetry.source]]\nname = 'p'\n"
      "priority = 'explicit'\nurl = '" +
      whl + "cu121'\n";
  EXPECT_THAT(failures(on_5090(poetry, "pyproject.toml")),
              ElementsAre("kernel image: torch 2.5.1+cu121 in pyproject.toml"));
  const std::string uv =
      "[project]\nname = 'x'\ndependencies = ['torch']\n[tool.uv.sources]\n"
      "torch = {index = 'p'}\n[[tool.uv.index]]\nname = 'p'\nexplicit = true\n"
      "url = '" +
      whl + "cu124'\n";
  EXPECT_THAT(failures(on_5090(uv, "pyproject.toml")),
              ElementsAre("kernel image: torch 2.6.0+cu124 in pyproject.toml"));
  const std::string image =
      "FROM ubuntu:24.04\nRUN pip3 install -U pip\nRUN pip3 install torch torchaudio --index-url " +
      whl + "cu124\nRUN pip3 install kokoro\n";
  EXPECT_THAT(failures(on_5090(image, "Dockerfile")),
              Contains("kernel image: torch 2.6.0+cu124 in Dockerfile"));
  EXPECT_THAT(rows(judged("requirements.txt", "--index-url " + whl + "cu121\ntorch\n",
                          card("RTX 4090", "8.9"))),
              ElementsAre("torch 2.5.1+cu121: works"));
}

TEST(RecipeFrameworks, WhatMayComeFromElsewhereIsNotBoundByAnIndexThatEnded) {
  const std::string whl = "https://download.pytorch.org/whl/";
  const std::vector<std::string> lists = {
      "--extra-index-url " + whl + "cu121\ntorch\n",
      "--index-url " + whl + "cu121\n--extra-index-url https://mirror.example/simple\ntorch\n",
      "--index-url " + whl + "cu121\n--find-links ./wheels\ntorch\n",
      "--index-url " + whl + "nightly/cu121\ntorch\n",
      "--index-url " + whl + "cu126\ntorch\n",
      "--index-url " + whl + "cu128\ntorch\n",
      "--index-url " + whl + "cpu\ntorch\n",
      "--index-url " + whl + "\ntorch\n",
      "--index-url https://mirror.example/whl/cu121\ntorch\n",
      "--index-url " + whl + "cu121\n-r more.txt\ntorch\n",
      "--index-url " + whl + "cu121\ntorch ; python_version < '3.9'\n"};
  for (const std::string& text : lists) {
    EXPECT_THAT(failures(on_5090(text)), IsEmpty()) << text;
  }
  const std::string torch = "RUN pip install torch --index-url " + whl + "cu124\n";
  const std::vector<std::string> images = {
      "FROM nvcr.io/nvidia/pytorch:25.03-py3\n" + torch,
      "FROM example/base:1\n" + torch,
      "FROM python:3.11\nRUN pip install openai-whisper\n" + torch,
      "FROM python:3.11\nRUN pip install $MORE\n" + torch,
      "FROM python:3.11\nRUN pip install torchaudio\n" + torch,
      "FROM python:3.11\nCOPY . .\nRUN pip install -e .\n" + torch,
      "FROM python:3.11\nRUN pip install git+https://github.com/example/asr\n" + torch,
      "FROM python:3.11\nRUN uv sync\n" + torch,
      "FROM python:3.11\nRUN conda install pytorch\n" + torch,
      "FROM python:3.11\nRUN pip install ./asr-1.0-py3-none-any.whl\n" + torch,
      "FROM python:3.11\nRUN pip install -r more.txt\n" + torch};
  for (const std::string& text : images) {
    EXPECT_THAT(of_rule(on_5090(text, "Dockerfile"), "kernel image"), IsEmpty()) << text;
  }
  const std::string uv =
      "[project]\nname = 'x'\ndependencies = ['torch']\n[tool.uv.sources]\n"
      "torch = [{index = 'p', marker = \"sys_platform == 'win32'\"}]\n[[tool.uv.index]]\n"
      "name = 'p'\nexplicit = true\nurl = '" +
      whl + "cu124'\n";
  EXPECT_THAT(failures(on_5090(uv, "pyproject.toml")), IsEmpty());
}

TEST(RecipeFrameworks, ARangeThatNoReleaseMeetsFails) {
  EXPECT_THAT(failures(on_5090("torch>=2.5.2,<2.6\n")),
              ElementsAre("no such version: torch>=2.5.2,<2.6 in requirements.txt"));
  EXPECT_THAT(failures(on_5090("ctranslate2==4.9.*\nfaster-whisper>0.1,<0.2\nnumpy==99.*\n")),
              IsEmpty())
      << "newer and older than what is listed";
}

// conda-forge's pytorch-gpu is that torch: nothing else brings a newer one.
TEST(RecipeFrameworks, CondaForgesPytorchGpuIsATorch) {
  Facts facts = files({{"environment.yml",
                        "dependencies:\n  - python=3.11\n  - pytorch-gpu=2.7\n  - pip\n"
                        "  - pip:\n    - nemo_toolkit[asr]==2.3.0\n"}});
  facts.machine.cards = {card("NVIDIA B200", "10.0")};
  facts.machine.driver = "570.133.20";
  for (const FrameworkVerdict& verdict : judge(facts).verdicts) {
    EXPECT_TRUE(verdict.framework != "torch" || verdict.version.starts_with("2.7"))
        << verdict.version;
  }
}

TEST(RecipeFrameworks, CondasBuildsHaveTheirRowAndAreNotKnown) {
  const std::string text =
      "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.11\n  - pytorch=2.5.1\n";
  for (const char* more : {"  - pytorch-cuda=12.4\n", ""}) {
    const Report report = on_5090(text + more, "environment.yml");
    EXPECT_THAT(rows(report), ElementsAre("torch 2.5.1: unknown"));
    EXPECT_THAT(failures(report), IsEmpty());
    EXPECT_THAT(of_rule(report, "pin drifts"), IsEmpty());
  }
  EXPECT_THAT(rows(on_5090(text + "  - cpuonly\n", "environment.yml")),
              ElementsAre("torch 2.5.1: works slowly"));
}

TEST(RecipeFrameworks, WhatMendsAPinIsAnEditOfItsFile) {
  const Report list = on_5090("torch==2.5.1\ntorchaudio==2.5.1\n");
  const auto found = of_rule(list, "kernel image");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  const Remedy& first = found[0]->remedies[0];
  ASSERT_EQ(first.steps.size(), 3U);
  EXPECT_EQ(first.steps[0].command, "sed -i '1s|2\\.5\\.1|2.7.0|' 'requirements.txt'");
  EXPECT_EQ(first.steps[1].command,
            "sed -i '$a --extra-index-url https://download.pytorch.org/whl/cu128' "
            "'requirements.txt'");
  EXPECT_EQ(first.steps[2].command, "sed -i '2s|2\\.5\\.1|2.7.0|' 'requirements.txt'");
  for (const Remedy& remedy : found[0]->remedies) {
    EXPECT_THAT(remedy.command, ::testing::Not(HasSubstr("pip install"))) << remedy.command;
  }
  const Report image = on_5090(
      "FROM python:3.11-slim\nRUN apt-get update\nRUN pip install torch==2.5.1\n", "Dockerfile");
  const auto fails = of_rule(image, "kernel image");
  ASSERT_EQ(fails.size(), 1U);
  ASSERT_EQ(fails[0]->remedies[0].steps.size(), 2U);
  EXPECT_EQ(fails[0]->remedies[0].steps[0].command,
            "sed -i '3s|torch==2\\.5\\.1|torch==2.7.0|' 'Dockerfile'");
  EXPECT_EQ(fails[0]->remedies[0].steps[1].command,
            "sed -i '3i ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128 "
            "UV_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128' 'Dockerfile'");
}

TEST(RecipeFrameworks, ABuildForTheProcessorIsKnownByItsName) {
  const Report report = on_5090("--index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1\n");
  const auto found = of_rule(report, "processor build");
  ASSERT_EQ(found.size(), 1U);
  for (const Evidence& evidence : found[0]->evidence) {
    EXPECT_THAT(evidence.text, ::testing::Not(HasSubstr("Windows")));
  }
  EXPECT_EQ(found[0]->evidence[0].where, "its name");
}

TEST(RecipeFrameworks, VersionsBesideTheFinalReleasesAreNotKnown) {
  const Report report = on_5090(
      "onnxruntime-gpu==1.20.0rc9\nfaster-whisper==1.1.0.post7\nkokoro==0.8.99\n"
      "numpy==1.99\n");
  EXPECT_EQ(of_rule(report, "version is not known").size(), 2U);
  EXPECT_THAT(failures(report), ElementsAre("no such version: kokoro 0.8.99 in requirements.txt",
                                            "no such version: numpy 1.99 in requirements.txt"));
  EXPECT_THAT(of_rule(report, "no such version")[0]->text,
              HasSubstr("the nearest are 0.8.4 and 0.9.2."));
  EXPECT_THAT(of_rule(report, "no such version")[1]->text,
              HasSubstr("the nearest are 1.26.4 and 2.0.0."));
}

TEST(RecipeFrameworks, ASourceTreeThatWasNotLookedAtIsNamed) {
  const Report report = on_5090("-e git+https://code.example/p.git#egg=p\n");
  ASSERT_EQ(of_rule(report, "source not looked at").size(), 1U);
  EXPECT_THAT(of_rule(report, "source not looked at")[0]->evidence[0].text,
              HasSubstr("git+https://code.example/p.git"));
  EXPECT_THAT(of_rule(on_5090("p @ git+https://code.example/p.git\n"), "source not looked at"),
              ::testing::SizeIs(1));
  EXPECT_THAT(
      of_rule(on_5090("https://code.example/torch-2.8.0+cu128-cp311-cp311-linux_x86_64.whl\n"),
              "source not looked at"),
      IsEmpty());
}

TEST(RecipeFrameworks, ABuildThatNeverWasIsNotKnownAndKnownOnesAreAdvised) {
  for (const char* text :
       {"--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.7.1+cu121\n",
        "--index-url https://download.pytorch.org/whl/cu121\ntorch==2.7.1\n",
        "--index-url https://download.pytorch.org/whl/cu999\ntorch==2.7.1+cu999\n"}) {
    const Report report = on_5090(text);
    EXPECT_THAT(failures(report), IsEmpty()) << text;
    EXPECT_THAT(rows(report), ElementsAre(HasSubstr(": unknown"))) << text;
    const auto found = of_rule(report, "no such build");
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found[0]->level, Level::Unknown);
    EXPECT_THAT(found[0]->text, HasSubstr("cu118, cu126, cu128")) << text;
    ASSERT_EQ(found[0]->remedies.size(), 1U) << text;
    const Remedy& remedy = found[0]->remedies[0];
    EXPECT_THAT(remedy.steps.empty() ? remedy.command : remedy.steps.back().command,
                HasSubstr("cu128|'"))
        << text;
  }
  EXPECT_THAT(of_rule(on_5090("--extra-index-url https://download.pytorch.org/whl/cu121\n"
                              "torch==2.7.1\n"),
                      "no such build"),
              IsEmpty())
      << "the Python index has it";
}

TEST(RecipeFrameworks, WhatAPinnedPackageAsksForIsHeldAgainstTheOtherPins) {
  EXPECT_THAT(failures(on_5090("torch==2.9.1\nwhisperx==3.7.4\n")),
              ElementsAre("requirements contradict: whisperx in requirements.txt"));
  EXPECT_THAT(
      of_rule(on_5090("torch==2.9.1\nwhisperx==3.7.4\n"), "requirements contradict")[0]->text,
      HasSubstr("whisperx 3.7.4 asks for torch~=2.8.0"));
  const Report two = on_5090("torch==2.9.1\ntorchaudio==2.9.1\nwhisperx==3.7.4\n");
  ASSERT_EQ(of_rule(two, "requirements contradict").size(), 1U) << "one package, one finding";
  ASSERT_EQ(of_rule(two, "requirements contradict")[0]->remedies.size(), 1U);
  EXPECT_EQ(of_rule(two, "requirements contradict")[0]->remedies[0].steps[0].command,
            "sed -i '1s|==2\\.9\\.1|~=2.8.0|' 'requirements.txt'");
  EXPECT_THAT(failures(on_5090("torch==2.8.0\nwhisperx==3.7.4\n")), IsEmpty());
  EXPECT_THAT(failures(on_5090("FROM python:3.11\nRUN pip install torch==2.9.1\n"
                               "RUN pip install --no-deps whisperx==3.7.4\n",
                               "Dockerfile")),
              IsEmpty());
  EXPECT_THAT(
      failures(on_5090("[project]\nname='a'\ndependencies=['torch==2.8.0','whisperx==3.7.4']\n"
                       "[tool.uv]\noverride-dependencies=['torch==2.9.1']\n",
                       "pyproject.toml")),
      IsEmpty());
}

TEST(RecipeFrameworks, TheCudnnThatTorchAsksForIsHeldAgainstAnotherPin) {
  EXPECT_THAT(failures(on_5090("torch==2.7.1\nnvidia-cudnn-cu12==8.9.7.29\n")),
              Contains("requirements contradict: torch in requirements.txt"));
  const Report report = on_5090("torch==2.6.0\nnvidia-cudnn-cu12==8.9.7.29\n");
  const auto all = of_rule(report, "requirements contradict");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  EXPECT_EQ(all[0]->error, "ResolutionImpossible");
  EXPECT_THAT(all[0]->text, HasSubstr("torch 2.6.0 asks for nvidia-cudnn-cu12==9.1.0.70, and "
                                      "8.9.7.29 is pinned"));
  const auto levels = [](const std::string& text) {
    std::vector<Level> found;
    const Report of_text = on_5090(text.c_str());
    for (const auto& finding : of_rule(of_text, "requirements contradict")) {
      found.push_back(finding->level);
    }
    return found;
  };
  EXPECT_THAT(levels("torch==2.6.0\nnvidia-cudnn-cu12==9.1.0.70\n"), IsEmpty());
  EXPECT_THAT(levels("torch==2.6.0\nnvidia-cudnn-cu13==9.28.1.4\n"), IsEmpty());
  // A fix of torch may ask for another one of the same series.
  EXPECT_THAT(levels("torch==2.6.0\nnvidia-cudnn-cu12==9.5.1.17\n"), ElementsAre(Level::Unknown));
}

namespace {

// What a Dockerfile comes to on a card.
Report on_card(const std::string& dockerfile, const char* name, const char* capability,
               const char* driver) {
  Facts facts = files({{"Dockerfile", dockerfile.c_str()}});
  facts.machine.cards = {card(name, capability)};
  facts.machine.driver = driver;
  return judge(facts);
}

}  // namespace

TEST(RecipeFrameworks, AnImageOfCudaMayServeADataCentreCardOnAnOlderDriver) {
  const std::string install = "\nRUN pip install torch==2.5.1 ctranslate2==4.6.0\n";
  for (const char* image :
       {"nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04",
        "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04", "nvcr.io/nvidia/pytorch:24.05-py3"}) {
    const std::string dockerfile = "FROM " + std::string(image) + install;
    const Report report = on_card(dockerfile, "NVIDIA A100", "8.0", "470.256");
    EXPECT_THAT(failures(report), ::testing::IsEmpty()) << image;
    ASSERT_EQ(report.verdicts.size(), 2U) << image;
    EXPECT_EQ(report.verdicts[0].outcome, Outcome::Unknown) << image;
    const auto found = of_rule(report, "driver too old");
    ASSERT_EQ(found.size(), 2U) << image;
    EXPECT_EQ(found[0]->level, Level::Unknown);
    EXPECT_THAT(found[0]->text, ::testing::HasSubstr("cuda-compat"));
    // GeForce cards may not use it.
    EXPECT_EQ(failures(on_card(dockerfile, "NVIDIA GeForce RTX 3090", "8.6", "470.256")).size(), 2U)
        << image;
  }
  // Images without it, and of an older CUDA than the wheel's.
  for (const char* image : {"python:3.11-slim", "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime",
                            "nvidia/cuda:11.8.0-runtime-ubuntu22.04"}) {
    EXPECT_EQ(
        failures(on_card("FROM " + std::string(image) + install, "NVIDIA A100", "8.0", "470.256"))
            .size(),
        2U)
        << image;
  }
}

TEST(RecipeFrameworks, OfArmProcessorsNoWheelIsKnown) {
  const std::string install = "\nRUN pip install torch==2.7.1 ctranslate2==4.6.0\n";
  const std::vector<Report> reports = {
      on_card("FROM python:3.11-slim" + install, "NVIDIA GB10", "12.1", "580.95.05"),
      on_card("FROM python:3.11-slim" + install, "NVIDIA GH200", "9.0", "580.95.05"),
      on_card("FROM --platform=linux/arm64 python:3.11-slim" + install, "NVIDIA GeForce RTX 5090",
              "12.0", "580.95.05"),
      on_card("FROM --platform=linux/arm64 python:3.11-slim AS base\nFROM base" + install,
              "NVIDIA GeForce RTX 5090", "12.0", "580.95.05")};
  for (size_t i = 0; i < reports.size(); ++i) {
    SCOPED_TRACE(i);
    const Report& report = reports[i];
    EXPECT_THAT(failures(report), ::testing::IsEmpty());
    ASSERT_EQ(report.verdicts.size(), 2U);
    EXPECT_EQ(report.verdicts[0].version, "2.7.1");
    EXPECT_EQ(report.verdicts[0].outcome, Outcome::Unknown);
    const auto found = of_rule(report, "device code not known");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[0]->text, ::testing::HasSubstr("aarch64"));
    EXPECT_THAT(found[0]->remedies, ::testing::IsEmpty());
  }
  EXPECT_FALSE(failures(on_card("FROM --platform=linux/amd64 python:3.11-slim" + install,
                                "NVIDIA GeForce RTX 5090", "12.0", "580.95.05"))
                   .empty());
}

}  // namespace mynah::doctor
