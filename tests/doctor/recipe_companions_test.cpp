// Packages that are pinned beside each other and do not go together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/knowledge/companions.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> found(const char* rule, const std::string& text,
                               const char* path = "requirements.txt") {
  return words_of(judge(files({{path, text.c_str()}})), rule);
}

std::vector<std::string> remedies(const char* rule, const std::string& text) {
  const Report report = judge(files({{"requirements.txt", text.c_str()}}));
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, rule)) {
    for (const Remedy& remedy : finding->remedies) {
      words.push_back(remedy.command.empty() ? remedy.text : remedy.command);
      for (const RemedyStep& step : remedy.steps) {
        words.push_back(step.command);
      }
    }
  }
  return words;
}

}  // namespace

TEST(RecipeCompanions, EachReleaseIsBuiltForOneTorch) {
  const auto torch = [](const char* package, const char* version) {
    const auto pair =
        pair_of_companion(package, Version::parse(version).value(), builtin_knowledge());
    return pair ? pair->torch.text() : "";
  };
  EXPECT_EQ(torch("torchaudio", "2.5.0"), "2.5.0");
  EXPECT_EQ(torch("torchaudio", "2.0.2+cu118"), "2.0.1");
  EXPECT_EQ(torch("torchvision", "0.20.1"), "2.5.1");
  EXPECT_EQ(torch("torchvision", "0.22.1"), "2.7.1");
  EXPECT_EQ(torch("torchvision", "9.0"), "");
}

TEST(RecipeCompanions, AnotherPatchThanTorchsIsRefused) {
  EXPECT_THAT(
      found("torch companions", "torch==2.5.1\ntorchaudio==2.5.0\n"),
      ElementsAre("fail: torchaudio 2.5.0 is built for torch 2.5.0 and asks for it exactly, "
                  "and 2.5.1 is pinned: an installer refuses them."));
  EXPECT_THAT(remedies("torch companions", "torch==2.5.1\ntorchaudio==2.5.0\n"),
              Contains("sed -i '2s|2\\.5\\.0|2.5.1|' 'requirements.txt'"));
  EXPECT_THAT(found("torch companions", "torch==2.0.1\ntorchaudio==2.0.2\ntorchvision==0.15.2\n"),
              IsEmpty());
  EXPECT_THAT(found("torch companions", "torch==2.5.1\ntorchvision==0.20.0\n"),
              ElementsAre(HasSubstr("fail: torchvision 0.20.0 is built for torch 2.5.0")));
}

// As the metadata of their wheels have it: torchaudio up to 2.10.0, torchvision up to 0.29.0.
TEST(RecipeCompanions, TheWheelsOwnMetadataSayWhichTorchTheyAskFor) {
  EXPECT_THAT(found("torch companions", "torch==2.9.1\ntorchaudio==2.9.0\n"),
              ElementsAre(HasSubstr("fail: torchaudio 2.9.0 is built for torch 2.9.0")));
  EXPECT_THAT(found("torch companions", "torch==2.10.0\ntorchaudio==2.9.1\n"),
              ElementsAre("fail: torchaudio 2.9.1 is not of torch 2.10.0: 2.10.* goes with it."));
  EXPECT_THAT(remedies("torch companions", "torch==2.10.0\ntorchaudio==2.9.1\n"),
              Contains("sed -i '2s|2\\.9\\.1|2.10.0|' 'requirements.txt'"));
  EXPECT_THAT(found("torch companions", "torch==2.9.1\ntorchaudio==2.9.1\ntorchvision==0.24.1\n"),
              IsEmpty());
  EXPECT_THAT(found("torch companions", "torch==2.12.1\ntorchvision==0.27.0\n"),
              ElementsAre(HasSubstr("fail: torchvision 0.27.0 is built for torch 2.12.0")));
  // 2.11.0 asks for no torch, and torchvision 0.29.1 for 2.14.0 or newer.
  EXPECT_THAT(found("torch companions", "torch==2.10.0\ntorchaudio==2.11.0\n"),
              ElementsAre(HasSubstr("warning: torchaudio 2.11.0 is not of torch 2.10.0")));
  EXPECT_THAT(found("torch companions", "torch==2.14.1\ntorchvision==0.29.1\n"), IsEmpty());
  EXPECT_THAT(found("torch companions", "torch==2.14.1\ntorchvision==0.29.0\n"),
              ElementsAre(HasSubstr("fail: torchvision 0.29.0 is built for torch 2.14.0")));
}

// What a range keeps away is refused as a pin is.
TEST(RecipeCompanions, ARangeOfTorchIsHeldAgainstWhatACompanionAsksFor) {
  const std::string text = "torch>=2.0,<2.1\ntorchaudio==2.1.0\n";
  EXPECT_THAT(found("requirements contradict", text),
              ElementsAre("fail: torchaudio 2.1.0 asks for torch==2.1.0, and torch>=2.0,<2.1 is "
                          "asked for: an installer refuses them."));
  EXPECT_THAT(remedies("requirements contradict", text),
              ElementsAre("sed -i '1s|>=2\\.0,<2\\.1|==2.1.0|' 'requirements.txt'",
                          "sed -i '2s|2\\.1\\.0|2.0.2|' 'requirements.txt'"));
  EXPECT_THAT(found("requirements contradict", "torch>=2.0,<2.2\ntorchaudio==2.1.0\n"), IsEmpty());
  EXPECT_THAT(found("requirements contradict", "torch>=2.0\ntorchaudio==2.1.0\n"), IsEmpty());
  EXPECT_THAT(found("requirements contradict", "torch>=2.0,<2.1\ntorchaudio==2.11.0\n"), IsEmpty());
  // A condition that is not known decides nothing, and commands follow each other.
  EXPECT_THAT(
      found("requirements contradict", "torch<2.1 ; python_version < '3.9'\ntorchaudio==2.1.0\n"),
      ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("requirements contradict",
                    "FROM python:3.10\nRUN pip install 'torch<2.1'\n"
                    "RUN pip install torchaudio==2.1.0\n",
                    "Dockerfile"),
              IsEmpty());
}

// By the metadata of the wheels.
TEST(RecipeCompanions, WhatPinsOfTritonNumbaAndVllmAskForIsKnown) {
  const auto contradict = [](const std::string& text) {
    return found("requirements contradict", text);
  };
  EXPECT_THAT(contradict("torch==2.6.0\ntriton==3.1.0\n"),
              ElementsAre("fail: torch 2.6.0 asks for triton==3.2.0, and 3.1.0 is pinned: an "
                          "installer refuses them."));
  EXPECT_THAT(remedies("requirements contradict", "torch==2.6.0\ntriton==3.1.0\n"),
              ElementsAre("sed -i '2s|3\\.1\\.0|3.2.0|' 'requirements.txt'"));
  EXPECT_THAT(contradict("torch==2.6.0\ntriton==3.2.0\n"), IsEmpty());
  EXPECT_THAT(contradict("torch==2.6.0\ntriton<3.2\n"), ElementsAre(HasSubstr("fail: ")));
  // The wheels for other CUDA versions were not read, and those for the processor ask for none.
  const std::string index = "--index-url https://download.pytorch.org/whl/";
  EXPECT_THAT(contradict(index + "cu126\ntorch==2.6.0\ntriton==3.1.0\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(contradict(index + "cpu\ntorch==2.6.0\ntriton==3.1.0\n"), IsEmpty());
  EXPECT_THAT(contradict("numba==0.59.0\nnumpy==2.1.0\n"),
              ElementsAre("fail: numba 0.59.0 asks for numpy<1.27,>=1.22, and 2.1.0 is pinned: an "
                          "installer refuses them."));
  EXPECT_THAT(contradict("numba==0.61.2\nnumpy==2.1.0\n"), IsEmpty());
  EXPECT_THAT(
      contradict("vllm==0.10.0\ntorch==2.8.0\n"),
      ElementsAre(HasSubstr("fail: vllm 0.10.0 asks for torch==2.7.1, and 2.8.0 is pinned")));
}

// Hashes say which file it is, and what is known of a pin stays known.
TEST(RecipeCompanions, APinWithHashesIsJudgedAsAnyOther) {
  const std::string hash =
      " --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000";
  const std::string text = "torch==2.6.0" + hash + "\ntriton==3.1.0 \\\n   " + hash +
                           "\nnvidia-cudnn-cu12==8.9.2.26" + hash + "\ntorchaudio==2.5.1" + hash +
                           "\n";
  EXPECT_THAT(
      found("requirements contradict", text),
      ::testing::UnorderedElementsAre(HasSubstr("fail: torch 2.6.0 asks for triton==3.2.0"),
                                      HasSubstr("fail: torch 2.6.0 asks for nvidia-cudnn")));
  EXPECT_THAT(found("torch companions", text),
              ElementsAre(HasSubstr("fail: torchaudio 2.5.1 is not of torch 2.6.0")));
  const Report report = judge(files({{"requirements.txt", text.c_str()}}));
  const auto all = of_rule(report, "torch companions");
  ASSERT_EQ(all.size(), 1U);
  ASSERT_FALSE(all[0]->remedies.empty());
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '5s|2\\.5\\.1|2.6.0|' 'requirements.txt'");
  EXPECT_THAT(all[0]->remedies[0].text,
              HasSubstr("the hashes of that line are of the old version, and pip-compile "
                        "--generate-hashes makes new ones"));
  EXPECT_THAT(found("requirements contradict",
                    "torch==2.6.0\ntriton==3.2.0" + hash + "\nnvidia-cudnn-cu12==9.1.0.70\n"),
              IsEmpty());
}

TEST(RecipeCompanions, AVersionThatIsNotThereIsSaidOfAPinWithHashes) {
  const Report report = judge(files({{"requirements.txt", "torch==2.6.7 --hash=sha256:00\n"}}));
  const auto all = of_rule(report, "no such version");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->remedies[0].text, HasSubstr("the hashes of that line are of the old"));
}

TEST(RecipeCompanions, AnotherCudaIsFoundWhenItIsImported) {
  const std::string indexes =
      "--extra-index-url https://download.pytorch.org/whl/cu124\n"
      "--extra-index-url https://download.pytorch.org/whl/cu121\n";
  EXPECT_THAT(
      found("torch companions", indexes + "torch==2.5.1+cu124\ntorchaudio==2.5.1+cu121\n"),
      ElementsAre(
          "fail: torchaudio 2.5.1+cu121 is built with CUDA 12.1, and torch 2.5.1+cu124 with "
          "12.4: an installer takes them, and importing torchaudio fails."));
  EXPECT_THAT(
      remedies("torch companions", indexes + "torch==2.5.1+cu124\ntorchaudio==2.5.1+cu121\n"),
      Contains(HasSubstr("2.5.1+cu124")));
  // torchvision compares the major versions.
  EXPECT_THAT(
      found("torch companions", indexes + "torch==2.5.1+cu124\ntorchvision==0.20.1+cu121\n"),
      IsEmpty());
  EXPECT_THAT(
      found("torch companions", indexes + "torch==2.5.1+cu124\ntorchvision==0.20.1+cu118\n"),
      ElementsAre(HasSubstr("importing torchvision fails")));
  EXPECT_THAT(found("torch companions", indexes + "torch==2.5.1+cu124\ntorchaudio==2.5.1+cpu\n"),
              IsEmpty());
}

TEST(RecipeCompanions, TheLastTorchaudioGoesWithLaterTorchs) {
  EXPECT_THAT(found("torch companions", "torch==2.14.1\ntorchaudio==2.11.0\n"), IsEmpty());
  EXPECT_THAT(found("torch companions", "torch==2.12.0\ntorchaudio==2.11.0\n"), IsEmpty());
  EXPECT_THAT(
      found("torch companions", "torch==2.12.0\ntorchaudio==2.12.0\n"),
      ElementsAre("warning: torchaudio 2.12.0 is not of torch 2.12.0: 2.11.* goes with it."));
  EXPECT_THAT(remedies("torch companions", "torch==2.12.0\ntorchaudio==2.10.0\n"),
              Contains(HasSubstr("2.11.*")));
  // It was built for no CUDA 13.2.
  const auto last = Version::parse("2.11.0").value();
  EXPECT_TRUE(has_build("torchaudio", last, "cu130", builtin_knowledge()));
  EXPECT_FALSE(has_build("torchaudio", last, "cu132", builtin_knowledge()));
}

TEST(RecipeCompanions, WithoutASourceOfItsOwnItIsThatOfThePythonIndex) {
  const auto project = [](const std::string& sources) {
    return "[project]\nname = \"a\"\ndependencies = [\"torch==2.7.1\", \"torchaudio==2.7.1\"]\n"
           "[tool.uv.sources]\ntorch = { index = \"own\" }\n" +
           sources +
           "[[tool.uv.index]]\nname = \"own\"\n"
           "url = \"https://download.pytorch.org/whl/cu128\"\nexplicit = true\n";
  };
  const std::string text = project("");
  const Report report = judge(files({{"pyproject.toml", text.c_str()}}));
  EXPECT_THAT(words_of(report, "torch companions"),
              ElementsAre("fail: torchaudio 2.7.1 of the Python index is built with CUDA 12.6, and "
                          "torch 2.7.1+cu128 with 12.8: an installer takes them, and importing "
                          "torchaudio fails."));
  const auto all = of_rule(report, "torch companions");
  ASSERT_FALSE(all.empty() || all.front()->remedies.empty());
  EXPECT_THAT(all.front()->remedies.front().command, HasSubstr("torchaudio"));
  EXPECT_THAT(
      found("torch companions", project("torchaudio = { index = \"own\" }\n"), "pyproject.toml"),
      IsEmpty());
}

TEST(RecipeCompanions, CondasAreNotKnown) {
  EXPECT_THAT(found("torch companions", "dependencies:\n  - pytorch=2.5.1\n  - torchaudio=2.4.1\n",
                    "environment.yml"),
              ElementsAre(HasSubstr("unknown: torchaudio 2.4.1 is not of torch 2.5.1")));
}

TEST(RecipeCompanions, TheCTranslate2ThatWhisperXBringsWantsAnotherCudnn) {
  const char* const list = "whisperx==3.4.2\ntorch==2.5.1\n";
  EXPECT_THAT(found("cudnn of another version", list),
              ElementsAre(HasSubstr("warning: whisperx 3.4.2 asks for ctranslate2 4.4.0 at most, "
                                    "which wants cuDNN 8, and another one comes: 9.1.0.70 by torch "
                                    "2.5.1+cu124.")));
  EXPECT_THAT(remedies("cudnn of another version", list),
              Contains(HasSubstr("pip install --no-deps ctranslate2==")));
  EXPECT_THAT(found("cudnn of another version", "whisperx==3.7.9\ntorch==2.8.0\n"), IsEmpty());
}

TEST(RecipeCompanions, PyannoteBeforeNumpy2DoesNotTakeIt) {
  EXPECT_THAT(found("packages clash", "pyannote.audio==3.1.1\nnumpy==2.1.0\n"),
              ElementsAre(HasSubstr("fail: numpy and pyannote-audio do not go together")));
  EXPECT_THAT(remedies("packages clash", "pyannote.audio==3.1.1\nnumpy==2.1.0\n"),
              Contains("sed -i '1s|==3\\.1\\.1|>=3.3.2,<4|' 'requirements.txt'"));
  EXPECT_THAT(found("packages clash", "pyannote.audio==3.3.2\nnumpy==2.1.0\n"), IsEmpty());
}

TEST(RecipeCompanions, ALaterCommandThatRenewsPutsTheNewestInThePlace) {
  const Report report = judge(
      files({{"Dockerfile",
              "FROM python:3.11\nRUN pip install torch==2.5.1\nRUN pip install -U torch\n"}}));
  EXPECT_THAT(words_of(report, "requirements contradict"),
              ElementsAre("warning: torch is asked for as ==2.5.1, and a later command puts the "
                          "newest in its place."));
}

TEST(RecipeCompanions, ATorchForCuda11BringsNoCublas12) {
  const std::string index = "--extra-index-url https://download.pytorch.org/whl/cu118\n";
  EXPECT_THAT(
      found("cublas of another version", index + "torch==2.5.1+cu118\nfaster-whisper==1.1.1\n"),
      ElementsAre(HasSubstr("warning: torch 2.5.1+cu118 brings the cuBLAS of CUDA 11.8, and the "
                            "ctranslate2 that faster-whisper 1.1.1 asks for opens "
                            "libcublas.so.12")));
  EXPECT_THAT(
      remedies("cublas of another version", index + "torch==2.5.1+cu118\nfaster-whisper==1.1.1\n"),
      Contains(HasSubstr("cu12")));
  EXPECT_THAT(found("cublas of another version", index + "torch==2.5.1+cu118\nfaster-whisper\n"),
              ElementsAre(HasSubstr("that faster-whisper asks for")));
  EXPECT_THAT(found("cublas of another version",
                    index + "torch==2.5.1+cu118\nctranslate2==4.4.0\nnvidia-cublas-cu12\n"),
              IsEmpty());
  EXPECT_THAT(
      found("cublas of another version", index + "torch==2.0.1+cu118\nctranslate2==3.24.0\n"),
      IsEmpty());
  EXPECT_THAT(found("cublas of another version", "torch==2.5.1\nfaster-whisper==1.1.1\n"),
              IsEmpty());
}

TEST(RecipeCompanions, AWheelOfCublas11BringsNoCublas12) {
  const char* const rule = "cublas of another version";
  EXPECT_THAT(found(rule, "faster-whisper==1.1.1\nnvidia-cublas-cu11\n"),
              ElementsAre(HasSubstr("warning: nvidia-cublas-cu11 brings the cuBLAS of CUDA 11, and "
                                    "the ctranslate2 that faster-whisper 1.1.1 asks for opens "
                                    "libcublas.so.12")));
  EXPECT_THAT(remedies(rule, "faster-whisper==1.1.1\nnvidia-cublas-cu11\n"),
              Contains("sed -i '2s|nvidia-cublas-cu11|nvidia-cublas-cu12|' 'requirements.txt'"));
  EXPECT_THAT(remedies(rule, "faster-whisper==1.1.1\nnvidia-cublas-cu11==11.11.3.6\n"),
              Contains("sed -i '2s|1==11\\.11\\.3\\.6|2|' 'requirements.txt'"));
  for (const char* const fine :
       {"faster-whisper==1.1.1\nnvidia-cublas-cu11\nnvidia-cublas-cu12\n",
        "faster-whisper==1.1.1\nnvidia-cublas-cu11\nnvidia-cudnn-cu12==9.10.2.21\n",
        "faster-whisper==1.1.1\nnvidia-cublas-cu11\ntorch==2.5.1\n",
        "faster-whisper==1.1.1\nnvidia-cublas-cu11\nonnxruntime-gpu[cuda,cudnn]==1.23.2\n",
        "ctranslate2==3.24.0\nnvidia-cublas-cu11\n", "faster-whisper==1.1.1\n"}) {
    EXPECT_THAT(found(rule, fine), IsEmpty()) << fine;
  }
}

TEST(RecipeCompanions, WhatAPinnedPackageBringsMayBringCtranslate2) {
  // whisperx 3.1.1 asks for any faster-whisper, which asks for CTranslate2.
  const std::string old =
      "--extra-index-url https://download.pytorch.org/whl/cu118\nwhisperx==3.1.1\n"
      "torch==2.0.1+cu118\n";
  EXPECT_THAT(found("cublas of another version", old),
              ElementsAre(HasSubstr("torch 2.0.1+cu118 brings the cuBLAS of CUDA 11.8")));
  // No build of that torch is for CUDA 12.
  EXPECT_THAT(remedies("cublas of another version", old),
              Contains(HasSubstr("nvidia-cublas-cu12")));
}

TEST(RecipeCompanions, AConstraintHoldsCtranslate2AtAnotherCudnn) {
  const Facts facts = files({{"requirements.txt",
                              "-c constraints.txt\nfaster-whisper==1.1.0\n"
                              "torch==2.6.0\n"},
                             {"constraints.txt", "numpy<3\nctranslate2==4.4.0\n"}});
  const Report report = judge(facts);
  const auto held = of_rule(report, "cudnn of another version");
  ASSERT_EQ(held.size(), 1U);
  EXPECT_THAT(held[0]->text, HasSubstr("ctranslate2 4.4.0 wants cuDNN 8, and another one comes: "
                                       "9.1.0.70 by torch 2.6.0"));
  EXPECT_EQ(held[0]->evidence[0].where, "constraints.txt:2");
  ASSERT_FALSE(held[0]->remedies.empty());
  EXPECT_THAT(held[0]->remedies[0].command,
              AllOf(HasSubstr("constraints.txt"), HasSubstr("|4.8.5|")));
}

TEST(RecipeCompanions, AnUnpinnedPackageBringsWhatAllItsReleasesAskFor) {
  EXPECT_THAT(found("packages clash", "onnxruntime-gpu==1.23.2\nfaster-whisper\n"),
              ElementsAre(HasSubstr("warning: onnxruntime and onnxruntime-gpu")));
  EXPECT_THAT(found("packages clash", "onnxruntime-gpu==1.23.2\nsilero-vad\n"), IsEmpty());
}

TEST(RecipeCompanions, EightBitProductsOnRtx50) {
  Facts facts = files({{"requirements.txt", "ctranslate2==4.6.0\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto all = of_rule(report, "int8 products");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Warning);
  EXPECT_EQ(all[0]->subject, "ctranslate2 4.6.0 in requirements.txt");
  EXPECT_EQ(all[0]->error, "cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED");
  ASSERT_EQ(all[0]->remedies.size(), 2U);
  EXPECT_THAT(all[0]->remedies[1].command, HasSubstr("sed -i '1s|"));
  facts = files({{"requirements.txt", "ctranslate2==4.7.1\n"}});
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  EXPECT_THAT(of_rule(judge(facts), "int8 products"), IsEmpty());
}

TEST(RecipeCompanions, TheNewestTorchcodecIsNotOfAnOlderTorch) {
  const char* const rule = "torchcodec drifts";
  EXPECT_THAT(found(rule, "torch==2.8.0\ntorchcodec\n"),
              ElementsAre(HasSubstr("torch 2.8.0+cu128 goes with torchcodec>=0.6,<0.8")));
  EXPECT_THAT(remedies(rule, "torch==2.8.0\ntorchcodec\n"),
              ElementsAre("sed -i '2s|torchcodec|torchcodec>=0.6,<0.8|' 'requirements.txt'"));
  // The image's own torch stays: a range lets it.
  EXPECT_THAT(found(rule,
                    "FROM pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel\n"
                    "RUN pip install 'torch>=2.0.0' torchcodec\n",
                    "Dockerfile"),
              ElementsAre(HasSubstr("torch 2.4.0+cu124 goes with torchcodec==0.0.3")));
  EXPECT_THAT(remedies(rule, "torch==2.4.1\ntorchcodec\n"),
              ElementsAre("Take a newer torch: the Python index has no torchcodec for 2.4"));
  // What bounds it, pins it or is of the torch's own index is no drift; a torch that is not pinned
  // comes as new as it does.
  for (const char* text :
       {"torch==2.8.0\ntorchcodec<0.8\n", "torch==2.8.0\ntorchcodec==0.7.0\n", "torchcodec\n",
        "torch\ntorchcodec\n", "torch==2.3.1\ntorchcodec\n",
        "--index-url https://download.pytorch.org/whl/cu128\ntorch==2.8.0\ntorchcodec\n"}) {
    EXPECT_THAT(found(rule, text), IsEmpty()) << text;
  }
}

TEST(RecipeCompanions, TheNewestTorchaudioAsksForNoTorch) {
  const char* const rule = "torchaudio drifts";
  const std::string cu128 = "--extra-index-url https://download.pytorch.org/whl/cu128\n";
  const std::string image =
      "FROM python:3.11-slim\nRUN pip install torch==2.7.1 torchaudio torchvision --index-url "
      "https://download.pytorch.org/whl/";
  EXPECT_THAT(found(rule, "torch==2.6.0\ntorchaudio\nopenai-whisper==20240930\n"),
              ElementsAre(AllOf(HasSubstr("warning: torchaudio takes the newest"),
                                HasSubstr("2.11.0, which asks for no torch and was built for torch "
                                          "2.11 and later: beside torch 2.6.0+cu124"))));
  EXPECT_THAT(remedies(rule, "torch==2.6.0\ntorchaudio\n"),
              ElementsAre("sed -i '2s|torchaudio|torchaudio==2.6.0|' 'requirements.txt'"));
  EXPECT_THAT(remedies(rule, "torch==2.7.1\ntorchaudio>=2.0\n" + cu128),
              ElementsAre("sed -i '2s|>=2\\.0|==2.7.1|' 'requirements.txt'"));
  EXPECT_THAT(found(rule, image + "cu128\n", "Dockerfile"), Contains(HasSubstr("2.7.1+cu128")));
  // The Python index is looked at beside an index that has no such release.
  EXPECT_THAT(found(rule,
                    "--extra-index-url https://download.pytorch.org/whl/cu124\ntorch==2.6.0\n"
                    "torchaudio\n"),
              Contains(HasSubstr("2.6.0+cu124")));
  // The functions that it calls are there from 2.10 on; CUDA 13's libraries are not.
  EXPECT_THAT(found(rule, "torch==2.10.0\ntorchaudio\n"), Contains(HasSubstr("2.10.0+cu128")));
  EXPECT_THAT(found(rule, cu128 + "torch==2.10.0\ntorchaudio\n"), IsEmpty());
  // An index that has no such release, alone; an image's own, which may be there already; what
  // bounds it; Pythons that it is not for.
  EXPECT_THAT(found(rule, image + "cu118\n", "Dockerfile"), IsEmpty());
  EXPECT_THAT(found(rule,
                    "FROM pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\n"
                    "RUN pip install torchaudio\n",
                    "Dockerfile"),
              IsEmpty());
  EXPECT_THAT(
      found(rule, "FROM python:3.9\nRUN pip install torch==2.6.0 torchaudio\n", "Dockerfile"),
      IsEmpty());
  for (const char* text :
       {"torch==2.6.0\ntorchaudio<2.11\n", "torch==2.6.0\ntorchaudio==2.6.0\n",
        "torch\ntorchaudio\n", "torch==2.11.0\ntorchaudio\n", "torch==2.12.0\ntorchaudio\n",
        "torch==2.6.0\ntorchaudio\nchatterbox-tts\n",
        "--index-url https://wheels.example/own\ntorch==2.6.0\ntorchaudio\n"}) {
    EXPECT_THAT(found(rule, text), IsEmpty()) << text;
  }
}

// One command of an image names PyTorch's index and the other does not.
TEST(RecipeCompanions, ACommandWithoutAnIndexTakesThePythonIndexs) {
  const std::string torch =
      "FROM python:3.11\nRUN pip install torch==2.7.1 --index-url "
      "https://download.pytorch.org/whl/cu128\n";
  const auto said = [&](const std::string& rest) {
    return found("torch companions", torch + rest, "Dockerfile");
  };
  EXPECT_THAT(said("RUN pip install torchaudio==2.7.1\n"),
              ElementsAre(HasSubstr("fail: torchaudio 2.7.1 of the Python index is built with CUDA "
                                    "12.6, and torch 2.7.1+cu128 with 12.8")));
  // Another minor version is none to torchvision.
  EXPECT_THAT(said("RUN pip install torchvision==0.22.1\n"), IsEmpty());
  EXPECT_THAT(said("RUN pip install torchaudio==2.7.1 --index-url "
                   "https://download.pytorch.org/whl/cu128\n"),
              IsEmpty());
  EXPECT_THAT(said("ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128\n"
                   "RUN pip install torchaudio==2.7.1\n"),
              IsEmpty());
  const Report report =
      judge(files({{"Dockerfile", (torch + "RUN pip install torchaudio==2.7.1\n").c_str()}}));
  const auto all = of_rule(report, "torch companions");
  ASSERT_EQ(all.size(), 1U);
  std::vector<std::string> commands;
  for (const Remedy& remedy : all[0]->remedies) {
    commands.push_back(remedy.command);
  }
  EXPECT_THAT(commands, Contains("sed -i '3i ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/"
                                 "whl/cu128 UV_EXTRA_INDEX_URL=https://download.pytorch.org/whl/"
                                 "cu128' 'Dockerfile'"));
}

// Files that two commands install, of which one names an index for its own.
TEST(RecipeCompanions, AnIndexOfOneCommandIsForItsOwnFile) {
  const Report report = judge(files({{"Dockerfile",
                                      "FROM python:3.11\nCOPY *.txt .\n"
                                      "RUN pip install -r torch.txt --index-url "
                                      "https://download.pytorch.org/whl/cu128\n"
                                      "RUN pip install -r audio.txt\n"},
                                     {"torch.txt", "torch==2.7.1\n"},
                                     {"audio.txt", "torchaudio==2.7.1\n"}}));
  EXPECT_THAT(
      words_of(report, "torch companions"),
      ElementsAre(HasSubstr("torchaudio 2.7.1 of the Python index is built with CUDA 12.6")));
}

}  // namespace mynah::doctor
