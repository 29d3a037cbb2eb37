#include "doctor/recipes/recipe_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

// Whether two words for one package come from one run of an installer, which must meet both: files
// that include each other. Commands of a Dockerfile run one after the other.
bool installed_together(const Asked& a, const Asked& b) {
  return a.recipe->kind != "dockerfile" && b.recipe->kind != "dockerfile" &&
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
                         const Asked& b, bool one_run) {
  const bool together = one_run && installed_together(a, b);
  const bool certain = a.holds == Truth::Yes && b.holds == Truth::Yes && together &&
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
  AlignmentEdit edit{.file = b.recipe->path,
                     .line = b.requirement->line,
                     .from = b.requirement->name + b.requirement->specifier,
                     .to = a.requirement->name + a.requirement->specifier,
                     .why = {}};
  finding.remedies.push_back(
      {.command = edit_command(edit),
       .text = fmt::format("Write {} in {}, too", edit.to, place_text(edit.file, edit.line)),
       .cost = {}});
}

// What belongs to one run of an installer: a file that no command names, with all that it includes.
// Files that a Dockerfile installs are several runs, of which nothing is certain.
bool is_one_run(const RecipeColumn& column) {
  return column.service == nullptr && column.root->kind != "dockerfile";
}

void judge_contradictions(Diagnosis& diagnosis, const RecipeColumn& column) {
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
        judge_contradiction(diagnosis, column, all[first ? i : j], all[first ? j : i],
                            is_one_run(column));
      }
    }
  }
}

// One side of a clash: the package that is pinned so, or asked for where any version clashes.
std::optional<Resolved> side_of(const RecipeColumn& column, const Requirement& side) {
  const auto set = SpecifierSet::parse(side.specifier);
  Resolved resolved = resolve(column, side.name);
  if (!set || resolved.by == nullptr) {
    return std::nullopt;
  }
  const bool any = set->clauses.empty();
  if (!any && (!resolved.version || !set->contains(*resolved.version))) {
    return std::nullopt;
  }
  return resolved;
}

void judge_clashes(Diagnosis& diagnosis, const RecipeColumn& column) {
  for (const Clash& clash : diagnosis.knowledge.clashes) {
    const auto first = parse_requirement(clash.first);
    const auto second = parse_requirement(clash.second);
    if (!first || !second) {
      continue;
    }
    const auto one = side_of(column, *first);
    const auto other = side_of(column, *second);
    Derived derived_one;
    if (!one && first->specifier.empty() && other) {
      derived_one = derived(column, first->name, diagnosis.knowledge);
    }
    if (!other || (!one && derived_one.by.empty())) {
      continue;
    }
    // Where any version clashes they only lie over each other, and the order decides.
    const bool breaks = !first->specifier.empty() || !second->specifier.empty();
    const bool certain = clash.verified && one && one->sure && other->sure;
    Finding& finding = add_finding(
        diagnosis, "packages clash", breaks ? failing(certain) : Level::Warning,
        sure(clash.verified), column.name,
        fmt::format("{} and {} do not go together: {}.", first->name, second->name, clash.text));
    if (one) {
      finding.evidence.push_back(evidence_of(*one->by));
    } else {
      finding.evidence.push_back(
          {fmt::format("{} asks for {}", derived_one.by, first->name),
           place_text(derived_one.asked->recipe->path, derived_one.asked->requirement->line)});
    }
    finding.evidence.push_back(evidence_of(*other->by));
    finding.evidence.push_back({clash.text, clash.source});
    if (first->name == "onnxruntime" && second->name == "onnxruntime-gpu") {
      const std::string pin = other->version ? "==" + other->version->text() : "";
      finding.remedies.push_back(
          {.command = fmt::format("pip uninstall -y onnxruntime onnxruntime-gpu && pip install "
                                  "--no-deps onnxruntime-gpu{}",
                                  pin),
           .text = "Install the one for cards last, by itself, once all else is installed",
           .cost = "pip check names onnxruntime as missing from then on"});
    } else if (const KnownError* error = diagnosis.knowledge.error(clash.error)) {
      finding.remedies = error->remedies;
      std::erase_if(finding.remedies, [](const Remedy& remedy) {
        return remedy.command.find('{') != std::string::npos ||
               remedy.text.find('{') != std::string::npos;
      });
    }
  }
}

// torchaudio and torchvision beside a torch of another release. Their wheels ask for one torch
// exactly; from 2.9 on that is no longer sure to fail.
void judge_companions(Diagnosis& diagnosis, const RecipeColumn& column) {
  const Resolved torch = resolve(column, "torch");
  const TorchRelease* release =
      torch.version ? diagnosis.knowledge.torch_release(*torch.version) : nullptr;
  if (release == nullptr) {
    return;
  }
  const std::pair<std::string_view, const std::optional<Claim>*> companions[] = {
      {"torchaudio", &release->torchaudio}, {"torchvision", &release->torchvision}};
  for (const auto& [package, claim] : companions) {
    const Resolved companion = resolve(column, package);
    const auto wanted = *claim ? SpecifierSet::parse(fmt::format("=={}.*", (*claim)->value))
                               : Result<SpecifierSet>(SpecifierSet());
    if (!companion.version || !wanted || !*claim || wanted->contains(*companion.version)) {
      continue;
    }
    const bool pinned_each_other = *torch.version < *Version::parse("2.9");
    const bool certain = (*claim)->verified && torch.sure && companion.sure && pinned_each_other &&
                         is_one_run(column) && torch.by->requirement->url != "conda";
    Finding& finding = add_finding(
        diagnosis, "torch companions", pinned_each_other ? failing(certain) : Level::Warning,
        sure(certain), fmt::format("{} {} in {}", package, companion.version->text(), column.name),
        fmt::format("{} {} is not of torch {}: {}.* goes with it.", package,
                    companion.version->text(), torch.version->text(), (*claim)->value));
    finding.evidence = {
        evidence_of(*torch.by),
        evidence_of(*companion.by),
        {fmt::format("torch {} goes with {} {}", release->torch, package, (*claim)->value),
         (*claim)->source}};
    const std::string right =
        package == "torchaudio" ? torch.version->public_part().text() : (*claim)->value + ".*";
    AlignmentEdit edit{.file = companion.by->recipe->path,
                       .line = companion.by->requirement->line,
                       .from = fmt::format("{}{}", package, companion.by->requirement->specifier),
                       .to = fmt::format("{}=={}", package, right),
                       .why = {}};
    finding.remedies.push_back(
        {.command = edit_command(edit),
         .text = fmt::format("Write {} in {}", edit.to, place_text(edit.file, edit.line)),
         .cost = {}});
  }
}

std::string cell_text(const AlignmentCell& cell) {
  return cell.resolved.empty() ? cell.written : cell.resolved;
}

// Between images, each of which is an environment of its own.
void judge_difference(Diagnosis& diagnosis, const Alignment& alignment, const AlignmentRow& row) {
  std::vector<std::string> said;
  std::vector<Evidence> evidence;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    if (!row.cells[i].drifts && !row.cells[i].resolved.empty()) {
      said.push_back(fmt::format("{} in {}", cell_text(row.cells[i]), alignment.columns[i].name));
      evidence.push_back({row.name + row.cells[i].written, row.cells[i].where});
    }
  }
  Finding& finding = add_finding(
      diagnosis, "images differ", Level::Note, Certainty::Certain, row.name,
      fmt::format("{} is not the same everywhere: {}. Images are environments apart: they need "
                  "not agree, and only the driver has to serve all of them.",
                  row.name, fmt::join(said, ", ")));
  finding.evidence = std::move(evidence);
}

void judge_alignment(Diagnosis& diagnosis, const Alignment& alignment) {
  if (alignment.columns.size() < 2) {
    return;
  }
  for (const AlignmentRow& row : alignment.rows) {
    const bool decides = row.name != "python" && row.name != "cuDNN" && row.name != "base image";
    if (decides && row.differs && !row.conflict) {
      judge_difference(diagnosis, alignment, row);
    }
    if (!row.conflict || !decides) {
      continue;
    }
    Finding& finding =
        add_finding(diagnosis, "pinned apart", Level::Warning, Certainty::Certain, row.name, "");
    std::vector<std::string> said;
    for (size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].conflict) {
        said.push_back(fmt::format("{} in {}", cell_text(row.cells[i]), alignment.columns[i].name));
        finding.evidence.push_back(
            {fmt::format("{}{}", row.name, row.cells[i].written), row.cells[i].where});
      }
    }
    finding.text = fmt::format("{} is pinned apart: {}.", row.name, fmt::join(said, ", "));
    for (const AlignmentEdit& edit : alignment.edits) {
      const bool of_row = edit.to.starts_with(row.name) || row.name == "torch";
      if (of_row) {
        finding.remedies.push_back(
            {.command = edit_command(edit),
             .text = edit.from.empty()
                         ? fmt::format("Add {} to {}: {}", edit.to, edit.file, edit.why)
                         : fmt::format("Write {} in {} in place of {}: {}", edit.to,
                                       place_text(edit.file, edit.line), edit.from, edit.why),
             .cost = {}});
      }
    }
  }
}

// cuDNN 8 and 9 have other names: what wants one does not find the other. An image that was not
// looked into may still hold it.
void judge_cudnn(Diagnosis& diagnosis, const Alignment& alignment) {
  const auto row = std::ranges::find(alignment.rows, "cuDNN", &AlignmentRow::name);
  if (row == alignment.rows.end()) {
    return;
  }
  const auto all = stretches("ctranslate2", {}, diagnosis.knowledge);
  for (size_t i = 0; i < row->cells.size(); ++i) {
    if (!row->cells[i].conflict) {
      continue;
    }
    Finding& finding = add_finding(diagnosis, "cudnn of another version", Level::Warning,
                                   Certainty::Likely, alignment.columns[i].name,
                                   fmt::format("{}: {}.", row->why, row->cells[i].resolved));
    finding.error = "Unable to load any of {libcudnn_ops_infer.so.8";
    finding.evidence.push_back({row->cells[i].resolved, alignment.columns[i].path});
    if (!all.empty() && all.back().verified && all.back().below && all.back().cudnn_major == 0) {
      finding.remedies.push_back({.command = {},
                                  .text = fmt::format("Pin ctranslate2=={}, which wants no cuDNN",
                                                      last_before(*all.back().below)),
                                  .cost = {}});
    }
  }
}

void judge_floors(Diagnosis& diagnosis, const Alignment& alignment) {
  for (const AlignmentDriver& floor : alignment.drivers) {
    if (floor.driver.empty()) {
      continue;  // no code for the card: that finding says so
    }
    Finding& finding = add_finding(diagnosis, "driver floor", Level::Note, sure(floor.verified),
                                   fmt::format("{} in {}", floor.package, floor.column),
                                   fmt::format("{} wants driver {} at least on this card: {}.",
                                               floor.package, floor.driver, floor.why));
    finding.card = floor.card;
  }
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

void judge_requirements(Diagnosis& diagnosis, const RecipeColumn& column) {
  judge_contradictions(diagnosis, column);
  judge_clashes(diagnosis, column);
  judge_companions(diagnosis, column);
}

void judge_drift(Diagnosis& diagnosis, const RecipeColumn& column) {
  for (const std::string_view package : {"ctranslate2", "onnxruntime-gpu", "torch"}) {
    const Resolved own = resolve(column, package);
    const Derived other =
        own.by == nullptr ? derived(column, package, diagnosis.knowledge) : Derived();
    if (own.version || !own.several.empty() || (own.by == nullptr && other.by.empty())) {
      continue;
    }
    const auto all =
        stretches(package, own.by != nullptr ? own.range : other.range, diagnosis.knowledge);
    const bool differ = all.size() > 1;
    const bool unbound = own.by != nullptr && own.range.clauses.empty();
    if (!differ && !unbound) {
      continue;
    }
    const Asked& asked = own.by != nullptr ? *own.by : *other.asked;
    const bool verified = std::ranges::all_of(all, &Stretch::verified);
    Finding& finding = add_finding(
        diagnosis, "pin drifts", differ ? Level::Warning : Level::Note, sure(verified),
        fmt::format("{} in {}", package, column.name),
        own.by != nullptr
            ? fmt::format("{}{} takes the newest that there is on the day: {}.", package,
                          asked.requirement->specifier, stretches_text(all))
            : fmt::format("{} asks for {}{}, and nothing pins it: the newest comes: {}.", other.by,
                          package, other.range.text(), stretches_text(all)));
    finding.evidence.push_back(evidence_of(asked));
  }
}

void judge_pinned_frameworks(Diagnosis& diagnosis, const RecipeColumn& column) {
  const Machine& machine = diagnosis.facts.machine;
  const System system = column.image.empty() ? machine.system : System::Linux;
  PythonEnvironment environment;
  environment.system = system;
  std::vector<Framework> pinned;
  for (const std::string_view package :
       {"torch", "ctranslate2", "onnxruntime-gpu", "llama-cpp-python", "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13"}) {
    const Resolved resolved = resolve(column, package);
    const auto version =
        package == "torch" ? torch_of(column, diagnosis.knowledge) : resolved.version;
    const bool elsewhere = resolved.by != nullptr && resolved.by->requirement->url == "conda";
    if (!version || elsewhere) {
      continue;
    }
    if (auto framework = known_framework(package, *version, system, diagnosis.knowledge)) {
      if (!resolved.sure) {
        framework->unverified.insert(framework->unverified.end(),
                                     {"code", "cudnn", "libraries", "ptx"});
      }
      environment.frameworks.push_back(*framework);
      Package& as_installed = environment.packages.emplace_back();
      as_installed.name = package;
      as_installed.version = version->text();
      if (!package.starts_with("nvidia")) {
        pinned.push_back(std::move(*framework));
      }
    }
  }
  for (const Framework& framework : pinned) {
    for (const Card& card : machine.cards) {
      Judged judged = judge_framework(framework, &card, machine, diagnosis.knowledge, &environment);
      if (!judged.findings.empty() && judged.findings.front().level != Level::Note) {
        judged.findings.front().remedies =
            remedies_for(framework, judged, card, machine, environment, diagnosis.knowledge);
      }
      judged.verdict.environment = column.name;
      diagnosis.report.verdicts.push_back(std::move(judged.verdict));
      for (Finding& finding : judged.findings) {
        finding.subject = fmt::format("{} in {}", framework_title(framework), column.name);
        diagnosis.report.findings.push_back(std::move(finding));
      }
    }
  }
}

void judge_recipes(Diagnosis& diagnosis) {
  judge_reading(diagnosis);
  const std::vector<RecipeColumn> columns = recipe_columns(diagnosis.facts);
  for (const RecipeColumn& column : columns) {
    judge_requirements(diagnosis, column);
    judge_indexes(diagnosis, column);
    judge_versions(diagnosis, column);
    judge_numpy(diagnosis, column);
    judge_image_libraries(diagnosis, column);
    judge_drift(diagnosis, column);
    judge_image(diagnosis, column);
    judge_service(diagnosis, column, columns);
    judge_pinned_frameworks(diagnosis, column);
  }
  const Alignment alignment = align(diagnosis.facts, diagnosis.knowledge);
  judge_alignment(diagnosis, alignment);
  judge_cudnn(diagnosis, alignment);
  judge_floors(diagnosis, alignment);
}

}  // namespace mynah::doctor
