#include "doctor/plans/compare.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipes.h"
#include "doctor/reports/stack_report.h"

namespace mynah::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Facts requirements(const std::string& text) {
  Facts facts;
  facts.recipes.push_back(*parse_recipe(text, "requirements.txt"));
  return facts;
}

Machine machine(const std::string& card, const std::string& driver) {
  Machine made;
  Card& only = made.cards.emplace_back();
  const Product* const product = builtin_knowledge().card(card);
  only.name = product->name;
  only.compute_capability = product->compute_capability;
  only.vendor = "10de";
  only.kernel_driver = "nvidia";
  made.driver = driver;
  return made;
}

const std::string kOld =
    "--extra-index-url https://download.pytorch.org/whl/cu126\n"
    "torch==2.7.1\nnumpy==2.1.0\ntqdm==4.66.0\n";
const std::string kNew =
    "--extra-index-url https://download.pytorch.org/whl/cu128\n"
    "torch==2.7.1\nnumpy==2.2.0\nctranslate2==4.8.5\n";

TEST(Compare, AnotherBuildOfOneReleaseIsNamedWithItsCudaAndItsOutcome) {
  const Comparison found = compare(requirements(kOld), requirements(kNew),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  std::vector<std::string> changes;
  for (const PackageChange& change : found.packages) {
    changes.push_back(change.name + " " + std::string(change_name(change.kind)));
  }
  EXPECT_THAT(changes,
              ElementsAre("ctranslate2 added", "numpy newer", "torch rebuilt", "tqdm removed"));
  EXPECT_EQ(found.packages[2].from, "2.7.1+cu126");
  EXPECT_EQ(found.packages[2].to, "2.7.1+cu128");
  EXPECT_THAT(found.packages[2].effect, HasSubstr("CUDA 12.6 to 12.8"));
  EXPECT_EQ(found.same, 0U);
  EXPECT_THAT(found.verdicts,
              Contains(AllOf(Field(&VerdictChange::framework, "torch"),
                             Field(&VerdictChange::before, Outcome::FailsAtFirstKernel),
                             Field(&VerdictChange::after, Outcome::Works))));
  EXPECT_FALSE(found.is_worse());
  EXPECT_THAT(found.mended, Contains(Field(&Finding::level, Level::Fail)));
}

TEST(Compare, TheOtherWayRoundItIsWorse) {
  const Comparison found = compare(requirements(kNew), requirements(kOld),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_TRUE(found.is_worse());
  EXPECT_THAT(comparison_text(found, {}), AllOf(HasSubstr("What breaks\n    fail: "),
                                                HasSubstr("torch: 2.7.1+cu128 to 2.7.1+cu126")));
}

TEST(Compare, StepsUninstallBeforeTheyInstallAndTorchComesFromItsIndexFirst) {
  const Comparison found = compare(requirements(kOld), requirements(kNew),
                                   machine("RTX 5090", "580.95.05"), builtin_knowledge());
  std::vector<std::string> commands;
  for (const Remedy& step : found.steps) {
    commands.push_back(step.command);
  }
  EXPECT_THAT(commands, ElementsAre("pip uninstall --yes tqdm",
                                    "pip install --no-deps torch==2.7.1+cu128 --index-url "
                                    "https://download.pytorch.org/whl/cu128",
                                    "pip install --no-deps ctranslate2==4.8.5 numpy==2.2.0",
                                    "pip check && mynah doctor"));
}

TEST(Compare, OfSeveralEnvironmentsAFailureCountsBeforeWhatIsNotKnown) {
  // torch in one place has no code for the card, in the other nothing is known of that release.
  Facts second = requirements("torch==2.7.1+cu126\n");
  second.recipes.push_back(*parse_recipe("torch==99.0+cu126\n", "other/requirements.txt"));
  const Comparison found =
      compare(requirements(kNew), second, machine("RTX 5090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(found.verdicts,
              Contains(AllOf(Field(&VerdictChange::framework, "torch"),
                             Field(&VerdictChange::after, Outcome::FailsAtFirstKernel))));
}

TEST(Compare, WhatIsTheSameNeedsNoSteps) {
  const Comparison found = compare(requirements(kOld), requirements(kOld),
                                   machine("RTX 4090", "580.95.05"), builtin_knowledge());
  EXPECT_THAT(found.packages, IsEmpty());
  EXPECT_EQ(found.same, 3U);
  EXPECT_THAT(found.verdicts, IsEmpty());
  EXPECT_THAT(found.steps, IsEmpty());
}

}  // namespace
}  // namespace mynah::doctor
