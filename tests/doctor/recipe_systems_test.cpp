// The system and the processor of an image against what is installed into it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/image_system.h"
#include "doctor/recipes/recipe_columns.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Findings of a rule for one Dockerfile, as "level: text".
std::vector<std::string> found(const char* rule, const std::string& text) {
  const Report report = judge(files({{"Dockerfile", text.c_str()}}));
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, rule)) {
    words.push_back(std::string(level_name(finding->level)) + ": " + finding->text);
  }
  return words;
}

std::vector<std::string> remedies(const char* rule, const std::string& text) {
  const Report report = judge(files({{"Dockerfile", text.c_str()}}));
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, rule)) {
    for (const Remedy& remedy : finding->remedies) {
      words.push_back(remedy.command.empty() ? remedy.text : remedy.command);
    }
  }
  return words;
}

std::string system_of(const char* image) {
  const SystemOfImage found = system_of_image(image, builtin_knowledge());
  return found.system == nullptr
             ? ""
             : found.system->name + found.system->version + (found.said ? "" : " by default");
}

}  // namespace

TEST(RecipeSystems, AnImagesNameSaysItsSystem) {
  EXPECT_EQ(system_of("debian:12"), "debian12");
  EXPECT_EQ(system_of("debian:12.5-slim"), "debian12");
  EXPECT_EQ(system_of("debian:trixie-slim"), "debian13");
  EXPECT_EQ(system_of("ubuntu:24.04"), "ubuntu24.04");
  EXPECT_EQ(system_of("ubuntu:noble-20250127"), "ubuntu24.04");
  EXPECT_EQ(system_of("nvidia/cuda:12.9.1-cudnn-runtime-ubuntu24.04"), "ubuntu24.04");
  EXPECT_EQ(system_of("python:3.12-slim-bookworm"), "debian12");
  EXPECT_EQ(system_of("ghcr.io/astral-sh/uv:python3.12-trixie-slim"), "debian13");
  EXPECT_EQ(system_of("python:3.12-alpine3.20"), "alpine");
  EXPECT_EQ(system_of("alpine:3.20"), "alpine");
  EXPECT_EQ(system_of("python:3.12-slim"), "debian13 by default");
  EXPECT_EQ(system_of("python:3.12"), "debian13 by default");
  // A release of Python stays on the system that it was made on, and old ones are made no more.
  for (const char* image : {"python:3.11.4-slim", "python:3.8", "python:3.12-windowsservercore",
                            "python:latest", "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "",
                            "registry.example.org:5000/ubuntu", "debian", "ubuntu:2"}) {
    EXPECT_EQ(system_of(image), "") << image;
  }
}

TEST(RecipeSystems, MuslHasNoWheelsOfFrameworks) {
  EXPECT_THAT(found("wheels for glibc", "FROM python:3.12-alpine\nRUN pip install torch==2.5.1\n"),
              ElementsAre(HasSubstr("fail: torch has wheels for glibc alone")));
  EXPECT_THAT(
      remedies("wheels for glibc", "FROM python:3.12-alpine\nRUN pip install torch==2.5.1\n"),
      Contains(HasSubstr("python:3.12-slim")));
  EXPECT_THAT(found("wheels for glibc",
                    "FROM python:3.12-alpine3.20\nRUN pip install faster-whisper==1.1.1\n"),
              ElementsAre(HasSubstr("fail: ctranslate2, which faster-whisper 1.1.1 asks for,"),
                          HasSubstr("fail: onnxruntime, which faster-whisper 1.1.1 asks for,")));
  // The system's own packages may bring it, or another index.
  EXPECT_THAT(found("wheels for glibc",
                    "FROM alpine:3.20\nRUN apk add py3-pip && pip install torch==2.5.1\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("wheels for glibc",
                    "FROM python:3.12-alpine\nRUN pip install --extra-index-url "
                    "https://musl.example.org/own/wheels/ torch==2.5.1\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("wheels for glibc", "FROM python:3.12-alpine\nRUN pip install numpy==2.2.6\n"),
              IsEmpty());
  EXPECT_THAT(found("wheels for glibc", "FROM python:3.12-slim\nRUN pip install torch==2.5.1\n"),
              IsEmpty());
}

TEST(RecipeSystems, AnExecutableStackIsRefusedByNewGlibc) {
  const auto of = [](const char* image, const char* pin) {
    return found("executable stack",
                 std::string("FROM ") + image + "\nRUN pip install " + pin + "\n");
  };
  EXPECT_THAT(of("python:3.12-slim-trixie", "ctranslate2==4.4.0"),
              ElementsAre(HasSubstr("fail: ctranslate2 comes as 4.4.0 at most")));
  EXPECT_THAT(of("python:3.10-slim", "ctranslate2==4.5.0"), ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(of("python:3.12-trixie", "whisperx==3.4.2"),
              ElementsAre(HasSubstr("fail: ctranslate2, which whisperx 3.4.2 asks for,")));
  // Some take the mark away, or have the loader look over it.
  EXPECT_THAT(found("executable stack",
                    "FROM python:3.12-trixie\nRUN apt-get install -y patchelf\n"
                    "RUN pip install ctranslate2==4.4.0\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("executable stack",
                    "FROM python:3.12-trixie\nENV GLIBC_TUNABLES=glibc.rtld.execstack=2\n"
                    "RUN pip install ctranslate2==4.4.0\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(of("python:3.12-trixie", "ctranslate2==4.6.0"), IsEmpty());
  EXPECT_THAT(of("python:3.12-trixie", "faster-whisper==1.1.1"), IsEmpty());
  EXPECT_THAT(of("python:3.12-bookworm", "ctranslate2==4.4.0"), IsEmpty());
  EXPECT_THAT(remedies("executable stack",
                       "FROM python:3.12-slim-trixie\nRUN pip install ctranslate2==4.4.0\n"),
              Contains(HasSubstr("python:3.12-slim-bookworm")));
}

TEST(RecipeSystems, TheSystemKeepsPipOutOfItsPython) {
  const char* const kApt = "RUN apt-get update && apt-get install -y python3-pip python3-venv\n";
  const auto of = [&](const char* image, const std::string& lines) {
    return found("managed Python", std::string("FROM ") + image + "\n" + kApt + lines);
  };
  EXPECT_THAT(of("ubuntu:24.04", "RUN pip install torch==2.5.1\n"),
              ElementsAre(HasSubstr("fail: ubuntu 24.04 keeps pip out")));
  EXPECT_THAT(of("debian:12-slim", "RUN python3 -m pip install torch==2.5.1\n"),
              ElementsAre(HasSubstr("fail: debian 12 keeps pip out")));
  EXPECT_THAT(of("nvidia/cuda:12.9.1-runtime-ubuntu24.04",
                 "COPY requirements.txt .\nRUN pip3 install -r requirements.txt\n"),
              ElementsAre(HasSubstr("fail: ")));
  for (const char* lines :
       {"RUN pip install --break-system-packages torch==2.5.1\n",
        "RUN PIP_BREAK_SYSTEM_PACKAGES=1 pip install torch==2.5.1\n",
        "ENV PIP_BREAK_SYSTEM_PACKAGES=1\nRUN pip install torch==2.5.1\n",
        "RUN rm /usr/lib/python3*/EXTERNALLY-MANAGED\nRUN pip install torch==2.5.1\n",
        "RUN pip config set global.break-system-packages true\nRUN pip install torch==2.5.1\n",
        "COPY pip.conf /etc/pip.conf\nRUN pip install torch==2.5.1\n",
        "RUN python3 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\n"
        "RUN pip install torch==2.5.1\n",
        "RUN python3 -m venv /opt/venv && /opt/venv/bin/pip install torch==2.5.1\n",
        "RUN pip install --target /app/lib torch==2.5.1\n",
        "RUN python3.11 -m pip install torch==2.5.1\n"}) {
    EXPECT_THAT(of("ubuntu:24.04", lines), IsEmpty()) << lines;
  }
  EXPECT_THAT(of("ubuntu:22.04", "RUN pip install torch==2.5.1\n"), IsEmpty());
  EXPECT_THAT(
      of("ubuntu:24.04", "ENV PATH=/root/.pyenv/shims:$PATH\nRUN pip install torch==2.5.1\n"),
      ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(of("ubuntu:24.04", "RUN pip install torch==2.5.1 || true\n"),
              ElementsAre(HasSubstr("unknown: ")));
  EXPECT_THAT(found("managed Python", "FROM python:3.12-bookworm\nRUN pip install torch==2.5.1\n"),
              IsEmpty());
}

TEST(RecipeSystems, TheSystemKeepsUvOutOfItsPython) {
  const auto of = [&](const std::string& lines, const char* image = "ubuntu:24.04") {
    return found("managed Python", std::string("FROM ") + image +
                                       "\nCOPY --from=ghcr.io/astral-sh/uv:0.8 /uv /bin/\n"
                                       "RUN apt-get install -y python3\n" +
                                       lines);
  };
  EXPECT_THAT(of("RUN uv pip install --system torch==2.5.1\n"),
              ElementsAre(HasSubstr("fail: ubuntu 24.04 keeps uv out of its own Python")));
  EXPECT_THAT(of("ENV UV_SYSTEM_PYTHON=1\nRUN uv pip install torch==2.5.1\n"),
              ElementsAre(HasSubstr("fail: ")));
  for (const char* lines :
       {"RUN uv pip install --system --break-system-packages torch==2.5.1\n",
        "ENV UV_BREAK_SYSTEM_PACKAGES=1\nRUN uv pip install --system torch==2.5.1\n",
        "RUN uv pip install torch==2.5.1\n",
        "RUN uv pip install --python /opt/py/bin/python3 torch==2.5.1\n",
        "RUN uv venv /opt/venv\nENV VIRTUAL_ENV=/opt/venv\nRUN uv pip install torch==2.5.1\n"}) {
    EXPECT_THAT(of(lines), IsEmpty()) << lines;
  }
  EXPECT_THAT(of("RUN uv pip install --system torch==2.5.1\n", "ubuntu:22.04"), IsEmpty());
}

TEST(RecipeSystems, TheSystemsOwnPythonIsKnown) {
  const auto of = [](const std::string& image, const std::string& apt, const std::string& pip) {
    return found("other Python", "FROM " + image + "\nRUN apt-get update && apt-get install -y " +
                                     apt + "\nRUN pip3 install --break-system-packages " + pip +
                                     "\n");
  };
  // Ubuntu 22.04 has Python 3.10, for which onnxruntime-gpu ends with 1.23.
  EXPECT_THAT(
      of("nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04", "python3-pip", "onnxruntime-gpu==1.24.1"),
      ElementsAre(AllOf(HasSubstr("fail: "), HasSubstr("there is none for Python 3.10"))));
  EXPECT_THAT(of("ubuntu:24.04", "python3 python3-pip", "onnxruntime-gpu==1.24.1"), IsEmpty());
  EXPECT_THAT(of("debian:12", "python3-pip", "onnxruntime-gpu==1.24.1"), IsEmpty());
  EXPECT_THAT(of("ubuntu:24.04", "python3-pip", "whisperx==3.3.1"), IsEmpty());
  EXPECT_THAT(of("debian:13", "python3-pip", "whisperx==3.3.1"),
              ElementsAre(HasSubstr("for Python 3.13")));
  // Another may be meant.
  EXPECT_THAT(of("ubuntu:22.04", "python3.11 python3-pip", "onnxruntime-gpu==1.24.1"), IsEmpty());
  EXPECT_THAT(of("example.org/base:ubuntu22.04", "python3-pip", "onnxruntime-gpu==1.24.1"),
              IsEmpty());
}

TEST(RecipeSystems, OnnxruntimeForCardsHasNoWheelsForArm) {
  const char* const rule = "no wheel for the processor";
  const std::string arm = "FROM --platform=linux/arm64 python:3.11\n";
  EXPECT_THAT(
      found(rule, arm + "RUN pip install onnxruntime-gpu==1.23.2\n"),
      ElementsAre(HasSubstr("fail: The Python index has onnxruntime-gpu for x86-64 alone")));
  EXPECT_THAT(found(rule, arm + "RUN pip install onnxruntime-gpu --extra-index-url "
                                "https://pypi.jetson-ai-lab.io/jp6/cu126\n"),
              ::testing::Not(Contains(HasSubstr("fail: "))));
  EXPECT_THAT(found(rule, arm + "RUN pip install onnxruntime==1.23.2\n"), IsEmpty());
  EXPECT_THAT(found(rule, "FROM python:3.11\nRUN pip install onnxruntime-gpu==1.23.2\n"),
              IsEmpty());
  Facts jetson = files({{"requirements.txt", "onnxruntime-gpu==1.23.2\n"}});
  jetson.machine.processor_flags = {"asimd"};
  const Report report = judge(jetson);
  ASSERT_EQ(of_rule(report, rule).size(), 1U);
  EXPECT_EQ(of_rule(report, rule)[0]->level, Level::Unknown);
}

TEST(RecipeSystems, WhatAPackageAsksForDoesNotComeAlone) {
  const auto rules = [](const char* command) {
    const Report report = judge(files(
        {{"Dockerfile",
          (std::string("FROM python:3.11\nRUN pip install torch==2.5.1 ctranslate2==4.6.3\n") +
           command)
              .c_str()},
         {"requirements.txt", "whisperx==3.4.2\n"}}));
    std::vector<std::string> words;
    for (const Finding& finding : report.findings) {
      if (finding.level >= Level::Unknown) {
        words.push_back(finding.rule);
      }
    }
    return words;
  };
  EXPECT_THAT(rules("RUN pip install whisperx==3.4.2\n"), Contains("requirements contradict"));
  EXPECT_THAT(rules("RUN pip install --no-deps whisperx==3.4.2\n"),
              ::testing::Not(Contains("requirements contradict")));
  EXPECT_THAT(rules("RUN uv pip install --system --no-deps whisperx==3.4.2\n"),
              ::testing::Not(Contains("requirements contradict")));
  EXPECT_THAT(rules("COPY requirements.txt .\nRUN pip install -r requirements.txt\n"),
              Contains("requirements contradict"));
  EXPECT_THAT(rules("COPY requirements.txt .\nRUN pip install --no-deps -r requirements.txt\n"),
              ::testing::Not(Contains("requirements contradict")));
}

TEST(RecipeSystems, NothingIsBroughtByWhatComesAlone) {
  EXPECT_THAT(found("pin drifts", "FROM python:3.11\nRUN pip install faster-whisper==1.1.1\n"),
              Contains(HasSubstr("faster-whisper 1.1.1 asks for ctranslate2")));
  EXPECT_THAT(
      found("pin drifts", "FROM python:3.11\nRUN pip install --no-deps faster-whisper==1.1.1\n"),
      IsEmpty());
}

TEST(RecipeSystems, AnImageForArmTakesWhatIsForArm) {
  const char* const list =
      "torch==2.5.1; platform_machine == 'aarch64'\ntorch==2.4.1; platform_machine == 'x86_64'\n";
  const auto torch = [&](std::initializer_list<std::pair<const char*, const char*>> recipes) {
    Facts facts = files(recipes);
    const std::vector<RecipeColumn> columns = recipe_columns(facts, builtin_knowledge());
    return resolve(columns.front(), "torch").version->text();
  };
  const char* const kLines = "COPY requirements.txt .\nRUN pip install -r requirements.txt\n";
  const std::string plain = std::string("FROM python:3.11\n") + kLines;
  const std::string arm = std::string("FROM --platform=linux/arm64 python:3.11\n") + kLines;
  EXPECT_EQ(torch({{"Dockerfile", plain.c_str()}, {"requirements.txt", list}}), "2.4.1");
  EXPECT_EQ(torch({{"Dockerfile", arm.c_str()}, {"requirements.txt", list}}), "2.5.1");
  Facts machine = files({{"requirements.txt", list}});
  machine.machine.processor_flags = {"fp", "asimd"};
  EXPECT_EQ(resolve(recipe_columns(machine, builtin_knowledge()).front(), "torch").version->text(),
            "2.5.1");
}

TEST(RecipeSystems, AServiceForArmIsJudgedAsSuch) {
  for (const char* platform : {"    platform: linux/arm64\n    build: .\n",
                               "    build:\n      context: .\n      platforms: [linux/arm64]\n"}) {
    const std::string compose = std::string("services:\n  tts:\n") + platform;
    Facts facts;
    facts.recipes.push_back(parse_recipe(compose, "compose.yml").value());
    ASSERT_EQ(facts.recipes[0].services.size(), 1U);
    const Service& service = facts.recipes[0].services[0];
    EXPECT_EQ(service.platform, "linux/arm64");
    facts.recipes.push_back(
        parse_recipe("FROM python:3.11\nRUN pip install torch==2.5.1+cu124 --extra-index-url "
                     "https://download.pytorch.org/whl/cu124\n",
                     "Dockerfile", {.target = {}, .arguments = service.arguments})
            .value());
    facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
    const Report report = judge(facts);
    EXPECT_THAT(failures(report), IsEmpty());
    EXPECT_THAT(of_rule(report, "device code not known"), ::testing::SizeIs(1)) << platform;
  }
}

// uv takes the system's Python by its variable and by --system, whatever environment is there.
TEST(RecipeSystems, TheRemedyForUvTakesItsVariableIntoAccount) {
  const std::string image = "FROM nvidia/cuda:12.9.1-cudnn-runtime-ubuntu24.04\n";
  const std::string rest =
      "RUN apt-get update && apt-get install -y python3 python3-pip\n"
      "RUN uv pip install --system torch==2.8.0\nRUN uv pip install --system numpy\n";
  EXPECT_THAT(remedies("managed Python", image + "ENV UV_SYSTEM_PYTHON=1\n" + rest),
              ElementsAre("ENV UV_BREAK_SYSTEM_PACKAGES=1", HasSubstr("uv venv /opt/venv")));
  EXPECT_THAT(remedies("managed Python", image + rest),
              ElementsAre(HasSubstr("uv venv /opt/venv"), "ENV UV_BREAK_SYSTEM_PACKAGES=1"));
  const Report report =
      judge(files({{"Dockerfile", (image + "ENV UV_SYSTEM_PYTHON=1\n" + rest).c_str()}}));
  EXPECT_THAT(of_rule(report, "managed Python")[0]->remedies[1].text,
              AllOf(HasSubstr("--system out of all commands"), HasSubstr("UV_SYSTEM_PYTHON out")));
}

TEST(RecipeSystems, AnImageOfPythonHasAPythonThatNobodyManages) {
  const auto said = [](const std::string& image) {
    const std::string text = "FROM " + image +
                             "\nRUN apt-get install -y python3 python3-pip\n"
                             "RUN python3 -m pip install fastapi\n";
    return of_rule(judge(files({{"Dockerfile", text.c_str()}})), "managed Python").size();
  };
  EXPECT_EQ(said("python:3-slim-bookworm"), 0U);
  EXPECT_EQ(said("debian:bookworm"), 1U);
}

}  // namespace mynah::doctor
