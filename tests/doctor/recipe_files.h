// Recipes as texts, and what the rules say of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/alignment.h"
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

// The facts of a folder of recipes, on an RTX 5090.
inline Facts project(const std::filesystem::path& folder,
                     std::initializer_list<std::pair<const char*, const char*>> texts) {
  for (const auto& [name, text] : texts) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  Facts facts;
  facts.machine.cards = {card("GeForce RTX 5090", "12.0")};
  facts.machine.driver = "580.95.05";
  gather_recipes(std::vector<std::filesystem::path>{folder}, facts);
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

// How grave, and in what words.
inline std::vector<std::string> words_of(const Report& report, const char* rule) {
  std::vector<std::string> words;
  for (const auto& finding : of_rule(report, rule)) {
    words.push_back(std::string(level_name(finding->level)) + ": " + finding->text);
  }
  return words;
}

// What each column of the matrix comes to in a row.
inline std::vector<std::string> resolved(const Alignment& alignment, const char* name) {
  std::vector<std::string> cells;
  const auto row = std::ranges::find(alignment.rows, name, &AlignmentRow::name);
  if (row != alignment.rows.end()) {
    for (const AlignmentCell& cell : row->cells) {
      cells.push_back(cell.resolved);
    }
  }
  return cells;
}

}  // namespace mynah::doctor
