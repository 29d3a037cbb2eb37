#include "doctor/verdicts/coverage.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

// "12.8" as two numbers, whatever follows behind the second.
std::optional<std::pair<int, int>> two_numbers(std::string_view text) {
  const auto version = Version::parse(text.substr(0, text.find_first_not_of("0123456789.")));
  if (!version || version->release.size() < 2 || version->release[0] > 9999 ||
      version->release[1] > 99) {
    return std::nullopt;
  }
  return std::pair(static_cast<int>(version->release[0]), static_cast<int>(version->release[1]));
}

bool is_tegra(int capability, const Knowledge& knowledge) {
  const Architecture* architecture = knowledge.architecture(capability_text(capability));
  return architecture != nullptr && architecture->tegra;
}

// Drivers of this branch on unpack zstd (note "zstd").
constexpr int kFirstBranchWithZstd = 550;

bool machine_code_fits(const DeviceImage& image, const Target& target, const Knowledge& knowledge) {
  if (image.architecture == target.capability) {
    return true;
  }
  return image.variant != "a" && image.architecture / 10 == target.capability / 10 &&
         image.architecture < target.capability && !target.tegra &&
         !is_tegra(image.architecture, knowledge);
}

bool ptx_fits(const DeviceImage& image, const Target& target) {
  if (image.variant == "a") {
    return image.architecture == target.capability;
  }
  if (image.variant == "f" && image.architecture / 10 != target.capability / 10) {
    return false;
  }
  return image.architecture <= target.capability;
}

enum class Reach : uint8_t { None, TooNew, Packed, Doubtful, Compiled, Native };

Reach reach_of_ptx(const DeviceImage& image, const Target& target, const Knowledge& knowledge,
                   std::string& asked) {
  const PtxVersion* language = knowledge.ptx(image.ptx_version);
  if (language == nullptr || target.cuda == 0) {
    return Reach::Doubtful;
  }
  if (cuda_number(language->cuda) > cuda_number(asked)) {
    asked = language->cuda;
  }
  if (image.zstd && target.branch < kFirstBranchWithZstd) {
    return Reach::Packed;
  }
  if (cuda_number(language->cuda) <= target.cuda) {
    return Reach::Compiled;
  }
  return language->verified ? Reach::TooNew : Reach::Doubtful;
}

Reach reach_of(const DeviceUnits& units, const Target& target, const Knowledge& knowledge,
               std::string& asked) {
  const DeviceImage* best = nullptr;
  for (const DeviceImage& image : units.images) {
    if (!image.ptx && machine_code_fits(image, target, knowledge) &&
        (best == nullptr || image.architecture > best->architecture ||
         (image.architecture == best->architecture && best->zstd))) {
      best = &image;
    }
  }
  if (best != nullptr) {
    const bool packed =
        best->zstd && target.branch != 0 && target.branch < kFirstBranchWithZstd && !target.tegra;
    return packed ? Reach::Packed : Reach::Native;
  }
  Reach reach = Reach::None;
  for (const DeviceImage& image : units.images) {
    if (image.ptx && ptx_fits(image, target)) {
      reach = std::max(reach, reach_of_ptx(image, target, knowledge, asked));
    }
  }
  return reach;
}

std::string image_name(const DeviceImage& image) {
  return fmt::format("{}{}{}", image.ptx ? "compute_" : "sm_", image.architecture, image.variant);
}

}  // namespace

int cuda_number(std::string_view version) {
  const auto numbers = two_numbers(version);
  return numbers ? numbers->first * 100 + numbers->second : 0;
}

int capability_number(std::string_view text) {
  const auto numbers = two_numbers(text);
  return numbers && numbers->second < 10 ? numbers->first * 10 + numbers->second : 0;
}

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

Target target_of(const Card& card, const Machine& machine, const Knowledge& knowledge) {
  Target target;
  target.capability = capability_number(card.compute_capability);
  if (target.capability == 0) {
    if (const Product* product = knowledge.card(card.name)) {
      target.capability = capability_number(product->compute_capability);
      target.sure = product->verified;
    }
  }
  target.tegra = is_tegra(target.capability, knowledge);
  if (target.tegra) {
    return target;
  }
  if (const auto driver = Version::parse(machine.driver)) {
    target.branch = static_cast<int>(std::min<uint64_t>(driver->release.front(), 99999));
  }
  if (const DriverBranch* branch = knowledge.branch(machine.driver)) {
    target.cuda = cuda_number(branch->cuda);
    // What came behind the newest branch that is listed knows more than that.
    target.driver_sure = branch->verified && (branch != &knowledge.branches.back() ||
                                              target.branch - branch->branch < 5);
  }
  return target;
}

void cover(const DeviceCode& code, const Target& target, const Knowledge& knowledge,
           Coverage& coverage) {
  for (const DeviceUnits& units : code.units) {
    const bool special = std::ranges::none_of(
        units.images, [](const DeviceImage& image) { return image.variant.empty(); });
    const Reach reach = reach_of(units, target, knowledge, coverage.ptx_cuda);
    if (special) {
      coverage.special += units.count;
      coverage.special_here += reach == Reach::Native ? units.count : 0;
      continue;
    }
    switch (reach) {
      case Reach::Native:
        coverage.native += units.count;
        break;
      case Reach::Compiled:
        coverage.compiled += units.count;
        break;
      case Reach::Doubtful:
        coverage.doubtful += units.count;
        break;
      case Reach::Packed:
        coverage.packed += units.count;
        break;
      case Reach::TooNew:
        coverage.too_new += units.count;
        break;
      case Reach::None:
        coverage.none += units.count;
        break;
    }
  }
}

std::string code_text(const DeviceCode& code) {
  // Machine code first, then PTX, each by its number.
  std::set<std::pair<int, std::string>> machine;
  std::set<std::pair<int, std::string>> ptx;
  for (const DeviceUnits& units : code.units) {
    for (const DeviceImage& image : units.images) {
      (image.ptx ? ptx : machine).emplace(image.architecture, image_name(image));
    }
  }
  const auto names = [](const auto& images) {
    std::vector<std::string> listed(images.size());
    std::ranges::transform(images, listed.begin(), [](const auto& image) { return image.second; });
    return fmt::format("{}", fmt::join(listed, ", "));
  };
  return (machine.empty() ? "no machine code" : names(machine)) +
         (ptx.empty() ? ", and no PTX" : " and PTX of " + names(ptx));
}

}  // namespace mynah::doctor
