#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// The first branch of drivers that is made for a CUDA version.
const DriverBranch* first_branch(std::string_view cuda, const Knowledge& knowledge) {
  const int wanted = cuda_number(cuda);
  for (const DriverBranch& branch : knowledge.branches) {
    if (wanted != 0 && cuda_number(branch.cuda) >= wanted) {
      return &branch;
    }
  }
  return nullptr;
}

// Drivers before this branch cannot unpack such code (note "zstd" of the knowledge base).
constexpr std::string_view kUnpacksZstd = "550";

bool is_packed(const Framework& framework) {
  return std::ranges::any_of(framework.code, [](const DeviceCode& code) {
    return std::ranges::any_of(code.units, [](const DeviceUnits& units) {
      return std::ranges::any_of(units.images,
                                 [](const DeviceImage& image) { return image.zstd && !image.ptx; });
    });
  });
}

std::string newer(const std::string& a, const std::string& b) {
  const auto x = Version::parse(a);
  const auto y = Version::parse(b);
  return !x || (y && *y > *x) ? b : a;
}

// What a framework needs of the driver on one card.
void find_floor(const Framework& framework, const Card& card, const Machine& machine,
                const Knowledge& knowledge, AlignmentDriver& answer) {
  // Seen with the newest driver that is known: the one that is there does not matter.
  Machine bare;
  bare.system = machine.system;
  bare.driver = knowledge.branches.empty() ? "" : std::to_string(knowledge.branches.back().branch);
  const Target target = target_of(card, bare, knowledge);
  const auto cuda = Version::parse(framework.cuda.value_or(""));
  const DriverFloor* floor = cuda ? knowledge.floor(*cuda) : nullptr;
  if (floor == nullptr || target.capability == 0) {
    answer.why = "not known";
    return;
  }
  answer.driver = machine.system == System::Windows ? floor->windows_driver : floor->linux_driver;
  answer.why = fmt::format("programs of CUDA {} start on it", *framework.cuda);
  answer.verified = floor->verified && target.sure && framework.unverified.empty();
  if (framework.code.empty()) {
    answer.verified = false;
    return;
  }
  Coverage coverage;
  for (const DeviceCode& code : framework.code) {
    cover(code, target, knowledge, coverage);
  }
  const Architecture* architecture = knowledge.architecture(capability_text(target.capability));
  if (coverage.native > 0 || coverage.packed > 0) {
    if (is_packed(framework) && newer(answer.driver, std::string(kUnpacksZstd)) == kUnpacksZstd) {
      answer.driver = kUnpacksZstd;
      answer.why = "older ones cannot unpack its device code";
    }
  } else if (coverage.compiled > 0 || coverage.doubtful > 0) {
    const DriverBranch* branch = first_branch(coverage.ptx_cuda, knowledge);
    answer.why = fmt::format("the card is served by PTX, which wants the compiler of CUDA {}",
                             coverage.ptx_cuda.empty() ? *framework.cuda : coverage.ptx_cuda);
    answer.driver = branch == nullptr ? "" : newer(answer.driver, std::to_string(branch->branch));
    answer.verified &= branch != nullptr && branch->verified;
    if (branch == nullptr) {
      answer.why += ", and which driver has it is not known";
    }
  } else {
    answer.driver.clear();
    answer.why = "it has no code for this card";
    return;
  }
  if (architecture != nullptr && architecture->first_driver && !answer.driver.empty()) {
    const std::string least = newer(answer.driver, architecture->first_driver->value);
    if (least != answer.driver) {
      answer.driver = least;
      answer.why = fmt::format("{} cards want it", architecture->name);
    }
  }
}

// What a column's words for a package come to, and whether that is only the newest that is known.
std::optional<Version> version_of(const RecipeColumn& column, std::string_view package,
                                  const Knowledge& knowledge, bool& newest) {
  if (package == "torch") {
    return torch_of(column, knowledge);
  }
  const Resolved own = resolve(column, package);
  if (own.version) {
    return own.version;
  }
  const Derived other = own.by == nullptr ? derived(column, package, knowledge) : Derived();
  if ((own.by == nullptr && other.by.empty()) || !own.several.empty()) {
    return std::nullopt;
  }
  const SpecifierSet& range = own.by != nullptr ? own.range : other.range;
  const auto all = stretches(package, range, knowledge);
  const PackageReleases* const known = knowledge.releases_of(package);
  newest = true;
  if (all.empty() || !all.back().verified || !all.back().below || known == nullptr) {
    return std::nullopt;
  }
  const ListedReleases listed = listed_releases(*known, range);
  return listed.versions.empty() ? std::nullopt : std::optional(listed.versions.front());
}

}  // namespace

std::vector<AlignmentDriver> driver_floors(std::span<const RecipeColumn> columns,
                                           const Machine& machine, const Knowledge& knowledge) {
  std::vector<AlignmentDriver> floors;
  for (const RecipeColumn& column : columns) {
    for (const std::string_view package : {"torch", "ctranslate2", "onnxruntime-gpu"}) {
      bool newest = false;
      const auto version = version_of(column, package, knowledge, newest);
      const System system = system_of(column, machine);
      const auto framework =
          version ? known_framework(package, *version, system, knowledge) : std::nullopt;
      if (!framework || framework->cuda.value_or("").empty()) {
        continue;
      }
      for (const Card& card : machine.cards) {
        AlignmentDriver& answer = floors.emplace_back();
        answer.column = column.name;
        answer.package = fmt::format("{} {}{}", package, version->text(),
                                     newest ? ", the newest that is known," : "");
        answer.card = card.name;
        find_floor(*framework, card, machine, knowledge, answer);
        answer.verified &= !newest;
      }
    }
  }
  return floors;
}

}  // namespace mynah::doctor
