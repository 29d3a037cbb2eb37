#include "doctor/facts_json.h"

#include <gtest/gtest.h>

namespace mynah::doctor {

TEST(FactsJson, WhatIsWrittenIsReadBackAsItWas) {
  Facts facts;
  facts.machine.system = System::Windows;
  Card& card = facts.machine.cards.emplace_back();
  card.name = "NVIDIA GeForce RTX 5090";
  card.memory_mib = 32607;
  facts.machine.variables = {{"CUDA_VISIBLE_DEVICES", ""}};
  Framework& framework = facts.environments.emplace_back().frameworks.emplace_back();
  framework.cuda = "";
  framework.wants.emplace_back().want = Want::Opened;
  const auto back = parse_facts(to_json(facts).dump(), "facts.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, facts);
}

TEST(FactsJson, WhatIsWrongIsSaidWithItsPath) {
  const auto fault = [](const char* text) { return parse_facts(text, "f").error().message; };
  EXPECT_EQ(fault(R"({"machine": {"cards": [{"memory_mib": "8"}]}})"),
            "f: machine.cards[0].memory_mib: wanted a whole number, not negative, found string");
  EXPECT_EQ(
      fault(R"({"machine": {"container": {"tolkit": true}}})"),
      "f: machine.container: has no field \"tolkit\" (did you mean toolkit?); there are inside, "
      "runtimes, toolkit, cdi, docker, docker_snap");
  // One that belongs deeper.
  EXPECT_EQ(fault(R"({"cards": []})"),
            "f: has no field \"cards\" (it is one of machine); there are machine, environments, "
            "recipes, toolkits, wanted, headroom_mib, skipped");
  EXPECT_EQ(fault(R"({"machine": {"system": "plan9"}})"),
            "f: machine.system: wanted one of linux, windows, found \"plan9\"");
}

}  // namespace mynah::doctor
