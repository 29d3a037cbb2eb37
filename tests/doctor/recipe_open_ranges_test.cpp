// Frameworks that nothing pins, on cards and drivers that the newest release does not serve.
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Report on(const std::string& text, const char* name, const char* capability, const char* driver,
          const char* path = "requirements.txt") {
  Facts facts = files({{path, text.c_str()}});
  facts.machine.cards = {card(name, capability)};
  facts.machine.driver = driver;
  return judge(facts);
}

// Findings about torch on the card.
std::vector<std::shared_ptr<const Finding>> of_torch(const Report& report) {
  std::vector<std::shared_ptr<const Finding>> found;
  for (const Finding& finding : report.findings) {
    if (finding.subject.starts_with("torch 2") && !finding.card.empty()) {
      found.push_back(std::make_shared<const Finding>(finding));
    }
  }
  return found;
}

std::vector<std::string> commands(const Finding& finding) {
  std::vector<std::string> all;
  for (const Remedy& remedy : finding.remedies) {
    all.push_back(remedy.command);
    for (const RemedyStep& step : remedy.steps) {
      all.push_back(step.command);
    }
  }
  return all;
}

}  // namespace

TEST(RecipeOpenRanges, TheNewestThatIsKnownIsHeldAgainstAnOldCardAndAnOldDriver) {
  for (const char* asks : {"torch\n", "torch>=2\n", "torch>=2,<3\n", "torch>=2,<2.15\n"}) {
    for (const auto& [name, capability, driver] :
         {std::tuple("NVIDIA TITAN Xp", "6.1", "580.95"), std::tuple("Tesla V100", "7.0", "580.95"),
          std::tuple("GeForce RTX 3090", "8.6", "535.86")}) {
      const Report report = on(asks, name, capability, driver);
      EXPECT_THAT(failures(report), IsEmpty()) << asks << name;
      const auto found = of_torch(report);
      ASSERT_EQ(found.size(), 1U) << asks << name;
      EXPECT_EQ(found[0]->level, Level::Unknown);
      EXPECT_EQ(found[0]->certainty, Certainty::Likely);
      EXPECT_THAT(found[0]->evidence.front().text, HasSubstr("newest of which something is known"));
      EXPECT_THAT(commands(*found[0]),
                  Contains(HasSubstr("https://download.pytorch.org/whl/cu126")))
          << asks << name;
    }
    EXPECT_THAT(of_torch(on(asks, "GeForce RTX 4090", "8.9", "580.95")), IsEmpty()) << asks;
  }
}

// An index, a Python and what others ask for bound what comes.
TEST(RecipeOpenRanges, WhatElseIsSaidBoundsTheNewest) {
  const std::string index = "--index-url https://download.pytorch.org/whl/";
  EXPECT_THAT(of_torch(on(index + "cu126\ntorch\n", "NVIDIA TITAN Xp", "6.1", "580.95")),
              IsEmpty());
  const Report report = on(index + "cu126\ntorch\n", "GeForce RTX 5090", "12.0", "580.95");
  const auto wrong = of_torch(report);
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_THAT(wrong[0]->subject, HasSubstr("+cu126"));
  EXPECT_THAT(of_torch(on("torch\ntorchaudio==2.5.1\n", "GeForce RTX 3090", "8.6", "535.86")),
              IsEmpty());
  const std::string conda = "dependencies:\n  - python=3.8\n  - pip:\n    - torch\n";
  EXPECT_THAT(of_torch(on(conda, "Tesla V100", "7.0", "535.86", "environment.yml")), IsEmpty());
}

// An image may have a torch already, which stays.
TEST(RecipeOpenRanges, AnImageThatMayHaveOneIsLeftAlone) {
  EXPECT_THAT(of_torch(on("FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN pip install torch\n",
                          "NVIDIA TITAN Xp", "6.1", "570.86", "Dockerfile")),
              IsEmpty());
  EXPECT_EQ(of_torch(on("FROM python:3.11\nRUN pip install torch\n", "NVIDIA TITAN Xp", "6.1",
                        "580.95", "Dockerfile"))
                .size(),
            1U);
}

// A torch that no line asks for is what another package brings.
TEST(RecipeOpenRanges, ATorchThatAnotherPackageBringsIsHeldAgainstCardAndDriver) {
  for (const char* asks : {"kokoro==0.9.4\n", "openai-whisper==20250625\n"}) {
    const Report report = on(asks, "GeForce RTX 3090", "8.6", "535.86");
    const auto found = of_torch(report);
    ASSERT_EQ(found.size(), 1U) << asks;
    EXPECT_EQ(found[0]->level, Level::Unknown);
    EXPECT_EQ(found[0]->certainty, Certainty::Likely);
    EXPECT_THAT(found[0]->evidence.front().text, HasSubstr("asks for torch, nothing pins it"));
    EXPECT_THAT(commands(*found[0]), Contains(HasSubstr("sed -i '$a torch==")));
    EXPECT_THAT(commands(*found[0]), Contains(HasSubstr("https://download.pytorch.org/whl/cu126")));
    EXPECT_THAT(of_torch(on(asks, "GeForce RTX 4090", "8.9", "580.95")), IsEmpty()) << asks;
  }
  // An image may have one already.
  const Report image = on("FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN pip install kokoro==0.9.4\n",
                          "GeForce RTX 3090", "8.6", "535.86", "Dockerfile");
  EXPECT_THAT(of_torch(image), IsEmpty());
}

// A package that asks for one version of torch pins it.
TEST(RecipeOpenRanges, ATorchThatAPinnedPackageAsksForExactlyIsJudgedLikeAPin) {
  for (const auto& [asks, torch] :
       {std::pair("vllm==0.6.3\n", "2.4.0"), std::pair("vllm==0.8.5\n", "2.6.0"),
        std::pair("kokoro==0.9.4\nvllm==0.8.5\n", "2.6.0")}) {
    const Report report = on(asks, "GeForce RTX 5090", "12.0", "580.95");
    const auto found = of_torch(report);
    ASSERT_EQ(found.size(), 1U) << asks;
    EXPECT_EQ(found[0]->level, Level::Fail) << asks;
    EXPECT_THAT(found[0]->evidence.front().text,
                HasSubstr(std::string(" asks for torch==") + torch));
    EXPECT_THAT(found[0]->evidence.front().text, HasSubstr("vllm"));
    EXPECT_THAT(of_torch(on(asks, "GeForce RTX 4090", "8.9", "580.95")), IsEmpty()) << asks;
  }
  EXPECT_EQ(of_torch(on("FROM python:3.11\nRUN pip install vllm==0.8.5\n", "GeForce RTX 5090",
                        "12.0", "580.95", "Dockerfile"))
                .at(0)
                ->level,
            Level::Fail);
  // A marker or an index may bring another one, and so may a constraint or a later command.
  for (const auto& [text, path] :
       {std::pair("vllm==0.8.5; python_version < '3.12'\n", "requirements.txt"),
        std::pair("chatterbox-tts==0.1.7\n", "requirements.txt"),
        std::pair("--extra-index-url https://download.pytorch.org/whl/cu128\nvllm==0.8.5\n",
                  "requirements.txt"),
        std::pair("--extra-index-url https://wheels.example/own\nvllm==0.8.5\n",
                  "requirements.txt"),
        std::pair("FROM python:3.11\nRUN pip install vllm==0.8.5\nRUN pip install xformers\n",
                  "Dockerfile"),
        std::pair("FROM vllm/vllm-openai:v0.8.5\nRUN pip install vllm==0.8.5\n", "Dockerfile"),
        std::pair("[project]\nname = 'a'\nversion = '1'\ndependencies = ['vllm==0.8.5']\n"
                  "[tool.uv]\noverride-dependencies = ['torch==2.7.0']\n",
                  "pyproject.toml")}) {
    EXPECT_THAT(failures(on(text, "GeForce RTX 5090", "12.0", "580.95", path)), IsEmpty()) << text;
  }
}

// A torch that works, in whose place a later command puts another, is not what the image has.
TEST(RecipeOpenRanges, ATorchThatALaterCommandReplacesIsNotSaidToWork) {
  const auto verdict = [](const std::string& vllm) {
    const std::string text =
        "FROM pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\nRUN pip install " + vllm + "\n";
    return on(text, "GeForce RTX 5090", "12.0", "580.95", "Dockerfile").verdicts.at(0);
  };
  EXPECT_EQ(verdict("vllm==0.8.5").outcome, Outcome::Unknown);
  EXPECT_EQ(verdict("vllm==0.8.5").reason, "vllm==0.8.5 puts torch==2.6.0 in its place");
  EXPECT_EQ(verdict("vllm==0.10.0").outcome, Outcome::Works);  // which asks for 2.7.1
  EXPECT_EQ(verdict("--no-deps vllm==0.8.5").outcome, Outcome::Works);
}

}  // namespace mynah::doctor
