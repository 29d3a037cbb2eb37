// What the build steps of an image come to.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipes.h"
#include "doctor/recipes/shell_text.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kCu128 = " --index-url https://download.pytorch.org/whl/cu128";

Facts with_card(Facts facts) {
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  return facts;
}

// A file that stands on the disk beside the Dockerfile.
struct Beside {
  const char* path = nullptr;
  const char* text = nullptr;
};

Report of_image(const std::string& lines, const std::string& from = "python:3.11-slim",
                const Beside& beside = {}) {
  Facts facts;
  facts.recipes.push_back(parse_recipe("FROM " + from + "\n" + lines, "Dockerfile").value());
  if (beside.path != nullptr) {
    facts.recipes.push_back(parse_recipe(beside.text, beside.path).value());
  }
  return judge(with_card(std::move(facts)));
}

// "torch 2.8.0+cu128 works" for each framework.
std::vector<std::string> outcomes(const Report& report) {
  std::vector<std::string> said;
  said.reserve(report.verdicts.size());
  for (const FrameworkVerdict& verdict : report.verdicts) {
    said.push_back(verdict.framework + " " + verdict.version +
                   (verdict.outcome == Outcome::Works     ? " works"
                    : verdict.outcome == Outcome::Unknown ? " unknown"
                                                          : " fails"));
  }
  return said;
}

std::vector<std::string> installed(const std::string& lines,
                                   const std::string& from = "python:3.11-slim",
                                   const Beside& beside = {}) {
  return outcomes(of_image(lines, from, beside));
}

std::vector<std::string> doubtful(const std::string& script) {
  std::vector<std::string> words;
  for (const ShellCommand& command : shell_commands(script)) {
    if (command.doubtful && !command.words.empty()) {
      words.push_back(command.words.back());
    }
  }
  return words;
}

}  // namespace

TEST(RecipeImages, HaveWhatIsInstalledLast) {
  const std::string old = "RUN pip install torch==2.5.1\n";
  const std::string pin = std::string("torch==2.7.1") + kCu128 + "\n";
  for (const char* const command :
       {"RUN pip install --upgrade ", "RUN pip install ",
        "RUN pip uninstall -y torch && pip install ", "RUN pip install --force-reinstall ",
        "RUN python -m pip install -U ", "RUN pip install torch==2.5.1 && pip install "}) {
    std::string lines = old;
    lines.append(command).append(pin);
    EXPECT_THAT(installed(lines), ElementsAre("torch 2.7.1+cu128 works")) << lines;
  }
  EXPECT_THAT(installed("RUN pip install " + pin + old), ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(installed("RUN pip install torch==2.5.1\nRUN pip uninstall -y torch\n"), IsEmpty());
}

TEST(RecipeImages, KeepWhatIsThereAndWouldDo) {
  const std::string first = std::string("RUN pip install torch==2.7.1") + kCu128 + "\n";
  EXPECT_THAT(installed(first + "RUN pip install 'torch>=2' numpy\n"),
              ElementsAre("torch 2.7.1+cu128 works"));
  // The same version from another index is there already.
  EXPECT_THAT(installed(first + "RUN pip install torch==2.7.1\n"),
              ElementsAre("torch 2.7.1+cu128 works"));
  EXPECT_THAT(installed("RUN pip install torch==2.7.1\n" + first),
              ElementsAre("torch 2.7.1+cu126 fails"));
  EXPECT_THAT(installed("RUN pip install torch==2.5.1\nRUN pip install -U torch\n"), IsEmpty());
  EXPECT_THAT(installed(first + "COPY requirements.txt .\nRUN pip install -r requirements.txt\n",
                        "python:3.11", {"requirements.txt", "torch>=2.0\nnumpy\n"}),
              ElementsAre("torch 2.7.1+cu128 works"));
  EXPECT_THAT(installed("COPY requirements.txt .\nRUN pip install -r requirements.txt\n"
                        "RUN pip install torch==2.8.0\n",
                        "python:3.11", {"requirements.txt", "torch==2.5.1\nnumpy\n"}),
              ElementsAre("torch 2.8.0+cu128 works"));
}

TEST(RecipeImages, WhatIsReplacedIsSaidAndTheFirstLineIsToSayTheSame) {
  const Report report =
      of_image("RUN pip install torch==2.8.0\nRUN pip install numpy torch==2.9.1\n");
  const auto said = of_rule(report, "requirements contradict");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]->level, Level::Warning);
  ASSERT_EQ(said[0]->remedies.size(), 1U);
  EXPECT_EQ(said[0]->remedies[0].command,
            "sed -i '2s|torch==2\\.8\\.0|torch==2.9.1|' 'Dockerfile'");
  // Whoever upgrades means it.
  const Report meant = of_image("RUN pip install torch==2.8.0\nRUN pip install -U torch==2.9.1\n");
  ASSERT_EQ(of_rule(meant, "requirements contradict").size(), 1U);
  EXPECT_EQ(of_rule(meant, "requirements contradict")[0]->level, Level::Note);
}

TEST(RecipeImages, AVersionThatIsNotThereStopsTheBuildThoughALaterLineReplacesIt) {
  EXPECT_THAT(failures(of_image("RUN pip install torch==2.5.9\nRUN pip install torch==2.8.0\n")),
              ElementsAre("no such version: torch 2.5.9 in Dockerfile"));
}

TEST(RecipeImages, ALaterLineBringsTheTorchThatItAsksFor) {
  const Report report =
      of_image("RUN pip install torch==2.5.1\nRUN pip install torchaudio==2.7.1\n");
  EXPECT_THAT(failures(report), IsEmpty());
  const auto said = of_rule(report, "requirements contradict");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0]->text, HasSubstr("torchaudio==2.7.1 asks for torch==2.7.1"));
  EXPECT_THAT(of_rule(report, "torch companions"), IsEmpty());
}

TEST(RecipeImages, AnAlternativeIsADoubt) {
  EXPECT_THAT(failures(of_image("RUN pip install torch==2.5.9 || pip install torch==2.8.0\n")),
              IsEmpty());
  EXPECT_THAT(failures(of_image("RUN pip install torch==2.5.1 || true\n")), IsEmpty());
  EXPECT_THAT(failures(of_image("ARG GPU\nRUN if [ $GPU = 1 ]; then pip install torch==2.7.1" +
                                std::string(kCu128) + "; else pip install torch==2.5.1; fi\n")),
              IsEmpty());
  EXPECT_THAT(failures(of_image("RUN [ -f x ] && pip install torch==2.5.1\n")), IsEmpty());
  EXPECT_THAT(failures(of_image("RUN [ \"$X\" = y ] && pip install torch==2.5.1 || echo no\n")),
              IsEmpty());
  // One that ends the build is none.
  EXPECT_THAT(installed("RUN pip install torch==2.5.1 || exit 1\n"),
              ElementsAre("torch 2.5.1+cu124 fails"));
}

TEST(RecipeImages, CommandsOfAScriptHangOnEachOther) {
  EXPECT_THAT(doubtful("a && b; c"), IsEmpty());
  EXPECT_THAT(doubtful("a || b && c; d"), ElementsAre("a", "b"));
  EXPECT_THAT(doubtful("(a && b) || c\nd"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(doubtful("set -e; if a; then b; elif c; then d; fi; e"),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(doubtful("for i in 1 2; do a; done && b"), Not(Contains("b")));
  EXPECT_THAT(doubtful("until a; do b; done; c"), ElementsAre("a", "b"));
  EXPECT_THAT(doubtful("case $X in y) a;; *) b;; esac; c"), ElementsAre("a", "b"));
  EXPECT_THAT(doubtful("x=$(a || b) c"), IsEmpty());
  EXPECT_THAT(doubtful("{ a; b; } || c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(doubtful("a || exit 1; b"), IsEmpty());
  const auto commands = shell_commands("grep -v torch a.txt > b.txt 2>&1; c >>d.txt");
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_THAT(commands[0].written, ElementsAre("b.txt"));
  EXPECT_THAT(commands[1].written, ElementsAre("d.txt"));
}

TEST(RecipeImages, AreOfTheLastStage) {
  const std::string old = "RUN pip install torch==2.5.1\n";
  EXPECT_THAT(
      installed(old + "FROM python:3.11\nRUN pip install torch==2.8.0\n", "python:3.11 AS export"),
      ElementsAre("torch 2.8.0+cu128 works"));
  EXPECT_THAT(installed(old + "FROM base\nRUN pip install numpy\n", "python:3.11 AS base"),
              ElementsAre("torch 2.5.1+cu124 fails"));
  // What a stage hands over as a file is not what it was made with.
  EXPECT_THAT(installed(old + "FROM python:3.11\nCOPY --from=0 /m.onnx /m.onnx\n"), IsEmpty());
}

TEST(RecipeImages, TakeWholeEnvironmentsOfOtherStages) {
  const std::string end = "FROM python:3.11-slim\n";
  EXPECT_THAT(installed("RUN python -m venv /opt/venv && /opt/venv/bin/pip install torch==2.5.1\n" +
                            end + "COPY --from=b /opt/venv /opt/venv\n",
                        "python:3.11 AS b"),
              ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(installed("RUN pip install --prefix=/install torch==2.5.1\n" + end +
                            "COPY --from=b /install /usr/local\nRUN pip install torch==2.8.0\n",
                        "python:3.11 AS b"),
              ElementsAre("torch 2.8.0+cu128 works"));
  EXPECT_THAT(installed("RUN pip install --user torch==2.5.1\n" + end +
                            "COPY --from=b /root/.local /root/.local\n",
                        "python:3.11 AS b"),
              ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(installed("WORKDIR /app\nCOPY requirements.txt .\nRUN python -m venv .venv && "
                        ". .venv/bin/activate && pip install -r requirements.txt\n" +
                            end + "COPY --from=b /app /app\n",
                        "python:3.11 AS b", {"requirements.txt", "torch==2.5.1\n"}),
              ElementsAre("torch 2.5.1+cu124 fails"));
}

TEST(RecipeImages, AStageThatIsBuiltCanFailTheBuild) {
  const std::string end = "FROM python:3.11-slim\nCOPY --from=b /m.onnx /\n";
  EXPECT_THAT(failures(of_image("RUN pip install torch==2.5.9\n" + end, "python:3.11 AS b")),
              ElementsAre("no such version: torch 2.5.9 in Dockerfile"));
  // One that nothing needs is not built.
  EXPECT_THAT(failures(of_image("RUN pip install torch==2.5.9\nFROM python:3.11-slim\n")),
              IsEmpty());
  // An index that was named there held there.
  EXPECT_THAT(failures(of_image("ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu124\n"
                                "RUN pip install torch==2.5.1+cu124\n" +
                                    end,
                                "python:3.11 AS b")),
              IsEmpty());
}

TEST(RecipeImages, AreBuiltForTheStageAndTheArgumentsThatAServiceNames) {
  const char* const image =
      "FROM python:3.11 AS old\nARG V=2.5.1\nRUN pip install torch==$V\n"
      "FROM python:3.11 AS new\nRUN pip install torch==2.8.0\n";
  const auto judged = [&](const std::string& build, const ImageBuild& read) {
    Facts facts;
    facts.recipes.push_back(
        parse_recipe("services:\n  web:\n    build: " + build + "\n    gpus: all\n", "compose.yml")
            .value());
    facts.recipes.push_back(parse_recipe(image, "Dockerfile").value());
    facts.recipes.push_back(parse_recipe(image, "Dockerfile", read).value());
    return outcomes(judge(with_card(std::move(facts))));
  };
  EXPECT_THAT(judged("{context: ., target: old}", {.target = "old", .arguments = {}}),
              ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(judged("{context: ., target: new}", {.target = "new", .arguments = {}}),
              ElementsAre("torch 2.8.0+cu128 works"));
  EXPECT_THAT(judged("{context: ., target: old, args: {V: 2.9.1}}",
                     {.target = "old", .arguments = {{"V", "2.9.1"}}}),
              ElementsAre("torch 2.9.1+cu128 works"));
  EXPECT_THAT(judged("{context: ., target: old, args: [V]}",
                     {.target = "old", .arguments = {{"V", "${V}"}}}),
              IsEmpty());
}

TEST(RecipeImages, AFileThatACommandChangesIsNotKnown) {
  const Beside file = {"requirements.txt", "torch==2.5.1\n"};
  for (const char* lines :
       {"COPY . .\nRUN cat requirements.txt | grep -v torch > r.txt && pip install -r r.txt\n",
        "COPY requirements.txt .\nRUN sed -i 's/torch==2.5.1/torch==2.8.0/' requirements.txt && "
        "pip "
        "install -r requirements.txt\n",
        "COPY requirements.txt /app/\nWORKDIR /app\nRUN grep -v torch requirements.txt > r2.txt && "
        "pip install -r r2.txt\n",
        "COPY . .\nRUN echo 'torch==2.8.0' >> requirements.txt\nRUN pip install -r "
        "requirements.txt\n"}) {
    const Report report = of_image(lines, "python:3.11", file);
    EXPECT_THAT(failures(report), IsEmpty()) << lines;
    EXPECT_THAT(outcomes(report), IsEmpty()) << lines;
    EXPECT_THAT(of_rule(report, "recipe is missing"), IsEmpty()) << lines;
    ASSERT_EQ(of_rule(report, "recipe not understood").size(), 1U) << lines;
    EXPECT_THAT(of_rule(report, "recipe not understood")[0]->evidence[0].text,
                HasSubstr("is written or changed by a command at line "));
  }
}

TEST(RecipeImages, AFileThatACommandChangesMayReplaceWhatWasInstalledBefore) {
  const std::string old = "RUN pip install torch==2.5.1\n";
  const std::string edited =
      "COPY requirements.txt .\nRUN sed -i 's/a/b/' requirements.txt && pip install -r "
      "requirements.txt\n";
  const Report report = of_image(old + edited);
  EXPECT_THAT(failures(report), IsEmpty());
  EXPECT_THAT(outcomes(report), ElementsAre("torch 2.5.1+cu124 unknown"));
  // Not what comes after it.
  EXPECT_THAT(installed(edited + old), ElementsAre("torch 2.5.1+cu124 fails"));
}

TEST(RecipeImages, BringTheirTorch) {
  const char* const image = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime";
  for (const char* lines : {"RUN pip install openai-whisper==20240930\n", "RUN pip install torch\n",
                            "RUN pip install 'torch>=2.0'\n"}) {
    const Report report = of_image(lines, image);
    EXPECT_THAT(outcomes(report), ElementsAre("torch 2.7.1+cu128 works")) << lines;
    EXPECT_THAT(of_rule(report, "pin drifts"), IsEmpty()) << lines;
  }
  EXPECT_THAT(installed("RUN pip install torch==2.5.1\n", image),
              ElementsAre("torch 2.5.1+cu124 fails"));
  // Not into an environment apart.
  EXPECT_THAT(installed("RUN python -m venv /v && /v/bin/pip install torch\n", image), IsEmpty());
}

TEST(RecipeImages, OfPyTorchAreMendedByAnotherOfPyTorch) {
  const Report report = of_image("RUN pip install openai-whisper==20240930 'torch>=2.0'\n",
                                 "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel");
  const auto found = of_rule(report, "kernel image");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(found[0]->remedies[0].command,
              HasSubstr("|pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel|"));
}

TEST(RecipeImages, WithTwoEnvironmentsHaveTwo) {
  const Report report = of_image(
      "RUN python -m venv /a && /a/bin/pip install torch==2.5.1\n"
      "RUN python -m venv /b && . /b/bin/activate && pip install torch==2.8.0\n");
  EXPECT_THAT(outcomes(report), ElementsAre("torch 2.5.1+cu124 fails", "torch 2.8.0+cu128 works"));
  ASSERT_EQ(report.verdicts.size(), 2U);
  EXPECT_EQ(report.verdicts[1].environment, "Dockerfile [/b]");
  EXPECT_THAT(of_rule(report, "requirements contradict"), IsEmpty());
}

TEST(RecipeImages, OneEnvironmentIsOneHoweverItIsNamed) {
  const std::string make = "WORKDIR /app\nRUN uv venv\n";
  const std::string old = "RUN .venv/bin/pip install torch==2.5.1\n";
  for (const char* last :
       {"ENV PATH=\"/app/.venv/bin:$PATH\"\nRUN pip install torch==2.8.0\n",
        "RUN uv pip install torch==2.8.0\n",
        "ENV VIRTUAL_ENV=/app/.venv\nRUN uv pip install torch==2.8.0\n",
        "RUN uv pip install --python /app/.venv/bin/python torch==2.8.0\n",
        "RUN . .venv/bin/activate && pip install torch==2.8.0\n",
        "RUN /app/.venv/bin/python -m pip install torch==2.8.0\n",
        "RUN bash -c 'source .venv/bin/activate && pip install torch==2.8.0'\n"}) {
    EXPECT_THAT(installed(make + old + last), ElementsAre("torch 2.8.0+cu128 works")) << last;
  }
}

TEST(RecipeImages, AnEnvironmentOfCondaThatAFileNamesIsThatOfTheCommands) {
  EXPECT_THAT(
      installed("COPY environment.yml .\nRUN conda env create -f environment.yml\n"
                "RUN conda run -n asr pip install torch==2.8.0\n",
                "continuumio/miniconda3",
                {"environment.yml",
                 "name: asr\ndependencies:\n  - python=3.11\n  - pip:\n    - torch==2.5.1\n"}),
      ElementsAre("torch 2.8.0+cu128 works"));
}

TEST(RecipeImages, TextsAreNoCommands) {
  EXPECT_THAT(installed("RUN echo pip install torch==2.5.1\n"), IsEmpty());
  EXPECT_THAT(installed("RUN cat > run.sh <<EOF\npip install torch==2.5.1\nEOF\n"), IsEmpty());
  EXPECT_THAT(installed("RUN bash <<EOF\npip install torch==2.5.1\nEOF\n"),
              ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(installed("RUN (pip install torch==2.5.1)\n"),
              ElementsAre("torch 2.5.1+cu124 fails"));
  EXPECT_THAT(installed("RUN pip download torch==2.5.1 -d /x\n"), IsEmpty());
}

TEST(RecipeImages, OfOtherMakersKeepTheirTorch) {
  for (const char* from :
       {"rocm/pytorch:rocm7.2_ubuntu24.04_py3.12_pytorch_release_2.10.0",
        "intel/intel-extension-for-pytorch:2.8.10-xpu", "nvcr.io/nvidia/pytorch:25.01-py3"}) {
    const Report report = of_image("RUN pip install 'torch>=2.0' einops\n", from);
    EXPECT_THAT(of_rule(report, "pin drifts"), IsEmpty()) << from;
    // Told to, pip takes the newest all the same.
    EXPECT_EQ(of_rule(of_image("RUN pip install -U torch\n", from), "pin drifts").size(), 1U);
  }
  EXPECT_EQ(of_rule(of_image("RUN pip install torch\n"), "pin drifts").size(), 1U);
}

TEST(RecipeImages, AWheelThatAPatternFindsIsOfThePackageThatThePatternNames) {
  const Facts facts = files({{"Dockerfile",
                              "FROM python:3.12-slim\nRUN pip install faster-whisper==1.2.1\n"
                              "RUN pip install --force-reinstall /tmp/ctranslate2-*-cp312-*.whl\n"
                              "RUN pip install /tmp/*.whl\n"}});
  const Recipe& recipe = facts.recipes[0];
  ASSERT_EQ(recipe.requirements.size(), 2U);
  EXPECT_EQ(recipe.requirements[1].name, "ctranslate2");
  EXPECT_EQ(recipe.requirements[1].specifier, "");
  EXPECT_EQ(recipe.requirements[1].url, "/tmp/ctranslate2-*-cp312-*.whl");
  EXPECT_THAT(recipe.doubts, ElementsAre(HasSubstr("\"/tmp/*.whl\"")));
  EXPECT_THAT(of_rule(judge(facts), "pin drifts"), IsEmpty());
}

TEST(RecipeImages, WhereUvInstallsCommandsAreUvs) {
  const Report report = of_image(
      "RUN uv pip install --system onnxruntime==1.22.0 onnxruntime-gpu==1.22.0 "
      "faster-whisper==1.2.1\n");
  const auto found = of_rule(report, "packages clash");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->remedies.at(0).command,
            "RUN uv pip uninstall --system onnxruntime onnxruntime-gpu && uv pip install --system "
            "--no-deps onnxruntime-gpu==1.22.0");
}

// An image that somebody else filled is no healthy one, and what needs no card is left in peace.
TEST(RecipeImages, AnImageForACardThatNobodyLookedIntoIsUnknown) {
  const auto said = [](const std::string& service) {
    const std::string compose = "services:\n  llm:\n" + service;
    Facts facts = files({{"compose.yml", compose.c_str()}});
    facts.machine.cards = {card("GeForce RTX 5090", "12.0")};
    facts.machine.driver = "580.95.05";
    return of_rule(judge(facts), "image was not looked into");
  };
  const std::string image = "    image: vllm/vllm-openai:v0.8.5\n";
  const auto found = said(image + "    gpus: all\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Unknown);
  ASSERT_EQ(found[0]->remedies.size(), 1U);
  EXPECT_THAT(found[0]->remedies[0].command,
              testing::HasSubstr("docker export $(docker create vllm/vllm-openai:v0.8.5)"));
  EXPECT_TRUE(said("    image: redis:7\n").empty());
  EXPECT_TRUE(said("    image: nvidia/cuda:12.8.1-base-ubuntu22.04\n    gpus: all\n").empty());
  EXPECT_TRUE(
      said("    image: pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\n    gpus: all\n").empty());
}

}  // namespace mynah::doctor
