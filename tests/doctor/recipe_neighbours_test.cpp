// Packages that go with one release of torch alone: xformers, vllm, fairseq2, torchtext, triton.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// On a card that torch has code for from 2.7 on.
Report on_a_new_card(Facts facts) {
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  return judge(facts);
}

Report on_a_new_card(const std::string& requirements) {
  return on_a_new_card(files({{"requirements.txt", requirements.c_str()}}));
}

// The first remedy of the first failure for the card.
Remedy remedy_of(const Report& report) {
  const auto found = of_rule(report, "kernel image");
  return found.empty() || found[0]->remedies.empty() ? Remedy() : found[0]->remedies[0];
}

std::vector<std::string> commands_of(const Remedy& remedy) {
  std::vector<std::string> commands;
  if (!remedy.command.empty()) {
    commands.push_back(remedy.command);
  }
  for (const RemedyStep& step : remedy.steps) {
    commands.push_back(step.command);
  }
  return commands;
}

std::vector<std::string> levels(const char* rule, const std::string& requirements) {
  std::vector<std::string> found;
  for (const auto& finding :
       of_rule(judge(files({{"requirements.txt", requirements.c_str()}})), rule)) {
    found.emplace_back(level_name(finding->level));
  }
  return found;
}

}  // namespace

// As the metadata of their wheels have it, read 25 November 2026.
TEST(RecipeNeighbours, AReleaseThatAsksForAnotherTorchIsRefused) {
  const char* const rule = "requirements contradict";
  for (const char* const refused :
       {"torch==2.7.0\nxformers==0.0.28\n",        // torch==2.4.1
        "torch==2.4.1\nxformers==0.0.28.post3\n",  // a repetition for another torch: 2.5.1
        "torch==2.5.1\nxformers==0.0.29.post2\n",  // 2.6.0
        "torch==2.9.1\nxformers==0.0.34\n",        // 2.10.0
        "torch==2.8.0\nfairseq2n==0.4.5\n",        // 2.6.0
        "torch==2.8.0\nfairseq2==0.4.5\n",         // by fairseq2n
        "torch==2.3.0\ntorchtext==0.17.2\n",       // 2.2.2
        "torch==2.1.0\ntorchdata==0.6.1\n",        // 2.0.1
        "torch==2.7.0\nvllm==0.8.5.post1\n", "torch==2.10.0\nvllm==0.16.0\n"}) {
    EXPECT_THAT(levels(rule, refused), ElementsAre("fail")) << refused;
  }
  for (const char* const taken :
       {"torch==2.4.1\nxformers==0.0.28.post1\n", "torch==2.5.1\nxformers==0.0.28.post3\n",
        "torch==2.8.0\nxformers==0.0.32.post2\n", "torch==2.12.0\nxformers==0.0.35\n",
        "torch==2.6.0\nfairseq2==0.4.5\nfairseq2n==0.4.5\n", "torch==2.2.2\ntorchtext==0.17.2\n",
        "torch==2.6.0\nvllm==0.8.5.post1\n", "torch==2.8.0\ntorchdata==0.11.0\n"}) {
    EXPECT_THAT(levels(rule, taken), IsEmpty()) << taken;
  }
}

TEST(RecipeNeighbours, OneThatIsRefusedMovesToTheTorchOrTheTorchToIt) {
  const auto commands = [](const std::string& requirements) {
    const auto found = of_rule(judge(files({{"requirements.txt", requirements.c_str()}})),
                               "requirements contradict");
    return found.size() != 1 || found[0]->remedies.empty() ? std::vector<std::string>()
                                                           : commands_of(found[0]->remedies[0]);
  };
  EXPECT_THAT(commands("torch==2.7.0\ntorchaudio==2.7.0\nxformers==0.0.28\n"),
              ElementsAre("sed -i '3s|0\\.0\\.28|0.0.30|' 'requirements.txt'"));
  // No fairseq2n is for torch 2.7: the torch moves, and its companion with it.
  EXPECT_THAT(commands("torch==2.7.0\ntorchaudio==2.7.0\nfairseq2n==0.4.5\n"),
              ElementsAre("sed -i '1s|2\\.7\\.0|2.6.0|' 'requirements.txt'",
                          "sed -i '2s|2\\.7\\.0|2.6.0|' 'requirements.txt'"));
}

TEST(RecipeNeighbours, TheyMoveWithTheTorchThatARemedyTakes) {
  const Remedy remedy = remedy_of(on_a_new_card("torch==2.6.0\nxformers==0.0.29.post2\n"));
  EXPECT_THAT(
      commands_of(remedy),
      UnorderedElementsAre(HasSubstr("'1s|"), HasSubstr("sed -i '2s|0\\.0\\.29\\.post2|0.0.30|'"),
                           HasSubstr("extra-index-url")));
  EXPECT_EQ(remedy.cost, "");
  EXPECT_THAT(failures(on_a_new_card("--extra-index-url https://download.pytorch.org/whl/cu128\n"
                                     "torch==2.7.0\nxformers==0.0.30\n")),
              IsEmpty());
}

// fairseq2n has no release for torch 2.7, and one for 2.8.
TEST(RecipeNeighbours, ATorchIsTakenThatAllOfThemHaveAReleaseFor) {
  const auto commands =
      commands_of(remedy_of(on_a_new_card("torch==2.6.0\ntorchaudio==2.6.0\nfairseq2==0.4.5\n")));
  EXPECT_THAT(commands, Contains("sed -i '1s|2\\.6\\.0|2.8.0|' 'requirements.txt'"));
  EXPECT_THAT(commands, Contains("sed -i '2s|2\\.6\\.0|2.8.0|' 'requirements.txt'"));
  EXPECT_THAT(commands, Contains("sed -i '3s|0\\.4\\.5|0.5.1|' 'requirements.txt'"));
  EXPECT_THAT(failures(on_a_new_card("torch==2.8.0\ntorchaudio==2.8.0\nfairseq2==0.5.1\n")),
              IsEmpty());
}

// vllm 0.10.2 asks for the first of two releases of xformers that are for torch 2.8.0.
TEST(RecipeNeighbours, WhatOneOfThemAsksForOfAnotherHolds) {
  const Report report =
      judge(files({{"requirements.txt", "torch==2.8.0\nvllm==0.9.0\nxformers==0.0.30\n"}}));
  EXPECT_THAT(failures(report), Not(IsEmpty()));
  const auto commands = commands_of(
      remedy_of(on_a_new_card("torch==2.6.0\nvllm==0.8.5.post1\nxformers==0.0.29.post2\n")));
  EXPECT_THAT(commands, Contains("sed -i '2s|0\\.8\\.5\\.post1|0.9.0|' 'requirements.txt'"));
  EXPECT_THAT(commands, Contains("sed -i '3s|0\\.0\\.29\\.post2|0.0.30|' 'requirements.txt'"));
}

TEST(RecipeNeighbours, TorchtextEndedWithTheTorchThatItsLastReleaseIsBuiltFor) {
  const char* const rule = "packages clash";
  EXPECT_THAT(levels(rule, "torch==2.4.0\ntorchtext==0.18.0\n"), ElementsAre("fail"));
  EXPECT_THAT(levels(rule, "torch==2.8.0\ntorchtext\n"), ElementsAre("fail"));
  EXPECT_THAT(levels(rule, "torch==2.3.1\ntorchtext==0.18.0\n"), IsEmpty());
  // Made of its sources it is built for the torch that is there.
  EXPECT_THAT(levels(rule, "torch==2.4.0\ntorchtext @ git+https://github.com/pytorch/text\n"),
              ElementsAre("unknown"));
  const auto found = of_rule(
      judge(files({{"requirements.txt", "torch==2.4.0\ntorchaudio==2.4.0\ntorchtext==0.18.0\n"}})),
      rule);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(commands_of(found[0]->remedies[0]),
              ElementsAre("sed -i '1s|2\\.4\\.0|2.3.1|' 'requirements.txt'",
                          "sed -i '2s|2\\.4\\.0|2.3.1|' 'requirements.txt'"));
  // A newer torch costs it.
  EXPECT_THAT(remedy_of(on_a_new_card("torch==2.3.1\ntorchtext==0.18.0\n")).cost,
              HasSubstr("torchtext ended with 0.18"));
}

TEST(RecipeNeighbours, WhatIsCompiledForOneTorchWantsChecking) {
  EXPECT_THAT(
      remedy_of(on_a_new_card("torch==2.6.0\nflash-attn==2.7.4.post1\n")).cost,
      "flash-attn is compiled for one torch: whether its build goes with 2.7.0 wants checking");
}

TEST(RecipeNeighbours, ABuildThatNamesItsTorchIsHeldAgainstTheOneThatComes) {
  const auto found = [](const std::string& text) {
    std::vector<std::string> words;
    for (const auto& finding :
         of_rule(judge(files({{"requirements.txt", text.c_str()}})), "torch companions")) {
      words.push_back(std::string(level_name(finding->level)) + ": " + finding->text);
    }
    return words;
  };
  const std::string wheel =
      "https://mirror.example/flash_attn-2.7.4.post1+cu12torch2.6cxx11abiFALSE-cp311-cp311-"
      "linux_x86_64.whl\n";
  EXPECT_THAT(
      found("torch==2.7.0\n" + wheel),
      ElementsAre("unknown: flash-attn is a build for torch 2.6, and 2.7.0+cu126 comes: its "
                  "compiled code may not load."));
  EXPECT_THAT(found("torch==2.6.0\n" + wheel), IsEmpty());
  EXPECT_THAT(found("torch==2.7.0\nflash-attn @ " + wheel),
              ElementsAre(HasSubstr("for torch 2.6,")));
  EXPECT_THAT(found("torch==2.7.0\nk2==1.24.4.dev20250208+cuda12.4.torch2.6.0\n"),
              ElementsAre(HasSubstr("k2 is a build for torch 2.6.0,")));
  EXPECT_THAT(found("torch==2.7.0\ntorch-scatter==2.1.2+pt26cu124\n"),
              ElementsAre(HasSubstr("torch-scatter is a build for torch 2.6,")));
  EXPECT_THAT(found("torch==2.10.0\ntorch-scatter==2.1.2+pt210cu128\n"), IsEmpty());
  EXPECT_THAT(found("torch==2.7.0\nfoo==1.0+optional\nbar==2.0+cu126\n"), IsEmpty());
  // A remedy that takes another torch costs it.
  EXPECT_THAT(remedy_of(on_a_new_card("torch==2.6.0\n" + wheel)).cost,
              HasSubstr("flash-attn is a build for torch 2.6, and 2.7.0+cu128 comes"));
}

const char* const kLockOfTriton =
    "[[package]]\nname = 'torch'\nversion = '2.6.0'\nsource = { registry = "
    "'https://mirror.example/simple' }\n[[package]]\nname = 'torchaudio'\nversion = '2.6.0'\n"
    "source = { registry = 'https://mirror.example/simple' }\n[[package]]\nname = 'triton'\n"
    "version = '3.2.0'\nsource = { registry = 'https://mirror.example/simple' }\n";

// uv 0.13.9 puts a pin with another marker beside the one that stands there, and both hold.
TEST(RecipeNeighbours, APinOfTritonInAProjectMovesUnderItsMarker) {
  const auto command = [](const char* triton) {
    const std::string project =
        std::string(
            "[project]\nname = 'a'\nrequires-python = '>=3.10,<3.13'\ndependencies = ["
            "'torch==2.6.0', 'torchaudio==2.6.0'") +
        triton + "]\n";
    return remedy_of(on_a_new_card(
                         files({{"pyproject.toml", project.c_str()}, {"uv.lock", kLockOfTriton}})))
        .command;
  };
  const std::string index = "uv add --index pytorch=https://download.pytorch.org/whl/cu128 ";
  EXPECT_EQ(
      command(", \"triton==3.2.0 ; sys_platform == 'linux'\""),
      index + "'torch==2.7.0' 'torchaudio==2.7.0' 'triton==3.3.0 ; sys_platform == \"linux\"'");
  EXPECT_EQ(command(", 'triton==3.2.0'"),
            index + "'torch==2.7.0' 'torchaudio==2.7.0' 'triton==3.3.0'");
  // Nobody but torch asks for it, or any does: uv finds it.
  EXPECT_EQ(command(""), index + "'torch==2.7.0' 'torchaudio==2.7.0'");
  EXPECT_EQ(command(", 'triton>=3'"), index + "'torch==2.7.0' 'torchaudio==2.7.0'");
}

TEST(RecipeNeighbours, WhatAProjectPinsBesideItsLockAndCannotMoveIsACost) {
  const char* const project =
      "[project]\nname = 'a'\nrequires-python = '>=3.10,<3.13'\ndependencies = "
      "['torch==2.6.0', 'torchaudio==2.6.0', 'chatterbox-tts==0.1.5']\n";
  EXPECT_THAT(
      remedy_of(on_a_new_card(files({{"pyproject.toml", project}, {"uv.lock", kLockOfTriton}})))
          .cost,
      HasSubstr("chatterbox-tts 0.1.5, which the project pins, asks for torch==2.6.0: it must "
                "move first"));
}

TEST(RecipeNeighbours, APinOfTritonInAProjectWithoutALockMovesToo) {
  const char* const project =
      "[project]\nname = 'a'\nrequires-python = '>=3.10,<3.13'\ndependencies = [\n"
      "  'torch==2.6.0',\n  \"triton==3.2.0 ; sys_platform == 'linux'\",\n]\n";
  EXPECT_THAT(commands_of(remedy_of(on_a_new_card(files({{"pyproject.toml", project}})))),
              Contains("sed -i '6s|3\\.2\\.0|3.3.0|' 'pyproject.toml'"));
}

// transformers 5.20 and newer want torch 2.6, and do without an older one.
TEST(RecipeNeighbours, TransformersThatDoesWithoutAnOlderTorchIsAClash) {
  const auto clashes = [](const char* text) {
    return of_rule(judge(files({{"requirements.txt", text}})), "packages clash");
  };
  const auto found = clashes("torch==2.3.1\ntransformers==5.24.0\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Fail);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_EQ(found[0]->remedies[0].command, "sed -i '2s|==5\\.24\\.0|<5|' 'requirements.txt'");
  EXPECT_TRUE(clashes("torch==2.6.0\ntransformers==5.24.0\n").empty());
  EXPECT_TRUE(clashes("torch==2.3.1\ntransformers==4.57.6\n").empty());
  EXPECT_TRUE(clashes("torch==2.3.1\ntransformers\n").empty());  // nobody knows which comes
}

}  // namespace mynah::doctor
