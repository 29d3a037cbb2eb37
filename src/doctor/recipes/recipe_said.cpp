#include "doctor/recipes/recipe_said.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

// A finding, and the columns that it is about.
struct Shared {
  Finding finding;
  std::string subject;  // without the column's name
  std::vector<std::string> names;
};

// A finding's subject without its column's name behind it: "torch 2.8.0 in ".
std::string subject_without(const Finding& finding, const RecipeColumn& column) {
  const bool named = !column.name.empty() && finding.subject.ends_with(column.name);
  return finding.subject.substr(0, finding.subject.size() - (named ? column.name.size() : 0));
}

bool same_but_subject(const Finding& a, Finding b) {
  b.subject = a.subject;
  return a == b;
}

// Makes what was said of cards notes, for the reason that is seen.
void note_of_cards(Report& report, const Said& own, Outcome outcome, const std::string& reason,
                   const Evidence& seen) {
  for (size_t i = own.verdicts; i < report.verdicts.size(); ++i) {
    FrameworkVerdict& verdict = report.verdicts[i];
    if (!verdict.card.empty() && verdict.outcome != Outcome::FailsAtLoad) {
      verdict.outcome = outcome;
      verdict.reason = reason;
    }
  }
  for (size_t i = own.findings; i < report.findings.size(); ++i) {
    Finding& finding = report.findings[i];
    if (!finding.card.empty() && finding.level > Level::Note) {
      finding.level = Level::Note;
      finding.certainty = Certainty::Likely;
      finding.evidence.push_back(seen);
    }
  }
}

std::string joined(const Shared& shared) {
  std::string text = shared.subject;
  for (size_t i = 0; i < shared.names.size(); ++i) {
    text += fmt::format("{}{}",
                        i == 0                         ? ""
                        : i + 1 == shared.names.size() ? " and "
                                                       : ", ",
                        shared.names[i]);
  }
  return text;
}

}  // namespace

Said said_of(const Report& report) {
  return {.verdicts = report.verdicts.size(), .findings = report.findings.size()};
}

void drop_repeated(Report& report, const Said& base, const Said& own, const RecipeColumn& column) {
  const auto without = [](std::string text, const std::string& name) {
    const size_t at = text.rfind(name);
    return at == std::string::npos ? text : text.erase(at);
  };
  const auto repeated_verdict = [&](const FrameworkVerdict& verdict) {
    return std::any_of(report.verdicts.begin() + static_cast<std::ptrdiff_t>(base.verdicts),
                       report.verdicts.begin() + static_cast<std::ptrdiff_t>(own.verdicts),
                       [&](const FrameworkVerdict& other) {
                         return other.environment == column.base &&
                                other.framework == verdict.framework &&
                                other.version == verdict.version && other.card == verdict.card &&
                                other.outcome == verdict.outcome;
                       });
  };
  const auto repeated = [&](const Finding& finding) {
    return std::any_of(report.findings.begin() + static_cast<std::ptrdiff_t>(base.findings),
                       report.findings.begin() + static_cast<std::ptrdiff_t>(own.findings),
                       [&](const Finding& other) {
                         return other.rule == finding.rule && other.card == finding.card &&
                                other.text == finding.text &&
                                without(other.subject, column.base) ==
                                    without(finding.subject, column.base);
                       });
  };
  std::vector<FrameworkVerdict> verdicts;
  for (size_t i = own.verdicts; i < report.verdicts.size(); ++i) {
    if (!repeated_verdict(report.verdicts[i])) {
      verdicts.push_back(report.verdicts[i]);
    }
  }
  std::vector<Finding> findings;
  for (size_t i = own.findings; i < report.findings.size(); ++i) {
    if (!repeated(report.findings[i])) {
      findings.push_back(report.findings[i]);
    }
  }
  report.verdicts.resize(own.verdicts);
  report.verdicts.insert(report.verdicts.end(), verdicts.begin(), verdicts.end());
  report.findings.resize(own.findings);
  report.findings.insert(report.findings.end(), findings.begin(), findings.end());
}

void doubt_extra(Report& report, const Said& own, const RecipeColumn& column) {
  for (size_t i = own.findings; i < report.findings.size(); ++i) {
    Finding& finding = report.findings[i];
    if (finding.level == Level::Fail) {
      finding.level = Level::Unknown;
      finding.certainty = Certainty::Likely;
    }
    finding.evidence.push_back(
        {fmt::format("\"{}\" is an extra or a group that may be installed: no recipe here says so",
                     column.group),
         column.root->path});
  }
}

bool has_card_beside(const RecipeColumn& column, const RecipeColumn& other) {
  return other.service != nullptr && other.root != column.root && other.service->card == true &&
         fs::path(other.root->path).parent_path() == fs::path(column.root->path).parent_path();
}

bool lacks_card(const RecipeColumn& column, const std::vector<RecipeColumn>& columns) {
  if (column.service == nullptr || column.service->card != false) {
    return false;
  }
  // "docker compose -f compose.yaml -f compose.gpu.yaml": half a service, with the card.
  return std::ranges::none_of(columns, [&](const RecipeColumn& other) {
    return has_card_beside(column, other) && other.service->name == column.service->name &&
           other.service->image.empty() && other.service->build.empty();
  });
}

void doubt_without_card(Report& report, const Said& own, const RecipeColumn& column) {
  note_of_cards(report, own, Outcome::WorksSlowly, "the service reserves no card",
                {fmt::format("{} reserves no card: this is so where the host brings one in all the "
                             "same",
                             column.service->name),
                 place_text(column.root->path, column.service->line)});
}

void doubt_other_machine(Report& report, const Said& own, const RecipeColumn& column) {
  note_of_cards(report, own, Outcome::Unknown, "its name says that it is for another machine",
                {fmt::format("its name says that it is for another kind of machine: {}",
                             column.other_machine),
                 column.root->path});
}

void say_once(Report& report, std::span<const SaidOfColumn> said) {
  const size_t first = said.empty() ? report.findings.size() : said.front().from;
  std::vector<Shared> all;
  for (size_t i = 0; i < said.size(); ++i) {
    const size_t end = i + 1 < said.size() ? said[i + 1].from : report.findings.size();
    const size_t before = all.size();  // what is said twice of one column stays
    for (size_t j = said[i].from; j < end; ++j) {
      Finding& finding = report.findings[j];
      const RecipeColumn& column = *said[i].column;
      std::string subject = subject_without(finding, column);
      const auto same = std::find_if(
          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before), [&](const Shared& other) {
            return other.subject == subject && same_but_subject(other.finding, finding);
          });
      const bool named = subject.size() < finding.subject.size();
      if (same == all.begin() + static_cast<std::ptrdiff_t>(before)) {
        all.push_back({.finding = std::move(finding),
                       .subject = std::move(subject),
                       .names = named ? std::vector{column.name} : std::vector<std::string>()});
      } else if (named) {
        same->names.push_back(column.name);
      }
    }
  }
  report.findings.resize(first);
  for (Shared& shared : all) {
    shared.finding.subject = joined(shared);
    report.findings.push_back(std::move(shared.finding));
  }
}

}  // namespace mynah::doctor
