// What the system of an image does not let in.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/image_system.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// Who asks for a package, and what of it comes.
struct Coming {
  const Asked* asked = nullptr;
  std::string by;  // the package that asks for it; empty: the recipe itself
  SpecifierSet range;
  bool sure = false;
};

std::optional<Coming> coming(const RecipeColumn& column, std::string_view package,
                             const Knowledge& knowledge) {
  const Resolved own = resolve(column, package);
  if (own.by != nullptr) {
    if (!own.by->requirement->url.empty() || !own.several.empty()) {
      return std::nullopt;
    }
    return Coming{.asked = own.by, .by = {}, .range = own.range, .sure = own.sure};
  }
  Derived other = brought(column, package, knowledge);
  if (other.by.empty() || !other.asked->requirement->url.empty()) {
    return std::nullopt;
  }
  return Coming{.asked = other.asked,
                .by = std::move(other.by),
                .range = std::move(other.range),
                .sure = other.verified && other.asked->holds == Truth::Yes};
}

std::string who_text(const Coming& coming, std::string_view package) {
  return coming.by.empty() ? std::string(package)
                           : fmt::format("{}, which {} asks for,", package, coming.by);
}

// The same image of Python on another system: "3.12-slim-bookworm". Empty: it is none of Python's.
std::string python_image(const RecipeColumn& column, std::string_view ending) {
  const size_t colon = column.image.rfind(':');
  if (colon == std::string::npos || last_name(column.image.substr(0, colon)) != "python") {
    return {};
  }
  const std::string tag = column.image.substr(colon + 1);
  const size_t end = std::min(tag.find_first_not_of("0123456789."), tag.size());
  return end == 0 ? std::string()
                  : column.image.substr(0, colon + 1) + tag.substr(0, end) + std::string(ending);
}

void propose_image(Diagnosis& diagnosis, const RecipeColumn& column, std::string_view ending,
                   const std::string& why, Proposals& proposals) {
  if (const std::string image = python_image(column, ending); !image.empty()) {
    propose(diagnosis, proposals, {image_edit(column, image, why)});
  }
}

// Wheels for glibc alone, in an image that has another C library.
void judge_wheels(Diagnosis& diagnosis, const RecipeColumn& column, const ImageSystem& system,
                  Proposals& proposals) {
  // The system's own Python may have packages of the system's.
  const bool own_python = column.processor == "x86_64" && !python_image(column, "").empty() &&
                          column.environment.empty();
  for (const GlibcWheels& known : diagnosis.knowledge.glibc_wheels) {
    const auto comes = coming(column, known.package, diagnosis.knowledge);
    if (!comes) {
      continue;
    }
    const bool certain =
        known.verified && system.verified && comes->sure && own_python &&
        !may_have_own_builds(column, *comes->asked->requirement, diagnosis.knowledge);
    Finding& finding = add_finding(
        diagnosis, "wheels for glibc", failing(certain), sure(certain),
        fmt::format("{} in {}", known.package, column.name),
        fmt::format("{} has wheels for glibc alone and no source archive, and the C library of {} "
                    "is musl: an installer finds none that it can take.",
                    who_text(*comes, known.package), column.image));
    finding.evidence = {evidence_of(*comes->asked),
                        {column.image, column.image_where},
                        {fmt::format("the wheels of {}", known.package), known.source}};
    finding.error = fmt::format("No matching distribution found for {}", known.package);
    propose_image(diagnosis, column, "-slim", "its C library is glibc", proposals);
    if (python_image(column, "").empty()) {
      finding.remedies.push_back({.command = {},
                                  .text = "Take an image of Debian or Ubuntu: python:3.12-slim",
                                  .cost = {}});
    }
  }
}

// Whether an image may take the mark from libraries that ask for an executable stack, or have the
// loader give them one all the same.
bool may_allow_stack(const RecipeColumn& column) {
  static constexpr std::array<std::string_view, 3> kPrograms = {"patchelf", "execstack", "prelink"};
  const auto tuned = [](const std::map<std::string, std::string>& variables) {
    const auto found = variables.find("GLIBC_TUNABLES");
    return found != variables.end() && found->second.contains("execstack");
  };
  return column.asks_for("patchelf") ||
         (column.service != nullptr && tuned(column.service->variables)) ||
         std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
           return tuned(recipe->variables) ||
                  std::ranges::any_of(recipe->system_packages, [](std::string_view package) {
                    return std::ranges::find(kPrograms, package) != kPrograms.end();
                  });
         });
}

// CTranslate2's wheels that ask for an executable stack, which glibc 2.41 refuses (error E67).
void judge_stack(Diagnosis& diagnosis, const RecipeColumn& column, const SystemOfImage& of_image,
                 Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const KnownError* error = knowledge.error("E67");
  const auto glibc = Version::parse(of_image.system->glibc);
  const PackageReleases* known = knowledge.releases_of("ctranslate2");
  const auto comes = coming(column, "ctranslate2", knowledge);
  if (error == nullptr || !glibc || *glibc < *Version::parse("2.41") || known == nullptr ||
      !comes) {
    return;
  }
  const ListedReleases listed = listed_releases(*known, comes->range);
  const Version mended = *Version::parse("4.6");
  if (listed.versions.empty() || listed.versions.front() >= mended) {
    return;
  }
  const Version& version = listed.versions.front();
  const bool certain = of_image.said && of_image.system->verified && comes->sure &&
                       error->verified && listed.no_newer && column.processor == "x86_64" &&
                       !may_allow_stack(column) &&
                       !may_have_own_builds(column, *comes->asked->requirement, knowledge);
  Finding& finding = add_finding(
      diagnosis, "executable stack", failing(certain), sure(certain),
      fmt::format("ctranslate2 {} in {}", version.text(), column.name),
      fmt::format("{} comes as {} at most, which asks for an executable stack: glibc {} of {} {} "
                  "does not load it.",
                  who_text(*comes, "ctranslate2"), version.text(), of_image.system->glibc,
                  of_image.system->name, of_image.system->version));
  finding.evidence = {evidence_of(*comes->asked),
                      {column.image, column.image_where},
                      {fmt::format("glibc {}", of_image.system->glibc), of_image.system->source},
                      {error->cause, error->source}};
  if (const Note* note = knowledge.note("python images"); note != nullptr && !of_image.said) {
    finding.evidence.push_back({note->text, note->source});
  }
  finding.error = "cannot enable executable stack as shared object requires: Invalid argument";
  propose_image(diagnosis, column,
                column.image.find("slim") == std::string::npos ? "-bookworm" : "-slim-bookworm",
                "its glibc takes it", proposals);
  if (comes->by.empty()) {
    // The newest, which other findings about it take, too; and the nearest that asks for none.
    for (const Version& release : {known->releases.front(), *Version::parse("4.6.0")}) {
      if (takes_python(column, "ctranslate2", release, knowledge)) {
        propose(diagnosis, proposals,
                {pin_edit(column, *comes->asked, "==" + release.text(), "it asks for none")});
      }
    }
  }
}

// pip in the Python that the system's own programs run with (error E115).
void judge_managed(Diagnosis& diagnosis, const RecipeColumn& column,
                   const SystemOfImage& of_image) {
  const ImageSystem& system = *of_image.system;
  const KnownError* error = diagnosis.knowledge.error("E115");
  const Recipe* const image = column.dockerfile();
  // Images of Python have one beside the system's, which comes first on PATH.
  if (last_name(column.image.substr(0, column.image.rfind(':'))) == "python" || !system.managed ||
      error == nullptr || image == nullptr || !column.environment.empty()) {
    return;
  }
  const std::vector<std::string>& packages = image->system_packages;
  // pip is a package of its own; uv finds the Python that is there.
  const bool pip = std::ranges::find(packages, "python3-pip") != packages.end();
  const bool python = std::ranges::any_of(packages, [](const std::string& package) {
    return package == "python3" || package.starts_with("python3-");
  });
  const bool other = std::ranges::any_of(packages, [](const std::string& package) {
    return package.starts_with("python3.") || package.starts_with("pypy");
  });
  const auto step = std::ranges::find_if(image->steps, [&](const InstallStep& one) {
    return one.managed && !one.aside && one.environment.empty() && (one.uv ? python : pip);
  });
  if (step == image->steps.end()) {
    return;
  }
  // Programs that lie before the system's on PATH may be meant.
  const auto path = image->variables.find("PATH");
  const bool elsewhere =
      path != image->variables.end() &&
      std::ranges::any_of(std::array{"env", "conda", "mamba", "python", "local"},
                          [&](const char* word) { return path->second.contains(word); });
  const bool base = last_name(column.image.substr(0, column.image.rfind(':'))) == system.name ||
                    column.image.starts_with("nvidia/cuda:");
  const bool certain = base && of_image.said && system.verified && error->verified && !other &&
                       !elsewhere && !step->doubtful && image->images.size() == 1;
  Finding& finding = add_finding(
      diagnosis, "managed Python", failing(certain), sure(certain), column.name,
      fmt::format("{} {} keeps {} out of its own Python, which this command would install into: "
                  "the image is not built.",
                  system.name, system.version, step->uv ? "uv" : "pip"));
  finding.evidence = {
      {step->uv ? "uv pip install --system" : "pip install", place_text(image->path, step->line)},
      {column.image, column.image_where},
      {error->cause, error->source}};
  if (!step->uv) {
    finding.error = "error: externally-managed-environment";
  }
  const std::string where = place_text(image->path, step->line);
  if (step->uv) {
    // uv takes the system's Python by the variable and by the option, whatever environment is
    // there.
    const auto variable = image->variables.find("UV_SYSTEM_PYTHON");
    const bool by_variable = variable != image->variables.end() && variable->second != "0";
    const Remedy apart{
        .command = "RUN uv venv /opt/venv\nENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH",
        .text = fmt::format("Write it before the command at {}, and take --system out of all "
                            "commands of uv{}",
                            where, by_variable ? ", and UV_SYSTEM_PYTHON out of the image" : ""),
        .cost = {}};
    const Remedy allowed{
        .command = "ENV UV_BREAK_SYSTEM_PACKAGES=1",
        .text = "Write this behind FROM, in an image that serves one program",
        .cost = "packages of the system's that programs of its own need may be replaced"};
    // The one that needs the fewest changes of what is there is first.
    finding.remedies =
        by_variable ? std::vector<Remedy>{allowed, apart} : std::vector<Remedy>{apart, allowed};
    return;
  }
  finding.remedies.push_back(
      {.command = "RUN python3 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH",
       .text = fmt::format("Write it before the command at {}, and install python3-venv with "
                           "python3-pip",
                           where),
       .cost = {}});
  finding.remedies.push_back(
      {.command = "ENV PIP_BREAK_SYSTEM_PACKAGES=1",
       .text = "Or write this behind FROM, in an image that serves one program",
       .cost = "packages of the system's that programs of its own need may be replaced"});
}

// Packages without wheels for Arm processors in the Python index, and nothing else to install from.
void judge_processor(Diagnosis& diagnosis, const RecipeColumn& column) {
  constexpr std::string_view kPackage = "onnxruntime-gpu";
  const Resolved asked = resolve(column, kPackage);
  const Note* const note = diagnosis.knowledge.note("onnxruntime-gpu processors");
  if (column.processor != "aarch64" || asked.by == nullptr || note == nullptr ||
      !asked.by->requirement->url.empty() ||
      may_have_own_builds(column, *asked.by->requirement, diagnosis.knowledge)) {
    return;
  }
  // Elsewhere pip's own settings may name an index that has some.
  const bool certain = note->verified && column.is_image() && asked.by->holds == Truth::Yes &&
                       asked.by->requirement->indexes.empty() &&
                       (asked.by->how == nullptr || !asked.by->how->doubtful);
  Finding& finding = add_finding(
      diagnosis, "no wheel for the processor", failing(certain), sure(certain),
      fmt::format("{} in {}", kPackage, column.name),
      fmt::format("The Python index has {} for x86-64 alone, and this is installed on an Arm "
                  "processor (aarch64): an installer finds none.",
                  kPackage));
  finding.evidence = {evidence_of(*asked.by), {note->text, note->source}};
  finding.error = fmt::format("No matching distribution found for {}{}", kPackage,
                              asked.by->requirement->specifier);
  finding.remedies.push_back(
      {.command = {},
       .text = "Take onnxruntime, which has wheels for Arm and computes on the processor, or name "
               "an index that has builds for this machine (on a Jetson that of its JetPack)",
       .cost = {}});
}

}  // namespace

void judge_image_system(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  judge_processor(diagnosis, column);
  if (column.image.empty()) {
    return;
  }
  const SystemOfImage of_image = system_of_image(column.image, diagnosis.knowledge);
  if (of_image.system == nullptr) {
    return;
  }
  if (of_image.system->glibc.empty()) {
    judge_wheels(diagnosis, column, *of_image.system, proposals);
    return;
  }
  judge_stack(diagnosis, column, of_image, proposals);
  judge_managed(diagnosis, column, of_image);
}

}  // namespace mynah::doctor
