// Recipes as texts, and what the rules say of them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_rules.h"
#include "doctor/recipes/recipes.h"

namespace mynah::doctor {

inline Card card(const char* name, const char* capability) {
  Card card;
  card.name = name;
  card.compute_capability = capability;
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  return card;
}

inline Facts files(std::initializer_list<std::pair<const char*, const char*>> files) {
  Facts facts;
  for (const auto& [path, text] : files) {
    facts.recipes.push_back(parse_recipe(text, path).value());
  }
  return facts;
}

inline Report judge(const Facts& facts) {
  Diagnosis diagnosis{.facts = facts, .knowledge = builtin_knowledge(), .report = {}};
  judge_recipes(diagnosis);
  return diagnosis.report;
}

// Copies: the report may be gone.
inline std::vector<std::shared_ptr<const Finding>> of_rule(const Report& report, const char* rule) {
  std::vector<std::shared_ptr<const Finding>> found;
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) {
      found.push_back(std::make_shared<const Finding>(finding));
    }
  }
  return found;
}

inline std::vector<std::string> failures(const Report& report) {
  std::vector<std::string> found;
  for (const Finding& finding : report.findings) {
    if (finding.level == Level::Fail) {
      found.push_back(finding.rule + ": " + finding.subject);
    }
  }
  return found;
}

}  // namespace mynah::doctor
