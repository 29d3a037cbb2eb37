// What recipes' remedies propose: for their Python, with what else is pinned, and once.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// The texts of a finding's remedies, each with its steps.
std::vector<std::string> texts_of(const Finding& finding) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : finding.remedies) {
    std::string& text = texts.emplace_back(remedy.text);
    for (const RemedyStep& step : remedy.steps) {
      text += "|" + step.text;
    }
  }
  return texts;
}

std::vector<std::string> texts_of_rule(const Facts& facts, const char* rule) {
  const Report report = judge(facts);
  const auto found = of_rule(report, rule);
  return found.empty() ? std::vector<std::string>() : texts_of(*found.front());
}

// 4.5.0 is the last ctranslate2 for Python 3.8, which Ubuntu 20.04's pip is of.
TEST(RecipeProposals, WhatIsProposedIsForThePythonOfTheRecipe) {
  const auto of_image = [](const std::string& image) {
    const std::string file = "FROM " + image +
                             "\nRUN apt-get update && apt-get install -y python3 python3-pip\n"
                             "RUN pip3 install torch==2.4.1 ctranslate2==4.4.0\n";
    return texts_of_rule(files({{"Dockerfile", file.c_str()}}), "cudnn of another version");
  };
  EXPECT_THAT(of_image("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04"),
              Contains(HasSubstr("ctranslate2==4.8.5")));
  const auto old = of_image("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu20.04");
  EXPECT_THAT(old, Contains(HasSubstr("ctranslate2==4.5.0")));
  EXPECT_THAT(old, Not(Contains(HasSubstr("ctranslate2==4.8.5"))));
}

TEST(RecipeProposals, AVersionThatDriftsIsPinnedForThePythonOfTheRecipe) {
  const auto texts =
      texts_of_rule(files({{"Dockerfile",
                            "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu20.04\n"
                            "RUN apt-get update && apt-get install -y python3.8 python3-pip\n"
                            "RUN pip3 install faster-whisper==1.0.2\n"}}),
                    "pin drifts");
  EXPECT_THAT(texts, Contains(HasSubstr("ctranslate2==4.5.0")));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("ctranslate2==4.8"))));
}

TEST(RecipeProposals, APinThatAPinnedPackageAsksForIsMendedWithThat) {
  const auto both = texts_of_rule(
      files({{"requirements.txt", "whisperx==3.3.1\nctranslate2==4.4.0\ntorch==2.5.1\n"}}),
      "cudnn of another version");
  // The smallest is a torch of that cuDNN.
  EXPECT_THAT(both, Contains(HasSubstr("is to read torch==2.3.1, not torch==2.5.1")));
  for (const std::string& text : both) {
    EXPECT_THAT(both, Contains(text).Times(1));
  }
  // Of releases that are the same remedy again the newest and the nearest are said.
  const auto unpinned = texts_of_rule(
      files({{"requirements.txt", "whisperx==3.3.1\ntorch==2.5.1\n"}}), "cudnn of another version");
  EXPECT_THAT(unpinned, Contains(HasSubstr("Take whisperx 3.")).Times(2));
}

TEST(RecipeProposals, AFailureThatGoesWithAnothersRemedySaysSo) {
  const Report report = judge(
      files({{"requirements.txt", "pyannote.audio==3.3.2\ntorch==2.8.0\ntorchaudio==2.9.1\n"}}));
  std::vector<Remedy> first;
  for (const Finding& finding : report.findings) {
    if (finding.level == Level::Fail) {
      ASSERT_FALSE(finding.remedies.empty());
      first.push_back(finding.remedies[0]);
    }
  }
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].command, first[1].command);
  EXPECT_THAT(first[0].command, HasSubstr("3s|2\\.9\\.1|2.8.0|"));
  EXPECT_THAT(first[0].text + first[1].text, HasSubstr("mends this, too"));
}

TEST(RecipeProposals, Numpy2BesideAnOlderTorchOfCondaIsSaid) {
  const Report report = judge(files({{"environment.yml",
                                      "dependencies:\n  - python=3.10\n  - pytorch=2.1.2\n"
                                      "  - pytorch-cuda=12.1\n  - numpy=2.0\n"}}));
  const auto found = of_rule(report, "numpy is too new");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Warning);
  EXPECT_EQ(found[0]->certainty, Certainty::Likely);
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(found[0]->remedies[0].text, "Write numpy<2 in environment.yml:5");
  const Report without =
      judge(files({{"environment.yml", "dependencies:\n  - pytorch=2.1.2\n  - numpy\n"}}));
  EXPECT_TRUE(of_rule(without, "numpy is too new").empty());
}

TEST(RecipeProposals, ALockIsMadeAnewForNumpyByItsOwnProgram) {
  const Report report = judge(files({{"poetry.lock",
                                      "[[package]]\nname = \"torch\"\nversion = \"2.1.0\"\n"
                                      "[[package]]\nname = \"numpy\"\nversion = \"2.1.0\"\n"}}));
  const auto found = of_rule(report, "numpy is too new");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(found[0]->remedies[0].command, "poetry add 'numpy<2'");
}

// conda's pytorch 2.2.2 stands on cuDNN 8: what wants 9 beside it would bring none.
TEST(RecipeProposals, ADriftingCtranslate2GoesWithTheCudnnOfCondasTorch) {
  const auto texts = [](const char* pytorch, const char* python) {
    const std::string file = std::string("dependencies:\n  - python=") + python +
                             "\n  - pytorch=" + pytorch +
                             "\n  - pytorch-cuda=12.1\n  - pip:\n    - ctranslate2<4.6.3\n";
    return texts_of_rule(files({{"environment.yml", file.c_str()}}), "pin drifts");
  };
  EXPECT_THAT(texts("2.2.2", "3.11"), ElementsAre(HasSubstr("is to read ctranslate2==4.4, not")));
  EXPECT_THAT(texts("2.2.2", "3.8"), ElementsAre(HasSubstr("is to read ctranslate2==4.4, not")));
  EXPECT_THAT(texts("2.5.1", "3.11"), ElementsAre(HasSubstr("is to read ctranslate2==4.6.2, not")));
}

// torch 2.6, which vllm 0.8.5 asks for, has no code for this card, and the torch that has is not
// what it asks for: another vllm asks for that.
TEST(RecipeProposals, ARemedyThatLeadsToAFailureGivesWayToOneThatDoesNot) {
  for (const char* path : {"requirements.txt", "Dockerfile"}) {
    const bool image = std::string(path) == "Dockerfile";
    Facts facts = files({{path, image ? "FROM python:3.11-slim\nRUN pip install vllm==0.8.5 "
                                        "torch==2.7.0\n"
                                      : "vllm==0.8.5\ntorch==2.7.0\n"}});
    facts.machine.cards = {card("NVIDIA B200", "10.0")};
    facts.machine.driver = "580.95";
    const Report report = judge(facts);
    const auto refused = of_rule(report, "requirements contradict");
    ASSERT_EQ(refused.size(), 1U) << path;
    EXPECT_THAT(texts_of(*refused[0]),
                ElementsAre(AllOf(HasSubstr("is to read vllm==0.9.0, not"),
                                  HasSubstr("https://download.pytorch.org/whl/cu128"))));
    const auto card = of_rule(report, "kernel image");
    ASSERT_EQ(card.size(), 1U) << path;
    EXPECT_THAT(texts_of(*card[0]), ElementsAre(HasSubstr("whl/cu128")));
  }
  // On a card that both serve either may be taken.
  Facts facts = files({{"requirements.txt", "vllm==0.8.5\ntorch==2.7.0\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "580.95";
  EXPECT_THAT(texts_of_rule(facts, "requirements contradict"),
              ElementsAre(HasSubstr("torch==2.6.0"), HasSubstr("vllm==0.9.2")));
}

// Which NumPy whisperx wants hangs on the Python, which is not known: it is told once, and what
// keeps all of them away is left out.
TEST(RecipeProposals, NeedsOfOnePackageForSeveralPythonsAreToldOnce) {
  Facts facts = files({{"requirements.txt", "whisperx==3.7.4\ntorch==2.7.1\nnumpy<2\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95";
  const auto found = of_rule(judge(facts), "requirements contradict");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->text,
              HasSubstr("asks for numpy<2.1.0,>=2.0.2 or numpy<2.3.0,>=2.1.0, and numpy<2 is asked "
                        "for; for torch~=2.8.0, and 2.7.1 is pinned"));
  ASSERT_FALSE(found[0]->remedies.empty());
  const std::vector<RemedyStep>& steps = found[0]->remedies[0].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].command, "sed -i '3s|<2||' 'requirements.txt'");
  EXPECT_EQ(steps[1].command, "sed -i '2s|==2\\.7\\.1|~=2.8.0|' 'requirements.txt'");
  const auto mended =
      judge(files({{"requirements.txt", "whisperx==3.7.4\ntorch~=2.8.0\nnumpy\n"}}));
  EXPECT_TRUE(of_rule(mended, "requirements contradict").empty());
}

// The wheels of CTranslate2 4 have code for Maxwell's Tegra chips alone, those of 3 for all of it.
TEST(RecipeProposals, ACardThatCtranslate2LeftBehindIsServedByAnOlderOneOrPytorch) {
  const auto remedies = [](const char* text) {
    Facts facts = files({{"requirements.txt", text}});
    facts.machine.cards = {card("NVIDIA GeForce GTX 970", "5.2")};
    facts.machine.driver = "580.95";
    std::vector<std::string> commands;
    for (const auto& finding : of_rule(judge(facts), "kernel image")) {
      for (const Remedy& remedy : finding->remedies) {
        commands.push_back(remedy.command);
        for (const RemedyStep& step : remedy.steps) {
          commands.back() += step.command + "\n";
        }
        if (commands.back().contains("openai-whisper")) {
          EXPECT_THAT(remedy.text, HasSubstr("In place of ctranslate2"));
          EXPECT_THAT(remedy.text, HasSubstr("Programs call it in another way"));
        }
      }
    }
    return commands;
  };
  EXPECT_THAT(remedies("ctranslate2==4.5.0\n"),
              ElementsAre(AllOf(HasSubstr("3.24.0"), HasSubstr("nvidia-cublas-cu11"),
                                HasSubstr("nvidia-cudnn-cu11==8.*")),
                          AllOf(HasSubstr("pip install openai-whisper torch=="),
                                HasSubstr("--extra-index-url https://download.pytorch.org/whl/"))));
  EXPECT_THAT(remedies("ctranslate2\n"), SizeIs(2));
  EXPECT_THAT(remedies("ctranslate2==4.5.0\ntorch==2.5.1\n"),
              Contains("pip install openai-whisper"));
}

}  // namespace

// pip from 20.3 on, and uv, refuse what one command asks for and cannot have; two commands follow
// each other, and pip before that installed what it found.
TEST(RecipeProposals, OneCommandOfAnImageRefusesWhatContradicts) {
  const auto level = [](const std::string& image, const std::string& command) {
    const std::string text = "FROM " + image + "\n" + command + "\n";
    const char* const file =
        command.starts_with("COPY") ? "faster-whisper==1.0.3\nctranslate2==3.24.0\n" : "numpy\n";
    const Report report = judge(files({{"Dockerfile", text.c_str()}, {"requirements.txt", file}}));
    std::string levels;
    for (const char* rule : {"requirements contradict", "torch companions"}) {
      for (const auto& finding : of_rule(report, rule)) {
        levels += std::string(level_name(finding->level)) + " ";
      }
    }
    return levels;
  };
  const std::string python = "python:3.11-slim-bookworm";
  const std::string both = " install faster-whisper==1.0.3 ctranslate2==3.24.0";
  EXPECT_EQ(level(python, "RUN pip" + both), "fail ");
  EXPECT_EQ(level(python, "RUN pip install -U pip\nRUN pip" + both), "fail ");
  EXPECT_EQ(level(python, "COPY requirements.txt .\nRUN pip install -r requirements.txt"), "fail ");
  EXPECT_EQ(level("nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04",
                  "RUN apt-get update && apt-get install -y python3-pip\nRUN pip3" + both),
            "fail ");
  EXPECT_EQ(level(python, "RUN pip install torch==2.7.1 torchaudio==2.7.0"), "fail ");
  EXPECT_EQ(level(python, "RUN pip install torch==2.7.1 torch==2.6.0"), "fail ");
  // Two commands; an old pip, or one that is told to resolve as an old one; no needs at all.
  EXPECT_EQ(level(python,
                  "RUN pip install ctranslate2==3.24.0\n"
                  "RUN pip install faster-whisper==1.0.3")
                .find("fail"),
            std::string::npos);
  EXPECT_EQ(level("ubuntu:20.04", "RUN apt-get install -y python3-pip\nRUN pip3" + both),
            "warning ");
  EXPECT_EQ(level(python, "RUN pip install pip==20.2.4\nRUN pip" + both), "warning ");
  EXPECT_EQ(level(python, "RUN pip --use-deprecated=legacy-resolver" + both), "warning ");
  EXPECT_EQ(level(python,
                  "RUN pip install --use-deprecated legacy-resolver faster-whisper==1.0.3 "
                  "ctranslate2==3.24.0"),
            "warning ");
  EXPECT_EQ(level(python, "RUN pip" + both + " --no-deps"), "");
}

}  // namespace mynah::doctor
