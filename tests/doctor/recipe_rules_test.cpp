#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipes.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

Facts folder(const char* name) {
  Facts facts;
  const std::vector<fs::path> places = {fs::path(MYNAH_SOURCE_DIR) / "tests/doctor/data" / name};
  gather_recipes(places, facts);
  // Paths as they would be written beside the folder, so that texts do not hold this machine's.
  const std::string base = places[0].string() + "/";
  const auto shorten = [&](std::string& path) {
    if (path.starts_with(base)) {
      path = path.substr(base.size());
    }
  };
  for (Recipe& recipe : facts.recipes) {
    shorten(recipe.path);
    for (auto* list : {&recipe.includes, &recipe.constraints}) {
      for (std::string& path : *list) {
        shorten(path);
      }
    }
    for (Requirement& requirement : recipe.requirements) {
      shorten(requirement.file);
    }
    for (IndexLine& index : recipe.indexes) {
      shorten(index.file);
    }
    for (Service& service : recipe.services) {
      shorten(service.build);
    }
  }
  return facts;
}

const AlignmentRow* row_of(const Alignment& alignment, const char* name) {
  for (const AlignmentRow& row : alignment.rows) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

std::vector<std::string> edits(const Alignment& alignment) {
  std::vector<std::string> texts;
  for (const AlignmentEdit& edit : alignment.edits) {
    texts.push_back(edit.file + ":" + std::to_string(edit.line) + " " + edit.from + " -> " +
                    edit.to);
  }
  return texts;
}

}  // namespace

TEST(RecipeRules, Case1TheImagesCudaIsNotTheWheels) {
  Facts facts = folder("case1");
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "575.57.08";
  const Report report = judge(facts);
  ASSERT_EQ(of_rule(report, "image is not the wheel").size(), 1U);
  EXPECT_THAT(of_rule(report, "image is not the wheel")[0]->text,
              HasSubstr("The image's CUDA 12.9.1 is not the wheel's: torch 2.7.1+cu126 brings its "
                        "own CUDA 12.6"));
  ASSERT_FALSE(report.verdicts.empty());
  EXPECT_EQ(report.verdicts[0].version, "2.7.1+cu126");
  EXPECT_EQ(report.verdicts[0].outcome, Outcome::FailsAtFirstKernel) << report.verdicts[0].reason;
}

TEST(RecipeRules, WhatAPinnedWheelCannotDoHasARemedy) {
  Facts facts = files(
      {{"requirements.txt", "--index-url https://download.pytorch.org/whl/cu124\ntorch==2.5.1\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto failed = std::ranges::find(report.findings, Level::Fail, &Finding::level);
  ASSERT_NE(failed, report.findings.end());
  ASSERT_FALSE(failed->remedies.empty());
  ASSERT_EQ(failed->remedies[0].steps.size(), 2U) << "the file is changed, not an environment";
  EXPECT_EQ(failed->remedies[0].steps[0].command,
            "sed -i '2s|2\\.5\\.1|2.7.0|' 'requirements.txt'");
  EXPECT_THAT(failed->remedies[0].steps[1].command, HasSubstr("cu128|' 'requirements.txt'"));
}

TEST(RecipeRules, WhatAPackageAsksForIsSaidOnceWhereTwoEntriesKnowIt) {
  const Report report = judge(files({{"requirements.txt", "faster-whisper==1.0.3\n"}}));
  const auto drifts = of_rule(report, "pin drifts");
  ASSERT_EQ(drifts.size(), 1U);
  EXPECT_THAT(drifts[0]->text, HasSubstr("asks for ctranslate2>=4.0,<5, and nothing pins it"));
}

TEST(RecipeRules, Case1AnImageOfCuda13MayRefuseAnOlderDriverAndCu128Works) {
  Facts facts = files({{"Dockerfile",
                        "FROM nvidia/cuda:13.0.1-runtime-ubuntu22.04\nRUN pip install torch==2.7.1 "
                        "--index-url https://download.pytorch.org/whl/cu128\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "575.57.08";
  const Report report = judge(facts);
  ASSERT_EQ(of_rule(report, "image demands a driver").size(), 1U);
  EXPECT_EQ(of_rule(report, "image demands a driver")[0]->level, Level::Unknown);
  EXPECT_THAT(failures(report), IsEmpty());
  ASSERT_EQ(report.verdicts.size(), 1U);
  EXPECT_EQ(report.verdicts[0].outcome, Outcome::Works) << report.verdicts[0].reason;
}

TEST(RecipeRules, Case6TheMatrixShowsWhatServicesPinApart) {
  const Alignment alignment = align(folder("case6"), builtin_knowledge());
  std::vector<std::string> names;
  for (const AlignmentColumn& column : alignment.columns) {
    names.push_back(column.name);
  }
  EXPECT_THAT(names,
              ElementsAre("asr (compose.yml)", "search/requirements.txt", "tts/requirements.txt"));
  EXPECT_THAT(resolved(alignment, "torch"),
              ElementsAre("2.5.1+cu124", "2.1.2+cu121", "2.5.1+cu124"));
  EXPECT_TRUE(row_of(alignment, "torch")->conflict);
  EXPECT_THAT(resolved(alignment, "torchaudio"), ElementsAre("2.5.1+cu124", "", "2.5.1+cu124"));
  EXPECT_THAT(resolved(alignment, "base image"), ElementsAre("CUDA 13.0.1", "", ""));
  EXPECT_TRUE(row_of(alignment, "base image")->conflict);
  EXPECT_THAT(resolved(alignment, "ctranslate2"),
              ElementsAre("4.0.0 to 4.8.5, by faster-whisper 1.0.3", "", ""));
  EXPECT_TRUE(row_of(alignment, "ctranslate2")->cells[0].drifts);
  EXPECT_EQ(row_of(alignment, "ctranslate2")->why,
            "CUDA 12 and cuDNN 8 up to 4.4, CUDA 12 and cuDNN 9 up to 4.6.2, CUDA 12 without cuDNN "
            "from 4.6.3");
  EXPECT_EQ(row_of(alignment, "csm-streaming")->cells[2].where, "tts/requirements.txt:4");
  EXPECT_TRUE(row_of(alignment, "sentence-transformers")->cells[1].drifts);
}

TEST(RecipeRules, Case6TheSmallestSetOfEditsAlignsThem) {
  const Alignment alignment = align(folder("case6"), builtin_knowledge());
  EXPECT_EQ(alignment.target, "torch 2.5.1+cu124");
  EXPECT_THAT(edits(alignment),
              ElementsAre("asr/Dockerfile:1 nvidia/cuda:13.0.1-cudnn-runtime-ubuntu22.04 -> "
                          "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04",
                          "search/requirements.txt:2 torch==2.1.2+cu121 -> torch==2.5.1+cu124",
                          "search/requirements.txt:1 https://download.pytorch.org/whl/cu121 -> "
                          "https://download.pytorch.org/whl/cu124",
                          "asr/requirements.txt:0  -> ctranslate2==4.8.5"));
  ASSERT_EQ(alignment.edits.size(), 4U);
  EXPECT_EQ(edit_command(alignment.edits[1]),
            "sed -i '2s|2\\.1\\.2+cu121|2.5.1+cu124|' 'search/requirements.txt'");
  EXPECT_EQ(edit_command(alignment.edits[2]), "sed -i '1s|cu121|cu124|' 'search/requirements.txt'");
  // A file may end without a newline.
  EXPECT_EQ(edit_command(alignment.edits[3]),
            "sed -i '$a ctranslate2==4.8.5' 'asr/requirements.txt'");
}

TEST(RecipeRules, Case6EveryWheelHasItsDriverFloorOnEveryCard) {
  Facts facts = folder("case6");
  facts.recipes.push_back(parse_recipe("ctranslate2==4.8.5\n", "pinned/requirements.txt").value());
  facts.machine.driver = "550.54.14";
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9"), card("NVIDIA H200", "9.0")};
  const Alignment alignment = align(facts, builtin_knowledge());
  std::vector<std::string> floors;
  for (const AlignmentDriver& floor : alignment.drivers) {
    floors.push_back(floor.column + ": " + floor.package + " on " + floor.card + ": " +
                     floor.driver);
  }
  EXPECT_THAT(
      floors,
      IsSupersetOf({"asr (compose.yml): torch 2.5.1+cu124 on NVIDIA GeForce RTX 4090: 525.60.13",
                    "search/requirements.txt: torch 2.1.2+cu121 on NVIDIA H200: 525.60.13",
                    "pinned/requirements.txt: ctranslate2 4.8.5 on NVIDIA GeForce RTX 4090: "
                    "525.60.13",
                    "pinned/requirements.txt: ctranslate2 4.8.5 on NVIDIA H200: 570",
                    "asr (compose.yml): ctranslate2 4.8.5, the newest that is known, on NVIDIA "
                    "H200: 570"}));
  // The driver is older: what is pinned is the newest whose PTX it compiles.
  facts.recipes.pop_back();
  EXPECT_THAT(edits(align(facts, builtin_knowledge())),
              Contains("asr/requirements.txt:0  -> ctranslate2==4.6.2"));
  const Report report = judge(facts);
  ASSERT_EQ(of_rule(report, "pin drifts").size(), 1U);
  EXPECT_THAT(of_rule(report, "pin drifts")[0]->text,
              HasSubstr("cuDNN 8 up to 4.4, CUDA 12 and cuDNN 9 up to 4.6.2, CUDA 12 without cuDNN "
                        "from 4.6.3"));
  ASSERT_EQ(of_rule(report, "pinned apart").size(), 1U);
  EXPECT_EQ(of_rule(report, "pinned apart")[0]->subject, "torch");
  // What aligns torch, and no other row: both lines are needed.
  ASSERT_EQ(of_rule(report, "pinned apart")[0]->remedies.size(), 1U);
  EXPECT_EQ(of_rule(report, "pinned apart")[0]->remedies[0].steps.size(), 2U);
  ASSERT_EQ(of_rule(report, "pin drifts")[0]->remedies.size(), 1U);
  EXPECT_EQ(of_rule(report, "pin drifts")[0]->remedies[0].command,
            "sed -i '$a ctranslate2==4.6.2' 'asr/requirements.txt'");
}

TEST(RecipeRules, Case6AnotherTorchIsTheTargetWhereACardWantsIt) {
  Facts facts = folder("case6");
  facts.machine.driver = "575.57.08";
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  const Alignment alignment = align(facts, builtin_knowledge());
  // No pinned one has code for the card; the fewest lines change with the newest that has.
  EXPECT_THAT(alignment.target, HasSubstr("torch 2."));
  EXPECT_THAT(alignment.target, HasSubstr("+cu12"));
  EXPECT_NE(alignment.target, "torch 2.5.1+cu124");
}

TEST(RecipeRules, Case8AServiceWithoutACardComputesOnTheProcessor) {
  Facts facts = folder("case8");
  facts.machine.container.docker = true;
  const Report report = judge(facts);
  const auto found = of_rule(report, "card not reserved");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->subject, "asr (compose.yml)");
  EXPECT_THAT(found[0]->text, HasSubstr("torch.cuda.is_available() is False"));
  EXPECT_EQ(found[0]->evidence[0].where, "compose.yml:2");
  ASSERT_EQ(found[0]->remedies.size(), 2U);
  EXPECT_EQ(found[0]->remedies[0].command,
            "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, "
            "capabilities: [gpu]}]}}}");
  EXPECT_THAT(found[0]->remedies[1].command,
              HasSubstr("apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk runtime "
                        "configure --runtime=docker && sudo systemctl restart docker"));
  EXPECT_THAT(failures(report), IsEmpty());
}

TEST(RecipeRules, Case8AServiceWithATorchForTheProcessorWantsNoCard) {
  constexpr const char* kCompose = "services:\n  asr:\n    build: .\n";
  for (const char* torch :
       {"torch==2.5.1 --index-url https://download.pytorch.org/whl/cpu",
        "torch==2.5.1+cpu --extra-index-url https://download.pytorch.org/whl/cpu",
        "'torch>=2.5' --index-url https://download.pytorch.org/whl/cpu"}) {
    const std::string dockerfile = "FROM python:3.11-slim\nRUN pip install " + std::string(torch) +
                                   "\nRUN pip install faster-whisper==1.1.1 whisperx==3.4.2\n";
    const Report report =
        judge(files({{"compose.yml", kCompose}, {"Dockerfile", dockerfile.c_str()}}));
    EXPECT_THAT(of_rule(report, "card not reserved"), IsEmpty()) << torch;
  }
  EXPECT_EQ(
      of_rule(
          judge(files({{"compose.yml", kCompose},
                       {"Dockerfile", "FROM python:3.11-slim\nRUN pip install torch==2.5.1\n"}})),
          "card not reserved")
          .size(),
      1U);
}

TEST(RecipeRules, Case8TheLineOfTheRemedyIsAReservation) {
  const Recipe recipe =
      parse_recipe(
          "services:\n  asr:\n    image: x\n    deploy: {resources: {reservations: "
          "{devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}\n",
          "compose.yml")
          .value();
  EXPECT_EQ(recipe.services[0].card, true);
}

TEST(RecipeRules, Case8AReservedCardNeedsTheToolkit) {
  Facts facts = files({{"compose.yml",
                        "services:\n  asr:\n    image: nvidia/cuda:12.4.1-base\n"
                        "    gpus: all\n"}});
  EXPECT_THAT(judge(facts).findings, IsEmpty());
  facts.machine.container.docker = true;
  facts.machine.container.toolkit = false;
  EXPECT_THAT(failures(judge(facts)), IsEmpty());  // the recipe may be for another machine
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  EXPECT_THAT(failures(judge(facts)), ElementsAre("container toolkit: asr (compose.yml)"));
  facts.machine.container.runtimes = {"nvidia"};
  EXPECT_THAT(failures(judge(facts)), IsEmpty());
  facts.machine.container.runtimes = {};
  facts.machine.container.toolkit.reset();  // nobody told
  EXPECT_THAT(failures(judge(facts)), IsEmpty());
}

TEST(RecipeRules, AnotherComposeFileMayReserveTheCard) {
  const Facts facts =
      files({{"compose.yml",
              "services:\n  asr:\n    image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\n"},
             {"compose.gpu.yml", "services:\n  asr:\n    gpus: all\n"}});
  const auto report = judge(facts);
  const auto found = of_rule(report, "card not reserved");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Note);
}

TEST(RecipeRules, PinsThatNoVersionMeetsAreRefused) {
  const auto contradicting = [](const char* base) {
    return files({{"requirements.txt", "-r base.txt\ntorch==2.5.1\n"}, {"base.txt", base}});
  };
  EXPECT_THAT(failures(judge(contradicting("torch==2.1.2\n"))),
              ElementsAre("requirements contradict: torch in requirements.txt"));
  EXPECT_THAT(failures(judge(contradicting("torch<2.5\n"))), ::testing::SizeIs(1));
  EXPECT_THAT(failures(judge(contradicting("torch>=2.4\n"))), IsEmpty());
  EXPECT_THAT(failures(judge(contradicting("torch==2.5.1+cu124\n"))), IsEmpty());
  EXPECT_THAT(failures(judge(contradicting("torch==2.1.2 ; sys_platform == 'win32'\n"))),
              IsEmpty());
  EXPECT_THAT(
      failures(judge(files({{"pyproject.toml",
                             "[tool.poetry.dependencies]\nnumpy = [{version = '1.24.4', "
                             "python = '<3.9'}, {version = '2.1.0', python = '>=3.9'}]\n"}}))),
      IsEmpty());
  // A marker that cannot be decided makes it unknown.
  const Facts facts = contradicting("torch==2.1.2 ; python_version < '3.10'\n");
  EXPECT_THAT(failures(judge(facts)), IsEmpty());
  ASSERT_EQ(of_rule(judge(facts), "requirements contradict").size(), 1U);
}

TEST(RecipeRules, CommandsOfADockerfileReplaceEachOther) {
  const Facts facts = files({{"Dockerfile",
                              "FROM python:3.11\nRUN pip install torch==2.5.1\nRUN pip install "
                              "torch==2.1.2\n"}});
  const Report report = judge(facts);
  EXPECT_THAT(failures(report), IsEmpty());
  ASSERT_EQ(of_rule(report, "requirements contradict").size(), 1U);
  EXPECT_EQ(of_rule(report, "requirements contradict")[0]->level, Level::Warning);
}

TEST(RecipeRules, ReleasesThatDoNotGoTogetherAreSaid) {
  EXPECT_THAT(failures(judge(files({{"requirements.txt", "torch==2.5.1\ntorchaudio==2.4.0\n"}}))),
              ElementsAre("torch companions: torchaudio 2.4.0 in requirements.txt"));
  EXPECT_THAT(failures(judge(files({{"requirements.txt",
                                     "torch==2.5.1\ntorchaudio==2.5.1\ntorchvision==0.20.1\n"}}))),
              IsEmpty());
  EXPECT_THAT(
      failures(judge(files({{"requirements.txt", "torchaudio==2.9.0\npyannote.audio==3.3.2\n"}}))),
      ElementsAre("packages clash: requirements.txt"));
}

TEST(RecipeRules, OfSeveralPinsThatAnExtraDecidesNoneIsJudged) {
  Facts facts = files({{"pyproject.toml",
                        "[tool.poetry.dependencies]\ntorch = [{version = '2.7.1+cpu', markers = "
                        "\"extra == 'cpu'\"}, "
                        "{version = '2.7.1+cu126', markers = \"extra == 'cuda'\"}]\n"
                        "[[tool.poetry.source]]\nname = 'pytorch'\n"
                        "url = 'https://download.pytorch.org/whl'\n"}});
  facts.machine.driver = "575.57.08";
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  EXPECT_THAT(resolved(align(facts, builtin_knowledge()), "torch"),
              ElementsAre("2.7.1+cpu or 2.7.1+cu126"));
  const Report report = judge(facts);
  EXPECT_THAT(report.verdicts, IsEmpty());
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(RecipeRules, AProjectIsOneWithTheLockThatAnImageInstalls) {
  Facts facts =
      files({{"Dockerfile", "FROM python:3.12\nCOPY uv.lock pyproject.toml ./\nRUN uv sync\n"},
             {"pyproject.toml", "[project]\ndependencies = ['torch>=2', 'numpy']\n"},
             {"uv.lock",
              "[[package]]\nname = 'torch'\nversion = '2.7.1'\n[[package]]\nname = 'numpy'\n"
              "version = '2.2.6'\n[[package]]\nname = 'numpy'\nversion = '1.26.4'\n"}});
  const Alignment alignment = align(facts, builtin_knowledge());
  ASSERT_EQ(alignment.columns.size(), 1U);
  EXPECT_THAT(resolved(alignment, "torch"), ElementsAre("2.7.1+cu126"));
  EXPECT_THAT(resolved(alignment, "numpy"), ElementsAre("2.2.6 or 1.26.4"));
  EXPECT_THAT(judge(facts).findings, IsEmpty());
}

TEST(RecipeRules, AWordThatIsNoVersionIsLeftAlone) {
  EXPECT_THAT(judge(files({{"requirements.txt", "torch===nightly\nctranslate2===x\n"}})).findings,
              IsEmpty());
}

TEST(RecipeRules, AnIndexWithoutThatReleaseLeavesItToThePythonIndex) {
  const Alignment alignment =
      align(files({{"requirements.txt",
                    "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.7.1\n"}}),
            builtin_knowledge());
  EXPECT_THAT(resolved(alignment, "torch"), ElementsAre("2.7.1+cu126"));
}

TEST(RecipeRules, OnnxRuntimeBesideItsBuildForCardsIsAWarning) {
  const Report both =
      judge(files({{"requirements.txt", "onnxruntime==1.23.2\nonnxruntime-gpu==1.23.2\n"}}));
  ASSERT_EQ(of_rule(both, "packages clash").size(), 1U);
  EXPECT_EQ(of_rule(both, "packages clash")[0]->level, Level::Warning);
  const Report asked =
      judge(files({{"requirements.txt", "faster-whisper==1.0.3\nonnxruntime-gpu==1.23.2\n"}}));
  ASSERT_EQ(of_rule(asked, "packages clash").size(), 1U);
  EXPECT_THAT(of_rule(asked, "packages clash")[0]->evidence[0].text,
              HasSubstr("faster-whisper 1.0.3 asks for onnxruntime"));
  EXPECT_THAT(failures(both), IsEmpty());
}

TEST(RecipeRules, AnotherCudnnThanThePinnedOneWantsIsAWarning) {
  const Report report = judge(files({{"requirements.txt", "torch==2.5.1\nctranslate2==4.4.0\n"}}));
  const auto found = of_rule(report, "cudnn of another version");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->text, HasSubstr("ctranslate2 4.4.0 wants cuDNN 8"));
  EXPECT_THAT(found[0]->remedies[0].text, HasSubstr("ctranslate2==4.8.5"));
  EXPECT_THAT(of_rule(judge(files({{"requirements.txt", "torch==2.5.1\nctranslate2==4.5.0\n"}})),
                      "cudnn of another version"),
              IsEmpty());
}

TEST(RecipeRules, APinThatDriftsBetweenVersionsOfCudaIsAWarning) {
  const Report report = judge(files({{"requirements.txt", "onnxruntime-gpu>=1.23\ntorch~=2.5\n"}}));
  const auto found = of_rule(report, "pin drifts");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0]->text, HasSubstr("CUDA 12 and cuDNN 9 up to 1.26, CUDA 13 and cuDNN 9"));
  EXPECT_EQ(found[0]->level, Level::Warning);
  // A lock decides, whatever its project lets in.
  EXPECT_THAT(
      of_rule(judge(files({{"pyproject.toml", "[project]\ndependencies = ['torch>=2']\n"},
                           {"uv.lock", "[[package]]\nname = 'torch'\nversion = '2.7.1'\n"}})),
              "pin drifts"),
      IsEmpty());
}

TEST(RecipeRules, AHealthySetOfRecipesIsLeftInPeace) {
  Facts facts =
      files({{"compose.yml", "services:\n  asr:\n    build: .\n    gpus: all\n"},
             {"Dockerfile",
              "FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04\nCOPY requirements.txt .\nRUN pip "
              "install -r requirements.txt\n"},
             {"requirements.txt",
              "--extra-index-url https://download.pytorch.org/whl/cu128\ntorch==2.7.1\n"
              "torchaudio==2.7.1\nctranslate2==4.8.5\nfaster-whisper==1.2.1\n"}});
  facts.machine.driver = "575.57.08";
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  const Report report = judge(facts);
  for (const Finding& finding : report.findings) {
    EXPECT_LE(finding.level, Level::Note) << finding.rule << ": " << finding.text;
  }
  ASSERT_EQ(report.verdicts.size(), 2U);
  EXPECT_EQ(report.verdicts[0].outcome, Outcome::Works);
  EXPECT_EQ(report.verdicts[1].outcome, Outcome::Works);
  EXPECT_THAT(align(facts, builtin_knowledge()).edits, IsEmpty());
}

TEST(RecipeRules, WhatAsksForTheProcessorsOnnxRuntimeWritesOverTheOneForCards) {
  for (const char* package :
       {"kokoro-onnx==0.4.9\n", "kokoro-onnx[gpu]==0.4.9\n", "piper-tts==1.2.0\n"}) {
    const Report report = judge(files(
        {{"requirements.txt", (std::string(package) + "onnxruntime-gpu==1.22.0\n").c_str()}}));
    EXPECT_EQ(of_rule(report, "packages clash").size(), 1U) << package;
  }
}

TEST(RecipeRules, WhatChatterboxPinsIsHeldAgainstTheOtherPins) {
  const Report report =
      judge(files({{"requirements.txt", "chatterbox-tts==0.1.2\ntorch==2.8.0\n"}}));
  const auto all = of_rule(report, "requirements contradict");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  EXPECT_THAT(all[0]->text, HasSubstr("chatterbox-tts 0.1.2 asks for torch==2.6.0"));
  // NumPy 2 beside NeMo: 2.2 takes it, 2.3 does not.
  const auto nemo = [](const char* version) {
    const Report of_nemo = judge(
        files({{"requirements.txt",
                (std::string("nemo_toolkit[asr]==") + version + "\nnumpy==2.2.0\n").c_str()}}));
    return of_rule(of_nemo, "requirements contradict").size();
  };
  EXPECT_EQ(nemo("2.2.0"), 0U);
  EXPECT_EQ(nemo("2.3.0"), 1U);
}

TEST(RecipeRules, ATorchcodecOfAnotherTorchIsNamedWithTheOneThatGoes) {
  const auto clashes = [](const char* text) {
    std::vector<std::string> words;
    const Report report = judge(files({{"requirements.txt", text}}));
    for (const auto& finding : of_rule(report, "packages clash")) {
      EXPECT_NE(finding->level, Level::Fail) << text;
      for (const Remedy& remedy : finding->remedies) {
        words.push_back(remedy.command + remedy.text);
      }
    }
    return words;
  };
  EXPECT_THAT(clashes("torch==2.8.0\ntorchcodec==0.8.0\n"), Contains(HasSubstr("0.7.0")));
  EXPECT_THAT(clashes("torch==2.8.0\ntorchcodec==0.3.0\n"), Contains(HasSubstr("0.6.0")));
  EXPECT_THAT(clashes("torch==2.8.0\ntorchcodec==0.7.0\n"), IsEmpty());
  EXPECT_THAT(clashes("torch==2.9.1\ntorchcodec==0.9.1\n"), IsEmpty());
  // What loads a checkpoint of XTTS, whose classes torch 2.6 refuses.
  EXPECT_THAT(clashes("torch==2.6.0\nTTS==0.22.0\n"), Contains(HasSubstr("2.6")));
  EXPECT_THAT(clashes("torch==2.5.1\nTTS==0.22.0\n"), IsEmpty());
}

}  // namespace mynah::doctor
