// Scripts that commands of an image run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> rows_of(Facts facts) {
  facts.machine.cards = {card("GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95";
  std::vector<std::string> rows;
  for (const FrameworkVerdict& verdict : judge(facts).verdicts) {
    rows.push_back(verdict.framework + " " + verdict.version + ": " +
                   std::string(outcome_name(verdict.outcome)));
  }
  return rows;
}

constexpr const char* kScript =
    "#!/bin/bash\nset -e\nTORCH=2.6.0\n"
    "pip install torch==$TORCH --index-url https://download.pytorch.org/whl/cu124\n"
    "apt-get install -y ffmpeg\n";

}  // namespace

TEST(RecipeScripts, WhatACopiedScriptInstallsIsThere) {
  for (const char* run : {"COPY install.sh .\nRUN bash -e install.sh\n",
                          "COPY . /app\nRUN chmod +x /app/install.sh && /app/install.sh\n",
                          "RUN --mount=type=bind,source=install.sh,target=/tmp/install.sh sh "
                          "/tmp/install.sh\n"}) {
    const std::string text = std::string("FROM python:3.11\n") + run + "RUN pip install torch\n";
    EXPECT_THAT(rows_of(files({{"Dockerfile", text.c_str()}, {"install.sh", kScript}})),
                ElementsAre("torch 2.6.0+cu124: fails at the first kernel"))
        << run;
  }
}

// The commands before and behind a script stand in their order.
TEST(RecipeScripts, ALaterPinReplacesWhatAScriptInstalled) {
  EXPECT_THAT(rows_of(files({{"Dockerfile",
                              "FROM python:3.11\nCOPY install.sh .\nRUN ./install.sh\nRUN pip "
                              "install torch==2.7.1 --index-url "
                              "https://download.pytorch.org/whl/cu128\n"},
                             {"install.sh", kScript}})),
              ElementsAre("torch 2.7.1+cu128: works"));
}

// What cannot be read may put anything in the place of what is pinned.
TEST(RecipeScripts, AScriptThatIsNotKnownLeavesNothingCertain) {
  const auto failing = [](const std::string& run, const char* script) {
    const std::string text = "FROM python:3.11\nRUN pip install torch==2.6.0\n" + run;
    return rows_of(script == nullptr
                       ? files({{"Dockerfile", text.c_str()}})
                       : files({{"Dockerfile", text.c_str()}, {"install.sh", script}}));
  };
  EXPECT_THAT(failing("", nullptr), ElementsAre("torch 2.6.0+cu124: fails at the first kernel"));
  EXPECT_THAT(failing("RUN git clone https://x.example/y && cd y && ./install.sh\n", kScript),
              ElementsAre("torch 2.6.0+cu124: unknown"));
  EXPECT_THAT(failing("COPY install.sh .\nRUN ./install.sh\n",
                      "if [ -n \"$GPU\" ]; then\n  pip install torch==2.7.1\nfi\n"),
              ElementsAre("torch 2.6.0+cu124: unknown"));
  EXPECT_THAT(failing("COPY install.sh .\nRUN ./install.sh\n", "echo done\n"),
              ElementsAre("torch 2.6.0+cu124: fails at the first kernel"));
  // What brings a Python alone, and settings of a shell, are none.
  EXPECT_THAT(
      failing("RUN bash Miniconda3-latest-Linux-x86_64.sh -b && . /etc/profile.d/x.sh\n", nullptr),
      ElementsAre("torch 2.6.0+cu124: fails at the first kernel"));
}

TEST(RecipeScripts, AScriptIsReadWithoutBeingRun) {
  const Recipe script =
      parse_recipe(
          "#!/bin/sh\nexport PIP_EXTRA_INDEX_URL=https://x.example/simple\n"
          "pip install -r requirements.txt\npython -m venv v && . v/bin/activate\n"
          "pip install numpy\n",
          "tools/setup.sh")
          .value();
  EXPECT_EQ(script.kind, "script");
  EXPECT_THAT(script.includes, ElementsAre("tools/requirements.txt"));
  EXPECT_EQ(script.indexes.size(), 1U);
  EXPECT_THAT(script.requirements, IsEmpty());
  EXPECT_THAT(script.doubts, ElementsAre(HasSubstr("an environment of its own")));
}

}  // namespace mynah::doctor
