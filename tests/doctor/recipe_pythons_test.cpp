// The Python of a recipe against those that its packages are for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/knowledge/pythons.h"
#include "doctor/recipes/recipe_columns.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> found(std::initializer_list<std::pair<const char*, const char*>> recipes) {
  std::vector<std::string> words;
  const Report report = judge(files(recipes));
  for (const auto& finding : of_rule(report, "other Python")) {
    words.push_back(std::string(level_name(finding->level)) + ": " + finding->text);
  }
  return words;
}

std::vector<std::string> remedies(const Report& report) {
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, "other Python")) {
    for (const Remedy& remedy : finding->remedies) {
      words.push_back(remedy.command.empty() ? remedy.text : remedy.command);
    }
  }
  return words;
}

}  // namespace

TEST(RecipePythons, AWheelThatTheImagesPythonHasNotFails) {
  const Facts facts =
      files({{"Dockerfile", "FROM python:3.13-slim\nRUN pip install torch==2.4.1\n"}});
  const Report report = judge(facts);
  const auto all = of_rule(report, "other Python");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]->level, Level::Fail);
  EXPECT_EQ(all[0]->text,
            "torch 2.4.1 has wheels for Python 3.8 to 3.12 and nothing else to install from: there "
            "is none for Python 3.13.");
  EXPECT_EQ(all[0]->evidence[1].where, "Dockerfile:1");
  EXPECT_EQ(all[0]->error, "No matching distribution found for torch==2.4.1");
  EXPECT_THAT(remedies(report), AllOf(Contains(HasSubstr("python:3\\.13-slim|python:3.12-slim|")),
                                      Contains(HasSubstr("torch==2\\.4\\.1|torch==2.5.1|"))));
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.8\nRUN pip install torch==2.6.0\n"}}),
              ElementsAre(HasSubstr("fail: torch 2.6.0 has wheels for Python 3.9 to 3.13")));
}

TEST(RecipePythons, CoquisLastReleasesAreForNoNewerPythonThan311) {
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.12-slim\nRUN pip install TTS==0.22.0\n"}}),
              ElementsAre(HasSubstr("fail: tts 0.22.0 is for Python 3.9 to 3.11")));
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.11-slim\nRUN pip install TTS==0.22.0\n"}}),
              IsEmpty());
}

TEST(RecipePythons, WheelsThatAreThereAreNoFinding) {
  // The tags of the wheels, not the words of the release notes: 3.12 and 3.13 were experimental.
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.12\nRUN pip install torch==2.2.2\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.13\nRUN pip install torch==2.5.1\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.12\nRUN pip install ctranslate2==4.4.0\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.13\nRUN pip install ctranslate2==4.5.0\n"}}),
              ElementsAre(HasSubstr("fail: ")));
  // What nobody knows the tags of may be built.
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.14\nRUN pip install coqui-tts==0.20.0\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"requirements.txt", "torch==2.4.1\n"}}), IsEmpty());
}

// The Python index has wheels for 3.15 from torch 2.15.0 and CTranslate2 4.8.4 on.
TEST(RecipePythons, ANewPythonHasWheelsOfNewReleasesAlone) {
  const auto on_new = [](const std::string& what) {
    const std::string text = "FROM python:3.15\nRUN pip install " + what + "\n";
    return found({{"Dockerfile", text.c_str()}});
  };
  EXPECT_THAT(on_new("torch==2.14.1"), ElementsAre(HasSubstr("fail: torch 2.14.1 has wheels for")));
  EXPECT_THAT(on_new("torch==2.15.0"), IsEmpty());
  EXPECT_THAT(on_new("ctranslate2==4.8.3"), ElementsAre(HasSubstr("fail: ")));
  EXPECT_THAT(on_new("ctranslate2==4.8.4"), IsEmpty());
  EXPECT_THAT(on_new("torch==2.14.1 --index-url https://download.pytorch.org/whl/cu132"),
              ElementsAre(HasSubstr("unknown: ")))
      << "what the release notes call experimental may be there";
  // All that is known has an end.
  const Knowledge& knowledge = builtin_knowledge();
  for (const char* package : {"torch", "ctranslate2", "onnxruntime-gpu"}) {
    const PackageReleases* const listed = knowledge.releases_of(package);
    ASSERT_NE(listed, nullptr);
    for (const Version& version : listed->releases) {
      const auto pythons = pythons_of(package, version, knowledge);
      EXPECT_FALSE(pythons && pythons->range.contains(*Version::parse("3.16")))
          << package << " " << version.text();
    }
  }
}

TEST(RecipePythons, WhatMayRunWithAnotherPythonIsNotKnown) {
  EXPECT_THAT(found({{"Dockerfile",
                      "FROM python:3.13\nRUN apt-get install -y python3.11\n"
                      "RUN python3.11 -m pip install torch==2.4.1\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"Dockerfile",
                      "FROM python:3.13\nRUN uv venv --python 3.11 /opt/venv\n"
                      "RUN uv pip install --python /opt/venv torch==2.4.1\n"}}),
              IsEmpty());
  EXPECT_THAT(found({{"Dockerfile",
                      "FROM python:3.13\n"
                      "RUN pip install --extra-index-url https://wheels.example.org/own/x/ "
                      "torch==2.4.1\n"}}),
              ElementsAre(HasSubstr("unknown: ")));
}

TEST(RecipePythons, AProjectThatNoWheelIsForFails) {
  const char* const project =
      "[project]\nname = \"x\"\nrequires-python = \">=3.13\"\ndependencies = "
      "[\"kokoro==0.9.4\"]\n";
  EXPECT_THAT(found({{"pyproject.toml", project}}),
              ElementsAre("fail: kokoro 0.9.4 is for Python 3.10 to 3.12, and installers refuse it "
                          "for Python >=3.13."));
  // Older releases are not known: one of them may come.
  EXPECT_THAT(found({{"pyproject.toml",
                      "[project]\nname = \"x\"\nrequires-python = \">=3.13\"\n"
                      "dependencies = [\"kokoro\"]\n"}}),
              ElementsAre(HasSubstr("unknown: kokoro 0.9.4 is for")));
  EXPECT_THAT(found({{"pyproject.toml",
                      "[project]\nname = \"x\"\nrequires-python = \">=3.10\"\n"
                      "dependencies = [\"kokoro==0.9.4\"]\n"}}),
              IsEmpty());
}

TEST(RecipePythons, ARangeOfWhichNoneIsForThePythonFails) {
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.13\nRUN pip install 'torch>=2.1,<2.5'\n"}}),
              ElementsAre(HasSubstr("fail: torch 2.4.1 has wheels")));
  EXPECT_THAT(found({{"Dockerfile", "FROM python:3.13\nRUN pip install 'torch>=2.1,<2.6'\n"}}),
              IsEmpty());
}

TEST(RecipePythons, CondaSaysItsPythonForWhatPipInstalls) {
  const char* const file = "dependencies:\n  - python=3.13\n  - pip:\n      - torch==2.4.1\n";
  const Report report = judge(files({{"environment.yml", file}}));
  EXPECT_THAT(failures(report), Contains("other Python: torch 2.4.1 in environment.yml"));
  EXPECT_THAT(remedies(report), Contains(HasSubstr("python=3.12 in environment.yml")));
  // conda's own builds are others.
  EXPECT_THAT(found({{"environment.yml", "dependencies:\n  - python=3.13\n  - pytorch=2.4.1\n"}}),
              IsEmpty());
}

TEST(RecipePythons, AFileBesideTheProjectNamesItsPython) {
  EXPECT_THAT(
      found({{"app/pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"torch==2.4.1\"]\n"},
             {"app/.python-version", "3.13\n"}}),
      ElementsAre(HasSubstr("unknown: torch 2.4.1 has wheels for Python 3.8 to 3.12")));
  EXPECT_THAT(found({{"app/requirements.txt", "torch==2.4.1\n"},
                     {"app/.python-version", "cpython-3.13.1-linux-x86_64-gnu\n"}}),
              ElementsAre(HasSubstr("none for Python 3.13.")));
  for (const char* text : {"", "my-environment\n", "3\n", "pypy3.10\n", "3.12.1\n"}) {
    EXPECT_THAT(found({{"requirements.txt", "torch==2.4.1\n"}, {".python-version", text}}),
                IsEmpty())
        << text;
  }
  // It is no environment of its own.
  EXPECT_THAT(recipe_columns(files({{".python-version", "3.13\n"}}), builtin_knowledge()),
              IsEmpty());
}

TEST(RecipePythons, RangesOfPythonsAreSeriesOfReleases) {
  const auto in = [](const char* text) { return pythons_in({SpecifierSet::parse(text).value()}); };
  EXPECT_THAT(in(">=3.8,<3.11"), ElementsAre("3.10", "3.9", "3.8"));
  EXPECT_THAT(in("==3.12.*"), ElementsAre("3.12"));
  EXPECT_THAT(in("==3.12.4"), ElementsAre("3.12"));
  EXPECT_THAT(in(">3.9.1,<=3.10"), ElementsAre("3.10", "3.9"));
}

// torch 2.1.2 has wheels for Python 3.8 to 3.11: a command is for the Python that it names, and an
// environment for the one that it was made with.
TEST(RecipePythons, TheCommandsOfAnImageNameTheirPython) {
  const auto level = [](const std::string& commands) {
    const std::string text =
        "FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04\nRUN apt-get update && "
        "apt-get install -y python3.12 python3.12-venv\n" +
        commands;
    const Report report = judge(files({{"Dockerfile", text.c_str()}}));
    std::string levels;
    for (const auto& finding : of_rule(report, "other Python")) {
      levels += std::string(level_name(finding->level)) + " ";
    }
    return levels;
  };
  EXPECT_EQ(level("RUN python3.12 -m pip install torch==2.1.2\n"), "fail ");
  EXPECT_EQ(level("RUN pip3.12 install torch==2.1.2\n"), "fail ");
  EXPECT_EQ(level("RUN python3.12 -m venv /venv\nRUN /venv/bin/pip install torch==2.1.2\n"),
            "fail ");
  EXPECT_EQ(level("RUN python3.12 -m venv /venv\nENV PATH=/venv/bin:$PATH\n"
                  "RUN pip install torch==2.1.2\n"),
            "fail ");
  EXPECT_EQ(level("RUN uv venv --python 3.12 /venv\nENV VIRTUAL_ENV=/venv\n"
                  "RUN uv pip install torch==2.1.2\n"),
            "fail ");
  EXPECT_EQ(level("RUN python3.11 -m pip install torch==2.1.2\n"), "");
  EXPECT_EQ(level("RUN python3.12 -m venv /venv\nRUN /venv/bin/pip install torch==2.2.2\n"), "");
  // Of a plain pip it is not known which Python it is for.
  EXPECT_EQ(level("RUN python3.12 -m pip install numpy\nRUN pip install torch==2.1.2\n"), "");
}

// faster-whisper 1.1.1 is for 3.9 and later, whatever comes; the image's own Python is named by
// nobody.
TEST(RecipePythons, APythonThatNothingBoundsIsTheOldestThatWillDo) {
  const Report report = judge(files({{"Dockerfile",
                                      "FROM nvidia/cuda:12.1.1-cudnn8-devel-ubuntu20.04\n"
                                      "RUN apt-get update && apt-get install -y python3-pip\n"
                                      "RUN pip3 install faster-whisper==1.1.1\n"}}));
  std::vector<std::string> texts;
  for (const Finding& finding : report.findings) {
    for (const Remedy& remedy : finding.remedies) {
      if (remedy.text.starts_with("Take Python")) {
        texts.push_back(remedy.text);
      }
    }
  }
  EXPECT_THAT(texts, testing::ElementsAre(
                         "Take Python 3.9: an image that has it, such as python:3.9-slim, in place "
                         "of nvidia/cuda:12.1.1-cudnn8-devel-ubuntu20.04"));
}

}  // namespace mynah::doctor
