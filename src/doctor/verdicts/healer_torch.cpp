// Healer: other builds and releases of PyTorch.
#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/verdicts/healer.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

std::vector<const TorchRelease*> Healer::torch_releases() const {
  const auto installed = Version::parse(framework_.version);
  const TorchRelease* own = installed ? knowledge_.torch_release(*installed) : nullptr;
  std::vector<const TorchRelease*> newer;
  std::vector<const TorchRelease*> older;
  bool behind = own == nullptr;
  for (const TorchRelease& release : knowledge_.torch) {
    behind |= &release == own;
    (behind ? newer : older).push_back(&release);
  }
  newer.insert(newer.end(), older.rbegin(), older.rend());
  return newer;
}

bool Healer::fits_python(const SpecifierSet& wanted) const {
  const auto python = Version::parse(environment_.python);
  return !python || wanted.contains(*python);
}

void Healer::torch_versions() {
  const auto installed = Version::parse(framework_.version);
  for (const std::string& driver : drivers()) {
    for (const TorchRelease* release : torch_releases()) {
      const bool own = installed && knowledge_.torch_release(*installed) == release;
      if (!own && !fits_python(release->python)) {
        continue;
      }
      const std::string version = own ? installed->public_part().text() : release->torch + ".0";
      if (torch_variants(*release, version, driver)) {
        return;
      }
    }
  }
}

bool Healer::torch_variants(const TorchRelease& release, const std::string& version,
                            const std::string& driver) {
  std::vector<const TorchVariant*> variants(release.variants.size());
  std::ranges::transform(release.variants, variants.begin(),
                         [](const TorchVariant& variant) { return &variant; });
  std::ranges::reverse(variants);
  std::ranges::stable_partition(variants, [&](const TorchVariant* variant) {
    return variant->cuda == release.default_variant.value;
  });
  return std::ranges::any_of(variants, [&](const TorchVariant* variant) {
    return torch_variant(release, *variant, version, driver);
  });
}

bool Healer::torch_variant(const TorchRelease& release, const TorchVariant& variant,
                           const std::string& version, const std::string& driver) {
  const std::string wanted = fmt::format("{}+{}", version, variant.cuda);
  const auto parsed = Version::parse(wanted);
  if (!parsed || wanted == framework_.version) {
    return false;
  }
  auto after = known_framework("torch", *parsed, system(), knowledge_);
  if (!after) {
    return false;
  }
  Change change{.framework = *std::move(after), .packages = {}, .driver = driver};
  add_package(change, "torch", wanted);
  std::string command = fmt::format("{} torch=={}", install_command(environment_), wanted);
  for (const auto& [name, claim] : {std::pair("torchaudio", &release.torchaudio),
                                    std::pair("torchvision", &release.torchvision)}) {
    if (const std::string companion = companion_version(name, *claim, version);
        !companion.empty() &&
        has_build(name, *Version::parse(companion), variant.cuda, knowledge_)) {
      const std::string tagged = fmt::format("{}+{}", companion, variant.cuda);
      add_package(change, name, tagged);
      command += fmt::format(" {}=={}", name, tagged);
    }
  }
  command += fmt::format(" --index-url {}{}", kTorchIndex, variant.cuda);
  std::string text = fmt::format(
      "Take PyTorch built with CUDA {}, which has code for this card and brings its "
      "own CUDA libraries.",
      change.framework.cuda.value_or(""));
  if (const Architecture* architecture =
          knowledge_.architecture(capability_text(target_.capability));
      architecture != nullptr && architecture->last_driver) {
    text += fmt::format(" It wants a driver not later than branch {}{}.",
                        architecture->last_driver->value,
                        driver.empty() ? "" : ": put that one back in first");
  }
  return propose(change, std::move(command), std::move(text));
}

std::string Healer::companion_version(std::string_view name, const std::optional<Claim>& release,
                                      const std::string& torch) const {
  const auto found = std::ranges::find(environment_.packages, name, &Package::name);
  const auto wanted = Version::parse(torch);
  if (found == environment_.packages.end() || !release || !wanted) {
    return "";
  }
  const auto minor = Version::parse(release->value);
  const std::vector<Version> listed =
      minor ? releases_of_minor(name, *minor, knowledge_) : std::vector<Version>();
  const std::string same = fmt::format("{}.{}", release->value, wanted->release_at(2));
  const bool is_listed =
      std::ranges::any_of(listed, [&](const Version& version) { return version.text() == same; });
  return listed.empty() || is_listed ? same : listed.back().text();
}

void Healer::torch_instead() {
  const std::string text =
      "For Whisper, take openai-whisper, which computes with PyTorch: that has code for this card. "
      "Programs call it in another way, and it is slower.";
  const std::string command = install_command(environment_) + " openai-whisper";
  const auto there = std::ranges::find(environment_.frameworks, "torch", &Framework::name);
  if (there != environment_.frameworks.end() &&
      propose({.framework = *there, .packages = {}, .driver = ""}, command, text)) {
    return;
  }
  for (const TorchRelease& release : knowledge_.torch | std::views::reverse) {
    if (!fits_python(release.python)) {
      continue;
    }
    for (const TorchVariant& variant : release.variants | std::views::reverse) {
      const std::string version = fmt::format("{}.0+{}", release.torch, variant.cuda);
      const auto parsed = Version::parse(version);
      auto after = parsed ? known_framework("torch", *parsed, system(), knowledge_) : std::nullopt;
      if (!after) {
        continue;
      }
      Change change{.framework = *std::move(after), .packages = {}, .driver = ""};
      add_package(change, "torch", version);
      if (propose(change,
                  fmt::format("{} torch=={} --extra-index-url {}{}", command, version, kTorchIndex,
                              variant.cuda),
                  text)) {
        return;
      }
    }
  }
}

void Healer::torch_again() {
  const auto version = Version::parse(framework_.version);
  auto after = version ? known_framework("torch", *version, system(), knowledge_) : std::nullopt;
  if (!after) {
    return;
  }
  Change change{.framework = *std::move(after), .packages = {}, .driver = ""};
  add_package(change, "torch", framework_.version);
  std::string command = fmt::format("{} --force-reinstall torch=={}", install_command(environment_),
                                    framework_.version);
  if (!version->local.empty()) {
    command += fmt::format(" --index-url {}{}", kTorchIndex, version->local_text());
  }
  propose(change, std::move(command), "Install it again, with all that it asks for.");
}

}  // namespace mynah::doctor
