#include "doctor/verdicts/told_packages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/plans/compare.h"

namespace mynah::doctor {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

// An environment as somebody writes it down.
Facts told(const std::vector<std::pair<std::string, std::string>>& packages) {
  Facts facts;
  facts.machine.driver = "580.95.05";
  facts.machine.cards.emplace_back().name = "NVIDIA GeForce RTX 5090";
  PythonEnvironment& environment = facts.environments.emplace_back();
  environment.path = "/srv/asr/venv";
  environment.python = "3.11";
  for (const auto& [name, version] : packages) {
    Package& package = environment.packages.emplace_back();
    package.name = name;
    package.version = version;
  }
  return facts;
}

Report told_report_of(Facts facts) {
  add_told_frameworks(facts, builtin_knowledge());
  return diagnose(facts, builtin_knowledge());
}

Outcome outcome_of(Facts facts, std::string_view framework) {
  const Report report = told_report_of(std::move(facts));
  const auto found = std::ranges::find(report.verdicts, framework, &FrameworkVerdict::framework);
  EXPECT_NE(found, report.verdicts.end()) << framework;
  return found == report.verdicts.end() ? Outcome::Unknown : found->outcome;
}

TEST(ToldPackages, AreJudgedByWhatIsKnownOfTheirVersion) {
  const Facts old = told({{"torch", "2.7.1+cu126"}, {"numpy", "2.1.0"}});
  EXPECT_EQ(outcome_of(old, "torch"), Outcome::FailsAtFirstKernel);
  const Report report = told_report_of(old);
  EXPECT_EQ(report.worst(), Level::Fail);
  EXPECT_THAT(report.findings.front().remedies,
              Contains(Field(&Remedy::command, HasSubstr("cu128"))));
  EXPECT_EQ(outcome_of(told({{"torch", "2.7.1+cu128"}}), "torch"), Outcome::Works);
  // As somebody spells it, and as the Python index has it.
  EXPECT_EQ(outcome_of(told({{"ONNXRuntime_GPU", "1.31.1"}}), "onnxruntime"), Outcome::Works);
  EXPECT_EQ(outcome_of(told({{"Torch", "2.6.0"}}), "torch"), Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome_of(told({{"torch", "2.9.1+cpu"}}), "torch"), Outcome::WorksSlowly);
  // Of two with the same files the one for cards.
  EXPECT_EQ(
      outcome_of(told({{"onnxruntime", "1.23.2"}, {"onnxruntime-gpu", "1.31.1"}}), "onnxruntime"),
      Outcome::Works);
  EXPECT_TRUE(told_report_of(told({{"numpy", "2.1.0"}})).verdicts.empty());
}

TEST(ToldPackages, BuildsThatNobodyLookedIntoAreUnknown) {
  for (const auto& [name, version] :
       std::vector<std::pair<std::string, std::string>>{{"torch", "99.0"},
                                                        {"torch", "2.7.1+mine"},
                                                        {"torch", "nightly"},
                                                        {"pytorch", "2.5.1"},
                                                        {"llama-cpp-python", "0.3.4"}}) {
    const std::string framework = name == "pytorch" ? "torch" : name;
    EXPECT_EQ(outcome_of(told({{name, version}}), framework), Outcome::Unknown) << name << version;
  }
  const auto changed = [](const auto& change) {
    Facts facts = told({{"torch", "2.7.1+cu126"}});
    change(facts.environments.front());
    return outcome_of(facts, "torch");
  };
  EXPECT_EQ(changed([](PythonEnvironment& of) { of.kind = "conda"; }), Outcome::Unknown);
  EXPECT_EQ(changed([](PythonEnvironment& of) { of.packages[0].installer = "conda"; }),
            Outcome::Unknown);
  EXPECT_EQ(changed([](PythonEnvironment& of) { of.packages[0].origin = "https://x.org/t.whl"; }),
            Outcome::Unknown);
  EXPECT_EQ(changed([](PythonEnvironment& of) {
              of.packages[0].tags = {"cp311-cp311-manylinux_2_28_aarch64"};
            }),
            Outcome::Unknown);
  EXPECT_EQ(changed([](PythonEnvironment& of) {
              of.packages[0].tags = {"cp311-cp311-manylinux_2_28_x86_64"};
              of.packages[0].origin = "https://download.pytorch.org/whl/cu126/torch.whl";
            }),
            Outcome::FailsAtFirstKernel);
}

// The loader was not asked: what the packages bring tells as much as of a recipe's pins.
TEST(ToldPackages, ThatWantAnotherCudnnThanComesAreWarnedOf) {
  const auto warned = [](const std::vector<std::pair<std::string, std::string>>& packages) {
    Facts facts = told(packages);
    facts.machine.cards.front().name = "RTX 4090";
    const Report report = told_report_of(facts);
    const auto found =
        std::ranges::find(report.findings, "cudnn of another version", &Finding::rule);
    return found == report.findings.end() ? Finding() : *found;
  };
  const Finding found = warned({{"torch", "2.7.1+cu128"}, {"ctranslate2", "4.4.0"}});
  EXPECT_EQ(found.level, Level::Warning);
  EXPECT_THAT(
      found.text,
      HasSubstr("ctranslate2 4.4.0 wants cuDNN 8, and another one comes: 9.7.1.26 by torch"));
  EXPECT_THAT(found.remedies, Contains(Field(&Remedy::command, HasSubstr("ctranslate2==4."))));
  EXPECT_EQ(warned({{"ctranslate2", "4.4.0"}, {"nvidia-cudnn-cu12", "9.10.2.21"}}).level,
            Level::Warning);
  using Packages = std::vector<std::pair<std::string, std::string>>;
  for (const Packages& good : {Packages{{"torch", "2.7.1+cu128"}, {"ctranslate2", "4.5.0"}},
                               Packages{{"torch", "2.7.1+cu128"}, {"ctranslate2", "4.8.5"}},
                               Packages{{"ctranslate2", "4.4.0"}},
                               Packages{{"torch", "2.7.1+cu128"},
                                        {"ctranslate2", "4.4.0"},
                                        {"nvidia-cudnn-cu12", "8.9.7.29"}}}) {
    EXPECT_EQ(warned(good).text, "");
  }
}

// A table that says "works" above a warning that it does not would be believed.
TEST(ToldPackages, WhatWantsOtherLibrariesThanComeIsUnknownInTheTable) {
  using Packages = std::vector<std::pair<std::string, std::string>>;
  const auto outcome = [](const Packages& packages) {
    Facts facts = told(packages);
    facts.machine.cards.front().name = "RTX 4090";
    return outcome_of(facts, "ctranslate2");
  };
  EXPECT_EQ(outcome({{"torch", "2.7.1+cu128"}, {"ctranslate2", "4.4.0"}}), Outcome::Unknown);
  EXPECT_EQ(outcome({{"torch", "2.7.1+cu128"}, {"ctranslate2", "4.8.5"}}), Outcome::Works);
  EXPECT_EQ(outcome({{"ctranslate2", "4.8.5"}, {"nvidia-cublas-cu11", "11.11.3.6"}}),
            Outcome::Unknown);
  EXPECT_EQ(outcome({{"ctranslate2", "4.8.5"},
                     {"nvidia-cublas-cu11", "11.11.3.6"},
                     {"nvidia-cublas-cu12", "12.9.1.4"}}),
            Outcome::Works);
  Facts facts = told({{"ctranslate2", "4.8.5"}, {"nvidia-cublas-cu11", "11.11.3.6"}});
  facts.environments.front().kind = "venv";
  const Report report = told_report_of(facts);
  const auto found =
      std::ranges::find(report.findings, "cublas of another version", &Finding::rule);
  ASSERT_NE(found, report.findings.end());
  EXPECT_THAT(found->remedies,
              Contains(Field(&Remedy::command,
                             HasSubstr("/srv/asr/venv/bin/python -m pip install "
                                       "nvidia-cublas-cu12 && export LD_LIBRARY_PATH="))));
}

TEST(ToldPackages, WhatAScanWroteDownStaysAsItIs) {
  Facts scanned = told({{"torch", "2.7.1+cu126"}});
  Framework& torch = scanned.environments.front().frameworks.emplace_back();
  torch.name = torch.package = "torch";
  torch.version = "2.7.1+cu126";
  torch.cuda = "";
  const Facts before = scanned;
  add_told_frameworks(scanned, builtin_knowledge());
  EXPECT_EQ(scanned, before);
}

TEST(ToldPackages, OfAWindowsMachineAreWindowss) {
  Facts facts = told({{"torch", "2.9.1"}});
  facts.machine.system = System::Windows;
  EXPECT_EQ(outcome_of(facts, "torch"), Outcome::WorksSlowly)
      << "the Python index has it for the processor";
}

TEST(ToldPackages, AComparisonSeesWhatBreaks) {
  Facts first = told({{"torch", "2.7.1+cu128"}});
  Facts second = told({{"torch", "2.7.1+cu126"}});
  add_told_frameworks(first, builtin_knowledge());
  add_told_frameworks(second, builtin_knowledge());
  const Comparison found = compare_machines(first, second, builtin_knowledge());
  EXPECT_TRUE(found.is_worse());
  EXPECT_THAT(found.verdicts, Contains(Field(&VerdictChange::after, Outcome::FailsAtFirstKernel)));
  EXPECT_FALSE(compare_machines(second, first, builtin_knowledge()).is_worse());
}

}  // namespace
}  // namespace mynah::doctor
