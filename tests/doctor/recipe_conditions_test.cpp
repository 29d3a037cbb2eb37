// Commands of images that run or not by a test of a variable.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipes.h"
#include "doctor/recipes/shell_conditions.h"
#include "doctor/recipes/shell_text.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What runs of a script, the doubtful with a '?'; tests of all kinds are left out.
std::vector<std::string> run(const std::string& script,
                             const std::map<std::string, std::string>& values = {
                                 {"YES", "true"}, {"NONE", ""}, {"ONE", "1"}}) {
  std::vector<std::string> words;
  for (const ShellCommand& command : shell_commands(script, values)) {
    if (!command.words.empty() && command.words[0] != "[" && command.words[0] != "[[" &&
        command.words[0] != "test") {
      words.push_back(command.words.back() + (command.doubtful ? "?" : ""));
    }
  }
  return words;
}

Truth of(std::vector<std::string> words) {
  return truth_of_test(words);
}

// What a Dockerfile asks for, the doubtful with a '?'.
std::vector<std::string> asked(const std::string& lines, const ImageBuild& build = {}) {
  const Recipe recipe =
      parse_recipe("FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n" + lines, "Dockerfile", build)
          .value();
  std::vector<std::string> all;
  all.reserve(recipe.requirements.size());
  for (const Requirement& requirement : recipe.requirements) {
    const bool doubtful = requirement.step == 0 || recipe.steps[requirement.step - 1].doubtful;
    all.push_back(requirement.name + requirement.specifier + (doubtful ? "?" : ""));
  }
  return all;
}

constexpr const char* kBranches =
    "RUN if [ \"$USE_CUDA\" = \"true\" ]; then \\\n      pip install torch==2.8.0; \\\n"
    "    else \\\n      pip install torch==2.4.0; \\\n    fi\n";

}  // namespace

TEST(RecipeConditions, TestsOfTextsAndNumbersAreKnown) {
  EXPECT_EQ(of({"[", "a", "=", "a", "]"}), Truth::Yes);
  EXPECT_EQ(of({"[", "a", "==", "b", "]"}), Truth::No);
  EXPECT_EQ(of({"[", "a", "!=", "b", "]"}), Truth::Yes);
  EXPECT_EQ(of({"test", "", "=", ""}), Truth::Yes);
  EXPECT_EQ(of({"[[", "a", "==", "b", "]]"}), Truth::No);
  EXPECT_EQ(of({"[", "-n", "a", "]"}), Truth::Yes);
  EXPECT_EQ(of({"[", "-n", "", "]"}), Truth::No);
  EXPECT_EQ(of({"[", "-z", "", "]"}), Truth::Yes);
  EXPECT_EQ(of({"[", "!", "-z", "", "]"}), Truth::No);
  EXPECT_EQ(of({"[", "a", "]"}), Truth::Yes);
  EXPECT_EQ(of({"test", ""}), Truth::No);
  EXPECT_EQ(of({"[", "-n", "]"}), Truth::Yes);  // a word like others
  EXPECT_EQ(of({"[", "01", "-eq", "1", "]"}), Truth::Yes);
  EXPECT_EQ(of({"[", "2", "-gt", "1", "]"}), Truth::Yes);
  EXPECT_EQ(of({"[", "2", "-le", "1", "]"}), Truth::No);
}

TEST(RecipeConditions, OtherTestsAreNotKnown) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"["},
                                             {"test"},
                                             {"[", "]"},
                                             {"[", "a", "=", "a"},
                                             {"[[", "-n", "]]"},
                                             {"[", "-f", "a", "]"},
                                             {"[", "$A", "=", "a", "]"},
                                             {"[[", "cu121", "==", "cu*", "]]"},
                                             {"[[", "a", "=~", "b", "]]"},
                                             {"[", "a", "-eq", "1", "]"},
                                             {"[", "a", "=", "a", "-a", "b", "]"},
                                             {"[", "`a`", "=", "a", "]"},
                                             {"pip", "a"}}) {
    EXPECT_EQ(of(words), Truth::NotKnown) << testing::PrintToString(words);
  }
}

TEST(RecipeConditions, OneBranchRunsWhereTheTestIsKnown) {
  EXPECT_THAT(run("if [ \"$YES\" = true ]; then a; else b; fi; c"), ElementsAre("a", "c"));
  EXPECT_THAT(run("if [ \"$YES\" != true ]\nthen\na\nelse\nb\nfi\nc"), ElementsAre("b", "c"));
  EXPECT_THAT(run("if [[ \"${YES}\" == true ]]; then a; fi"), ElementsAre("a"));
  EXPECT_THAT(run("if test -z \"$NONE\"; then a; else b; fi"), ElementsAre("a"));
  EXPECT_THAT(run("if ! test -z \"$NONE\"; then a; else b; fi"), ElementsAre("b"));
  EXPECT_THAT(run("if [ $NONE = true ]; then a; else b; fi"), ElementsAre("a?", "b?"));
  EXPECT_THAT(run("if [ -n \"$NONE\" ]; then a; elif [ $ONE -eq 1 ]; then b; else c; fi"),
              ElementsAre("b"));
  EXPECT_THAT(run("if [ -n \"$YES\" ]; then a; elif d; then b; else c; fi"), ElementsAre("a"));
  EXPECT_THAT(run("if d; then a; elif [ $ONE = 1 ]; then b; else c; fi"),
              ElementsAre("d?", "a?", "b?"));
  EXPECT_THAT(run("if d; then a; elif [ $ONE = 2 ]; then b; else c; fi"),
              ElementsAre("d?", "a?", "c?"));
  EXPECT_THAT(run("if [ $ONE = 2 ]; then if d; then a; fi; for x in b; do c; done; fi; e"),
              ElementsAre("e"));
  EXPECT_THAT(run("if [ $ONE = 1 ]; then if [ $YES = no ]; then a; else b; fi; fi"),
              ElementsAre("b"));
  EXPECT_THAT(run("if [ $ONE = 1 ] && [ $YES = true ]; then a; else b; fi"), ElementsAre("a"));
  EXPECT_THAT(run("if [ $ONE = 2 ] && [ -f x ]; then a; else b; fi"), ElementsAre("b"));
  EXPECT_THAT(run("if [ $ONE = 1 ] && [ -f x ]; then a; else b; fi"), ElementsAre("a?", "b?"));
  EXPECT_THAT(run("if [ $ONE = 2 ] || [ $YES = true ]; then a; else b; fi"), ElementsAre("a"));
}

TEST(RecipeConditions, AListStopsWhereItsTestSaysSo) {
  EXPECT_THAT(run("[ $ONE = 1 ] && a && b; c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(run("[ $ONE = 2 ] && a && b; c"), ElementsAre("c"));
  EXPECT_THAT(run("[ $ONE = 2 ] && a || b; c"), ElementsAre("b", "c"));
  EXPECT_THAT(run("[ $ONE = 1 ] && a || b; c"), ElementsAre("a?", "b?", "c"));
  EXPECT_THAT(run("[ $ONE = 1 ] || a; c"), ElementsAre("c"));
  EXPECT_THAT(run("[ $ONE = 1 ] || a && b; c"), ElementsAre("b", "c"));
  EXPECT_THAT(run("[ $ONE = 2 ] || a; c"), ElementsAre("a", "c"));
  EXPECT_THAT(run("[ -f x ] && a; c"), ElementsAre("a?", "c"));
  EXPECT_THAT(run("[ $ONE = 1 ] && [ -f x ] && a; c"), ElementsAre("a?", "c"));
  EXPECT_THAT(run("[ $ONE = 2 ] && (a; b) || c"), ElementsAre("c"));
  EXPECT_THAT(run("[ $ONE = 1 ] && { a; b; } || c"), ElementsAre("a?", "b?", "c?"));
  EXPECT_THAT(run("([ $ONE = 2 ] && a); b"), ElementsAre("b"));
  EXPECT_THAT(run("[ $ONE = 2 ] && a | b; c"), ElementsAre("c"));
}

TEST(RecipeConditions, WhatHasNoValueOrMayHaveAnotherIsNotKnown) {
  EXPECT_THAT(run("if [ \"$OTHER\" = true ]; then a; else b; fi"), ElementsAre("a?", "b?"));
  // The image may set it.
  EXPECT_THAT(run("if [ -n \"${OTHER:-}\" ]; then a; else b; fi"), ElementsAre("a?", "b?"));
  EXPECT_THAT(run("if [ \"${NONE:-1}\" = 1 ]; then a; else b; fi"), ElementsAre("a"));
  EXPECT_THAT(run("YES=$(date); if [ \"$YES\" = true ]; then a; else b; fi"),
              ElementsAre("a?", "b?"));
  EXPECT_THAT(run("if c; then YES=no; fi; if [ \"$YES\" = true ]; then a; else b; fi"),
              ElementsAre("c?", "a?", "b?"));
  EXPECT_THAT(run("for YES in a b; do [ \"$YES\" = true ] && a; done"), ElementsAre("b?", "a?"));
  EXPECT_THAT(run("f() {\nYES=no\n}\n[ \"$YES\" = true ] && a"), ElementsAre("{", "a?"));
  EXPECT_THAT(run("ONE=2; [ \"$ONE\" = 1 ] && a; export ONE=1 && [ \"$ONE\" = 1 ] && b"),
              ElementsAre("ONE=1", "b"));
}

TEST(RecipeConditions, AnImageIsBuiltWithTheDefaultsOfItsArguments) {
  const std::string branches = kBranches;
  EXPECT_THAT(asked("ARG USE_CUDA=true\n" + branches), ElementsAre("torch==2.8.0"));
  EXPECT_THAT(asked("ARG USE_CUDA=false\n" + branches), ElementsAre("torch==2.4.0"));
  EXPECT_THAT(asked("ENV USE_CUDA=true\n" + branches), ElementsAre("torch==2.8.0"));
  EXPECT_THAT(
      asked("ARG USE_CUDA=true\n" + branches, {.target = {}, .arguments = {{"USE_CUDA", "false"}}}),
      ElementsAre("torch==2.4.0"));
  EXPECT_THAT(asked("ARG USE_CUDA=true\n" + branches,
                    {.target = {}, .arguments = {{"USE_CUDA", "${USE_CUDA}"}}}),
              ElementsAre("torch==2.8.0?", "torch==2.4.0?"));
  EXPECT_THAT(asked("ARG USE_CUDA\n" + branches), ElementsAre("torch==2.8.0?", "torch==2.4.0?"));
  EXPECT_THAT(asked("ARG USE_CUDA=true\nRUN bash -c 'if [ \"$USE_CUDA\" = true ]; then pip install "
                    "torch==2.8.0; else pip install torch==2.4.0; fi'\n"),
              ElementsAre("torch==2.8.0"));
  EXPECT_THAT(asked("RUN bash -c 'if [ -n \"${CUDA_VERSION:-}\" ]; then pip install torch; else "
                    "pip install numpy; fi'\n"),
              ElementsAre("torch?", "numpy?"));
  EXPECT_THAT(asked("ARG TARGETARCH\nRUN if [ \"$TARGETARCH\" = arm64 ]; then pip install numpy; "
                    "else pip install torch; fi\n"),
              ElementsAre("torch"));
  // What the command sets itself stands in place of the image's.
  EXPECT_THAT(asked("ENV V=2.4.0\nRUN V=2.8.0 && pip install torch==$V\n"),
              ElementsAre("torch==2.8.0"));
}

TEST(RecipeConditions, ABranchThatRunsFailsForSureAndTheOtherNever) {
  const auto failing = [](const char* value) {
    Facts facts;
    facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
    facts.machine.driver = "580.95.05";
    facts.recipes.push_back(
        parse_recipe("FROM python:3.11-slim\nARG USE_CUDA=" + std::string(value) + "\n" + kBranches,
                     "Dockerfile")
            .value());
    return failures(judge(facts));
  };
  EXPECT_THAT(failing("true"), IsEmpty());
  EXPECT_THAT(failing("false"), ElementsAre(HasSubstr("torch")));
  EXPECT_THAT(failing(""), ElementsAre(HasSubstr("torch")));
}

}  // namespace mynah::doctor
