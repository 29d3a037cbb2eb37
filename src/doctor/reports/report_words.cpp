#include "doctor/reports/report_words.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/control_characters.h"

namespace mynah::doctor {

namespace {

// The index of a value, which is appended where it is not there.
size_t index_of(std::vector<std::string>& values, const std::string& value) {
  const auto found = std::ranges::find(values, value);
  if (found != values.end()) {
    return static_cast<size_t>(found - values.begin());
  }
  values.push_back(value);
  return values.size() - 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (const size_t length = control_length(text, i); length > 0) {
      result += text[i] == '\n' || text[i] == '\t' ? ' ' : '?';
      i += length - 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string machine_words(const Machine& machine) {
  std::vector<std::string> parts;
  if (!machine.release.empty()) {
    parts.push_back(machine.release);
  }
  if (machine.wsl) {
    parts.emplace_back("in WSL2");
  }
  if (machine.container.inside) {
    parts.emplace_back("in a container");
  }
  if (!machine.driver.empty()) {
    parts.push_back(fmt::format("NVIDIA's driver {}{}", machine.driver,
                                machine.open_kernel_module ? " (open module)" : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> recipe_paths(const Facts& facts) {
  std::vector<std::string> paths;
  std::set<std::string_view> seen;
  for (const Recipe& recipe : facts.recipes) {
    if (seen.insert(recipe.path).second) {
      paths.push_back(recipe.path);
    }
  }
  return paths;
}

std::vector<std::string> looked_words(const ReportFrame& frame) {
  constexpr size_t kMostNamed = 5;
  const Facts& facts = frame.facts;
  std::vector<std::string> parts;
  const auto count = [&](size_t number, std::string_view what, std::string_view behind = "") {
    if (number > 0) {
      parts.push_back(fmt::format("{} {}{}{}", number, what, number == 1 ? "" : "s", behind));
    }
  };
  const auto wheels = static_cast<size_t>(
      std::ranges::count(facts.environments, "wheel", &PythonEnvironment::kind));
  count(facts.environments.size() - wheels, "Python environment");
  count(wheels, "wheel");
  const std::vector<std::string> recipes = recipe_paths(facts);
  count(recipes.size(), "recipe", frame.everywhere ? " of this folder" : "");
  count(facts.toolkits.size(), "CUDA toolkit");
  std::vector<std::string> lines;
  if (!parts.empty()) {
    lines.push_back(fmt::format("looked at {}", fmt::join(parts, ", ")));
  }
  if (frame.everywhere && facts.environments.empty()) {
    lines.emplace_back(
        "no Python environment: none is active, none is .venv or venv here, in ~/.local, /usr, "
        "/usr/local or /opt, or where conda, uv, Poetry, pipx, Pipenv and pyenv keep theirs. "
        "One that lies elsewhere is named: mynah doctor FOLDER");
  }
  const bool frameworks = std::ranges::any_of(
      facts.environments, [](const auto& environment) { return !environment.frameworks.empty(); });
  if (!frameworks && !facts.environments.empty()) {
    std::vector<std::string> named;
    for (const PythonEnvironment& environment : facts.environments) {
      if (named.size() == kMostNamed) {
        named.push_back(fmt::format("{} more", facts.environments.size() - kMostNamed));
        break;
      }
      named.push_back(fmt::format(
          "{} ({}{} package{})", environment.path,
          environment.python.empty() ? "" : fmt::format("Python {}, ", environment.python),
          environment.packages.size(), environment.packages.size() == 1 ? "" : "s"));
    }
    lines.push_back(
        fmt::format("no framework that computes on cards in {}", fmt::join(named, ", ")));
  }
  // A recipe of which no row is made: nothing that is known of computes on a card.
  if (facts.environments.empty() && !facts.recipes.empty() && frame.report.verdicts.empty()) {
    lines.push_back(fmt::format("no framework whose code for cards is judged in {}{}",
                                fmt::join(recipes | std::views::take(kMostNamed), ", "),
                                recipes.size() > kMostNamed ? " and others" : ""));
  }
  return lines;
}

std::string card_words(const Card& card) {
  std::string name = card.name.empty() ? card.pci : card.name;
  if (name.empty()) {
    name = "a card";
  }
  std::vector<std::string> parts;
  if (!card.compute_capability.empty()) {
    std::string digits = card.compute_capability;
    std::erase(digits, '.');
    parts.push_back("sm_" + digits);
  }
  if (card.memory_mib) {
    parts.push_back(fmt::format("{} MiB", *card.memory_mib));
  }
  return parts.empty() ? name : fmt::format("{} ({})", name, fmt::join(parts, ", "));
}

std::string title_of(const Finding& finding) {
  if (finding.card.empty()) {
    return finding.subject;
  }
  return finding.subject.empty() ? finding.card : finding.subject + " on " + finding.card;
}

std::string level_words(const Finding& finding) {
  const std::string_view level = level_name(finding.level);
  switch (finding.certainty) {
    case Certainty::Likely:
      return fmt::format("{} (likely)", level);
    case Certainty::Guess:
      return fmt::format("{} (a guess)", level);
    case Certainty::Certain:
      break;
  }
  return std::string(level);
}

std::string summary_words(const Report& report) {
  const auto count = [&](Level level) {
    return std::ranges::count(report.findings, level, &Finding::level);
  };
  std::vector<std::string> parts;
  if (const auto fails = count(Level::Fail); fails > 0) {
    parts.push_back(fmt::format("{} will fail", fails));
  }
  if (const auto warnings = count(Level::Warning); warnings > 0) {
    parts.push_back(fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s"));
  }
  if (const auto unknown = count(Level::Unknown); unknown > 0) {
    parts.push_back(fmt::format("{} unknown", unknown));
  }
  return parts.empty() ? "nothing that will fail" : fmt::format("{}", fmt::join(parts, ", "));
}

VerdictTable table_of(const Report& report) {
  VerdictTable table;
  std::vector<std::string> frameworks;
  for (const FrameworkVerdict& verdict : report.verdicts) {
    const size_t column =
        index_of(table.cards, verdict.card.empty() ? std::string("no card") : verdict.card);
    const std::string framework =
        verdict.version.empty() ? verdict.framework : verdict.framework + " " + verdict.version;
    // A name holds no line end, so that two pairs are never one text.
    const size_t row = index_of(frameworks, framework + "\n" + verdict.environment);
    if (row == table.rows.size()) {
      table.rows.push_back(
          {.framework = framework, .environment = verdict.environment, .cells = {}});
    }
    std::vector<const FrameworkVerdict*>& cells = table.rows[row].cells;
    cells.resize(std::max(cells.size(), column + 1));
    const FrameworkVerdict*& cell = cells[column];
    // Of two cards of one name, the one that fares worse is shown.
    if (cell == nullptr || level_of(verdict.outcome) > level_of(cell->outcome)) {
      cell = &verdict;
    }
  }
  for (VerdictTable::Row& row : table.rows) {
    row.cells.resize(table.cards.size());
  }
  return table;
}

std::string cell_words(const AlignmentCell& cell) {
  if (cell.empty()) {
    return "-";
  }
  std::string words = cell.written.empty() ? cell.resolved : cell.written;
  if (!cell.resolved.empty() && cell.resolved != words) {
    words += fmt::format(" ({})", cell.resolved);
  }
  return cell.drifts ? words + ", drifts" : words;
}

Level level_of(const AlignmentRow& row) {
  const bool drifts = std::ranges::any_of(row.cells, &AlignmentCell::drifts);
  return row.conflict || drifts ? Level::Warning : row.differs ? Level::Note : Level::Good;
}

Level level_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Works:
      return Level::Good;
    case Outcome::WorksSlowly:
      return Level::Warning;
    case Outcome::FailsAtLoad:
    case Outcome::FailsAtFirstKernel:
    case Outcome::FailsAtLstm:
      return Level::Fail;
    case Outcome::Unknown:
      break;
  }
  return Level::Unknown;
}

}  // namespace mynah::doctor
