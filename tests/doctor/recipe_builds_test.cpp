// What images compile, the environments that they copy, and cards that variables hide.
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/device_architectures.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> found_in(const char* rule, const std::string& dockerfile) {
  return words_of(judge(files({{"Dockerfile", dockerfile.c_str()}})), rule);
}

std::vector<std::string> remedies(const char* rule, const char* path, const std::string& text) {
  const Report report = judge(files({{path, text.c_str()}}));
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

std::vector<std::string> architectures(const std::string& line) {
  return named_architectures(shell_commands(line).front(), {});
}

// What is said of the variables of a service on a machine with one card.
std::vector<std::string> hidden(const std::string& lines, size_t cards = 1,
                                const std::string& dockerfile_lines = "") {
  const std::string compose = "services:\n  asr:\n    build: .\n    image: asr\n" + lines;
  const std::string dockerfile =
      "FROM python:3.11\n" + dockerfile_lines + "RUN pip install torch==2.7.1\n";
  Facts facts = files({{"compose.yml", compose.c_str()}, {"Dockerfile", dockerfile.c_str()}});
  facts.machine.driver = "570.124.06";
  facts.machine.cards.assign(cards, card("NVIDIA GeForce RTX 4090", "8.9"));
  const Report report = judge(facts);
  std::vector<std::string> words = words_of(report, "visible devices");
  for (const FrameworkVerdict& verdict : report.verdicts) {
    words.emplace_back(verdict.outcome == Outcome::Works         ? "works"
                       : verdict.outcome == Outcome::WorksSlowly ? "slowly"
                                                                 : "other");
  }
  return words;
}

constexpr const char* kArchitecture = "compiler does not know architecture";
constexpr const char* kCopied = "copied environment";
constexpr const char* kTorch = "build wants torch";

}  // namespace

TEST(RecipeBuilds, ArchitecturesAreReadAsEachToolIsToldThem) {
  EXPECT_THAT(
      architectures("cmake -B b -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=\"86;120a-real\""),
      ElementsAre("86", "120a-real"));
  EXPECT_THAT(architectures("cmake -B b -DCMAKE_CUDA_ARCHITECTURES:STRING=native"),
              ElementsAre("native"));
  EXPECT_THAT(architectures("CMAKE_ARGS='-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=120' pip "
                            "install --no-binary :all: llama-cpp-python"),
              ElementsAre("120"));
  EXPECT_THAT(architectures("TORCH_CUDA_ARCH_LIST='8.6 9.0;12.0+PTX' python setup.py install"),
              ElementsAre("86-real", "90-real", "120"));
  EXPECT_THAT(architectures("nvcc -gencode arch=compute_90a,code=sm_90a -arch sm_120 a.cu"),
              ElementsAre("90a-real", "120"));
  EXPECT_THAT(architectures("CUDAARCHS=80 cmake -B b"), ElementsAre("80"));
  EXPECT_THAT(architectures("nvcc -gencode arch=compute_86,code=[sm_86,compute_86] a.cu"),
              ElementsAre("86-real", "86-virtual"));
  EXPECT_THAT(architectures("cmake -DCMAKE_CUDA_ARCHITECTURES=$ARCH"), ElementsAre("$ARCH"));
}

TEST(RecipeBuilds, AnOlderCompilerDoesNotKnowANewArchitecture) {
  const std::string build =
      "RUN cmake -B build -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=\"86;120\" && cmake --build "
      "build\n";
  const std::string old = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n";
  EXPECT_THAT(found_in(kArchitecture, old + build),
              ElementsAre(AllOf(HasSubstr("fail: "), HasSubstr("nvcc of CUDA 12.4.1 does not know: "
                                                               "sm_120 (compute capability 12.0) "
                                                               "came with CUDA 12.8"))));
  EXPECT_THAT(remedies(kArchitecture, "Dockerfile", old + build),
              Contains(HasSubstr("nvidia/cuda:12.8.1-devel-ubuntu22.04")));
  EXPECT_THAT(found_in(kArchitecture, "FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\n" + build),
              IsEmpty());
  // A stage that is only built, and variables of the image.
  EXPECT_THAT(found_in(kArchitecture,
                       "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\n"
                       "ENV CMAKE_ARGS=\"-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=120\"\n"
                       "RUN pip install llama-cpp-python\n"
                       "FROM nvidia/cuda:12.8.1-runtime-ubuntu22.04\n"
                       "COPY --from=build /app /app\n"),
              ElementsAre(HasSubstr("fail: ")));
  EXPECT_THAT(found_in(kArchitecture, old + "ENV TORCH_CUDA_ARCH_LIST=\"12.0\"\n"
                                            "RUN pip install --no-build-isolation flash-attn\n"),
              ElementsAre(HasSubstr("fail: ")));
  // Wheels are compiled already.
  EXPECT_THAT(found_in(kArchitecture,
                       old + "ENV TORCH_CUDA_ARCH_LIST=\"12.0\"\nRUN pip install torch==2.7.1\n"),
              IsEmpty());
  // Another toolkit, or a command that may not run.
  EXPECT_THAT(found_in(kArchitecture, old + "RUN apt-get install -y cuda-toolkit-12-8\n" + build),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found_in(kArchitecture, old + "RUN cmake -DGGML_CUDA=ON "
                                            "-DCMAKE_CUDA_ARCHITECTURES=120 . || true\n"),
              ElementsAre(HasSubstr("unknown: ")));
  // And the newest have left the old ones behind.
  EXPECT_THAT(found_in(kArchitecture,
                       "FROM nvidia/cuda:13.0.1-devel-ubuntu24.04\n"
                       "RUN cmake -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=61 .\n"),
              ElementsAre(HasSubstr("sm_61 (compute capability 6.1) left with CUDA 13.0")));
}

TEST(RecipeBuilds, WhatIsCompiledHoldsCodeForTheCardThatIsThere) {
  const auto said = [](const std::string& list, const char* name, const char* capability) {
    const std::string dockerfile =
        "FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nRUN cmake -B b -DGGML_CUDA=ON "
        "-DCMAKE_CUDA_ARCHITECTURES=" +
        list + " && cmake --build b\n";
    Facts facts = files({{"Dockerfile", dockerfile.c_str()}});
    facts.machine.cards = {card(name, capability), card(name, capability)};
    facts.machine.driver = "580.95.05";
    return words_of(judge(facts), "compiled for other cards");
  };
  const char* const blackwell = "GeForce RTX 5090";
  EXPECT_THAT(
      said("'75;86-real'", "GeForce GTX 1080", "6.1"),
      ElementsAre(AllOf(HasSubstr("warning: "), HasSubstr("compiles only sm_75, sm_86 and PTX"),
                        HasSubstr("compute capability 6.1 runs none of that"))));
  EXPECT_THAT(said("'80-real;86-real'", blackwell, "12.0"), SizeIs(1));
  // The driver compiles PTX.
  EXPECT_THAT(said("'80-real;86'", blackwell, "12.0"), IsEmpty());
  EXPECT_THAT(said("'80-virtual'", blackwell, "12.0"), IsEmpty());
  EXPECT_THAT(said("'120a-real'", blackwell, "12.0"), IsEmpty());
  EXPECT_THAT(said("'90a-real'", blackwell, "12.0"), SizeIs(1));
  EXPECT_THAT(said("80-real", "GeForce RTX 3090", "8.6"), IsEmpty());
  // Nobody knows.
  EXPECT_THAT(said("native", blackwell, "12.0"), IsEmpty());
  EXPECT_THAT(said("\"80-real;$MORE\"", blackwell, "12.0"), IsEmpty());
}

// Docker's own registry goes without saying; PyTorch's images have other tags.
TEST(RecipeBuilds, AnImageIsKnownByItsShortName) {
  const std::string build = "RUN cmake -B b -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=120 .\n";
  const std::string old = "FROM docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04\n";
  EXPECT_THAT(found_in(kArchitecture, old + build), ElementsAre(HasSubstr("fail: ")));
  EXPECT_THAT(remedies(kArchitecture, "Dockerfile", old + build),
              Contains(HasSubstr("nvidia/cuda:12.8.1-devel-ubuntu22.04")));
  EXPECT_THAT(
      remedies(kArchitecture, "Dockerfile",
               "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST=12.0\n"
               "RUN pip install --no-build-isolation flash-attn\n"),
      Contains(HasSubstr("pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel")));
}

TEST(RecipeBuilds, ACopiedEnvironmentWantsThePythonThatItWasMadeWith) {
  const auto copied = [](const std::string& first, const std::string& last,
                         const std::string& more = "",
                         const std::string& make = "python -m venv /opt/venv") {
    return found_in(kCopied, "FROM " + first + " AS build\nRUN " + make +
                                 " && /opt/venv/bin/pip install torch==2.7.1\nFROM " + last + "\n" +
                                 more + "COPY --from=build /opt/venv /opt/venv\n");
  };
  EXPECT_THAT(copied("python:3.11", "python:3.12-slim"),
              ElementsAre(AllOf(HasSubstr("fail: /opt/venv was made with Python 3.11"),
                                HasSubstr("python:3.12-slim, which it is copied into, has Python "
                                          "3.12 in its place"))));
  EXPECT_THAT(copied("python:3.11", "nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
              ElementsAre(HasSubstr("has no Python there: nothing in it starts")));
  EXPECT_THAT(copied("python:3.10", "nvidia/cuda:12.4.1-runtime-ubuntu22.04",
                     "RUN apt-get install -y python3\n"),
              ElementsAre(HasSubstr("by links to /usr/local/bin")));
  EXPECT_THAT(copied("ubuntu:22.04", "ubuntu:24.04", "RUN apt-get install -y python3\n",
                     "python3 -m venv /opt/venv"),
              ElementsAre(HasSubstr("has Python 3.12 in its place")));
  for (const auto& [first, last, more] :
       {std::tuple("python:3.11", "python:3.11-slim", ""),
        std::tuple("python:3.11.9-bookworm", "python:3.11-slim", ""),
        std::tuple("python:3.11", "example.org/base:1", ""),
        std::tuple("python:3.11", "nvidia/cuda:12.4.1-runtime-ubuntu22.04",
                   "COPY --from=build /usr/local /usr/local\n")}) {
    EXPECT_THAT(copied(first, last, more), IsEmpty()) << first << " " << last;
  }
  // uv may have taken a Python of its own.
  EXPECT_THAT(copied("python:3.11", "python:3.12-slim", "", "uv venv /opt/venv"), IsEmpty());
  EXPECT_THAT(remedies(kCopied, "Dockerfile",
                       "FROM python:3.11 AS build\nRUN python -m venv /opt/venv && "
                       "/opt/venv/bin/pip install torch==2.7.1\nFROM python:3.12-slim\n"
                       "COPY --from=build /opt/venv /opt/venv\n"),
              Contains(HasSubstr("3.11")));
}

TEST(RecipeBuilds, FlashAttnIsBuiltWithTheTorchThatIsThere) {
  const auto of_file = [](const char* text) {
    return words_of(judge(files({{"requirements.txt", text}})), kTorch);
  };
  EXPECT_THAT(of_file("torch==2.7.1\nflash-attn==2.7.4.post1\n"),
              ElementsAre(HasSubstr("warning: flash-attn has no wheel in the Python index")));
  EXPECT_THAT(of_file("torch==2.7.1\nflash-attn @ https://example.org/flash_attn-2.7.4-cp311-"
                      "cp311-linux_x86_64.whl\n"),
              IsEmpty());
  EXPECT_THAT(remedies(kTorch, "requirements.txt", "torch==2.7.1\nflash-attn==2.7.4.post1\n"),
              Contains("pip install --no-build-isolation \"flash-attn==2.7.4.post1\""));
  const std::string image = "FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\n";
  EXPECT_THAT(found_in(kTorch, image + "RUN pip install torch==2.7.1 flash-attn\n"),
              ElementsAre(HasSubstr("its build imports torch")));
  EXPECT_THAT(
      found_in(kTorch, image + "RUN pip install torch==2.7.1\nRUN pip install flash-attn\n"),
      ElementsAre(HasSubstr("its build imports torch")));
  EXPECT_THAT(
      found_in(kTorch, image + "RUN pip install --no-build-isolation torch==2.7.1 flash-attn\n"),
      ElementsAre(HasSubstr("it is not there yet")));
  for (const char* const fine :
       {"RUN pip install torch==2.7.1\nRUN pip install --no-build-isolation flash-attn\n",
        "RUN pip install torch==2.7.1 && pip install flash-attn --no-build-isolation\n",
        "ENV PIP_NO_BUILD_ISOLATION=1\nRUN pip install torch==2.7.1\nRUN pip install "
        "flash-attn\n"}) {
    EXPECT_THAT(found_in(kTorch, image + fine), IsEmpty()) << fine;
  }
}

TEST(RecipeBuilds, AVariableHidesTheOnlyCard) {
  const std::string gpus = "    gpus: all\n";
  EXPECT_THAT(hidden(gpus + "    environment: {CUDA_VISIBLE_DEVICES: 1}\n"),
              ElementsAre(HasSubstr("fail: "), "slowly"));
  EXPECT_THAT(hidden(gpus + "    environment: [CUDA_VISIBLE_DEVICES=1]\n"),
              ElementsAre(HasSubstr("there is no card 1"), "slowly"));
  EXPECT_THAT(hidden(gpus, 1, "ENV CUDA_VISIBLE_DEVICES=1\n"), Contains(HasSubstr("fail: ")));
  EXPECT_THAT(hidden(gpus + "    environment: [CUDA_VISIBLE_DEVICES=1]\n", 2),
              ElementsAre("works", "works"));
  EXPECT_THAT(hidden(gpus + "    environment: [CUDA_VISIBLE_DEVICES=0]\n"), ElementsAre("works"));
  // The value of whoever starts it.
  EXPECT_THAT(hidden(gpus + "    environment: [CUDA_VISIBLE_DEVICES]\n"), ElementsAre("works"));
  EXPECT_THAT(hidden(gpus + "    environment: ['CUDA_VISIBLE_DEVICES=${GPU:-1}']\n"),
              ElementsAre(HasSubstr("warning: "), "other"));
}

TEST(RecipeBuilds, NvidiasRuntimeGivesNoCardWhereAVariableSaysNone) {
  const std::string runtime = "    runtime: nvidia\n";
  for (const char* const value : {"none", "void"}) {
    EXPECT_THAT(hidden(runtime + "    environment: {NVIDIA_VISIBLE_DEVICES: " + value + "}\n"),
                ElementsAre(HasSubstr("gives it no card"), "slowly"));
  }
  EXPECT_THAT(hidden(runtime + "    environment: {NVIDIA_VISIBLE_DEVICES: all}\n"),
              ElementsAre("works"));
  // Docker sets the variable by what is reserved.
  EXPECT_THAT(hidden("    gpus: all\n    environment: {NVIDIA_VISIBLE_DEVICES: none}\n"),
              ElementsAre("works"));
}

// Without code for the only card a build is good for nothing: an older compiler knows it.
TEST(RecipeBuilds, ACompilerThatKnowsTheCardIsProposed) {
  const auto remedies = [](const std::string& image, const char* architectures) {
    const std::string text = "FROM " + image + "\nRUN cmake -B b -DGGML_CUDA=1 " +
                             "-DCMAKE_CUDA_ARCHITECTURES=\"" + architectures + "\"\n";
    Facts facts = files({{"Dockerfile", text.c_str()}});
    facts.machine.cards = {card("GeForce GTX 1080", "6.1")};
    const Report report = judge(facts);
    std::vector<std::string> words;
    for (const auto& finding : of_rule(report, "compiler does not know architecture")) {
      for (const Remedy& remedy : finding->remedies) {
        words.push_back(remedy.text);
      }
    }
    return words;
  };
  EXPECT_THAT(remedies("nvidia/cuda:13.0.1-cudnn-devel-ubuntu24.04", "61;75;86;120"),
              ElementsAre(HasSubstr("nvidia/cuda:12.9.1-cudnn-devel-ubuntu24.04")));
  EXPECT_THAT(remedies("nvidia/cuda:13.0.1-devel-ubuntu22.04", "61"),
              ElementsAre(HasSubstr("nvidia/cuda:12.9.1-devel-ubuntu22.04")));
  // The other card's is left out as before.
  EXPECT_THAT(remedies("nvidia/cuda:13.0.1-devel-ubuntu22.04", "70;86"),
              ::testing::Contains(HasSubstr("Leave sm_70 out")));
}

}  // namespace mynah::doctor
