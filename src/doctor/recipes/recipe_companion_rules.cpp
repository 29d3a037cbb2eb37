// torchaudio and torchvision beside a torch that they are not built for: another release, or
// another CUDA version. So are builds of others that name their torch.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/conda_pins.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_runs.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/torch_neighbours.h"
#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

// A companion that a column pins, beside its torch.
struct Companion {
  std::string_view package;
  const Claim& belongs;  // the series that goes with the torch
  Resolved pinned;
};

// A pin of the companion that goes with a torch, as the present one is written.
std::string right_pin(const Companion& companion, const Version& torch,
                      const Knowledge& knowledge) {
  const auto pair = pair_of_torch(companion.package, torch, knowledge);
  if (!pair) {
    return fmt::format("=={}.*", companion.belongs.value);
  }
  Version right = pair->companion;
  const bool has_local = companion.pinned.by->requirement->specifier.find('+') != std::string::npos;
  if (has_local) {
    right.local = torch.local.empty() ? companion.pinned.version->local : torch.local;
  }
  return "==" + right.text();
}

// Another series than the torch's, or another release of it.
void judge_release(Diagnosis& diagnosis, const RecipeColumn& column, const Resolved& torch,
                   const Companion& companion, Proposals& proposals) {
  const Version& version = *companion.pinned.version;
  const auto series = SpecifierSet::parse(fmt::format("=={}.*", companion.belongs.value));
  const auto minor = Version::parse(companion.belongs.value);
  if (!series || !minor ||
      releases_of_minor(companion.package, *minor, diagnosis.knowledge).empty()) {
    return;  // nobody knows of a release that goes with it
  }
  const bool of_series = series->contains(version);
  const auto asked = asked_of(companion.package, version, "torch", diagnosis.knowledge);
  const bool refused = asked && !asked->range.contains(torch.version->public_part());
  if (of_series && !refused) {
    return;
  }
  const bool conda = torch.by->requirement->url == "conda";
  const bool certain =
      (refused ? asked->needs->verified : companion.belongs.verified) && torch.sure &&
      companion.pinned.sure && refused && companion.pinned.by->brings_needs() &&
      refused_together(column, *torch.by, *companion.pinned.by, diagnosis.knowledge) && !conda;
  const std::string title = fmt::format("{} {}", companion.package, version.text());
  const auto exactly = asked ? asked->range.pinned() : std::nullopt;
  const std::string wanted = exactly ? exactly->text() : asked ? asked->range.text() : "";
  Finding& finding = add_finding(
      diagnosis, "torch companions", refused ? failing(certain) : Level::Warning, sure(certain),
      fmt::format("{} in {}", title, column.name),
      of_series
          ? fmt::format("{} is built for torch {} and asks for it exactly, and {} is pinned: "
                        "{}.",
                        title, wanted, torch.version->text(),
                        conda ? "conda's packages may ask for others" : "an installer refuses them")
          : fmt::format("{} is not of torch {}: {}.* goes with it.", title, torch.version->text(),
                        companion.belongs.value));
  finding.evidence = {evidence_of(*torch.by), evidence_of(*companion.pinned.by)};
  if (!of_series) {
    finding.evidence.push_back(
        {fmt::format("torch {} goes with {} {}", torch.version->base().text(), companion.package,
                     companion.belongs.value),
         companion.belongs.source});
  }
  if (refused) {
    finding.evidence.push_back(
        {fmt::format("{} asks for torch{}", title, asked->range.text()), asked->needs->source});
    finding.error = "ResolutionImpossible";
  }
  propose(diagnosis, proposals,
          {pin_edit(column, *companion.pinned.by,
                    right_pin(companion, *torch.version, diagnosis.knowledge),
                    fmt::format("it goes with torch {}", torch.version->text()))});
  if (of_series && exactly) {
    Version other = *exactly;
    other.local = torch.version->local;
    propose(diagnosis, proposals,
            torch_edits(column, with_variant(other, diagnosis.knowledge),
                        fmt::format("{} is built for it", title), diagnosis.knowledge));
  }
}

// Addresses that a companion is looked for at, where a project or a command of an image says all of
// them: what a requirements file does not name a command line may. None: they are not known.
std::optional<std::vector<std::string>> said_urls(const RecipeColumn& column, const Asked& asked) {
  if (asked.recipe->kind == "pyproject") {
    return urls_of(column, *asked.requirement);
  }
  for (const InstallRun& run : install_runs(column)) {
    if (run.in_image && std::ranges::find(run.asked, &asked) != run.asked.end()) {
      return run.urls(*asked.requirement);
    }
  }
  return std::nullopt;
}

// The variant of a companion for which no index is named: that of the Python index's wheels for
// Linux, which is that of the torch there. None: it may come from elsewhere, or it is not known.
const Claim* usual_variant(const Diagnosis& diagnosis, const RecipeColumn& column,
                           const Companion& companion) {
  const bool linux = system_of(column, diagnosis.facts.machine) == System::Linux;
  const auto urls = said_urls(column, *companion.pinned.by);
  const auto pair =
      pair_of_companion(companion.package, *companion.pinned.version, diagnosis.knowledge);
  if (!linux || column.processor != "x86_64" || !pair || !urls ||
      !std::ranges::all_of(*urls, looks_like_python_index)) {
    return nullptr;
  }
  const TorchRelease* release = diagnosis.knowledge.torch_release(pair->torch);
  return release == nullptr ? nullptr : &release->default_variant;
}

// The index of a variant beside the Python index, for a command of an image.
void propose_index(const Diagnosis& diagnosis, const RecipeColumn& column, const Asked& asked,
                   const std::string& variant, Proposals& proposals) {
  const CommandPlace command = command_place(column, asked);
  if (command.file.empty()) {
    return;
  }
  propose(diagnosis, proposals,
          {{.file = command.file,
            .line = command.line,
            .from = {},
            .to = std::string(kExtraIndex) + torch_index(variant),
            .why = fmt::format("wheels for {} come from there", variant),
            .row = asked.requirement->name}});
}

// The same release for another CUDA version: an installer takes both, as what is behind '+' is not
// asked for, and the companion refuses to be imported. torchaudio wants the same version,
// torchvision the same major one.
void judge_variant(Diagnosis& diagnosis, const RecipeColumn& column, const Resolved& torch,
                   const Companion& companion, Proposals& proposals) {
  const auto with = torch_of(column, diagnosis.knowledge);
  const Version& version = *companion.pinned.version;
  const Claim* usual =
      version.local.empty() ? usual_variant(diagnosis, column, companion) : nullptr;
  const std::string own = cuda_of_variant(usual == nullptr ? version.local_text() : usual->value);
  const std::string other = with ? cuda_of_variant(with->local_text()) : "";
  const bool audio = companion.package == "torchaudio";
  if (own.empty() || other.empty() || own == other ||
      (!audio && major_version(own) == major_version(other))) {
    return;
  }
  const Note* note = diagnosis.knowledge.note("companion cuda");
  const bool certain =
      note != nullptr && note->verified && torch.sure && companion.pinned.sure && torch.version &&
      !torch.version->local.empty() &&
      (usual == nullptr || (usual->verified && (!column.is_image() || says_all(column))));
  Finding& finding = add_finding(
      diagnosis, "torch companions", failing(certain), sure(certain),
      fmt::format("{} {} in {}", companion.package, version.text(), column.name),
      fmt::format("{} {}{} is built with CUDA {}, and torch {} with {}: an installer takes them, "
                  "and importing {} fails.",
                  companion.package, version.text(), usual == nullptr ? "" : " of the Python index",
                  own, with->text(), other, companion.package));
  finding.evidence = {evidence_of(*torch.by), evidence_of(*companion.pinned.by)};
  if (note != nullptr) {
    finding.evidence.push_back({note->text, note->source});
  }
  finding.error =
      audio ? "Detected that PyTorch and TorchAudio were compiled with different CUDA versions."
            : "Detected that PyTorch and torchvision were compiled with different CUDA major "
              "versions.";
  if (usual != nullptr) {
    finding.evidence.push_back(
        {fmt::format("no index is named for {}, and that of Python has it for {}",
                     companion.package, usual->value),
         usual->source});
    propose_index(diagnosis, column, *companion.pinned.by, with->local_text(), proposals);
  } else {
    propose(
        diagnosis, proposals,
        {pin_edit(column, *companion.pinned.by, right_pin(companion, *with, diagnosis.knowledge),
                  fmt::format("it is built like torch {}", with->text()))});
  }
  propose(diagnosis, proposals,
          torch_edits(column, *with, fmt::format("all are for CUDA {} then", other),
                      diagnosis.knowledge));
}

// A companion that nothing pins, beside a torch that is pinned: the newest comes that asks for no
// other.
struct Drifting {
  std::string package;
  const Asked* asked;           // that lets it come
  bool itself;                  // `asked` names it; otherwise it asks for it
  std::string words;            // "torchaudio>=2.0", or what asks for it: "tts 0.22.0"
  Version torch;                // with its variant
  const TorchRelease& release;  // of that torch
  Version newest;               // of those that are known and let in
};

std::optional<Drifting> drifting(const RecipeColumn& column, const std::string& package,
                                 const Knowledge& knowledge) {
  const auto torch = torch_of(column, knowledge);
  const TorchRelease* release = torch ? knowledge.torch_release(*torch) : nullptr;
  const PackageReleases* known = knowledge.releases_of(package);
  const Resolved own = resolve(column, package);
  const Derived other = own.by == nullptr ? derived(column, package, knowledge) : Derived();
  const Asked* const asked = own.by != nullptr ? own.by : other.asked;
  if (release == nullptr || known == nullptr || asked == nullptr || own.version ||
      !own.several.empty() || !asked->requirement->url.empty() || asked->recipe->kind == "lock") {
    return std::nullopt;
  }
  SpecifierSet range = own.by != nullptr ? own.range : other.range;
  const Bounds bounds = column.bounds_of(package);
  range.clauses.insert(range.clauses.end(), bounds.range.clauses.begin(),
                       bounds.range.clauses.end());
  const ListedReleases listed = listed_releases(*known, range);
  if (listed.versions.empty()) {
    return std::nullopt;
  }
  return Drifting{.package = package,
                  .asked = asked,
                  .itself = own.by != nullptr,
                  .words = own.by != nullptr ? package + asked->requirement->specifier : other.by,
                  .torch = *torch,
                  .release = *release,
                  .newest = listed.versions.front()};
}

// What says which torch it is.
void add_torch_evidence(Finding& finding, const RecipeColumn& column) {
  if (const Resolved by = resolve(column, "torch");
      by.by != nullptr && column.image_torch.empty()) {
    finding.evidence.push_back(evidence_of(*by.by));
  } else if (!column.image.empty()) {
    finding.evidence.push_back({column.image, column.image_where});
  }
}

// The companion pinned to what goes with the torch, where it stands or in a line of its own.
void propose_right_one(const Diagnosis& diagnosis, const RecipeColumn& column,
                       const Drifting& drift, const std::string& specifier, Proposals& proposals) {
  const std::string why = fmt::format("it is built for torch {}", drift.torch.public_part().text());
  if (drift.itself) {
    propose(diagnosis, proposals, {pin_edit(column, *drift.asked, specifier, why)});
  } else {
    propose(diagnosis, proposals, {line_edit(*drift.asked, drift.package + specifier, why)});
  }
}

// torchcodec, which asks for no torch and is built for one series of it: where nothing pins it the
// newest comes, whatever the torch.
void judge_torchcodec(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const auto drift = drifting(column, "torchcodec", knowledge);
  if (!drift || !drift->release.torchcodec ||
      !only_variant(column, *drift->asked, knowledge).empty()) {
    return;
  }
  const Claim& claim = *drift->release.torchcodec;
  const auto belongs = SpecifierSet::parse(claim.value);
  if (!belongs || !claim.verified || belongs->contains(drift->newest)) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "torchcodec drifts", Level::Warning, Certainty::Likely,
      fmt::format("torchcodec in {}", column.name),
      fmt::format("{} takes the newest torchcodec that there is on the day, such as {}, and torch "
                  "{} goes with torchcodec{}: another one may not load.",
                  drift->words, drift->newest.text(), drift->torch.text(), claim.value));
  finding.error = "Could not load libtorchcodec";
  finding.evidence.push_back(evidence_of(*drift->asked));
  add_torch_evidence(finding, column);
  finding.evidence.push_back(
      {fmt::format("torch {} goes with torchcodec{}", drift->release.torch, claim.value),
       claim.source});
  const PackageReleases* const known = knowledge.releases_of("torchcodec");
  if (known == nullptr || listed_releases(*known, *belongs).versions.empty()) {
    finding.remedies.push_back(
        {.command = {},
         .text = fmt::format("Take a newer torch: the Python index has no torchcodec for {}",
                             drift->release.torch),
         .cost = {}});
    return;
  }
  propose_right_one(diagnosis, column, *drift, claim.value, proposals);
}

// Whether something else that is asked for may refuse a release: of a package that no known entry
// tells, any of its entries may be the one.
bool may_be_refused(const RecipeColumn& column, const std::string& package, const Version& release,
                    const Knowledge& knowledge) {
  return std::ranges::any_of(knowledge.asking_for(package), [&](const PackageNeeds* needs) {
    if (!column.asks_for(needs->package)) {
      return false;
    }
    const Resolved other = resolve(column, needs->package);
    const PackageNeeds* const own =
        other.version ? knowledge.package(needs->package, *other.version) : nullptr;
    return (own == nullptr || own == needs) &&
           std::ranges::any_of(needs->requires_, [&](const std::string& text) {
             const auto need = parse_requirement(text);
             if (!need || need->name != package) {
               return false;
             }
             const auto range = SpecifierSet::parse(need->specifier);
             return range && !range->contains(release);
           });
  });
}

// Where a release of torchaudio comes from: an index of PyTorch's that is named and has it, or the
// Python index. None: it does not come, or nobody knows.
enum class From { PyTorch, PythonIndex };

std::optional<From> source_of_torchaudio(const RecipeColumn& column, const Asked& asked,
                                         const Version& release, const Knowledge& knowledge) {
  const std::vector<std::string> urls = urls_of(column, *asked.requirement);
  const auto has_it = [&](const std::string& url) {
    const std::string variant = variant_of_index(url);
    return variant == "cpu" || (!cuda_of_variant(variant).empty() &&
                                has_build("torchaudio", release, variant, knowledge));
  };
  if (may_have_own_builds(column, *asked.requirement, knowledge)) {
    return std::nullopt;
  }
  if (std::ranges::any_of(urls, has_it)) {
    return From::PyTorch;
  }
  // uv takes a package from the first index that has some release of it.
  const bool first_alone =
      asked.recipe->kind == "pyproject" || (asked.how != nullptr && asked.how->uv);
  const bool beside = urls.size() < 2 || std::ranges::any_of(urls, looks_like_python_index);
  const bool python_index = only_variant(column, asked, knowledge).empty() && beside;
  return urls.empty() || (python_index && !first_alone) ? std::optional(From::PythonIndex)
                                                        : std::nullopt;
}

// torchaudio, of which the newest asks for no torch: where a line asks for it and nothing pins it,
// it comes beside any.
void judge_torchaudio(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const auto drift = drifting(column, "torchaudio", knowledge);
  const Note* const note = knowledge.note("torchaudio alone");
  if (!drift || !drift->itself || !drift->release.torchaudio || note == nullptr ||
      !column.image_says.torch.empty() || column.image_says.unnamed_torch ||
      may_be_refused(column, "torchaudio", drift->newest, knowledge)) {
    return;
  }
  const Claim& claim = *drift->release.torchaudio;
  const auto belongs = SpecifierSet::parse(fmt::format("=={}.*", claim.value));
  const PackageNeeds* const needs = knowledge.package("torchaudio", drift->newest);
  const auto right = pair_of_torch("torchaudio", drift->torch, knowledge);
  // Each release has the number of the torch that it was built with, and is for its Pythons.
  if (!belongs || !claim.verified || belongs->contains(drift->newest) || !right ||
      needs == nullptr || !needs->verified ||
      asked_of("torchaudio", drift->newest, "torch", knowledge) ||
      !takes_python(column, "torch", drift->newest, knowledge)) {
    return;
  }
  const auto from = source_of_torchaudio(column, *drift->asked, drift->newest, knowledge);
  const bool has_functions = drift->torch >= *Version::parse("2.10");
  const std::string own = cuda_of_variant(drift->torch.local_text());
  const TorchRelease* const built_with = knowledge.torch_release(drift->newest);
  const bool same_cuda =
      built_with != nullptr &&
      major_version(own) == major_version(cuda_of_variant(built_with->default_variant.value));
  if (!from || (has_functions && (from == From::PyTorch || same_cuda))) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "torchaudio drifts", Level::Warning, Certainty::Likely,
      fmt::format("torchaudio in {}", column.name),
      fmt::format("{} takes the newest torchaudio that there is on the day, such as {}, which asks "
                  "for no torch and was built for torch {}.{} and later: beside torch {} it may "
                  "not load.",
                  drift->words, drift->newest.text(), drift->newest.release_at(0),
                  drift->newest.release_at(1), drift->torch.text()));
  finding.error = from == From::PyTorch || same_cuda
                      ? "_torchaudio.abi3.so: undefined symbol: torch_library_impl"
                      : "libcudart.so.13: cannot open shared object file";
  finding.evidence.push_back(evidence_of(*drift->asked));
  add_torch_evidence(finding, column);
  finding.evidence.push_back({note->text, note->source});
  propose_right_one(diagnosis, column, *drift, "==" + right->companion.text(), proposals);
}

// A build that names the torch that it was made with, beside another series of it.
void judge_builds(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const auto torch = torch_of(column, knowledge);
  for (const auto& [name, all] : column.packages) {
    const Resolved build = torch ? resolve(column, name) : Resolved();
    const auto wanted =
        build.by != nullptr ? torch_of_build(*build.by->requirement) : std::optional<Version>();
    if (!wanted || (wanted->release_at(0) == torch->release_at(0) &&
                    wanted->release_at(1) == torch->release_at(1))) {
      continue;
    }
    Finding& finding = add_finding(
        diagnosis, "torch companions", Level::Unknown, Certainty::Likely,
        fmt::format("{} in {}", name, column.name),
        fmt::format("{} is a build for torch {}, and {} comes: its compiled code may not load.",
                    name, wanted->text(), torch->text()));
    finding.evidence = {evidence_of(*build.by)};
    if (const Resolved by = resolve(column, "torch"); by.by != nullptr) {
      finding.evidence.push_back(evidence_of(*by.by));
    }
    if (name == "flash-attn") {
      finding.error =
          "flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
          "_ZNK3c1011StorageImpl27throw_data_ptr_access_errorEv";
    }
    const std::vector<Version> releases = releases_of_minor("torch", *wanted, knowledge);
    if (!releases.empty()) {
      propose(diagnosis, proposals,
              torch_edits(column, with_variant(releases.back(), knowledge),
                          fmt::format("{} is built for it", name), knowledge));
    }
  }
}

}  // namespace

void judge_torch_companions(Diagnosis& diagnosis, const RecipeColumn& column,
                            Proposals& proposals) {
  judge_torchcodec(diagnosis, column, proposals);
  judge_torchaudio(diagnosis, column, proposals);
  judge_builds(diagnosis, column, proposals);
  const Resolved torch = resolve_any_build(column, "torch");
  const TorchRelease* release =
      torch.version ? diagnosis.knowledge.torch_release(*torch.version) : nullptr;
  if (release == nullptr) {
    return;
  }
  for (const std::string_view package : {"torchaudio", "torchvision"}) {
    const std::optional<Claim>& claim = series_of_companion(package, *release);
    const Resolved pinned = resolve_any_build(column, package);
    if (!pinned.version || !claim) {
      continue;
    }
    if (const auto other = displaced(column, "torch", diagnosis.knowledge);
        other && other->by == pinned.by) {
      continue;  // it brings its own
    }
    const Companion companion{.package = package, .belongs = *claim, .pinned = pinned};
    const size_t before = diagnosis.report.findings.size();
    judge_release(diagnosis, column, torch, companion, proposals);
    const bool of_torch = diagnosis.report.findings.size() == before;
    if ((of_torch || !pinned.version->local.empty()) && pinned.by->requirement->url.empty() &&
        torch.by->requirement->url.empty()) {
      judge_variant(diagnosis, column, torch, companion, proposals);
    }
  }
}

}  // namespace mynah::doctor
