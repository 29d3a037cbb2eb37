// What reports in text, JSON and HTML share: who speaks of what, and words for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/recipes/alignment.h"

namespace mynah::doctor {

// All that is reported.
struct ReportFrame {
  const Report& report;
  const Facts& facts;
  std::string program;         // "mynah 0.6.0 (commit 1f2e3d4)"
  std::string knowledge_date;  // "2026-11-24"
  // Of the recipes; null: there are not several.
  const Alignment* alignment = nullptr;
  // No place was named: what a machine has where such things usually are was looked at.
  bool everywhere = false;
  // Whose machine it is, where it is not this one as it is; empty: it is.
  std::string about = {};
};

// Text from outside as a terminal may print it: control characters, which could move its cursor,
// as '?', line ends and tabs as blanks. Other bytes stay.
[[nodiscard]] std::string printable(std::string_view text);

// "Debian GNU/Linux 12 (bookworm), NVIDIA's driver 580.95.05": what is known of the machine.
[[nodiscard]] std::string machine_words(const Machine& machine);

// Recipes by their paths, each once: a file may be read for several stages or installers.
[[nodiscard]] std::vector<std::string> recipe_paths(const Facts& facts);

// What there was to judge, a line each: how many environments, recipes and toolkits, and which
// environments where none has a framework. None where only a machine was described.
[[nodiscard]] std::vector<std::string> looked_words(const ReportFrame& frame);

// "NVIDIA GeForce RTX 5090 (sm_120, 32607 MiB)"; a card without a name by its address.
[[nodiscard]] std::string card_words(const Card& card);

// "torch 2.7.1+cu126 on NVIDIA GeForce RTX 5090".
[[nodiscard]] std::string title_of(const Finding& finding);

// "fail", "warning (likely)", "unknown (a guess)".
[[nodiscard]] std::string level_words(const Finding& finding);

// "2 will fail, 1 warning": how many findings there are of each level that is worse than a note;
// "nothing that will fail" where there is none.
[[nodiscard]] std::string summary_words(const Report& report);

// Verdicts as a table: a row for each framework, a column for each card.
struct VerdictTable {
  struct Row {
    std::string framework;    // "torch 2.7.1+cu126"
    std::string environment;  // path; empty where it is not known
    // By column; null where there is no verdict.
    std::vector<const FrameworkVerdict*> cells;
  };

  std::vector<std::string> cards;  // "no card" where a verdict is of none
  std::vector<Row> rows;
};

// Cards and frameworks in the order of the verdicts.
[[nodiscard]] VerdictTable table_of(const Report& report);

// "==2.5.1 (2.5.1+cu124), drifts"; "-" where nobody wrote anything.
[[nodiscard]] std::string cell_words(const AlignmentCell& cell);

// Good, Warning where a row drifts, Fail where it conflicts: by this it is coloured.
[[nodiscard]] Level level_of(const AlignmentRow& row);

// Whether a verdict is good, unsure or bad: by this it is coloured.
[[nodiscard]] Level level_of(Outcome outcome);

}  // namespace mynah::doctor
