// What mends what a lock pins: the program that made it makes it anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::HasSubstr;

constexpr const char* kIndex = "https://download.pytorch.org/whl/cu128";
constexpr const char* kLock =
    "[[package]]\nname = 'torch'\nversion = '2.5.1'\n[[package]]\nname = 'torchaudio'\n"
    "version = '2.4.1'\n";

// The first remedy of a rule's first finding on an RTX 5090.
Remedy remedy_of(Facts facts, const char* rule) {
  facts.machine.cards = {card("NVIDIA GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, rule);
  return found.empty() || found[0]->remedies.empty() ? Remedy() : found[0]->remedies[0];
}

// The same with a card that all of it has code for.
Remedy companion_remedy(Facts facts) {
  facts.machine.cards = {card("NVIDIA GeForce RTX 4090", "8.9")};
  facts.machine.driver = "580.95.05";
  const Report report = judge(facts);
  const auto found = of_rule(report, "torch companions");
  return found.empty() || found[0]->remedies.empty() ? Remedy() : found[0]->remedies[0];
}

}  // namespace

TEST(RecipeLocks, AnotherVersionIsTakenByTheProgramThatMadeTheLock) {
  const std::pair<const char*, const char*> commands[] = {
      {"uv.lock", "uv lock --upgrade-package 'torchaudio==2.5.1'"},
      {"svc/uv.lock", "cd 'svc' && uv lock --upgrade-package 'torchaudio==2.5.1'"},
      {"poetry.lock", "poetry add 'torchaudio==2.5.1'"},
      {"pdm.lock", "pdm add 'torchaudio==2.5.1'"}};
  for (const auto& [file, command] : commands) {
    const Remedy remedy = companion_remedy(files({{file, kLock}}));
    EXPECT_EQ(remedy.command, command);
    EXPECT_THAT(remedy.text, HasSubstr("with torchaudio==2.5.1: it goes with torch 2.5.1"));
  }
}

TEST(RecipeLocks, WhatTheProjectRefusesIsWrittenIntoItFirst) {
  const auto of_project = [](const char* torchaudio) {
    const std::string project =
        std::string("[project]\nname = 'a'\nversion = '1'\ndependencies = ['torch', '") +
        torchaudio + "']\n";
    return companion_remedy(files({{"pyproject.toml", project.c_str()}, {"uv.lock", kLock}}))
        .command;
  };
  EXPECT_EQ(of_project("torchaudio>=2.1"), "uv lock --upgrade-package 'torchaudio==2.5.1'");
  EXPECT_EQ(of_project("torchaudio==2.4.1"), "uv add 'torchaudio==2.5.1'");
  EXPECT_EQ(of_project("torchaudio<2.5"), "uv add 'torchaudio==2.5.1'");
}

TEST(RecipeLocks, ATorchThatFailsOnTheCardHasARemedyWithItsIndex) {
  constexpr const char* kTorch = "[[package]]\nname = 'torch'\nversion = '2.5.1'\n";
  const std::string index = kIndex;
  EXPECT_EQ(remedy_of(files({{"uv.lock", kTorch}}), "kernel image").command,
            "uv add --index pytorch=" + index + " 'torch==2.7.0'");
  EXPECT_EQ(remedy_of(files({{"poetry.lock", kTorch}}), "kernel image").command,
            "poetry source add --priority=explicit pytorch " + index +
                " && poetry add --source pytorch 'torch==2.7.0'");
  EXPECT_EQ(remedy_of(files({{"Pipfile.lock",
                              "{\"_meta\": {}, \"default\": {\"torch\": {\"version\": "
                              "\"==2.5.1\"}}}"}}),
                      "kernel image")
                .command,
            "pipenv install --index " + index + " 'torch==2.7.0'");
  // Where nobody knows a command, the words say it.
  const Remedy words = remedy_of(files({{"pylock.toml",
                                         "[[packages]]\nname = 'torch'\nversion = "
                                         "'2.5.1'\n"}}),
                                 "kernel image");
  EXPECT_EQ(words.command, "");
  EXPECT_THAT(words.text,
              HasSubstr("is made anew by what made it with torch==2.7.0 from " + index));
}

TEST(RecipeLocks, TorchAndWhatGoesWithItAreOneCommand) {
  const Facts facts =
      files({{"pyproject.toml",
              "[project]\nname = 'a'\nversion = '1'\ndependencies = ['torch', 'torchaudio']\n"},
             {"uv.lock", kLock}});
  for (const char* rule : {"kernel image", "torch companions"}) {
    EXPECT_EQ(remedy_of(facts, rule).command, std::string("uv add --index pytorch=") + kIndex +
                                                  " 'torch==2.7.0' 'torchaudio==2.7.0'");
  }
}

}  // namespace mynah::doctor
