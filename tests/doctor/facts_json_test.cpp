#include "doctor/facts_json.h"

#include <algorithm>
#include <concepts>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/fact_fields.h"
#include "doctor/verdicts/told_packages.h"

namespace mynah::doctor {

namespace {

// How docs/doctor-facts.md calls the structs.
std::string called(const Machine& /*fact*/) {
  return "machine";
}

std::string called(const Card& /*fact*/) {
  return "card";
}

std::string called(const Node& /*fact*/) {
  return "node";
}

std::string called(const Container& /*fact*/) {
  return "container";
}

std::string called(const PythonEnvironment& /*fact*/) {
  return "environment";
}

std::string called(const Package& /*fact*/) {
  return "package";
}

std::string called(const SharedPath& /*fact*/) {
  return "shared_path";
}

std::string called(const Framework& /*fact*/) {
  return "framework";
}

std::string called(const DeviceCode& /*fact*/) {
  return "code";
}

std::string called(const DeviceUnits& /*fact*/) {
  return "unit";
}

std::string called(const DeviceImage& /*fact*/) {
  return "image";
}

std::string called(const LibraryWant& /*fact*/) {
  return "want";
}

std::string called(const Recipe& /*fact*/) {
  return "recipe";
}

std::string called(const Requirement& /*fact*/) {
  return "requirement";
}

std::string called(const IndexLine& /*fact*/) {
  return "index";
}

std::string called(const BaseImage& /*fact*/) {
  return "base_image";
}

std::string called(const Service& /*fact*/) {
  return "service";
}

std::string called(const DeviceBuild& /*fact*/) {
  return "device_build";
}

std::string called(const InstallStep& /*fact*/) {
  return "step";
}

std::string called(const DeviceFault& /*fact*/) {
  return "device_fault";
}

std::string called(const IncludeLine& /*fact*/) {
  return "include_line";
}

std::string called(const Toolkit& /*fact*/) {
  return "toolkit";
}

std::string called(const WantedModel& /*fact*/) {
  return "model";
}

std::string called(const Facts& /*fact*/) {
  return "facts";
}

// And types.
std::string type_of(const std::string& /*value*/) {
  return "text";
}

std::string type_of(bool /*value*/) {
  return "true or false";
}

template <std::integral T>
std::string type_of(T /*value*/) {
  return "whole number";
}

template <Worded T>
std::string type_of(T value) {
  return fmt::format("`{}`", fmt::join(words_of(value), "`, `"));
}

template <Struct T>
std::string type_of(const T& fact) {
  return "`" + called(fact) + "`";
}

template <class T>
std::string type_of(const std::optional<T>& /*value*/) {
  return type_of(T{});
}

std::string type_of(const std::vector<std::string>& /*values*/) {
  return "list of texts";
}

std::string type_of(const std::vector<uint64_t>& /*values*/) {
  return "list of whole numbers";
}

template <Struct T>
std::string type_of(const std::vector<T>& /*values*/) {
  return "list of " + type_of(T{});
}

template <class T>
std::string type_of(const std::map<std::string, T>& /*values*/) {
  return "object of " + type_of(T{}) +
         (std::same_as<T, std::string> || std::same_as<T, uint64_t> ? "s" : "");
}

// The beginnings of a struct's rows in the document, and of those below it.
class Tables {
 public:
  template <Struct T>
  void add(const T& fact) {
    const std::string name = called(fact);
    if (tables.contains(name)) {
      return;
    }
    std::vector<std::string>& rows = tables[name];
    fields_of(fact, [&](const char* field, const auto& member) {
      rows.push_back(fmt::format("| `{}` | {} | ", field, type_of(member)));
    });
    fields_of(fact, [&](const char* /*field*/, const auto& member) { look_into(member); });
  }

  std::map<std::string, std::vector<std::string>> tables;

 private:
  template <class T>
  void look_into(const T& /*value*/) {}

  template <Struct T>
  void look_into(const T& fact) {
    add(fact);
  }

  template <Struct T>
  void look_into(const std::vector<T>& /*values*/) {
    add(T{});
  }
};

std::string document(const char* name) {
  std::ifstream in(std::string(MYNAH_SOURCE_DIR) + "/docs/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST(FactsJson, EveryFieldStandsInTheDocumentWithItsType) {
  std::map<std::string, std::vector<std::string>> written;
  std::istringstream lines(document("doctor-facts.md"));
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      section = line.substr(3);
    } else if (line.starts_with("| `")) {
      written[section].push_back(line);
    }
  }
  Tables wanted;
  wanted.add(Facts());
  ASSERT_EQ(written.size(), wanted.tables.size());
  for (const auto& [name, rows] : wanted.tables) {
    ASSERT_EQ(written[name].size(), rows.size()) << name;
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(written[name][i].starts_with(rows[i]))
          << name << ": wanted " << rows[i] << ", found " << written[name][i];
    }
  }
}

TEST(FactsJson, TheExampleIsReadAndJudged) {
  auto facts = parse_facts(document("doctor-facts.json"), "doctor-facts.json");
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->machine.cards.size(), 1U);
  EXPECT_EQ(facts->machine.cards[0].memory_mib, 32607U);
  // What it leaves out is unknown: its FAILs are of what it says, a torch without code for the
  // card, and torchaudio beside another torch.
  add_told_frameworks(*facts, builtin_knowledge());
  const Report report = diagnose(*facts, builtin_knowledge());
  ASSERT_EQ(report.worst(), Level::Fail);
  ASSERT_EQ(std::ranges::count(report.findings, Level::Fail, &Finding::level), 2);
  EXPECT_NE(report.findings[0].text.find("neither machine code for sm_120"), std::string::npos)
      << report.findings[0].text;
  EXPECT_NE(report.findings[1].text.find("torchaudio"), std::string::npos)
      << report.findings[1].text;
}

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
