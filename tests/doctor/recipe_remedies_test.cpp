// What mends recipes: judged before it is said, with the line of the file that it changes.
#include <map>
#include <string>
#include <vector>

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
            "b.txt:2 is to read numpy==1.26.4, not numpy==1.26.3: the newest is this one");
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
  // It asks for ctranslate2 below 4.5.0, which is all of cuDNN 8: torch is what may change.
  ASSERT_EQ(remedies("3.3.1").size(), 1U);
  EXPECT_THAT(remedies("3.3.1")[0].text, HasSubstr("is to read torch==2.3.1"));
  ASSERT_FALSE(remedies("3.3.0").empty());
  EXPECT_EQ(remedies("3.3.0")[0].cost,
            "whisperx 3.3.0 may ask for another ctranslate2: what it asks for was not read");
}

TEST(RecipeRemedies, AnotherTorchThanTheImagesBringsItsCompanions) {
  const auto dockerfile = [](const char* lines) {
    return files(
        {{"Dockerfile",
          (std::string("FROM pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime\n") + lines).c_str()}});
  };
  const Report report = judge(dockerfile("RUN pip install torch==2.5.1\n"));
  const auto found = of_rule(report, "torch companions");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Warning);
  EXPECT_THAT(found[0]->text, HasSubstr("torchvision and torchaudio of the image stay"));
  EXPECT_EQ(found[0]->error, "operator torchvision::nms does not exist");
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(
      found[0]->remedies[0].command,
      R"(sed -i "2s|['\"]\?torch==2\.5\.1['\"]\?|torch==2.5.1 torchvision==0.20.1 torchaudio==2.5.1|" )"
      "'Dockerfile'");
  for (const char* fine :
       {"RUN pip install torch==2.5.1 torchvision==0.20.1 torchaudio==2.5.1\n",
        "RUN pip uninstall -y torchvision torchaudio\nRUN pip install torch==2.5.1\n",
        "RUN pip install numpy\n", "RUN pip install torch==2.1.2\n"}) {
    const Report other = judge(dockerfile(fine));
    EXPECT_THAT(of_rule(other, "torch companions"), IsEmpty()) << fine;
  }
  // Where the image's own torch has no code for the card, all three are exchanged.
  Facts own = dockerfile("RUN pip install numpy\n");
  own.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  own.machine.driver = "580.95.05";
  const Report exchanged = judge(own);
  const auto failing = of_rule(exchanged, "kernel image");
  ASSERT_EQ(failing.size(), 1U);
  ASSERT_FALSE(failing[0]->remedies.empty());
  EXPECT_THAT(failing[0]->remedies.at(1).command, HasSubstr("RUN pip install torch==2.7.0+cu128"));
  EXPECT_THAT(failing[0]->remedies.at(1).command, HasSubstr("torchvision==0.22.0+cu128"));
  EXPECT_THAT(failing[0]->remedies.at(1).command, HasSubstr("torchaudio==2.7.0+cu128"));
}

TEST(RecipeRemedies, AnInstallationIsAnEditOfTheFile) {
  Facts facts = files({{"requirements.txt", "onnxruntime-gpu==1.27.0\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "570.86";
  const Report report = judge(facts);
  const auto found = of_rule(report, "driver too old");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  const Remedy& first = found[0]->remedies[0];
  ASSERT_EQ(first.steps.size(), 2U);
  EXPECT_EQ(first.steps[0].command,
            "sed -i '1s|==1\\.27\\.0|[cuda,cudnn]==1.23.2|' 'requirements.txt'");
  EXPECT_THAT(first.steps[1].command, HasSubstr("export LD_LIBRARY_PATH="));
  EXPECT_THAT(first.steps[1].text, HasSubstr("before Python is"));
}

TEST(RecipeRemedies, WhatAnInstallationBringsBesideStandsInTheSameCommand) {
  Facts facts =
      files({{"Dockerfile", "FROM ubuntu:22.04\nRUN pip install onnxruntime-gpu==1.31.1\n"}});
  facts.machine.cards = {card("NVIDIA TITAN Xp", "6.1")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, "kernel image");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  ASSERT_EQ(found[0]->remedies[0].steps.size(), 2U);
  EXPECT_EQ(
      found[0]->remedies[0].steps[0].command,
      R"(sed -i "2s|['\"]\?onnxruntime-gpu==1\.31\.1['\"]\?|onnxruntime-gpu[cuda,cudnn]==1.23.2 )"
      R"(\"nvidia-cudnn-cu12<=9.10.2.21\"|" 'Dockerfile')");
  // What brings the libraries keeps that version.
  const auto lacks = of_rule(report, "image lacks libraries");
  ASSERT_EQ(lacks.size(), 1U);
  EXPECT_EQ(lacks[0]->remedies.at(0).command, "RUN pip install 'onnxruntime-gpu[cuda,cudnn]'");
}

TEST(RecipeRemedies, AClashIsMendedInTheFile) {
  const auto remedies = [](const char* path, const char* text) {
    const Report report = judge(files({{path, text}}));
    const auto found = of_rule(report, "packages clash");
    return found.size() == 1 ? found[0]->remedies : std::vector<Remedy>();
  };
  const auto pyannote =
      remedies("requirements.txt", "torch==2.9.0\ntorchaudio==2.9.0\npyannote.audio==3.3.2\n");
  ASSERT_FALSE(pyannote.empty());
  EXPECT_EQ(pyannote[0].command, "sed -i '3s|==3\\.3\\.2|>=4|' 'requirements.txt'");
  EXPECT_THAT(pyannote[0].cost, HasSubstr("its models and calls changed"));
  const auto overlap =
      remedies("requirements.txt", "onnxruntime==1.23.2\nonnxruntime-gpu==1.23.2\n");
  ASSERT_EQ(overlap.size(), 1U);
  EXPECT_EQ(overlap[0].command, "sed -i '1{/onnxruntime/d}' 'requirements.txt'");
  EXPECT_THAT(overlap[0].text, HasSubstr("requirements.txt:1 is to leave out onnxruntime==1.23.2"));
  // What another package asks for comes all the same.
  const auto asked =
      remedies("Dockerfile",
               "FROM python:3.11\nRUN pip install faster-whisper==1.0.3 onnxruntime-gpu==1.23.2\n");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_THAT(asked[0].command, HasSubstr("RUN pip uninstall -y onnxruntime onnxruntime-gpu && "));
  EXPECT_THAT(asked[0].text, HasSubstr("Dockerfile:2"));
}

TEST(RecipeRemedies, AShellTakesNoVersionOfADockerfileForARedirection) {
  const Report report = judge(files({{"Dockerfile",
                                      "FROM python:3.11\nRUN pip install torch==2.9.0 "
                                      "torchaudio==2.9.0 'pyannote-audio==3.3.2'\n"}}));
  const auto found = of_rule(report, "packages clash");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_EQ(found[0]->remedies[0].command,
            R"(sed -i "2s|['\"]\?pyannote-audio==3\.3\.2['\"]\?|\"pyannote-audio>=4\"|" )"
            "'Dockerfile'");
}

TEST(RecipeRemedies, ExtrasThatBringNothingOnCuda11AreLeftOut) {
  const auto remedies = [](const char* text) {
    const Report report = judge(files({{"requirements.txt", text}}));
    const auto found = of_rule(report, "extras bring nothing");
    return found.size() == 1 ? found[0]->remedies : std::vector<Remedy>();
  };
  const auto beside_torch = remedies(
      "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1+cu118\n"
      "onnxruntime-gpu[cuda,cudnn]==1.18.1\n");
  ASSERT_EQ(beside_torch.size(), 1U);
  EXPECT_EQ(beside_torch[0].command,
            "sed -i '3s|\\[cuda,cudnn\\]==1\\.18\\.1|==1.18.1|' "
            "'requirements.txt'");
  EXPECT_THAT(beside_torch[0].text, HasSubstr("torch 2.3.1+cu118 brings the libraries"));
  const auto alone = remedies("onnxruntime-gpu[cuda,cudnn]==1.18.1\n");
  ASSERT_EQ(alone.size(), 1U);
  ASSERT_EQ(alone[0].steps.size(), 6U);
  EXPECT_THAT(alone[0].steps[5].command, HasSubstr("nvidia-cudnn-cu11==8.*"));
}

TEST(RecipeRemedies, WhatWheelsBringBesideAnotherCudaOfTheImageHasARemedy) {
  Facts facts = files({{"Dockerfile",
                        "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nRUN pip install "
                        "torch==2.3.1 onnxruntime-gpu==1.18.1 --extra-index-url "
                        "https://download.pytorch.org/whl/cu118\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, "image lacks libraries");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0]->remedies.size(), 2U);
  EXPECT_EQ(found[0]->remedies[0].command, "import torch");
  EXPECT_THAT(found[0]->remedies[1].command,
              HasSubstr("|nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04|"));
}

TEST(RecipeRemedies, ATorchThatIsMeantForTheProcessorIsANote) {
  const auto levels = [](const char* text) {
    Facts facts = files({{"requirements.txt", text}});
    facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
    facts.machine.driver = "580.95.05";
    std::vector<std::string> said;
    const Report report = judge(facts);
    for (const Finding& finding : report.findings) {
      if (finding.subject.starts_with("torch 2.5.1")) {
        said.push_back(std::string(level_name(finding.level)) +
                       (finding.remedies.empty() ? "" : " with a remedy"));
      }
    }
    return said;
  };
  EXPECT_THAT(levels("--index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1\n"),
              ElementsAre("note"));
  EXPECT_THAT(levels("--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1+cpu\n"),
              ElementsAre("note"));
  // What else is for cards says that it is not meant.
  EXPECT_THAT(levels("--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1+cpu\n"
                     "onnxruntime-gpu==1.23.2\n"),
              ElementsAre("warning with a remedy"));
}

TEST(RecipeRemedies, WhatWasNotReadAndMayRefuseAnEditIsInItsWords) {
  const Facts facts = files({{"a.txt", "torch==2.5.1\nwhisperx==3.3.0\n"},
                             {"b.txt", "torch==2.6.0\nwhisperx==3.3.0\n"},
                             {"c.txt", "torch==2.6.0\nwhisperx==3.3.1\n"}});
  const Alignment alignment = align(facts, builtin_knowledge());
  std::map<std::string, std::string> whys;
  for (const AlignmentEdit& edit : alignment.edits) {
    whys[edit.file + " " + edit.to] = edit.why;
  }
  EXPECT_THAT(whys["c.txt whisperx==3.3.0"],
              HasSubstr("most pin this one; what whisperx==3.3.0 asks for was not read"));
  const Report report = judge(facts);
  for (const auto& finding : of_rule(report, "pinned apart")) {
    if (finding->subject == "whisperx") {
      ASSERT_EQ(finding->remedies.size(), 1U);
      EXPECT_THAT(finding->remedies[0].text, HasSubstr("was not read"));
    }
  }
}

TEST(RecipeRemedies, ARangeIsShownByItsOwnEnds) {
  const auto of_range = [](const char* text, const char* package) {
    return resolved(align(files({{"requirements.txt", text}}), builtin_knowledge()), package);
  };
  EXPECT_THAT(of_range("onnxruntime-gpu>=1.18,<2\n", "onnxruntime-gpu"),
              ElementsAre("1.18.0 and later below 2"));
  EXPECT_THAT(of_range("onnxruntime-gpu>=1.18\n", "onnxruntime-gpu"),
              ElementsAre("1.18.0 and later"));
  EXPECT_THAT(of_range("ctranslate2>=4.1,<4.5\n", "ctranslate2"), ElementsAre("4.1.0 to 4.4.0"));
}

}  // namespace mynah::doctor
