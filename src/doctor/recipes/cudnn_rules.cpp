// Rules about the cuDNN that comes and the one that is wanted.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

// What a program prints that does not find it.
std::string error_of(const CudnnWanted& wish) {
  if (wish.package == "onnxruntime-gpu") {
    return fmt::format(
        "libonnxruntime_providers_cuda.so with error: libcudnn.so.{}: cannot open shared object "
        "file",
        wish.major);
  }
  return wish.major == 8
             ? "Could not load library libcudnn_ops_infer.so.8"
             : fmt::format("Unable to load any of {{libcudnn_ops.so.{}...}}", wish.major);
}

// Releases of a package that want what is there, or no cuDNN at all: the newest of each.
void propose_releases(const Diagnosis& diagnosis, const RecipeColumn& column,
                      const ColumnCudnn& cudnn, const CudnnWanted& wish, Proposals& proposals) {
  const PackageReleases* listed = diagnosis.knowledge.releases_of(wish.package);
  const auto torch = torch_of(column, diagnosis.knowledge);
  const int cuda = torch ? major_version(cuda_of_variant(torch->local_text())) : 0;
  std::set<int> majors = {0};
  for (const CudnnThere& there : cudnn.there) {
    majors.insert(there.major);
  }
  if (listed == nullptr) {
    return;
  }
  for (const Version& release : listed->releases) {
    const auto wants = stretch_of(wish.package, release, diagnosis.knowledge);
    const bool fits = wants && wants->verified && (cuda == 0 || wants->cuda_major == cuda);
    if (fits && !release.is_prerelease() &&
        takes_python(column, wish.package, release, diagnosis.knowledge) &&
        majors.erase(wants->cudnn_major) > 0) {
      propose(diagnosis, proposals,
              {pin_edit(column, *wish.asked, "==" + release.text(),
                        fmt::format("it wants {}", wants->wants))});
    }
  }
}

// The wheel of cuDNN of the version that is wanted; torch's own pin of it is not to be touched.
void propose_wheel(const Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                   const CudnnWanted& wish, Proposals& proposals) {
  for (const CudnnThere& there : cudnn.there) {
    const PackageReleases* listed = there.asked != nullptr && there.by.starts_with("nvidia-cudnn")
                                        ? diagnosis.knowledge.releases_of(there.by)
                                        : nullptr;
    if (listed == nullptr || column.asks_for("torch")) {
      continue;
    }
    const auto release = std::ranges::find_if(listed->releases, [&](const Version& version) {
      return major_version(version.text()) == wish.major;
    });
    if (release != listed->releases.end()) {
      propose(diagnosis, proposals,
              {pin_edit(column, *there.asked, "==" + release->text(),
                        fmt::format("{} {} wants cuDNN {}", wish.package, wish.version.text(),
                                    wish.major))});
    }
  }
}

// An image whose cuDNN it is, where the present one has another.
void propose_image(const Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                   const CudnnWanted& wish, Proposals& proposals) {
  const bool of_image = std::ranges::any_of(cudnn.there, [](const CudnnThere& there) {
    return there.asked == nullptr && !there.of_system;
  });
  const auto wants = stretch_of(wish.package, wish.version, diagnosis.knowledge);
  const std::string image =
      of_image && wants ? image_with(column, wants->cuda_major, wish.major, diagnosis.knowledge)
                        : "";
  if (!image.empty() && image != column.image) {
    propose(diagnosis, proposals,
            {image_edit(column, image, fmt::format("it holds cuDNN {}", wish.major))});
  }
}

// Whether a release of the package wants a cuDNN that is there, or none.
bool goes_with(const ColumnCudnn& cudnn, const std::string& package, const Version& version,
               const Knowledge& knowledge) {
  const auto wants = stretch_of(package, version, knowledge);
  return wants && wants->verified &&
         (wants->cudnn_major == 0 || std::ranges::any_of(cudnn.there, [&](const CudnnThere& there) {
            return there.major == wants->cudnn_major;
          }));
}

// Releases of a package of which it is known what they ask for, and that the column's Python takes:
// the newest, and the nearest that is newer than the present one.
std::vector<const PackageNeeds*> newer_releases(const RecipeColumn& column, const Asked& asked,
                                                const Knowledge& knowledge) {
  const std::string& package = asked.requirement->name;
  const auto present = resolve(column, package).version;
  std::vector<const PackageNeeds*> found;
  for (const PackageNeeds& needs : knowledge.packages) {
    const Version& release = needs.versions.from;
    if (needs.package == package && needs.verified && present && *present < release &&
        knowledge.listing_of(package, release) == Listing::There &&
        knowledge.package(package, release) == &needs &&
        takes_python(column, package, release, knowledge)) {
      found.push_back(&needs);
    }
  }
  std::ranges::sort(found, std::ranges::greater{},
                    [](const PackageNeeds* needs) { return needs->versions.from; });
  return found;
}

// Releases of what asks for the package (`bringer`) that ask for one which goes with the cuDNN that
// is there, with all that they pin of torch; the recipe's own pin of the package goes along. The
// newest, and the nearest to the present one: those between them are the same remedy again.
void propose_bringers(Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                      const CudnnWanted& wish, const Asked& asked, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const std::string& bringer = asked.requirement->name;
  std::vector<Proposal> found;
  for (const PackageNeeds* needs : newer_releases(column, asked, knowledge)) {
    const Version& release = needs->versions.from;
    std::vector<AlignmentEdit> edits = {
        pin_edit(column, asked, "==" + release.text(),
                 fmt::format("it asks for a {} that goes with that cuDNN", wish.package))};
    bool goes = false;
    for (const std::string& text : needs->requires_) {
      const auto need = parse_requirement(text);
      const auto range =
          need ? SpecifierSet::parse(need->specifier) : Result<SpecifierSet>(SpecifierSet());
      const PackageReleases* known = need ? knowledge.releases_of(need->name) : nullptr;
      const Resolved there = need ? resolve(column, need->name) : Resolved();
      if (!range || known == nullptr) {
        continue;
      }
      const ListedReleases may_come = listed_releases(*known, *range);
      if (need->name == wish.package && is_wanted(*need, *asked.requirement)) {
        const auto own = std::ranges::find_if(may_come.versions, [&](const Version& version) {
          return goes_with(cudnn, wish.package, version, knowledge) &&
                 takes_python(column, wish.package, version, knowledge);
        });
        goes = own != may_come.versions.end() &&
               (!wish.by.empty() ? own == may_come.versions.begin() : true);
        if (goes && wish.by.empty()) {
          edits.push_back(pin_edit(column, *wish.asked, "==" + own->text(),
                                   fmt::format("{} {} takes it", bringer, release.text())));
        }
      } else if (need->name == "torch" && there.version && !range->contains(*there.version) &&
                 !may_come.versions.empty()) {
        const auto more =
            torch_edits(column, with_variant(may_come.versions.front(), knowledge),
                        fmt::format("{} {} asks for it", bringer, release.text()), knowledge);
        edits.insert(edits.end(), more.begin(), more.end());
      }
    }
    if (goes) {
      found.push_back(
          {.finding = 0,
           .edits = std::move(edits),
           .text = fmt::format("Take {} {}, and what it asks for.", bringer, release.text())});
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || i + 1 == found.size()) {
      propose(diagnosis, proposals, std::move(found[i].edits));
      proposals.back().text = std::move(found[i].text);
    }
  }
}

// The package by itself, installed over what was asked for.
void advise_by_itself(Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                      const CudnnWanted& wish) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const PackageReleases* listed = knowledge.releases_of(wish.package);
  if (listed == nullptr) {
    return;
  }
  const auto newest = std::ranges::find_if(listed->releases, [&](const Version& version) {
    return goes_with(cudnn, wish.package, version, knowledge) &&
           takes_python(column, wish.package, version, knowledge);
  });
  if (newest != listed->releases.end()) {
    diagnosis.report.findings.back().remedies.push_back(
        {.command = fmt::format("pip install --no-deps {}=={}", wish.package, newest->text()),
         .text = "Put it in the place of that one, once all else is installed",
         .cost = fmt::format("{} asks for an older one: nobody tried them together, and pip check "
                             "names it from then on",
                             wish.by)});
  }
}

// Packages that are pinned and refuse the releases that would go with the cuDNN that is there.
std::vector<const Asked*> refusing(const RecipeColumn& column, const ColumnCudnn& cudnn,
                                   const CudnnWanted& wish, const Knowledge& knowledge) {
  std::vector<const Asked*> found;
  for (const auto& [name, all] : column.packages) {
    const Resolved resolved = resolve(column, name);
    const PackageNeeds* needs =
        resolved.version ? knowledge.package(name, *resolved.version) : nullptr;
    for (const std::string& text :
         needs != nullptr ? needs->requires_ : std::vector<std::string>()) {
      const auto need = parse_requirement(text);
      const bool wanted =
          need && need->name == wish.package && is_wanted(*need, *resolved.by->requirement);
      const auto range =
          wanted ? SpecifierSet::parse(need->specifier) : Result<SpecifierSet>(SpecifierSet());
      const PackageReleases* listed = knowledge.releases_of(wish.package);
      const bool lets_in =
          !range || range->clauses.empty() || listed == nullptr ||
          std::ranges::any_of(listed->releases, [&](const Version& version) {
            return range->contains(version) && goes_with(cudnn, wish.package, version, knowledge);
          });
      if (!lets_in) {
        found.push_back(resolved.by);
      }
    }
  }
  return found;
}

// The newest torch that brings the cuDNN that is wanted.
void propose_torch(const Diagnosis& diagnosis, const RecipeColumn& column, const CudnnWanted& wish,
                   Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const PackageReleases* listed = knowledge.releases_of("torch");
  if (listed == nullptr || !resolve(column, "torch").version) {
    return;
  }
  for (const Version& version : listed->releases) {
    const Version target = with_variant(version, knowledge);
    const TorchVariant* variant = knowledge.torch_variant(target);
    if (variant != nullptr && variant->verified && major_version(variant->cudnn) == wish.major &&
        takes_python(column, "torch", version, knowledge)) {
      propose(
          diagnosis, proposals,
          torch_edits(column, target, fmt::format("it brings cuDNN {}", wish.major), knowledge));
      return;
    }
  }
}

void judge_wish(Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                const CudnnWanted& wish, Proposals& proposals) {
  const std::string source = other_source(column, wish.asked, diagnosis.knowledge);
  const bool elsewhere = wish.by.empty() && !source.empty();
  Finding& finding = add_finding(
      diagnosis, "cudnn of another version", elsewhere ? Level::Unknown : Level::Warning,
      Certainty::Likely, fmt::format("{} {} in {}", wish.package, wish.version.text(), column.name),
      wish.by.empty()
          ? fmt::format("{} {} wants cuDNN {}, and another one comes: {}.", wish.package,
                        wish.version.text(), wish.major, cudnn.there_text())
          : fmt::format("{} asks for {} {} at most, which wants cuDNN {}, and another "
                        "one comes: {}.",
                        wish.by, wish.package, wish.version.text(), wish.major,
                        cudnn.there_text()));
  finding.error = error_of(wish);
  finding.evidence.push_back(evidence_of(*wish.asked));
  if (elsewhere) {
    finding.evidence.push_back(
        {fmt::format("it may come from {}, of whose builds nobody knows: "
                     "that of the Python index wants this",
                     source),
         place_text(wish.asked->recipe->path, wish.asked->requirement->line)});
  }
  for (const CudnnThere& there : cudnn.there) {
    const Evidence seen = there.asked != nullptr ? evidence_of(*there.asked)
                                                 : Evidence{column.image, column.image_where};
    if (std::ranges::find(finding.evidence, seen) == finding.evidence.end()) {
      finding.evidence.push_back(seen);
    }
  }
  if (!wish.by.empty()) {
    propose_bringers(diagnosis, column, cudnn, wish, *wish.asked, proposals);
    advise_by_itself(diagnosis, column, cudnn, wish);
    return;
  }
  for (const Asked* asked : refusing(column, cudnn, wish, diagnosis.knowledge)) {
    propose_bringers(diagnosis, column, cudnn, wish, *asked, proposals);
    propose_torch(diagnosis, column, wish, proposals);
  }
  propose_wheel(diagnosis, column, cudnn, wish, proposals);
  propose_releases(diagnosis, column, cudnn, wish, proposals);
  if (!elsewhere) {
    propose_image(diagnosis, column, cudnn, wish, proposals);
  }
}

// "onnxruntime-gpu[cuda,cudnn]" of releases whose extras bring nothing.
void judge_extras(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Resolved resolved = resolve(column, "onnxruntime-gpu");
  const bool asks =
      resolved.version &&
      std::ranges::any_of(resolved.by->requirement->extras, [](const std::string& extra) {
        return extra == "cuda" || extra == "cudnn";
      });
  const OnnxRuntimeExtras extras =
      asks ? onnxruntime_extras(*resolved.version) : OnnxRuntimeExtras::Bring;
  if (extras == OnnxRuntimeExtras::Bring) {
    return;
  }
  const bool none = extras == OnnxRuntimeExtras::None;
  const std::string version = resolved.version->text();
  Finding& finding = add_finding(
      diagnosis, "extras bring nothing", Level::Warning,
      none ? Certainty::Certain : Certainty::Likely,
      fmt::format("onnxruntime-gpu {} in {}", version, column.name),
      none ? fmt::format("onnxruntime-gpu {} has no extras \"cuda\" and \"cudnn\": the installer "
                         "warns, goes on, and brings none of NVIDIA's libraries.",
                         version)
           : fmt::format("The extras of onnxruntime-gpu {} ask for wheels that do not exist, so "
                         "that an installer refuses.",
                         version));
  finding.evidence.push_back(evidence_of(*resolved.by));
  if (const Note* note =
          diagnosis.knowledge.note(none ? "onnxruntime extras" : "onnxruntime 1.27 extras")) {
    finding.evidence.push_back({note->text, note->source});
  }
  const auto wants = stretch_of("onnxruntime-gpu", *resolved.version, diagnosis.knowledge);
  const PackageReleases* listed = diagnosis.knowledge.releases_of("onnxruntime-gpu");
  if (!wants || listed == nullptr) {
    return;
  }
  for (const Version& release : listed->releases) {
    const auto other = stretch_of("onnxruntime-gpu", release, diagnosis.knowledge);
    if (other && other->verified && other->cuda_major == wants->cuda_major &&
        takes_python(column, "onnxruntime-gpu", release, diagnosis.knowledge) &&
        onnxruntime_extras(release) == OnnxRuntimeExtras::Bring) {
      propose(
          diagnosis, proposals,
          {pin_edit(column, *resolved.by, "==" + release.text(),
                    fmt::format("its extras bring the libraries of CUDA {}", other->cuda_major))});
      return;
    }
  }
  // No release of that CUDA has such extras: what they were to bring comes by itself.
  const Asked& asked = *resolved.by;
  AlignmentEdit bare =
      pin_edit(column, asked, asked.requirement->specifier, "its extras bring nothing");
  bare.to = "onnxruntime-gpu" + asked.requirement->specifier;
  const auto torch = torch_of(column, diagnosis.knowledge);
  const TorchVariant* variant = torch ? diagnosis.knowledge.torch_variant(*torch) : nullptr;
  if (variant != nullptr && major_version(cuda_of_variant(variant->cuda)) == wants->cuda_major &&
      major_version(variant->cudnn) == wants->cudnn_major) {
    bare.why += fmt::format("; torch {} brings the libraries: import it first", torch->text());
    propose(diagnosis, proposals, {bare});
    return;
  }
  std::vector<AlignmentEdit> edits = {bare};
  for (const std::string& line : cuda_wheels(wants->cuda_major, wants->cudnn_major, true)) {
    edits.push_back(line_edit(asked, line, "it opens what this brings"));
  }
  if (edits.size() > 1) {
    propose(diagnosis, proposals, std::move(edits),
            "Ask for NVIDIA's wheels by their names, and show the loader where they lie.");
  }
}

}  // namespace

void judge_cudnn(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const ColumnCudnn cudnn = cudnn_of(column, diagnosis.knowledge);
  for (const CudnnWanted& wish : cudnn.wanted) {
    if (cudnn.lacks(wish)) {
      judge_wish(diagnosis, column, cudnn, wish, proposals);
    }
  }
  judge_extras(diagnosis, column, proposals);
}

}  // namespace mynah::doctor
