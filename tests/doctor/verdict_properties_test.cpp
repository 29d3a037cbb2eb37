// What must hold of verdicts whatever the wheel, the card and the driver.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {
namespace {

const Architecture& any_architecture() {
  const std::vector<Architecture>& all = builtin_knowledge().architectures;
  return all[*rc::gen::inRange<size_t>(0, all.size())];
}

DeviceImage any_image() {
  DeviceImage image;
  image.architecture = capability_number(any_architecture().compute_capability);
  image.ptx = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
  if (image.ptx) {
    image.ptx_version = *rc::gen::element<std::string>("7.0", "8.2", "8.7", "9.0", "9.2", "");
  }
  return image;
}

// A framework whose units are for no single architecture: what stands in for others is another
// matter.
Framework any_framework() {
  Framework framework;
  framework.name = framework.package = *rc::gen::element<std::string>("torch", "ctranslate2");
  framework.version = "1.0";
  framework.cuda = *rc::gen::element<std::string>("11.8", "12.4", "12.8", "13.0");
  DeviceCode& code = framework.code.emplace_back();
  code.file = framework.name == "torch" ? "/x/libtorch_cuda.so" : "/x/libctranslate2.so";
  const auto kinds = *rc::gen::inRange<size_t>(1, 4);
  for (size_t i = 0; i < kinds; ++i) {
    DeviceUnits& units = code.units.emplace_back();
    units.count = *rc::gen::inRange<uint64_t>(1, 200);
    const auto images = *rc::gen::inRange<size_t>(1, 6);
    for (size_t j = 0; j < images; ++j) {
      units.images.push_back(any_image());
      units.images.back().zstd = *rc::gen::weightedElement<bool>({{4, false}, {1, true}});
    }
  }
  return framework;
}

Machine any_machine() {
  Machine machine;
  Card& card = machine.cards.emplace_back();
  card.name = "a card";
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  card.compute_capability = any_architecture().compute_capability;
  machine.driver = *rc::gen::element<std::string>("470.42.01", "525.60.13", "535.54.03",
                                                  "550.54.14", "560.35.05", "570.86.15",
                                                  "580.95.05", "595.71.05", "615.1", "");
  return machine;
}

Outcome outcome(const Framework& framework, const Machine& machine) {
  return judge_framework(framework, machine.cards.data(), machine, builtin_knowledge())
      .verdict.outcome;
}

// A branch after which a card is ignored; 0: none is known.
int last_branch(const Card& card) {
  const Architecture* architecture = builtin_knowledge().architecture(card.compute_capability);
  return architecture != nullptr && architecture->last_driver
             ? std::stoi(architecture->last_driver->value)
             : 0;
}

// Whether a driver is older than the first that lists a card, which was read.
bool is_before_the_card(const Machine& machine) {
  const Architecture* architecture =
      builtin_knowledge().architecture(machine.cards.front().compute_capability);
  return architecture != nullptr && architecture->first_driver &&
         architecture->first_driver->verified && !machine.driver.empty() &&
         std::stoi(machine.driver) < std::stoi(architecture->first_driver->value);
}

}  // namespace

TEST(VerdictProperty, MoreArchitecturesNeverMakeItWorse) {
  EXPECT_TRUE(rc::check([] {
    Framework framework = any_framework();
    const Machine machine = any_machine();
    const Outcome before = outcome(framework, machine);
    for (DeviceUnits& units : framework.code.front().units) {
      units.images.push_back(any_image());
      units.images.back().ptx = false;
      units.images.back().ptx_version.clear();
    }
    RC_ASSERT(badness(outcome(framework, machine)) <= badness(before));
  }));
}

TEST(VerdictProperty, ANewerDriverOfTheCardsBranchesNeverMakesItWorse) {
  EXPECT_TRUE(rc::check([] {
    const Framework framework = any_framework();
    Machine machine = any_machine();
    RC_PRE(!machine.driver.empty());
    const Outcome before = outcome(framework, machine);
    const int now = std::stoi(machine.driver);
    for (const DriverBranch& branch : builtin_knowledge().branches) {
      const int last = last_branch(machine.cards.front());
      if (branch.branch <= now || (last != 0 && branch.branch > last)) {
        continue;
      }
      machine.driver = std::to_string(branch.branch) + ".999";
      // Of a branch that nobody verified less is known.
      const int allowed =
          branch.verified ? badness(before) : std::max(badness(before), badness(Outcome::Unknown));
      RC_ASSERT(badness(outcome(framework, machine)) <= allowed);
    }
  }));
}

TEST(VerdictProperty, AFactThatIsMissingNeverMakesAFailure) {
  EXPECT_TRUE(rc::check([] {
    Framework framework = any_framework();
    Machine machine = any_machine();
    framework.unverified = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("code", "ptx", "compression", "libraries"));
    if (badness(outcome(framework, machine)) > badness(Outcome::Unknown)) {
      return;
    }
    const auto which = *rc::gen::inRange(0, 8);
    switch (which) {
      case 0:
        machine.driver.clear();
        break;
      case 1:
        machine.cards.front().compute_capability.clear();
        break;
      case 2:
        framework.cuda = std::nullopt;
        break;
      case 3:
        framework.code.clear();
        break;
      case 4:
        framework.code.front().units.clear();
        break;
      case 5:
        for (DeviceUnits& units : framework.code.front().units) {
          for (DeviceImage& image : units.images) {
            image.ptx_version.clear();
          }
        }
        break;
      case 6:
        machine.cards.front().vendor.clear();
        machine.cards.front().kernel_driver.clear();
        break;
      default:
        framework.version.clear();
        break;
    }
    RC_ASSERT(badness(outcome(framework, machine)) <= badness(Outcome::Unknown));
  }));
}

TEST(VerdictProperty, WhatNobodyVerifiedNeverMakesAFailure) {
  EXPECT_TRUE(rc::check([] {
    Framework framework = any_framework();
    framework.source = "somebody";
    framework.unverified = {"code", "compression", "ptx", "cudnn", "libraries"};
    Machine machine = any_machine();
    RC_PRE(last_branch(machine.cards.front()) == 0 && !is_before_the_card(machine));
    RC_ASSERT(badness(outcome(framework, machine)) <= badness(Outcome::Unknown));
  }));
}

TEST(VerdictProperty, EveryVerdictHasAReasonAndEveryFailureItsEvidence) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = any_machine();
    const Judged judged =
        judge_framework(any_framework(), machine.cards.data(), machine, builtin_knowledge());
    RC_ASSERT(!judged.verdict.reason.empty());
    for (const Finding& finding : judged.findings) {
      RC_ASSERT(finding.level != Level::Fail || finding.certainty == Certainty::Certain);
      RC_ASSERT(finding.level != Level::Fail || !finding.evidence.empty());
      RC_ASSERT(!finding.text.empty() && !finding.rule.empty());
    }
  }));
}

}  // namespace mynah::doctor
