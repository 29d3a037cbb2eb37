// Mistakes that people make in recipes, and that end in an installer's or an image's failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (const Finding* finding : of_rule(report, rule)) {
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
  EXPECT_EQ(found[0]->error, "Invalid requirement");
}

TEST(RecipeMistakes, WhatAComposeFileLeavesOpenIsANote) {
  const Report report =
      judge(files({{"compose.yml", "services:\n  a:\n    image: x\n    env_file: .env\n"}}));
  const auto found = of_rule(report, "recipe not understood");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->level, Level::Note);
}

}  // namespace mynah::doctor
