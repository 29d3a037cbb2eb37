// What must hold of remedies whatever the recipe, the card and the driver: each says something, and
// of what stands first in several findings nothing undoes another.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct OwnMachine {
  const char* card = nullptr;
  const char* capability = nullptr;
  const char* driver = nullptr;
};

constexpr OwnMachine kMachines[] = {{"NVIDIA TITAN Xp", "6.1", "580.95.05"},
                                    {"NVIDIA GeForce RTX 4090", "8.9", "570.86"},
                                    {"NVIDIA GeForce RTX 5090", "12.0", "580.95.05"}};

constexpr const char* kImages[] = {"python:3.11-slim",
                                   "python:3.13",
                                   "nvidia/cuda:12.4.1-base-ubuntu22.04",
                                   "nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04",
                                   "nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04",
                                   "nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04",
                                   "nvidia/cuda:13.0.1-cudnn-devel-ubuntu24.04",
                                   "pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime"};

constexpr const char* kAsked[] = {"torch==2.8.0+cu118",
                                  "torch==2.5.1 torchaudio==2.4.1",
                                  "torch==2.3.1+cu118 onnxruntime-gpu==1.18.1",
                                  "torch==2.1.2 ctranslate2==4.5.0",
                                  "torch==2.8.0 ctranslate2==4.4.0 onnxruntime-gpu==1.22.0",
                                  "ctranslate2==4.4.0 faster-whisper==1.0.3",
                                  "torch>=2.1 ctranslate2 faster-whisper",
                                  "onnxruntime-gpu==1.27.0",
                                  "onnxruntime==1.20.2 onnxruntime-gpu==1.20.2",
                                  "faster-whisper==1.0.3 onnxruntime-gpu==1.20.2",
                                  "torch==2.9.0 torchaudio==2.9.0 pyannote.audio==3.3.2",
                                  "torch==2.1.2+cpu onnxruntime-gpu[cuda,cudnn]==1.20.2",
                                  "torch==2.2.0 numpy==2.1.0 nvidia-cudnn-cu12==9.1.0.70",
                                  "torch==2.99.0 torchvision==0.99.0 ctranslate2==4.99.0"};

std::vector<Facts> all_facts() {
  std::vector<Facts> all;
  for (const char* asked : kAsked) {
    std::string lines;
    std::string lock;
    std::istringstream words(asked);
    for (std::string word; words >> word;) {
      lines += word + "\n";
      const size_t pin = word.find("==");
      if (pin != std::string::npos && !word.contains('[')) {
        lock += "[[package]]\nname = '" + word.substr(0, pin) + "'\nversion = '" +
                word.substr(pin + 2) + "'\n";
      }
    }
    all.push_back(files({{"requirements.txt", lines.c_str()}}));
    all.push_back(files({{"uv.lock", lock.c_str()}}));
    all.push_back(files({{"poetry.lock", lock.c_str()}}));
    for (const char* image : kImages) {
      const std::string text = std::string("FROM ") + image + "\nRUN pip install " + asked + "\n";
      all.push_back(files({{"Dockerfile", text.c_str()}}));
    }
  }
  return all;
}

std::vector<std::string> commands_of(const Remedy& remedy) {
  std::vector<std::string> commands = {remedy.command};
  for (const RemedyStep& step : remedy.steps) {
    commands.push_back(step.command);
  }
  return commands;
}

// "3s|torch==2\.1\.2" and the file of "sed -i '3s|torch==2\.1\.2|2.5.1|' 'a.txt'": what it changes;
// and what that becomes. Empty: it is no such command.
std::pair<std::string, std::string> change_of(const std::string& command) {
  const size_t first = command.find('|');
  const size_t second = command.find('|', first + 1);
  const size_t third = command.find('|', second + 1);
  if (!command.starts_with("sed -i ") || third == std::string::npos) {
    return {};
  }
  return {command.substr(0, second) + command.substr(third),
          command.substr(second, third - second)};
}

void expect_words(const std::vector<Remedy>& remedies) {
  for (const Remedy& remedy : remedies) {
    EXPECT_FALSE(remedy.text.empty() && remedy.command.empty());
    EXPECT_TRUE(remedy.steps.empty() || !remedy.text.empty());
    EXPECT_NE(remedy.steps.size(), 1U);
    for (const RemedyStep& step : remedy.steps) {
      EXPECT_FALSE(step.text.empty() && step.command.empty());
    }
  }
}

// `changes`: what those before it change, and what that becomes.
void expect_no_other_change(const Remedy& remedy, std::map<std::string, std::string>& changes) {
  for (const std::string& command : commands_of(remedy)) {
    const auto [what, to] = change_of(command);
    if (!what.empty()) {
      EXPECT_EQ(changes.emplace(what, to).first->second, to) << command;
    }
  }
}

Report of_image(const char* image, const char* asked) {
  Facts facts =
      files({{"Dockerfile",
              (std::string("FROM ") + image + "\nRUN pip install " + asked + "\n").c_str()}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  return judge(facts);
}

std::vector<std::string> outcomes(const Report& report) {
  std::vector<std::string> said;
  for (const FrameworkVerdict& verdict : report.verdicts) {
    said.push_back(verdict.framework + " " + std::string(outcome_name(verdict.outcome)));
  }
  return said;
}

}  // namespace

TEST(RecipeRemedyProperty, EachSaysWhatToDoAndTheFirstOfTwoFindingsGoTogether) {
  for (Facts& facts : all_facts()) {
    for (const OwnMachine& machine : kMachines) {
      facts.machine.cards = {card(machine.card, machine.capability)};
      facts.machine.driver = machine.driver;
      const Report report = judge(facts);
      std::map<std::string, std::string> changes;
      for (const Finding& finding : report.findings) {
        SCOPED_TRACE(std::string(machine.card) + ": " + finding.rule + ": " + finding.text);
        expect_words(finding.remedies);
        if (!finding.remedies.empty()) {
          expect_no_other_change(finding.remedies.front(), changes);
        }
      }
    }
  }
}

TEST(RecipeRemedyProperty, ABuildThatIsMissingHasOneThatIsThere) {
  const Report report = judge(files({{"requirements.txt", "torch==2.8.0+cu118\n"}}));
  const auto found = of_rule(report, "no such build");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_THAT(found[0]->remedies[0].text, HasSubstr("is to read torch==2.8.0, not"));
  EXPECT_THAT(of_rule(report, "index is not named"), IsEmpty());  // it is one fault
  // In an image it is sure to fail, and what mends it is the same.
  const Report image = of_image("python:3.11", "torch==2.8.0+cu118");
  const auto certain = of_rule(image, "index is not named");
  ASSERT_EQ(certain.size(), 1U);
  EXPECT_EQ(certain[0]->level, Level::Fail);
  EXPECT_EQ(certain[0]->remedies, of_rule(image, "no such build").at(0)->remedies);
}

TEST(RecipeRemedyProperty, ThatAnImageHasAnotherCudnnIsSaidOnceWithOneLineToChange) {
  const Report report = of_image("nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04",
                                 "ctranslate2==4.4.0 faster-whisper==1.0.3");
  EXPECT_THAT(of_rule(report, "image lacks libraries"), IsEmpty());
  const auto found = of_rule(report, "cudnn of another version");
  ASSERT_EQ(found.size(), 1U);
  std::vector<std::string> commands;
  for (const Remedy& remedy : found[0]->remedies) {
    commands.push_back(remedy.command);
  }
  EXPECT_THAT(commands,
              ElementsAre(HasSubstr("ctranslate2==4.8.5"), HasSubstr("ctranslate2==4.6.2"),
                          HasSubstr("|nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04|")));
  // The table says it, too.
  EXPECT_THAT(outcomes(report), ElementsAre("ctranslate2 unknown"));
  EXPECT_THAT(report.verdicts[0].reason, HasSubstr("wants cuDNN 8, and another one comes"));
}

TEST(RecipeRemedyProperty, NoImageIsProposedThatTakesAwayTheCudnnOfAnother) {
  for (const char* beside : {"torch==2.8.0", "torch", "onnxruntime-gpu==1.22.0"}) {
    const Report report = of_image("nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04",
                                   (std::string("ctranslate2==4.4.0 ") + beside).c_str());
    const auto found = of_rule(report, "cudnn of another version");
    ASSERT_EQ(found.size(), 1U) << beside;
    ASSERT_FALSE(found[0]->remedies.empty()) << beside;
    for (const Remedy& remedy : found[0]->remedies) {
      EXPECT_THAT(remedy.command, ::testing::Not(HasSubstr("cudnn8"))) << beside;
    }
  }
}

TEST(RecipeRemedyProperty, WhereNoImageHasAllAnotherReleaseComesWithIt) {
  const Report report =
      of_image("nvidia/cuda:13.0.1-base-ubuntu24.04", "torch==2.8.0 ctranslate2==4.4.0");
  for (const char* rule : {"image lacks libraries", "cudnn of another version"}) {
    for (const auto& finding : of_rule(report, rule)) {
      for (const Remedy& remedy : finding->remedies) {
        for (const std::string& command : commands_of(remedy)) {
          EXPECT_THAT(command, ::testing::Not(HasSubstr("cudnn8")));
        }
      }
    }
  }
}

TEST(RecipeRemedyProperty, TheTableSaysWhatAnImageLacks) {
  EXPECT_THAT(outcomes(of_image("nvidia/cuda:12.4.1-base-ubuntu22.04",
                                "ctranslate2==4.8.5 onnxruntime-gpu==1.23.2")),
              ElementsAre("ctranslate2 unknown", "onnxruntime works slowly"));
  EXPECT_THAT(outcomes(of_image("nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04",
                                "ctranslate2==4.8.5 onnxruntime-gpu==1.23.2")),
              ElementsAre("ctranslate2 works", "onnxruntime works"));
}

TEST(RecipeRemedyProperty, TwoPackagesThatWantOtherCudnnsAreTakenToOne) {
  const Report report = of_image("python:3.11", "ctranslate2==4.4.0 onnxruntime-gpu==1.23.2");
  const auto found = of_rule(report, "cudnn of another version");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->text, HasSubstr("another one comes: 9 by what onnxruntime-gpu 1.23.2"));
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(found[0]->remedies[0].command, HasSubstr("ctranslate2==4.8.5"));
  // One line brings the rest for both, and none cuDNN 8 beside 9.
  const auto lacks = of_rule(report, "image lacks libraries");
  ASSERT_EQ(lacks.size(), 1U);
  ASSERT_EQ(lacks[0]->remedies.size(), 1U);
  EXPECT_EQ(lacks[0]->remedies[0].command, "RUN pip install 'onnxruntime-gpu[cuda,cudnn]'");
}

TEST(RecipeRemedyProperty, TwoPackagesThatWantOtherCudasAreTakenToOne) {
  Facts facts = files({{"Dockerfile",
                        "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install "
                        "ctranslate2==4.8.5 onnxruntime-gpu==1.17.1\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  for (const auto& finding : of_rule(report, "image lacks libraries")) {
    EXPECT_FALSE(finding->remedies.empty()) << finding->text;
  }
  const auto found = of_rule(report, "image lacks libraries");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(commands_of(found[1]->remedies.at(0)),
              ::testing::Contains(HasSubstr("|onnxruntime-gpu==1.26.0|")));
}

TEST(RecipeRemedyProperty, NoImageIsProposedThatTheDriverIsTooOldFor) {
  Facts facts = files({{"Dockerfile",
                        "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install "
                        "onnxruntime-gpu==1.27.0\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "570.86";
  const Report report = judge(facts);
  for (const char* rule : {"image lacks libraries", "driver too old"}) {
    const auto found = of_rule(report, rule);
    ASSERT_EQ(found.size(), 1U) << rule;
    ASSERT_FALSE(found[0]->remedies.empty()) << rule;
    const auto mends = [&](const char* text) {
      return std::ranges::any_of(found[0]->remedies, [&](const Remedy& remedy) {
        return std::ranges::any_of(commands_of(remedy), [&](const std::string& command) {
          return command.contains(text);
        });
      });
    };
    EXPECT_TRUE(mends("|nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04|")) << rule;
    EXPECT_TRUE(mends("|onnxruntime-gpu==1.26.0|")) << rule;
    EXPECT_FALSE(mends("nvidia/cuda:13")) << rule;
  }
}

TEST(RecipeRemedyProperty, AnImageThatAVariableOrADigestHoldsIsNoLineToPaste) {
  for (const char* from : {"ARG TAG=12.6.3-cudnn-runtime-ubuntu22.04\nFROM nvidia/cuda:${TAG}",
                           "FROM nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04@sha256:abcd"}) {
    const Report report = judge(files(
        {{"Dockerfile", (std::string(from) + "\nRUN pip install ctranslate2==4.4.0\n").c_str()}}));
    const auto found = of_rule(report, "cudnn of another version");
    ASSERT_EQ(found.size(), 1U) << from;
    ASSERT_EQ(found[0]->remedies.size(), 3U) << from;
    EXPECT_EQ(found[0]->remedies[2].command, "") << from;
    EXPECT_THAT(found[0]->remedies[2].text, HasSubstr("is to read nvidia/cuda:12.2.2-cudnn8"));
  }
}

TEST(RecipeRemedyProperty, AnIndexThatHasANameIsChangedWhereItStands) {
  Facts facts = files(
      {{"pyproject.toml",
        "[tool.poetry.dependencies]\npython = '^3.11'\ntorch = {version = '2.5.1+cu124', source "
        "= 'pt'}\n[[tool.poetry.source]]\nname = 'pt'\n"
        "url = 'https://download.pytorch.org/whl/cu124'\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, "kernel image");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(commands_of(found[0]->remedies[0]),
              ElementsAre("", "sed -i '3s|2\\.5\\.1+cu124|2.7.0+cu128|' 'pyproject.toml'",
                          "sed -i '6s|cu124|cu128|' 'pyproject.toml'"));
}

}  // namespace mynah::doctor
