#include "doctor/recipes/recipe_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_said.h"
#include "doctor/recipes/recipe_trial.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

// Whether two words for one package come from one run of an installer, which must meet both: files
// that include each other, one command of a Dockerfile.
bool installed_together(const Asked& a, const Asked& b) {
  return a.how == b.how &&
         (a.how != nullptr || (a.recipe->kind != "dockerfile" && b.recipe->kind != "dockerfile")) &&
         a.requirement->locked == b.requirement->locked;
}

// Whether the pin of one is refused by the other.
bool contradict(const Asked& a, const Asked& b) {
  const auto first = SpecifierSet::parse(a.requirement->specifier);
  const auto second = SpecifierSet::parse(b.requirement->specifier);
  if (!first || !second) {
    return false;
  }
  const auto pinned = first->pinned();
  const auto other = second->pinned();
  if (pinned && other) {
    return !second->contains(*pinned) && !first->contains(*other);
  }
  return pinned && !second->contains(*pinned);
}

void judge_contradiction(Diagnosis& diagnosis, const RecipeColumn& column, const Asked& a,
                         const Asked& b, Proposals& proposals) {
  const bool together = (is_one_run(column) || a.how != nullptr) && installed_together(a, b);
  const bool refused = refused_together(column, a, b, diagnosis.knowledge);
  const bool certain = refused && a.holds == Truth::Yes && b.holds == Truth::Yes && together &&
                       a.requirement->url.empty() && b.requirement->url.empty();
  Finding& finding = add_finding(
      diagnosis, "requirements contradict", together ? failing(certain) : Level::Warning,
      sure(certain), fmt::format("{} in {}", a.requirement->name, column.name),
      together
          ? fmt::format("No version of {} is both {} and {}: an installer refuses them.",
                        a.requirement->name, a.requirement->specifier, b.requirement->specifier)
          : fmt::format("{} is asked for as {} and as {}: what is installed last replaces the "
                        "other.",
                        a.requirement->name, a.requirement->specifier, b.requirement->specifier));
  finding.evidence = {evidence_of(a), evidence_of(b)};
  if (together) {
    finding.error = "ResolutionImpossible";
  }
  propose(diagnosis, proposals,
          {pin_edit(column, b, a.requirement->specifier, "both are then the same")});
  const auto other = SpecifierSet::parse(b.requirement->specifier);
  if (other && other->pinned()) {
    propose(diagnosis, proposals,
            {pin_edit(column, a, b.requirement->specifier, "both are then the same")});
  }
}

void judge_contradictions(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  constexpr size_t kMostCompared = 50;  // words for one package
  for (const auto& [name, all] : column.packages) {
    if (!column.asks_for(name)) {
      continue;
    }
    const size_t count = std::min(all.size(), kMostCompared);
    bool found = false;
    for (size_t i = 0; i < count && !found; ++i) {
      for (size_t j = i + 1; j < count && !found; ++j) {
        const bool first = contradict(all[i], all[j]);
        // A lock decides over what its project asks for, and of two conditions that are not known
        // each may hold where the other does not.
        if ((!first && !contradict(all[j], all[i])) ||
            all[i].requirement->locked != all[j].requirement->locked ||
            all[i].requirement->locked ||
            (all[i].holds == Truth::NotKnown && all[j].holds == Truth::NotKnown)) {
          continue;
        }
        found = true;
        judge_contradiction(diagnosis, column, all[first ? i : j], all[first ? j : i], proposals);
      }
    }
  }
}

// A torch in the place of an image's leaves torchvision and torchaudio there, which are of the
// image's torch.
void judge_image_companions(Diagnosis& diagnosis, const RecipeColumn& column,
                            Proposals& proposals) {
  const auto of_image = Version::parse(column.image_says.torch);
  const Resolved torch = resolve(column, "torch");
  const std::vector<std::string_view> left = image_companions(column);
  if (!of_image || !column.image_torch.empty() || !torch.version || left.empty() ||
      (of_image->release_at(0) == torch.version->release_at(0) &&
       of_image->release_at(1) == torch.version->release_at(1))) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "torch companions", Level::Warning, Certainty::Likely,
      fmt::format("{} in {}", left.front(), column.name),
      fmt::format("torch {} comes in the place of the image's {}, and {} of the image stay, which "
                  "were made for that one: what imports them fails.",
                  torch.version->text(), of_image->text(), fmt::join(left, " and ")));
  finding.error = "operator torchvision::nms does not exist";
  finding.evidence = {evidence_of(*torch.by), {column.image, column.image_where}};
  if (const Note* note = diagnosis.knowledge.note("pytorch image")) {
    finding.evidence.push_back({note->text, note->source});
  }
  propose(diagnosis, proposals,
          torch_edits(column, torch_of(column, diagnosis.knowledge).value_or(*torch.version), "",
                      diagnosis.knowledge),
          "Ask for all three.");
}

// The torch that an image brings stays where it would do.
bool stays_of_image(const RecipeColumn& column, std::string_view package,
                    const SpecifierSet& range) {
  const auto version = Version::parse(column.image_torch);
  return package == "torch" &&
         (column.keeps_unnamed_torch() || (version && range.contains(*version)));
}

}  // namespace

Finding& add_finding(Diagnosis& diagnosis, std::string rule, Level level, Certainty certainty,
                     std::string subject, std::string text) {
  Finding& finding = diagnosis.report.findings.emplace_back();
  finding.rule = std::move(rule);
  finding.level = level;
  finding.certainty = certainty;
  finding.subject = std::move(subject);
  finding.text = std::move(text);
  return finding;
}

Evidence evidence_of(const Asked& asked) {
  return {requirement_text(*asked.requirement),
          place_text(asked.recipe->path, asked.requirement->line)};
}

void propose(const Diagnosis& diagnosis, Proposals& proposals, std::vector<AlignmentEdit> edits,
             std::string text) {
  std::erase_if(edits, [](const AlignmentEdit& edit) { return edit.from == edit.to; });
  if (!edits.empty()) {
    proposals.push_back({.finding = diagnosis.report.findings.size() - 1,
                         .edits = std::move(edits),
                         .text = std::move(text)});
  }
}

Remedy remedy_of(const std::vector<AlignmentEdit>& edits, std::string text,
                 const std::vector<RemedyStep>& more) {
  std::vector<RemedyStep> steps;
  std::set<std::string> locks;
  for (const AlignmentEdit& edit : edits) {
    if (!is_lock(edit.file)) {
      steps.push_back({.command = edit_command(edit), .text = edit_text(edit)});
    } else if (locks.insert(edit.file).second) {
      std::vector<AlignmentEdit> of_lock;  // one command does all of them
      std::ranges::copy_if(edits, std::back_inserter(of_lock),
                           [&](const AlignmentEdit& other) { return other.file == edit.file; });
      steps.push_back(lock_step(of_lock));
    }
  }
  steps.insert(steps.end(), more.begin(), more.end());
  if (steps.size() == 1) {
    return {.command = steps.front().command, .text = steps.front().text, .cost = {}};
  }
  if (text.empty()) {
    text = fmt::format("All {} steps are needed:", steps.size());
  }
  return {.command = {}, .text = std::move(text), .cost = {}, .steps = std::move(steps)};
}

void judge_requirements(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  judge_contradictions(diagnosis, column, proposals);
  judge_clashes(diagnosis, column, proposals);
  judge_needs(diagnosis, column, proposals);
  judge_torch_companions(diagnosis, column, proposals);
  judge_image_companions(diagnosis, column, proposals);
  judge_torch_build(diagnosis, column, proposals);
}

void judge_drift(Diagnosis& diagnosis, const RecipeColumn& column, const Alignment& alignment,
                 Proposals& proposals) {
  for (const std::string_view package : {"ctranslate2", "onnxruntime-gpu", "torch"}) {
    const Resolved own = resolve(column, package);
    const Derived other =
        own.by == nullptr ? derived(column, package, diagnosis.knowledge) : Derived();
    if (own.version || !own.several.empty() || (own.by == nullptr && other.by.empty()) ||
        stays_of_image(column, package, own.by != nullptr ? own.range : other.range)) {
      continue;
    }
    // conda's builds follow other packages of conda's; a file or an address is what it is.
    if (own.by != nullptr && !own.by->requirement->url.empty()) {
      continue;
    }
    const auto all = stretches(
        package, own.by != nullptr ? own.range : other.range, diagnosis.knowledge,
        own.by != nullptr && package == "torch" ? only_variant(column, *own.by, diagnosis.knowledge)
                                                : std::string());
    const bool differ = all.size() > 1;
    const bool unbound = own.by != nullptr && own.range.clauses.empty();
    if (!differ && !unbound) {
      continue;
    }
    const Asked& asked = own.by != nullptr ? *own.by : *other.asked;
    const bool verified = std::ranges::all_of(all, &Stretch::verified);
    // Of the builds of an index nothing may be known.
    const std::string wants = all.empty() ? "" : ": " + stretches_text(all);
    Finding& finding =
        add_finding(diagnosis, "pin drifts", differ ? Level::Warning : Level::Note, sure(verified),
                    fmt::format("{} in {}", package, column.name),
                    own.by != nullptr
                        ? fmt::format("{}{} takes the newest that there is on the day{}.", package,
                                      asked.requirement->specifier, wants)
                        : fmt::format("{} asks for {}{}, and nothing pins it: the newest comes{}.",
                                      other.by, package, other.range.text(), wants));
    finding.evidence.push_back(evidence_of(asked));
    for (const AlignmentEdit& edit : alignment.edits) {
      // The line itself, or a new one beside what asks for it.
      const bool here = edit.file == asked.recipe->path &&
                        (edit.from.empty() || edit.line == asked.requirement->line);
      if (edit.row == package && here) {
        propose(diagnosis, proposals, {edit});
      }
    }
  }
}

void judge_recipes(Diagnosis& diagnosis) {
  judge_reading(diagnosis);
  const std::vector<RecipeColumn> columns = recipe_columns(diagnosis.facts, diagnosis.knowledge);
  const Alignment alignment = align(diagnosis.facts, diagnosis.knowledge);
  RecipeTrials trials(diagnosis.facts, diagnosis.knowledge);
  const std::vector<AlignmentEdit> apart = apart_edits(alignment);
  Said base;
  std::vector<SaidOfColumn> said;
  for (const RecipeColumn& column : columns) {
    const Said before = said_of(diagnosis.report);
    Proposals proposals;
    judge_requirements(diagnosis, column, proposals);
    judge_steps(diagnosis, column, proposals);
    judge_indexes(diagnosis, column, proposals);
    judge_versions(diagnosis, column);
    judge_pythons(diagnosis, column, proposals);
    judge_image_system(diagnosis, column, proposals);
    judge_numpy(diagnosis, column);
    judge_recipe_builds(diagnosis, column, proposals);
    judge_compiled_code(diagnosis, column);
    judge_hidden_cards(diagnosis, column);
    judge_image_libraries(diagnosis, column, proposals);
    judge_cudnn(diagnosis, column, proposals);
    judge_machine_libraries(diagnosis, column, proposals);
    judge_drift(diagnosis, column, alignment, proposals);
    judge_image(diagnosis, column, alignment);
    judge_service(diagnosis, column, columns);
    judge_pinned_frameworks(diagnosis, column, &proposals);
    judge_unread_image(diagnosis, column);
    add_remedies(diagnosis, {.column = column, .columns = columns, .apart = apart}, proposals,
                 trials);
    if (column.group.empty()) {
      base = before;
    } else {
      drop_repeated(diagnosis.report, base, before, column);
      doubt_extra(diagnosis.report, before, column);
    }
    if (lacks_card(column, columns)) {
      doubt_without_card(diagnosis.report, before, column);
    }
    if (!column.other_machine.empty()) {
      doubt_other_machine(diagnosis.report, before, column);
    }
    said.push_back({.column = &column, .from = before.findings});
  }
  say_once(diagnosis.report, said);
  judge_alignment(diagnosis, alignment, columns, trials);
}

}  // namespace mynah::doctor
