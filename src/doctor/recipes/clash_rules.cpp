// Rules about packages that do not go together, whatever their metadata say.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

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

// Whether it is sure to come, and as the Python index has it: conda has builds of its own, and what
// is made of a source tree is made for what is there.
bool is_plain(const Resolved& side) {
  const std::string& url = side.by->requirement->url;
  return side.sure && url != "conda" && (url.empty() || side.version);
}

// What leaves a package out of a lock of uv's, whoever asks for it: an override that holds on no
// machine. In a project that has overrides already it is one more of them.
Remedy leave_out_of_lock(const RecipeColumn& column, const Asked& asked) {
  const bool overrides = std::ranges::any_of(column.recipes, [](const Recipe* recipe) {
    return recipe->kind == "pyproject" &&
           std::ranges::any_of(recipe->requirements, &Requirement::overrides);
  });
  const std::string entry = fmt::format("{} ; sys_platform == 'never'", asked.requirement->name);
  const std::string project = beside(asked.recipe->path, "pyproject.toml");
  return {.command = overrides
                         ? std::string()
                         : beside_lock(asked.recipe->path,
                                       fmt::format("(grep -q '^\\[tool\\.uv\\]' pyproject.toml || "
                                                   "printf '\\n[tool.uv]\\n' >> pyproject.toml) "
                                                   "&& sed -i \"/^\\[tool\\.uv\\]/a "
                                                   "override-dependencies = [\\\"{}\\\"]\" "
                                                   "pyproject.toml && uv lock",
                                                   entry)),
          .text = fmt::format("override-dependencies of [tool.uv] in {} is to hold \"{}\", and uv "
                              "to make {} anew: it then installs the one for cards alone",
                              project, entry, asked.recipe->path),
          .cost = {}};
}

// The pin of a release of onnxruntime-gpu; of one that the Python index took back, that of its
// series.
std::string pin_there_is(const Version& version, const Knowledge& knowledge) {
  const Version release = version.public_part();
  return knowledge.listing_of("onnxruntime-gpu", release) == Listing::Missing
             ? fmt::format("=={}.{}.*", release.release_at(0), release.release_at(1))
             : "==" + release.text();
}

// ONNX Runtime for the processor and the one for cards, which write the same folder.
void mend_overlap(Diagnosis& diagnosis, const RecipeColumn& column,
                  const std::optional<Resolved>& one, const Resolved& other, Proposals& proposals) {
  const bool asked = one && one->by->requirement->name == "onnxruntime";
  std::vector<Remedy>& remedies = diagnosis.report.findings.back().remedies;
  if (asked && last_name(one->by->recipe->path) == "uv.lock") {
    remedies.push_back(leave_out_of_lock(column, *one->by));
    return;
  }
  if (asked && brought(column, "onnxruntime", diagnosis.knowledge).by.empty()) {
    propose(diagnosis, proposals,
            {removal_edit(*one->by, "the one for cards computes on the processor, too")});
    return;
  }
  // A package asks for it: whatever the files say, it comes.
  const std::string pin = other.version ? pin_there_is(*other.version, diagnosis.knowledge) : "";
  const std::string command = installer_command(
      *other.by,
      fmt::format(
          "pip uninstall -y onnxruntime onnxruntime-gpu && pip install --no-deps {0}onnxruntime-gpu"
          "{1}{0}",
          pin.contains('*') ? "'" : "", pin));
  const std::string where = place_text(other.by->recipe->path, other.by->requirement->line);
  const bool image = column.root->kind == "dockerfile" || column.service != nullptr;
  remedies.push_back(
      {.command = image ? "RUN " + command : command,
       .text = fmt::format("{} {}: the one for cards is then installed last, by itself",
                           image ? "Add this line behind all that installs packages, such as"
                                 : "Do this after each installation of",
                           where),
       .cost = "pip check names onnxruntime as missing from then on"});
}

// Releases of a side that is pinned, beyond those that clash: the nearest by its numbers.
void propose_beyond(const Diagnosis& diagnosis, const RecipeColumn& column, const Requirement& side,
                    const Resolved& resolved, Proposals& proposals) {
  const PackageReleases* known = diagnosis.knowledge.releases_of(side.name);
  const auto set = SpecifierSet::parse(side.specifier);
  if (known == nullptr || !set || set->clauses.empty() || !resolved.version) {
    return;
  }
  std::optional<Version> older;
  std::optional<Version> newer;
  for (const Version& release : known->releases) {
    if (set->contains(release) || !takes_python(column, side.name, release, diagnosis.knowledge)) {
      continue;
    }
    if (release > *resolved.version) {
      newer = release;
    } else if (!older) {
      older = release;
    }
  }
  for (const std::optional<Version>* other : {&newer, &older}) {
    if (*other && side.name == "torch") {
      Version torch = **other;
      torch.local = resolved.version->local;
      propose(diagnosis, proposals,
              torch_edits(column, with_variant(torch, diagnosis.knowledge), "it does not clash",
                          diagnosis.knowledge));
    } else if (*other) {
      propose(diagnosis, proposals,
              {pin_edit(column, *resolved.by, "==" + (*other)->text(), "it does not clash")});
    }
  }
}

// What is known to help against a clash, as edits of the files where they say what it changes.
void mend_clash(Diagnosis& diagnosis, const RecipeColumn& column, const Clash& clash,
                const std::optional<Resolved>& one, const Resolved& other, Proposals& proposals) {
  if (clash.second == "onnxruntime-gpu") {
    mend_overlap(diagnosis, column, one, other, proposals);
    return;
  }
  const KnownError* error = diagnosis.knowledge.error(clash.error);
  Finding& finding = diagnosis.report.findings.back();
  for (const Remedy& remedy : error == nullptr ? std::vector<Remedy>() : error->remedies) {
    if (remedy.command.contains('{') || remedy.text.contains('{')) {
      continue;  // of what a log says
    }
    InstallationEdits found =
        installation_edits(remedy.command, column, *other.by, diagnosis.knowledge);
    if (found.edits.empty()) {
      finding.remedies.push_back(remedy);
      continue;
    }
    proposals.push_back({.finding = diagnosis.report.findings.size() - 1,
                         .edits = std::move(found.edits),
                         .text = remedy.text,
                         .instead_of = finding.remedies.size(),
                         .cost = remedy.cost,
                         .more = std::move(found.more)});
  }
}

}  // namespace

void judge_clashes(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  for (const Clash& clash : diagnosis.knowledge.clashes) {
    const auto first = parse_requirement(clash.first);
    const auto second = parse_requirement(clash.second);
    if (!first || !second) {
      continue;
    }
    const auto one = side_of(column, *first);
    auto other = side_of(column, *second);
    if (!other && second->specifier.empty()) {
      // An extra of another package brings it.
      const Derived by_extra = derived(column, second->name, diagnosis.knowledge);
      if (by_extra.asked != nullptr && !by_extra.asked->requirement->extras.empty()) {
        other.emplace().by = by_extra.asked;
      }
    }
    Derived derived_one;
    if (!one && first->specifier.empty() && other) {
      derived_one = brought(column, first->name, diagnosis.knowledge);
    }
    if (!other || (!one && derived_one.by.empty())) {
      continue;
    }
    // Where any version clashes they only lie over each other, and the order decides.
    const bool breaks = !first->specifier.empty() || !second->specifier.empty();
    const bool certain = clash.verified && one && is_plain(*one) && is_plain(*other);
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
    mend_clash(diagnosis, column, clash, one, *other, proposals);
    if (one && clash.error.empty()) {
      propose_beyond(diagnosis, column, *second, *other, proposals);
      propose_beyond(diagnosis, column, *first, *one, proposals);
    }
  }
}

}  // namespace mynah::doctor
