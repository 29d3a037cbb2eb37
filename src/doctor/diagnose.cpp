#include "doctor/diagnose.h"

#include <algorithm>
#include <utility>

#include "doctor/machine/card_names.h"
#include "doctor/machine/machine_rules.h"
#include "doctor/machine/toolkit_rules.h"
#include "doctor/recipes/recipe_rules.h"
#include "doctor/rules.h"
#include "doctor/verdicts/companion_rules.h"
#include "doctor/verdicts/framework_rules.h"
#include "doctor/verdicts/memory_rules.h"

namespace mynah::doctor {

namespace {

// Whether two findings say the same of two cards.
bool is_same(const Finding& first, const Finding& second) {
  return first.rule == second.rule && first.level == second.level &&
         first.certainty == second.certainty && first.subject == second.subject &&
         first.text == second.text && first.remedies == second.remedies;
}

// Puts what is said of a further card with what was said of the first.
void merge(Finding& into, Finding&& from) {
  if (!from.card.empty() && !into.card.contains(from.card)) {
    into.card += (into.card.empty() ? "" : ", ") + from.card;
  }
  for (Evidence& evidence : from.evidence) {
    if (std::ranges::find(into.evidence, evidence) == into.evidence.end()) {
      into.evidence.push_back(std::move(evidence));
    }
  }
}

std::vector<Finding> merged(std::vector<Finding>&& findings) {
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const auto same =
        std::ranges::find_if(kept, [&](const Finding& other) { return is_same(other, finding); });
    if (same == kept.end()) {
      kept.push_back(std::move(finding));
    } else {
      merge(*same, std::move(finding));
    }
  }
  return kept;
}

}  // namespace

Report diagnose(const Facts& given, const Knowledge& knowledge) {
  Facts named;
  const auto by_name = [&](const Card& card) {
    return told_by_name(card, knowledge, Trusted::Verified) != nullptr;
  };
  const bool some_by_name = std::ranges::any_of(given.machine.cards, by_name);
  if (some_by_name) {
    named = given;
    name_capabilities(named.machine, knowledge, Trusted::Verified);
  }
  const Facts& facts = some_by_name ? named : given;
  Diagnosis diagnosis{.facts = facts, .knowledge = knowledge, .report = {}};
  judge_machine(diagnosis);
  judge_frameworks(diagnosis);
  judge_companions(diagnosis);
  judge_memory(diagnosis);
  judge_recipes(diagnosis);
  judge_toolkits(diagnosis);
  Report report = std::move(diagnosis.report);
  report.findings = merged(std::move(report.findings));
  std::ranges::stable_sort(report.findings, std::ranges::greater(), &Finding::level);
  return report;
}

}  // namespace mynah::doctor
