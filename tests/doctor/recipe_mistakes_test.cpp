// Mistakes that people make in recipes, and that end in an installer's or an image's failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/alignment.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kTorch = "https://download.pytorch.org/whl/cu124";

// Findings of a rule for one recipe, as "level: text".
std::vector<std::string> found(const char* path, const std::string& text, const char* rule) {
  const Report report = judge(files({{path, text.c_str()}}));
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, rule)) {
    words.push_back(std::string(level_name(finding->level)) + ": " + finding->text);
  }
  return words;
}

}  // namespace

TEST(RecipeMistakes, AFileThatIsMissingIsNotKnown) {
  const Report report =
      judge(files({{"app/requirements.txt", "torch==2.7.1\n-r more.txt\n-c ../bounds.txt\n"}}));
  const auto found = of_rule(report, "recipe is missing");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->level, Level::Unknown);
  EXPECT_EQ(found[0]->evidence[0].text, "app/more.txt");
  EXPECT_EQ(found[0]->evidence[0].where, "app/requirements.txt:2");
  EXPECT_THAT(found[0]->remedies[0].text, HasSubstr("the folder of the file that names it"));
  EXPECT_EQ(found[1]->evidence[0].where, "app/requirements.txt:3");
}

TEST(RecipeMistakes, AFileThatAnImageInstallsAndNobodyHasIsNotKnown) {
  const Report report = judge(files({{"Dockerfile",
                                      "FROM python:3.11\nCOPY requirements.txt .\n"
                                      "RUN pip install -r requirements.txt\n"},
                                     {"compose.yml", "services:\n  tts:\n    build: ./tts\n"}}));
  const auto found = of_rule(report, "recipe is missing");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->evidence[0].where, "Dockerfile:3");
  EXPECT_THAT(found[0]->remedies[0].text, HasSubstr("the image is built from"));
  EXPECT_THAT(found[1]->text, HasSubstr("what the image holds is not known"));
  EXPECT_EQ(found[1]->evidence[0].where, "compose.yml:2");
}

TEST(RecipeMistakes, AProjectThatWasNotReadIsNotKnown) {
  const Report report = judge(files({{"requirements.txt", "-e .\n"}}));
  const auto found = of_rule(report, "recipe is missing");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->evidence[0].where, "requirements.txt:1");
  EXPECT_THAT(found[0]->text, HasSubstr("A setup.py is a program"));
}

TEST(RecipeMistakes, ALineThatNobodyUnderstandsIsNotKnown) {
  const Report report = judge(files({{"requirements.txt", "numpy\ntorch=2.5.1\n???\n"}}));
  const auto found = of_rule(report, "recipe not understood");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Unknown);
  ASSERT_EQ(found[0]->evidence.size(), 2U);
  EXPECT_EQ(found[0]->evidence[0].text, "\"torch=2.5.1\" is no requirement");
  EXPECT_EQ(found[0]->evidence[0].where, "requirements.txt:2");
  EXPECT_EQ(found[0]->evidence[1].where, "requirements.txt:3");
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_EQ(found[0]->remedies[0].command, "sed -i '2s|2\\.5\\.1|=2.5.1|' 'requirements.txt'");
  EXPECT_EQ(found[0]->error, "Invalid requirement: 'torch=2.5.1'");
}

TEST(RecipeMistakes, WhatAComposeFileLeavesOpenIsANote) {
  EXPECT_THAT(found("compose.yml", "services:\n  a:\n    image: x\n    env_file: .env\n",
                    "recipe not understood"),
              ElementsAre(HasSubstr("note: ")));
}

TEST(RecipeMistakes, WheelsThatNobodySeesAreNotKnown) {
  const char* const image = "FROM python:3.11\nRUN pip install --no-index /wheels/*.whl\n";
  EXPECT_THAT(found("Dockerfile", image, "recipe not understood"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("Dockerfile", image, "recipe is missing"), IsEmpty());
}

TEST(RecipeMistakes, ABuildThatOnlyPyTorchHasWantsItsIndex) {
  const Facts facts =
      files({{"requirements.txt", "numpy\ntorch==2.5.1+cu124\ntorchaudio==2.5.1+cu124\n"}});
  const Report report = judge(facts);
  const auto all = of_rule(report, "index is not named");
  ASSERT_EQ(all.size(), 1U);
  // The command line or pip's settings may name it.
  EXPECT_EQ(all[0]->level, Level::Unknown);
  EXPECT_THAT(all[0]->text, HasSubstr("has no versions with a '+'"));
  ASSERT_EQ(all[0]->evidence.size(), 2U);
  EXPECT_EQ(all[0]->evidence[0].where, "requirements.txt:2");
  EXPECT_EQ(all[0]->remedies[0].command,
            "sed -i '1i --extra-index-url https://download.pytorch.org/whl/cu124' "
            "'requirements.txt'");
}

TEST(RecipeMistakes, ABuildIsFoundWhereverItsIndexIsNamed) {
  const std::string pin = "torch==2.5.1+cu124";
  const std::string extra = std::string("--extra-index-url ") + kTorch;
  const auto in_image = [&](const std::string& lines) {
    return found("Dockerfile", "FROM python:3.11\n" + lines, "index is not named");
  };
  EXPECT_THAT(found("requirements.txt", extra + "\n" + pin + "\n", "index is not named"),
              IsEmpty());
  EXPECT_THAT(in_image("RUN pip install " + pin + " " + extra + "\n"), IsEmpty());
  EXPECT_THAT(in_image("ENV PIP_EXTRA_INDEX_URL=" + std::string(kTorch) + "\nRUN pip install " +
                       pin + "\n"),
              IsEmpty());
  EXPECT_THAT(in_image("RUN pip config set global.extra-index-url " + std::string(kTorch) +
                       "\nRUN pip install " + pin + "\n"),
              IsEmpty());
  EXPECT_THAT(in_image("RUN PIP_INDEX_URL=" + std::string(kTorch) + " pip install " + pin + "\n"),
              IsEmpty());
  EXPECT_THAT(in_image("RUN pip install " + pin + " -f https://mirror.example/torch\n"), IsEmpty());
  EXPECT_THAT(
      found("pyproject.toml",
            "[project]\nname='a'\ndependencies=['" + pin +
                "']\n[tool.uv.sources]\ntorch={index='p'}\n[[tool.uv.index]]\nname='p'\nurl='" +
                kTorch + "'\nexplicit=true\n",
            "index is not named"),
      IsEmpty());
  const Facts parent = files({{"requirements.txt", (extra + "\n-r gpu.txt\n").c_str()},
                              {"gpu.txt", (pin + "\n").c_str()}});
  EXPECT_THAT(of_rule(judge(parent), "index is not named"), IsEmpty());
  // An image says all that decides, unless it brings settings of its own.
  EXPECT_THAT(in_image("RUN pip install " + pin + "\n"), ElementsAre(HasSubstr("fail: ")));
  EXPECT_THAT(in_image("COPY pip.conf /etc/\nRUN pip install " + pin + "\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(in_image("ARG PIP_EXTRA_INDEX_URL\nRUN pip install " + pin + "\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(in_image("RUN uv pip install --torch-backend=auto " + pin + "\n"), IsEmpty());
  EXPECT_THAT(in_image("ENV UV_TORCH_BACKEND=auto\nRUN uv pip install " + pin + "\n"), IsEmpty());
}

TEST(RecipeMistakes, AnImagesLineForAnIndexMendsIt) {
  const Report report =
      judge(files({{"Dockerfile", "FROM python:3.11\nRUN pip install torch==2.5.1+cu124\n"}}));
  const auto all = of_rule(report, "index is not named");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->remedies[0].command,
            "sed -i '2i ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu124 "
            "UV_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu124' 'Dockerfile'");
  EXPECT_THAT(found("Dockerfile",
                    "FROM python:3.11\nENV PIP_EXTRA_INDEX_URL=" + std::string(kTorch) +
                        "\nRUN pip install torch==2.5.1+cu124\n",
                    "index is not named"),
              IsEmpty());
}

TEST(RecipeMistakes, TheIndexOfAnotherBuildDoesNotHaveThisOne) {
  const Report report = judge(
      files({{"requirements.txt",
              "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.5.1+cu124\n"}}));
  const auto all = of_rule(report, "index is not named");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->text, HasSubstr("the one that is named is of cu121"));
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '1s|cu121|cu124|' 'requirements.txt'");
}

TEST(RecipeMistakes, ABuildThatAReleaseNeverHadIsNotLookedForElsewhere) {
  const Report report = judge(files({{"requirements.txt", "torch==2.1.2+cu124\n"}}));
  EXPECT_THAT(of_rule(report, "index is not named"), IsEmpty());
  const auto all = of_rule(report, "no such build");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->text, HasSubstr("Of torch 2.1.2 the builds for cu118, cu121 are known"));
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '1s|2\\.1\\.2+cu124|2.1.2|' 'requirements.txt'");
}

TEST(RecipeMistakes, AnIndexInPlaceOfThePythonIndexLacksTheRest) {
  const std::string file = std::string("--index-url ") + kTorch +
                           "\ntorch==2.5.1\nnumpy\nfaster-whisper==1.1.1\nmy-own-package\n";
  const Report report = judge(files({{"requirements.txt", file.c_str()}}));
  const auto all = of_rule(report, "index is replaced");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  EXPECT_THAT(all[0]->text, HasSubstr("PyTorch's does not have faster-whisper."));
  EXPECT_EQ(all[0]->evidence[0].where, "requirements.txt:1");
  EXPECT_EQ(all[0]->evidence[1].where, "requirements.txt:4");
  EXPECT_EQ(all[0]->error, "No matching distribution found for faster-whisper");
  EXPECT_EQ(all[0]->remedies[0].command,
            "sed -i '1s|.*|--extra-index-url https://download.pytorch.org/whl/cu124|' "
            "'requirements.txt'");
  EXPECT_THAT(found("requirements.txt", "--extra-index-url" + file.substr(11), "index is replaced"),
              IsEmpty());
}

TEST(RecipeMistakes, WhetherAnIndexHasAnUnknownPackageIsNotKnown) {
  EXPECT_THAT(found("requirements.txt",
                    std::string("--index-url ") + kTorch + "\ntorch==2.5.1\nmy-own-package\n",
                    "index is replaced"),
              ElementsAre(HasSubstr("unknown: --index-url takes the place")));
  EXPECT_THAT(
      found("requirements.txt",
            std::string("--index-url ") + kTorch +
                "\n--extra-index-url https://mirror.example/simple\ntorch\nfaster-whisper\n",
            "index is replaced"),
      IsEmpty());
  EXPECT_THAT(found("requirements.txt", "--index-url https://mirror.example\nfaster-whisper\n",
                    "index is replaced"),
              IsEmpty());
}

TEST(RecipeMistakes, ACommandWithTheWrongIndexIsSplitInTwo) {
  const Report report = judge(files({{"Dockerfile",
                                      "FROM python:3.11\nRUN pip install 'torch>=2.5,<2.6' "
                                      "faster-whisper fastapi --index-url "
                                      "https://download.pytorch.org/whl/cu124\n"
                                      "RUN pip install uvicorn\n"}}));
  const auto all = of_rule(report, "index is replaced");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  const std::string line =
      "RUN pip install 'torch>=2.5,<2.6' --index-url https://download.pytorch.org/whl/cu124 && pip "
      "install fastapi faster-whisper";
  EXPECT_EQ(all[0]->remedies[0].command, line);
  EXPECT_THAT(found("Dockerfile", "FROM python:3.11\n" + line + "\n", "index is replaced"),
              IsEmpty());
}

TEST(RecipeMistakes, ACommandOfSeveralLinesIsOneCommand) {
  const Report unnamed = judge(files({{"Dockerfile",
                                       "FROM python:3.11\nRUN pip install \\\n  "
                                       "torch==2.5.1+cu124 \\\n  torchaudio==2.5.1+cu124\n"}}));
  const auto builds = of_rule(unnamed, "index is not named");
  ASSERT_EQ(builds.size(), 1U);
  ASSERT_EQ(builds[0]->evidence.size(), 2U);
  EXPECT_EQ(builds[0]->evidence[0].where, "Dockerfile:3");
  EXPECT_EQ(builds[0]->evidence[1].where, "Dockerfile:4");
  // A line of its own stands above the command, not within.
  EXPECT_THAT(builds[0]->remedies[0].command, HasSubstr("sed -i '2i ENV "));
  const Report replaced = judge(files({{"Dockerfile",
                                        "FROM python:3.11\nRUN pip install \\\n  torch==2.5.1 "
                                        "\\\n  faster-whisper==1.1.1 fastapi \\\n  --index-url "
                                        "https://download.pytorch.org/whl/cu124\n"}}));
  const auto all = of_rule(replaced, "index is replaced");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->remedies[0].text, HasSubstr("in place of the command at Dockerfile:2"));
  EXPECT_THAT(all[0]->remedies[0].command, HasSubstr("RUN pip install torch==2.5.1 --index-url"));
}

TEST(RecipeMistakes, AnIndexOfOneCommandIsNotThatOfAnother) {
  const Report report = judge(files(
      {{"Dockerfile",
        "FROM python:3.11\nCOPY *.txt .\nRUN pip install -r torch-requirements.txt --index-url "
        "https://download.pytorch.org/whl/cu124\nRUN pip install -r requirements.txt\nRUN pip "
        "install fastapi\n"},
       {"torch-requirements.txt", "torch==2.5.1\n"},
       {"requirements.txt", "faster-whisper==1.1.1\n"}}));
  EXPECT_THAT(of_rule(report, "index is replaced"), IsEmpty());
  const Report wrong = judge(
      files({{"Dockerfile",
              "FROM python:3.11\nCOPY requirements.txt .\nRUN pip install -r requirements.txt "
              "--index-url https://download.pytorch.org/whl/cu124\n"},
             {"requirements.txt", "torch==2.5.1\nfaster-whisper==1.1.1\n"}}));
  const auto all = of_rule(wrong, "index is replaced");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->evidence[0].where, "Dockerfile:3");
  EXPECT_THAT(all[0]->remedies[0].text, HasSubstr("in place of --index-url in Dockerfile:3"));
}

TEST(RecipeMistakes, AVersionThatIsNotThereFails) {
  const Report report =
      judge(files({{"requirements.txt", "onnxruntime-gpu==1.24.0\ntorch==2.5.7\n"}}));
  const auto all = of_rule(report, "no such version");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  EXPECT_EQ(all[0]->text,
            "The Python index has no onnxruntime-gpu 1.24.0: the nearest are 1.23.2 and 1.24.1.");
  EXPECT_EQ(all[0]->evidence[0].where, "requirements.txt:1");
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '1s|1\\.24\\.0|1.24.1|' 'requirements.txt'");
  EXPECT_THAT(all[1]->text, HasSubstr("the nearest are 2.5.1 and 2.6.0"));
}

TEST(RecipeMistakes, AVersionThatMayBeThereDoesNotFail) {
  EXPECT_THAT(found("requirements.txt", "faster-whisper==1.9.0\n", "version is not known"),
              ElementsAre(HasSubstr("unknown: faster-whisper 1.9.0 is newer than what is known")));
  const char* const others =
      "torch==1.13.1\nonnxruntime-gpu==1.24.1\nctranslate2==4.8.*\n"
      "torchvision==0.20\nkokoro==0.7.16\nunheard-of==9.9\n";
  EXPECT_THAT(found("requirements.txt", others, "no such version"), IsEmpty());
  EXPECT_THAT(found("requirements.txt", others, "version is not known"), IsEmpty());
  const char* const nightly = "torchaudio==2.6.0.dev20250101\n";
  EXPECT_THAT(found("requirements.txt", nightly, "no such version"), IsEmpty());
  EXPECT_THAT(found("requirements.txt", nightly, "version is not known"),
              ElementsAre(HasSubstr("beside the final releases is not known")));
  EXPECT_THAT(found("requirements.txt",
                    "--extra-index-url https://mirror.example\nonnxruntime-gpu==1.24.0\n",
                    "no such version"),
              ElementsAre(HasSubstr("unknown: ")));
  const Facts bounded = files({{"requirements.txt", "numpy\n-c bounds.txt\n"},
                               {"bounds.txt", "onnxruntime-gpu==1.24.0\n"}});
  EXPECT_THAT(of_rule(judge(bounded), "no such version"), IsEmpty());
}

TEST(RecipeMistakes, AnOldTorchWantsNumpyBelow2) {
  const Report report = judge(files({{"requirements.txt", "torch==2.1.2\nnumpy>=1.24\n"}}));
  const auto all = of_rule(report, "numpy is too new");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Warning);
  EXPECT_EQ(all[0]->evidence[1].where, "requirements.txt:2");
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '2s|.*|numpy>=1.24,<2|' 'requirements.txt'");
  EXPECT_THAT(all[0]->error, HasSubstr("compiled using NumPy 1.x"));
  const auto warned = [](const char* text) {
    return found("requirements.txt", text, "numpy is too new").size();
  };
  EXPECT_EQ(warned("torch==2.1.2\nfaster-whisper==1.0.3\n"), 1U);
  EXPECT_EQ(warned("torch==2.1.2\nnumpy==2.1.0\n"), 1U);
  EXPECT_EQ(warned("torch==2.1.2\n"), 0U);
  EXPECT_EQ(warned("torch==2.1.2\nnumpy<2\n"), 0U);
  EXPECT_EQ(warned("torch==2.1.2\nnumpy>=1.24,<2\nfaster-whisper\n"), 0U);
  EXPECT_EQ(warned("torch==2.1.2\nnumpy==1.26.4\n"), 0U);
  EXPECT_EQ(warned("torch==2.3.0\nnumpy\n"), 0U);
}

TEST(RecipeMistakes, NumpyBelow2IsAddedWhereNobodyAsksForIt) {
  const Report report =
      judge(files({{"requirements.txt", "torch==2.1.2\nfaster-whisper==1.0.3\n"}}));
  const auto all = of_rule(report, "numpy is too new");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->text, HasSubstr("faster-whisper brings numpy 2"));
  EXPECT_EQ(all[0]->remedies[0].command, "sed -i '$a numpy<2' 'requirements.txt'");
  const Facts bounded = files(
      {{"requirements.txt", "torch==2.1.2\nscipy\n-c bounds.txt\n"}, {"bounds.txt", "numpy<2\n"}});
  EXPECT_THAT(of_rule(judge(bounded), "numpy is too new"), IsEmpty());
}

TEST(RecipeMistakes, ASlimImageLacksWhatCTranslate2Opens) {
  const char* const bare =
      "FROM python:3.11-slim\nENV NVIDIA_VISIBLE_DEVICES=all\nRUN pip install "
      "faster-whisper==1.0.3 ctranslate2==4.4.0\n";
  const Report report = judge(files({{"Dockerfile", bare}}));
  const auto all = of_rule(report, "image lacks libraries");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Warning);
  EXPECT_THAT(all[0]->text, HasSubstr("wants cuBLAS 12 and cuDNN 8"));
  EXPECT_EQ(all[0]->evidence[0].where, "Dockerfile:1");
  EXPECT_EQ(all[0]->evidence[1].where, "Dockerfile:3");
  const std::string wheels = "RUN pip install nvidia-cublas-cu12 'nvidia-cudnn-cu12==8.*'";
  const std::string path =
      "ENV LD_LIBRARY_PATH=/usr/local/lib/python3.11/site-packages/nvidia/cublas/lib:/usr/local/"
      "lib/python3.11/site-packages/nvidia/cudnn/lib";
  EXPECT_EQ(all[0]->remedies[0].command, wheels);
  EXPECT_THAT(all[0]->remedies[0].text, HasSubstr(path));
  // The wheels alone lie where the loader does not look.
  EXPECT_THAT(found("Dockerfile", bare + wheels + "\n", "image lacks libraries"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("Dockerfile", bare + wheels + "\n" + path + "\n", "image lacks libraries"),
              IsEmpty());
}

TEST(RecipeMistakes, ASlimImageThatNobodyMeantForACardIsANote) {
  EXPECT_THAT(found("Dockerfile", "FROM python:3.11-slim\nRUN pip install faster-whisper\n",
                    "image lacks libraries"),
              ElementsAre(HasSubstr("note: ")));
  EXPECT_THAT(found("Dockerfile",
                    "FROM python:3.11-slim\nRUN pip install torch==2.5.1+cpu --index-url "
                    "https://download.pytorch.org/whl/cpu\nRUN pip install faster-whisper\n",
                    "image lacks libraries"),
              IsEmpty());
}

TEST(RecipeMistakes, AnImageOfNvidiasHoldsWhatItsFlavourSays) {
  const auto lacks = [](const std::string& tag, const std::string& lines) {
    return found("Dockerfile", "FROM nvidia/cuda:" + tag + "\n" + lines, "image lacks libraries");
  };
  const std::string newest = "RUN pip install ctranslate2==4.8.5\n";
  EXPECT_THAT(lacks("12.4.1-runtime-ubuntu22.04", newest), IsEmpty());
  EXPECT_THAT(lacks("12.4.1-base-ubuntu22.04", newest),
              ElementsAre(HasSubstr("wants cuBLAS 12, and")));
  EXPECT_THAT(lacks("13.0.1-cudnn-runtime-ubuntu22.04", newest),
              ElementsAre(HasSubstr("wants cuBLAS 12, and")));
  const std::string older = "RUN pip install ctranslate2==4.5.0\n";
  EXPECT_THAT(lacks("12.4.1-cudnn-runtime-ubuntu22.04", older), IsEmpty());
  EXPECT_THAT(lacks("12.4.1-devel-ubuntu22.04", older),
              ElementsAre(HasSubstr("wants cuDNN 9, and")));
  EXPECT_THAT(
      lacks("12.4.1-runtime-ubuntu22.04",
            "RUN apt-get update && apt-get install -y libcudnn9-cuda-12=9.1.0.70-1\n" + older),
      IsEmpty());
  const std::string onnx = "RUN pip install onnxruntime-gpu==1.23.2\n";
  EXPECT_THAT(lacks("12.4.1-cudnn-runtime-ubuntu22.04", onnx), IsEmpty());
  EXPECT_THAT(lacks("12.4.1-runtime-ubuntu22.04", onnx),
              ElementsAre(HasSubstr("sessions compute on the processor")));
  const Report report = judge(files({{"Dockerfile",
                                      "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install "
                                      "onnxruntime-gpu==1.23.2\n"}}));
  const auto all = of_rule(report, "image lacks libraries");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(
      all[0]->remedies[0].text,
      HasSubstr("Dockerfile:1 is to read nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04, not"));
}

TEST(RecipeMistakes, AnImageOfNvidiasFromCuda124OnHoldsCudnn9WhateverItsTagSays) {
  const auto cudnn = [](const std::string& image, const char* rule) {
    return found("Dockerfile",
                 "FROM " + image + "\nRUN pip install faster-whisper==1.0.3 ctranslate2==4.4.0\n",
                 rule);
  };
  for (const char* const image : {"nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04",
                                  "nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04",
                                  "nvidia/cuda:12.9.1-cudnn-devel-ubuntu24.04"}) {
    EXPECT_THAT(cudnn(image, "image lacks libraries"), IsEmpty()) << image;  // is said once
    EXPECT_THAT(cudnn(image, "cudnn of another version"),
                ElementsAre(HasSubstr("wants cuDNN 8, and another one comes: 9 by the image")))
        << image;
  }
  EXPECT_THAT(
      cudnn("docker.io/nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04", "cudnn of another version"),
      ElementsAre(HasSubstr("another one comes: 9 by the image")));
  // An older CUDA with a tag like that, and images of others, may hold either.
  for (const char* const image :
       {"nvidia/cuda:12.3.2-cudnn-runtime-ubuntu22.04", "acme/cuda12.6.3-cudnn-runtime:1",
        "nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04"}) {
    EXPECT_THAT(cudnn(image, "cudnn of another version"), IsEmpty()) << image;
  }
}

TEST(RecipeMistakes, WhatAnImageLacksIsSaidOnce) {
  const Report report =
      judge(files({{"Dockerfile",
                    "FROM nvidia/cuda:12.1.1-base-ubuntu22.04\nRUN pip install "
                    "faster-whisper==1.1.1 ctranslate2==4.8.5\nRUN pip install --no-deps "
                    "onnxruntime-gpu==1.23.2\n"}}));
  const auto all = of_rule(report, "image lacks libraries");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0]->text, HasSubstr("ctranslate2 4.8.5 wants cuBLAS 12, and"));
  EXPECT_THAT(all[0]->text, HasSubstr("onnxruntime-gpu 1.23.2 wants cuBLAS 12 and cuDNN 9, and"));
  ASSERT_EQ(all[0]->remedies.size(), 1U);
  EXPECT_THAT(
      all[0]->remedies[0].text,
      HasSubstr("Dockerfile:1 is to read nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04, not"));
}

TEST(RecipeMistakes, ServicesWithImagesOfTheirOwnNeedNotAgree) {
  const Facts facts = files(
      {{"compose.yml",
        "services:\n  asr:\n    build: ./asr\n    gpus: all\n  tts:\n    build: ./tts\n    gpus: "
        "all\n"},
       {"asr/Dockerfile",
        "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nRUN pip install torch==2.5.1 "
        "--index-url https://download.pytorch.org/whl/cu124\n"},
       {"tts/Dockerfile",
        "FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04\nRUN pip install torch==2.7.1 "
        "--index-url https://download.pytorch.org/whl/cu128\n"}});
  const Alignment alignment = align(facts, builtin_knowledge());
  EXPECT_FALSE(alignment.has_conflict());
  EXPECT_THAT(alignment.edits, IsEmpty());
  const Report report = judge(facts);
  EXPECT_THAT(of_rule(report, "pinned apart"), IsEmpty());
  const auto notes = of_rule(report, "images differ");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0]->level, Level::Note);
  EXPECT_THAT(notes[0]->text, HasSubstr("2.5.1+cu124 in asr (compose.yml), 2.7.1+cu128 in tts"));
}

TEST(RecipeMistakes, AnImageOfAnOlderCudaGoesWithItsWheels) {
  const auto aligned = [](const char* tag, const char* driver) {
    Facts facts =
        files({{"compose.yml", "services:\n  asr:\n    build: ./asr\n  tts:\n    image: x\n"}});
    facts.recipes.push_back(parse_recipe("FROM nvidia/cuda:" + std::string(tag) +
                                             "\nRUN pip install torch==2.5.1 --index-url "
                                             "https://download.pytorch.org/whl/cu124\n",
                                         "asr/Dockerfile")
                                .value());
    facts.machine.driver = driver;
    return align(facts, builtin_knowledge());
  };
  EXPECT_FALSE(aligned("11.8.0-runtime-ubuntu22.04", "").has_conflict());
  EXPECT_THAT(aligned("11.8.0-runtime-ubuntu22.04", "").edits, IsEmpty());
  // A newer one demands a newer driver than the wheels, which may be there.
  EXPECT_TRUE(aligned("13.0.1-runtime-ubuntu22.04", "").has_conflict());
  EXPECT_TRUE(aligned("13.0.1-runtime-ubuntu22.04", "550.54.14").has_conflict());
  EXPECT_FALSE(aligned("13.0.1-runtime-ubuntu22.04", "580.95.05").has_conflict());
}

}  // namespace mynah::doctor
