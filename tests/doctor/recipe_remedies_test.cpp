// What mends recipes: judged before it is said, with the line of the file that it changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/alignment.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What each column of the matrix comes to in a row.
std::vector<std::string> resolved(const Alignment& alignment, const char* name) {
  std::vector<std::string> cells;
  const auto row = std::ranges::find(alignment.rows, name, &AlignmentRow::name);
  if (row != alignment.rows.end()) {
    for (const AlignmentCell& cell : row->cells) {
      cells.push_back(cell.resolved);
    }
  }
  return cells;
}

}  // namespace

// Two services of one file, each with a cuDNN that the other's package wants.
const char* const kTwoServices =
    "services:\n  asr:\n    build: {dockerfile: Dockerfile.asr}\n    gpus: all\n"
    "  tts:\n    build: {dockerfile: Dockerfile.tts}\n    gpus: all\n";

TEST(RecipeRemedies, AFindingAboutCudnnStandsWithTheRecipeThatItIsOf) {
  const Report report = judge(files(
      {{"requirements-a.txt", "torch==2.1.2\nctranslate2==4.5.0\n"},
       {"compose.yaml", kTwoServices},
       {"Dockerfile.asr", "FROM python:3.11\nRUN pip install torch==2.5.1 ctranslate2==4.8.5\n"},
       {"Dockerfile.tts",
        "FROM python:3.11\nRUN pip install torch==2.5.1 \\\n"
        "  onnxruntime-gpu==1.17.1\n"}}));
  const auto found = of_rule(report, "cudnn of another version");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->subject, "onnxruntime-gpu 1.17.1 in tts (compose.yaml)");
  EXPECT_EQ(found[0]->text,
            "onnxruntime-gpu 1.17.1 wants cuDNN 8, and another one comes: 9.1.0.70 by torch "
            "2.5.1+cu124.");
  EXPECT_EQ(found[0]->evidence[0].where, "Dockerfile.tts:3");
  EXPECT_THAT(found[0]->error, HasSubstr("libcudnn.so.8"));
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(found[0]->remedies[0].command,
              HasSubstr("sed -i '3s|onnxruntime-gpu==1\\.17\\.1|onnxruntime-gpu==1."));
  EXPECT_EQ(found[1]->subject, "ctranslate2 4.5.0 in requirements-a.txt");
  EXPECT_THAT(found[1]->text, HasSubstr("wants cuDNN 9, and another one comes: 8.9.2.26"));
  EXPECT_THAT(found[1]->error, HasSubstr("libcudnn_ops.so.9"));
  EXPECT_EQ(found[1]->evidence[0].where, "requirements-a.txt:2");
}

TEST(RecipeRemedies, ARemedyThatAnotherRuleRefusesIsNotSaid) {
  // The newest ctranslate2 needs no cuDNN; whisperx asks for 4.5.0 at least, so 4.4 is none.
  const auto remedies = [](const char* text) {
    std::vector<std::string> texts;
    for (const Finding& finding : judge(files({{"requirements.txt", text}})).findings) {
      for (const Remedy& remedy : finding.remedies) {
        texts.push_back(remedy.text);
      }
    }
    return texts;
  };
  EXPECT_THAT(remedies("torch==2.1.2\nctranslate2==4.5.0\n"),
              Contains(HasSubstr("is to read ctranslate2==4.4.0, not ctranslate2==4.5.0")));
  EXPECT_THAT(remedies("torch==2.1.2\nctranslate2==4.5.0\nctranslate2>4.4.0\n"),
              ::testing::Not(Contains(HasSubstr("ctranslate2==4.4.0"))));
  // pyannote.audio 3 breaks with the torchaudio that this torch goes with.
  EXPECT_THAT(remedies("torch==2.9.0\ntorchaudio==2.8.0\npyannote.audio==3.3.2\n"),
              ::testing::Not(Contains(HasSubstr("torchaudio==2.9.0"))));
  EXPECT_THAT(remedies("torch==2.9.0\ntorchaudio==2.8.0\n"),
              Contains(HasSubstr("is to read torchaudio==2.9.0, not torchaudio==2.8.0")));
}

TEST(RecipeRemedies, WhatAlignsTorchIsStepsOfItsOwnRowsAndEachIsALineToPaste) {
  const Facts facts = files(
      {{"a.txt",
        "--index-url https://download.pytorch.org/whl/cu124\ntorch==2.5.1\ntorchaudio==2.5.1\n"
        "numpy==1.26.4\n"},
       {"b.txt",
        "--index-url https://download.pytorch.org/whl/cu121\nnumpy==1.26.3\ntorch == 2.1.2\n"
        "torchaudio==2.1.2\n"}});
  const Report report = judge(facts);
  const auto found = of_rule(report, "pinned apart");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->subject, "torch, torchaudio");
  EXPECT_THAT(found[0]->text,
              HasSubstr("torch is pinned apart: 2.5.1+cu124 in a.txt, 2.1.2+cu121 in b.txt."));
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  std::vector<std::string> commands;
  for (const RemedyStep& step : found[0]->remedies[0].steps) {
    commands.push_back(step.command);
  }
  EXPECT_THAT(commands, ElementsAre("sed -i '3s|2\\.1\\.2|2.5.1|' 'b.txt'",
                                    "sed -i '1s|cu121|cu124|' 'b.txt'",
                                    "sed -i '4s|2\\.1\\.2|2.5.1|' 'b.txt'"));
  EXPECT_EQ(found[1]->subject, "numpy");
  ASSERT_EQ(found[1]->remedies.size(), 1U);
  EXPECT_THAT(found[1]->remedies[0].steps, IsEmpty());
  EXPECT_EQ(found[1]->remedies[0].command, "sed -i '2s|1\\.26\\.3|1.26.4|' 'b.txt'");
  EXPECT_EQ(found[1]->remedies[0].text,
            "b.txt:2 is to read numpy==1.26.4, not numpy==1.26.3: most pin this one");
}

TEST(RecipeRemedies, ALineOfADockerfileIsItsOwnNotTheCommands) {
  const auto text_of = [](const char* dockerfile) {
    const Report report = judge(files({{"Dockerfile", dockerfile}}));
    const auto found = of_rule(report, "torch companions");
    return found.size() == 1 && found[0]->remedies.size() == 1 ? found[0]->remedies[0] : Remedy();
  };
  EXPECT_EQ(text_of("FROM python:3.11\nRUN apt-get update \\\n && pip install torch==2.5.1 \\\n"
                    "    torchaudio==2.4.1 torchvision==0.20.1\n")
                .command,
            "sed -i '4s|torchaudio==2\\.4\\.1|torchaudio==2.5.1|' 'Dockerfile'");
  // Where a variable holds the version, such a command would change nothing.
  const Remedy variable = text_of(
      "FROM python:3.11\nARG V=2.4.1\nRUN pip install torch==2.5.1 \\\n    torchaudio==$V\n");
  EXPECT_EQ(variable.command, "");
  EXPECT_THAT(variable.text, HasSubstr("is to read torchaudio==2.5.1, not torchaudio==2.4.1"));
}

TEST(RecipeRemedies, ExtrasOfOnnxRuntimeBringItsCudnn) {
  EXPECT_THAT(of_rule(judge(files({{"requirements.txt",
                                    "onnxruntime-gpu[cuda,cudnn]==1.23.2\nctranslate2==4.4.0\n"}})),
                      "cudnn of another version"),
              ::testing::SizeIs(1));
  const Report report =
      judge(files({{"requirements.txt", "onnxruntime-gpu[cuda,cudnn]==1.20.1\n"}}));
  const auto found = of_rule(report, "extras bring nothing");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->text, HasSubstr("has no extras \"cuda\" and \"cudnn\""));
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(found[0]->remedies[0].command, "sed -i '1s|1\\.20\\.1|1.26.0|' 'requirements.txt'");
  EXPECT_EQ(of_rule(judge(files({{"requirements.txt", "onnxruntime-gpu[cuda]==1.27.0\n"}})),
                    "extras bring nothing")
                .size(),
            1U);
}

const char* const kExtras =
    "[project]\ndependencies = ['numpy==1.26.4']\n[project.optional-dependencies]\n"
    "gpu = ['torch==2.7.1', 'torchaudio==2.6.0']\ncpu = ['torch==2.7.1+cpu']\ndocs = ['sphinx']\n"
    "[dependency-groups]\ntts = ['torch==2.5.1', 'torchaudio==2.4.0']\n";

TEST(RecipeRemedies, AnExtraThatACommandInstallsIsJudgedThere) {
  const Facts facts =
      files({{"Dockerfile", "FROM python:3.11\nCOPY . .\nRUN pip install '.[gpu]'\n"},
             {"pyproject.toml", kExtras}});
  const Alignment alignment = align(facts, builtin_knowledge());
  ASSERT_EQ(alignment.columns.size(), 1U);
  EXPECT_THAT(resolved(alignment, "torch"), ElementsAre("2.7.1+cu126"));
  EXPECT_EQ(of_rule(judge(facts), "torch companions").size(), 1U);
  const Facts synced =
      files({{"Dockerfile", "FROM python:3.11\nCOPY . .\nRUN uv sync --group tts\n"},
             {"pyproject.toml", kExtras},
             {"uv.lock", "[[package]]\nname = 'numpy'\nversion = '1.26.4'\n"}});
  EXPECT_THAT(resolved(align(synced, builtin_knowledge()), "torch"), ElementsAre("2.5.1+cu124"));
}

TEST(RecipeRemedies, ExtrasThatNobodyNamesStandApart) {
  const Facts facts = files({{"pyproject.toml", kExtras}});
  const Alignment alignment = align(facts, builtin_knowledge());
  std::vector<std::string> names;
  for (const AlignmentColumn& column : alignment.columns) {
    names.push_back(column.name);
  }
  EXPECT_THAT(names, ElementsAre("pyproject.toml", "pyproject.toml [cpu]", "pyproject.toml [gpu]",
                                 "pyproject.toml [tts]"));
  EXPECT_THAT(resolved(alignment, "torch"),
              ElementsAre("", "2.7.1+cpu", "2.7.1+cu126", "2.5.1+cu124"));
  const Report report = judge(facts);
  EXPECT_THAT(of_rule(report, "pinned apart"), IsEmpty());  // they are meant to be
  // Nobody says that any of them is installed.
  EXPECT_THAT(failures(report), IsEmpty());
  const auto found = of_rule(report, "torch companions");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->subject, "torchaudio 2.6.0 in pyproject.toml [gpu]");
  EXPECT_EQ(found[0]->level, Level::Unknown);
  EXPECT_THAT(found[0]->evidence.back().text, HasSubstr("no recipe here says so"));
  EXPECT_EQ(found[1]->subject, "torchaudio 2.4.0 in pyproject.toml [tts]");
}

TEST(RecipeRemedies, OfTwoPinsThatContradictTheOneStaysThatServesTheCard) {
  Facts facts =
      files({{"requirements.txt", "-r base.txt\ntorch==2.5.1\n"}, {"base.txt", "torch==2.8.0\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, "requirements contradict");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(found[0]->remedies[0].command, "sed -i '2s|2\\.5\\.1|2.8.0|' 'requirements.txt'");
}

TEST(RecipeRemedies, OfOneRecipeGoTogether) {
  // Where all are to have torch 2.6.0, torchaudio is right as it is.
  const Facts facts = files({{"a.txt", "torch==2.5.1\ntorchaudio==2.6.0\n"},
                             {"b.txt", "torch==2.6.0\ntorchaudio==2.6.0\n"},
                             {"c.txt", "torch==2.6.0\n"}});
  const Report report = judge(facts);
  const auto apart = of_rule(report, "pinned apart");
  ASSERT_EQ(apart.size(), 1U);
  ASSERT_EQ(apart[0]->remedies.size(), 1U);
  EXPECT_EQ(apart[0]->remedies[0].command, "sed -i '1s|2\\.5\\.1|2.6.0|' 'a.txt'");
  const auto companion = of_rule(report, "torch companions");
  ASSERT_EQ(companion.size(), 1U);
  for (const Remedy& remedy : companion[0]->remedies) {
    EXPECT_EQ(remedy.command, "");
    EXPECT_THAT(remedy.text, HasSubstr("The lines that make all recipes agree"));
  }
}

TEST(RecipeRemedies, APinThatAnotherPackageMayBoundIsSaidToBeBounded) {
  const auto remedies = [](const std::string& whisperx) {
    const std::string text = "torch==2.5.1\nctranslate2==4.4.0\nwhisperx==" + whisperx + "\n";
    const Report report = judge(files({{"requirements.txt", text.c_str()}}));
    const auto found = of_rule(report, "cudnn of another version");
    return found.empty() ? std::vector<Remedy>() : found[0]->remedies;
  };
  // It asks for ctranslate2 below 4.5.0, which is all of cuDNN 8.
  EXPECT_THAT(remedies("3.3.1"), IsEmpty());
  ASSERT_FALSE(remedies("3.3.0").empty());
  EXPECT_EQ(remedies("3.3.0")[0].cost,
            "whisperx 3.3.0 may ask for another ctranslate2: what it asks for was not read");
}

}  // namespace mynah::doctor
