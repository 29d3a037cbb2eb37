// Verdicts on frameworks as the knowledge base has them, and on facts that are written down.
#include "doctor/verdict.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/coverage.h"
#include "doctor/known_framework.h"

namespace mynah::doctor {
namespace {

using testing::HasSubstr;

Framework known(const char* name, const char* version, System system = System::Linux) {
  const auto framework =
      known_framework(name, Version::parse(version).value(), system, builtin_knowledge());
  EXPECT_TRUE(framework) << name << " " << version;
  return framework.value_or(Framework());
}

Card card(const char* name) {
  Card card;
  card.name = name;
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  return card;
}

Machine machine(const char* card_name, const char* driver) {
  Machine machine;
  machine.cards = {card(card_name)};
  machine.driver = driver;
  return machine;
}

Judged judge(const Framework& framework, const char* card_name, const char* driver) {
  const Machine at = machine(card_name, driver);
  return judge_framework(framework, at.cards.data(), at, builtin_knowledge());
}

Outcome outcome(const Framework& framework, const char* card_name, const char* driver) {
  return judge(framework, card_name, driver).verdict.outcome;
}

}  // namespace

TEST(Verdict, TorchRunsOnTheCardsItsVariantHasCodeFor) {
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu126"), "RTX 5090", "575.57.08"),
            Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu128"), "RTX 5090", "575.57.08"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu126"), "RTX 4090", "560.35.05"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu128"), "TITAN Xp", "580.95.05"),
            Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu126"), "TITAN Xp", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu126"), "TITAN Xp", "595.71.05"),
            Outcome::FailsAtLoad);
  EXPECT_EQ(outcome(known("torch", "2.12.0+cu130"), "RTX 4090", "550.163.01"),
            Outcome::FailsAtLoad);
}

TEST(Verdict, OnnxRuntimeRunsOnTheCardsItsProviderHasCodeFor) {
  const Framework newest = known("onnxruntime-gpu", "1.31.1");
  EXPECT_EQ(outcome(newest, "Tesla T4", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "RTX 4090", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "H100", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "RTX 5090", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "B200", "580.95.05"), Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome(newest, "GB10", "580.95.05"), Outcome::FailsAtFirstKernel);
}

TEST(Verdict, PtxIsCompiledByDriversThatKnowItsLanguage) {
  const Framework framework = known("ctranslate2", "4.8.1");
  EXPECT_EQ(outcome(framework, "RTX 5090", "570.86.15"), Outcome::WorksSlowly);
  const Judged old = judge(framework, "H100", "550.54.14");
  EXPECT_EQ(old.verdict.outcome, Outcome::FailsAtFirstKernel);
  EXPECT_EQ(old.cause, Cause::PtxTooNew);
  EXPECT_THAT(old.findings.front().error, HasSubstr("unsupported toolchain"));
  EXPECT_EQ(outcome(framework, "RTX 4090", "550.54.14"), Outcome::Works);
}

}  // namespace mynah::doctor
