#include "doctor/verdicts/companion_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/torch_index.h"
#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedy_plan.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

const Package* package_named(const PythonEnvironment& environment, std::string_view name) {
  const auto found = std::ranges::find(environment.packages, name, &Package::name);
  return found == environment.packages.end() ? nullptr : &*found;
}

Finding& add(Diagnosis& diagnosis, const PythonEnvironment& environment, const char* rule,
             Level level, const Package& package) {
  Finding& finding = diagnosis.report.findings.emplace_back();
  finding.rule = rule;
  finding.level = level;
  finding.certainty = level == Level::Unknown ? Certainty::Likely : Certainty::Certain;
  finding.subject = fmt::format("{} {}{}", package.name, package.version,
                                environment.path.empty() ? "" : " in " + environment.path);
  finding.evidence.push_back(
      {fmt::format("{} {} is installed", package.name, package.version), package.folder});
  return finding;
}

bool same_release(const Version& version, const Claim& release) {
  const auto wanted = Version::parse(release.value);
  return wanted && version.release_at(0) == wanted->release_at(0) &&
         version.release_at(1) == wanted->release_at(1);
}

// The release of a companion for the `patch`th of a torch: of the same number, else the newest of
// its minor version. Empty: there is none.
std::string companion_release(std::string_view name, const Claim& belongs, uint64_t patch,
                              const Knowledge& knowledge) {
  std::string same = fmt::format("{}.{}", belongs.value, patch);
  const PackageReleases* listed = knowledge.releases_of(name);
  if (listed == nullptr) {
    return same;
  }
  const auto wanted = Version::parse(same);
  std::string newest;
  for (const Version& release : listed->releases) {
    if (wanted && release == *wanted) {
      return same;
    }
    newest = newest.empty() && same_release(release, belongs) ? release.text() : newest;
  }
  return newest;
}

// A companion is built for one release of torch, and refuses others or crashes with them.
void judge_companion(const PythonEnvironment& environment, const Package& torch,
                     const TorchRelease& release, const char* name, const Claim& belongs,
                     Diagnosis& diagnosis) {
  const Package* package = package_named(environment, name);
  const auto version = package != nullptr ? Version::parse(package->version) : Version::parse("");
  if (package == nullptr || !version || same_release(*version, belongs)) {
    return;
  }
  // From 2.9 on torchaudio uses what stays the same from one torch to the next.
  const auto stable = Version::parse("2.9");
  const bool may_do = std::string_view(name) == "torchaudio" && stable && *version >= *stable;
  const bool fails = belongs.verified && !may_do;
  Finding& finding = add(diagnosis, environment, "torch companion",
                         fails ? Level::Fail : Level::Unknown, *package);
  finding.text = fmt::format("{} {} belongs to another torch than {}, whose {} is {}.", name,
                             package->version, torch.version, name, belongs.value);
  finding.error = std::string_view(name) == "torchvision"
                      ? "operator torchvision::nms does not exist"
                      : "libtorchaudio.so: undefined symbol: _ZNK3c107SymBool10guard_boolEPKcl";
  finding.evidence.push_back(
      {fmt::format("torch {} goes with {} {}", release.torch, name, belongs.value),
       belongs.source});
  const auto installed = Version::parse(torch.version);
  const std::string right = companion_release(
      name, belongs, installed ? installed->release_at(2) : 0, diagnosis.knowledge);
  const std::string tag = installed ? installed->local_text() : "";
  const auto comes_as = Version::parse(right);
  if (!comes_as || !has_build(name, *comes_as, tag, diagnosis.knowledge)) {
    return;
  }
  Package comes;
  comes.name = name;
  comes.version = right;
  finding.remedies.push_back(
      {.command =
           fmt::format("{} {}=={}{}", install_command(environment), name, right,
                       tag.empty() ? "" : fmt::format("+{} --index-url {}", tag, torch_index(tag))),
       .text =
           fmt::format("Take the {} of the torch that is installed, from the same index.", name),
       .cost = fmt::format(
           "{}", fmt::join(objections(environment, {comes}, diagnosis.knowledge), "; "))});
}

bool matches(const PythonEnvironment& environment, const Requirement& requirement) {
  const Package* package = package_named(environment, requirement.name);
  const auto specifier = SpecifierSet::parse(requirement.specifier);
  const auto version = package != nullptr ? Version::parse(package->version) : Version::parse("");
  return package != nullptr && specifier && version && specifier->contains(*version);
}

// What a line of pip would install and remove; none: it is no such line, or nobody knows what
// comes.
struct PipChange {
  std::vector<Package> comes;
  std::vector<std::string> goes;
};

std::optional<PipChange> pip_change(const std::string& command,
                                    const PythonEnvironment& environment,
                                    const Knowledge& knowledge) {
  PipChange change;
  const std::vector<std::string> words = words_of(command);
  if (words.size() < 3 || words[0] != "pip" || (words[1] != "install" && words[1] != "uninstall")) {
    return std::nullopt;
  }
  const bool newer = std::ranges::find(words, "--upgrade") != words.end();
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i].starts_with("-")) {
      i += words[i] == "--index-url" || words[i] == "--extra-index-url" ? 1 : 0;
      continue;
    }
    const auto requirement = parse_requirement(words[i]);
    const auto specifier =
        requirement ? SpecifierSet::parse(requirement->specifier) : SpecifierSet::parse("");
    if (!requirement || !specifier) {
      return std::nullopt;
    }
    if (words[1] == "uninstall") {
      change.goes.push_back(requirement->name);
      continue;
    }
    if (!newer && matches(environment, *requirement)) {
      continue;  // pip leaves it as it is
    }
    auto version = specifier->pinned();
    if (const PackageReleases* listed = knowledge.releases_of(requirement->name);
        !version && listed != nullptr) {
      const auto newest = std::ranges::find_if(
          listed->releases, [&](const Version& release) { return specifier->contains(release); });
      version = newest == listed->releases.end() ? version : std::optional(*newest);
    }
    if (!version) {
      return std::nullopt;
    }
    Package& package = change.comes.emplace_back();
    package.name = requirement->name;
    package.version = version->text();
  }
  return change;
}

// A remedy with what it costs here; none: what it is for would still be there.
std::optional<Remedy> judged(Remedy remedy, const PythonEnvironment& environment,
                             const Requirement& first, const Requirement& second,
                             const Knowledge& knowledge) {
  const auto change = pip_change(remedy.command, environment, knowledge);
  if (!change) {
    return remedy;
  }
  PythonEnvironment after = environment;
  for (const std::string& name : change->goes) {
    std::erase_if(after.packages, [&](const Package& package) { return package.name == name; });
  }
  for (const Package& package : change->comes) {
    install(after, package.name, package.version, knowledge);
  }
  if (matches(after, first) && matches(after, second)) {
    return std::nullopt;
  }
  const std::vector<std::string> costs = objections(environment, change->comes, knowledge);
  remedy.cost +=
      fmt::format("{}{}", remedy.cost.empty() || costs.empty() ? "" : "; ", fmt::join(costs, "; "));
  return remedy;
}

// pip of a remedy that any environment may need, as this one's own interpreter runs it.
void name_environment(Remedy& remedy, const PythonEnvironment& environment) {
  for (const auto& [plain, its] :
       {std::pair("pip install ", install_command(environment)),
        std::pair("pip uninstall -y ", uninstall_command(environment))}) {
    const std::string_view words = plain;
    for (size_t at = remedy.command.find(words); at != std::string::npos;
         at = remedy.command.find(words, at)) {
      const bool begins = at == 0 || remedy.command.substr(0, at).ends_with("&& ");
      if (begins) {
        remedy.command.replace(at, words.size() - 1, its);
      }
      at += begins ? its.size() : words.size();
    }
  }
}

// Whose files lie where two packages write the same; null: they share none.
const SharedPath* shared_by(const PythonEnvironment& environment, const std::string& first,
                            const std::string& second) {
  const auto found = std::ranges::find_if(environment.shared_paths, [&](const SharedPath& shared) {
    return std::ranges::find(shared.owners, first) != shared.owners.end() &&
           std::ranges::find(shared.owners, second) != shared.owners.end();
  });
  return found == environment.shared_paths.end() ? nullptr : &*found;
}

// Whether the verdict on a framework of this environment has said which files lie over which.
bool told_overwritten(const Report& report, const PythonEnvironment& environment) {
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    return finding.rule == kOverwriteRule &&
           (environment.path.empty() || finding.subject.ends_with(" in " + environment.path));
  });
}

void judge_clash(const PythonEnvironment& environment, const Clash& clash, Diagnosis& diagnosis) {
  const auto first = parse_requirement(clash.first);
  const auto second = parse_requirement(clash.second);
  if (!first || !second || !matches(environment, *first) || !matches(environment, *second)) {
    return;
  }
  // Two that write the same files: whose are there decides, which verdicts look at.
  const bool same_files = first->specifier.empty() && second->specifier.empty();
  const SharedPath* const shared =
      same_files ? shared_by(environment, first->name, second->name) : nullptr;
  if (shared != nullptr && told_overwritten(diagnosis.report, environment)) {
    return;
  }
  const bool fails = clash.verified && !clash.error.empty() && !same_files;
  const Level level = fails ? Level::Fail : clash.verified ? Level::Warning : Level::Unknown;
  Finding& finding =
      add(diagnosis, environment, "clash", level, *package_named(environment, second->name));
  finding.text = fmt::format("{} does not go with {}: {}.", clash.second, clash.first, clash.text);
  finding.evidence.push_back({fmt::format("{} {} is installed", first->name,
                                          package_named(environment, first->name)->version),
                              clash.source});
  if (shared != nullptr && !shared->winner.empty()) {
    finding.evidence.push_back(
        {fmt::format("the files that are there are those of {}", shared->winner), shared->path});
  }
  if (const KnownError* error = diagnosis.knowledge.error(clash.error)) {
    const auto plain = std::ranges::find_if(error->patterns, [](const std::string& pattern) {
      return pattern.find_first_of("{*") == std::string::npos;
    });
    finding.error = plain == error->patterns.end() ? error->title : *plain;
    for (const Remedy& remedy : error->remedies) {
      // Those that a log's own words would fill are for logs.
      if ((remedy.command + remedy.text).contains('{')) {
        continue;
      }
      if (auto kept = judged(remedy, environment, *first, *second, diagnosis.knowledge)) {
        name_environment(*kept, environment);
        finding.remedies.push_back(*std::move(kept));
      }
    }
  }
}

// cuDNN that the packages of an environment bring, by its major version: "9.7.1.26 by torch 2.7.1".
std::map<uint64_t, std::string> cudnn_there(const PythonEnvironment& environment) {
  std::map<uint64_t, std::string> there;
  for (const Package& package : environment.packages) {
    const auto version = Version::parse(package.version);
    if (version && package.name.starts_with("nvidia-cudnn-cu")) {
      there.emplace(version->release_at(0), fmt::format("{} by {}", package.version, package.name));
    }
  }
  for (const Framework& framework : environment.frameworks) {
    const auto version = Version::parse(framework.cudnn);
    if (version && framework.name == "torch") {
      there.emplace(version->release_at(0),
                    fmt::format("{} by {}", framework.cudnn, framework_title(framework)));
    }
  }
  return there;
}

// The newest release that is for the same CUDA, and wants a cuDNN that is there or none; empty:
// none is known.
std::string release_for(const Framework& framework, const std::map<uint64_t, std::string>& there,
                        const PythonEnvironment& environment, const Knowledge& knowledge) {
  const PackageReleases* const listed = knowledge.releases_of(framework.package);
  for (const Version& release : listed == nullptr ? std::vector<Version>() : listed->releases) {
    const auto other = known_framework(framework.package, release, environment.system, knowledge);
    const auto cudnn = other ? Version::parse(other->cudnn) : Version::parse("");
    if (other && other->unverified.empty() && framework.cuda && other->cuda &&
        cuda_number(*other->cuda) / 100 == cuda_number(*framework.cuda) / 100 &&
        (other->cudnn.empty() || (cudnn && there.contains(cudnn->release_at(0))))) {
      return release.text();
    }
  }
  return {};
}

// What becomes of a framework whose libraries are in doubt is not known: the table is to say so,
// too. `why`: a sentence.
void lower_verdicts(Report& report, const PythonEnvironment& environment,
                    const Framework& framework, std::string_view why) {
  for (FrameworkVerdict& verdict : report.verdicts) {
    if (verdict.environment == environment.path && verdict.framework == framework.name &&
        verdict.version == framework.version && verdict.outcome == Outcome::Works) {
      verdict.outcome = Outcome::Unknown;
      verdict.reason = why.substr(0, why.size() - 1);
    }
  }
}

// NVIDIA's wheels of cuBLAS for other CUDA versions than the one that CTranslate2 opens, and none
// for that, among packages that were told: files of each have other names.
void judge_told_cublas(const PythonEnvironment& environment, const Framework& framework,
                       Diagnosis& diagnosis) {
  const int wanted = cuda_major_of(framework, diagnosis.knowledge);
  const Package* const package = package_named(environment, framework.package);
  if (framework.source.empty() || framework.name != "ctranslate2" || wanted == 0 ||
      package == nullptr) {
    return;
  }
  const bool of_torch = std::ranges::any_of(environment.frameworks, [&](const Framework& other) {
    const int its = cuda_major_of(other, diagnosis.knowledge);
    return other.name == "torch" && (its == 0 || its >= wanted);
  });
  const Package* other = nullptr;
  bool there = of_torch;
  for (const Package& wheel : environment.packages) {
    const bool cublas = wheel.name.starts_with("nvidia-cublas");
    const bool fits = wheel.name == fmt::format("nvidia-cublas-cu{}", wanted) ||
                      wheel.name == "nvidia-cublas" || wheel.installer == "conda";
    there |= cublas && fits;
    other = cublas && !fits ? &wheel : other;
  }
  if (there || other == nullptr) {
    return;
  }
  Finding& finding =
      add(diagnosis, environment, "cublas of another version", Level::Warning, *package);
  finding.certainty = Certainty::Likely;
  finding.text = fmt::format(
      "{} opens libcublas.so.{}, and {} brings another file: the first call for a card fails where "
      "the machine has none.",
      framework_title(framework), wanted, other->name);
  finding.evidence.push_back(
      {fmt::format("{} {} is installed", other->name, other->version), other->folder});
  finding.error = fmt::format("Library libcublas.so.{} is not found or cannot be loaded", wanted);
  lower_verdicts(diagnosis.report, environment, framework, finding.text);
  const Library* const library = diagnosis.knowledge.library("cublas", wanted);
  if (library != nullptr && !library->wheel.empty()) {
    finding.remedies.push_back(
        {.command = install_command(environment) + " " + library->wheel +
                    library_path_line(site_of(framework, environment), {library->folder},
                                      environment.system),
         .text = "Bring the one that it opens, and show the loader where it lies.",
         .cost = {}});
  }
}

// Of packages that were told and not looked at: the loader, which decides otherwise, was not asked.
void judge_told_cudnn(const PythonEnvironment& environment, const Framework& framework,
                      Diagnosis& diagnosis) {
  const auto wanted = Version::parse(framework.cudnn);
  const Package* const package = package_named(environment, framework.package);
  const std::map<uint64_t, std::string> there = cudnn_there(environment);
  if (framework.source.empty() || framework.name == "torch" || is_cuda_library(framework) ||
      !wanted || package == nullptr || there.empty() || there.contains(wanted->release_at(0))) {
    return;
  }
  Finding& finding =
      add(diagnosis, environment, "cudnn of another version", Level::Warning, *package);
  finding.certainty = Certainty::Likely;
  finding.text =
      fmt::format("{} wants cuDNN {}, and another one comes: {}.", framework_title(framework),
                  wanted->release_at(0), there.begin()->second);
  finding.evidence.push_back(
      {fmt::format("it is built for cuDNN {}", framework.cudnn), framework.source});
  lower_verdicts(diagnosis.report, environment, framework, finding.text);
  const std::string release = release_for(framework, there, environment, diagnosis.knowledge);
  if (!release.empty()) {
    finding.remedies.push_back(
        {.command =
             fmt::format("{} {}=={}", install_command(environment), framework.package, release),
         .text = "Take the release that gets along with the cuDNN that comes.",
         .cost = {}});
  }
}

}  // namespace

void judge_companions(Diagnosis& diagnosis) {
  const Knowledge& knowledge = diagnosis.knowledge;
  for (const PythonEnvironment& environment : diagnosis.facts.environments) {
    if (environment.kind == kOfRecipe) {
      continue;  // the rules for recipes say it of the file
    }
    const Package* torch = package_named(environment, "torch");
    const auto version = torch != nullptr ? Version::parse(torch->version) : Version::parse("");
    const TorchRelease* release = version ? knowledge.torch_release(*version) : nullptr;
    if (release != nullptr) {
      for (const auto& [name, belongs] : {std::pair("torchaudio", &release->torchaudio),
                                          std::pair("torchvision", &release->torchvision)}) {
        if (*belongs) {
          judge_companion(environment, *torch, *release, name, **belongs, diagnosis);
        }
      }
    }
    for (const Framework& framework : environment.frameworks) {
      judge_told_cudnn(environment, framework, diagnosis);
      judge_told_cublas(environment, framework, diagnosis);
    }
    for (const Clash& clash : knowledge.clashes) {
      judge_clash(environment, clash, diagnosis);
    }
  }
}

}  // namespace mynah::doctor
