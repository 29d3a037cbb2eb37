#include "doctor/verdicts/told_packages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/package_name.h"
#include "doctor/torch_index.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// Packages that bring a framework. Of two that write the same files the first is judged: that one
// is meant for cards.
constexpr auto kBringing = std::to_array<std::string_view>(
    {"torch", "pytorch", "onnxruntime-gpu", "onnxruntime", "ctranslate2", "llama-cpp-python"});

// conda's name of torch.
constexpr std::string_view kCondasTorch = "pytorch";

// Whether a wheel is for x86-64, of which alone the knowledge base has wheels; true where its tags
// are not told.
bool is_for_x86(const Package& package) {
  constexpr auto kProcessors = std::to_array<std::string_view>({"x86_64", "amd64", "-any"});
  return package.tags.empty() || std::ranges::any_of(package.tags, [&](const std::string& tag) {
           return std::ranges::any_of(kProcessors, [&](std::string_view processor) {
             return tag.find(processor) != std::string::npos;
           });
         });
}

bool is_of_conda(const Package& package, const PythonEnvironment& environment) {
  return package.name == kCondasTorch || package.installer == "conda" ||
         (environment.kind == "conda" && package.installer.empty());
}

Framework framework_of(const Package& package, const PythonEnvironment& environment,
                       const Knowledge& knowledge) {
  const std::string_view name =
      package.name == kCondasTorch ? std::string_view("torch") : std::string_view(package.name);
  const auto version = Version::parse(package.version);
  if (!version) {
    Framework framework = unknown_framework(name, Version());
    framework.version = package.version;
    return framework;
  }
  if (is_of_conda(package, environment)) {
    Framework framework = unknown_framework(name, *version);
    framework.source = "conda's packages, which nobody looked into";
    return framework;
  }
  auto known = is_for_x86(package) ? known_framework(name, *version, environment.system, knowledge)
                                   : std::nullopt;
  Framework framework = known ? *std::move(known) : unknown_framework(name, *version);
  // A file or a repository that is named may hold another build of that version.
  if (!package.origin.empty() && !package.origin.starts_with(torch_index(""))) {
    framework.unverified = {"code", "cudnn", "libraries", "ptx"};
  }
  return framework;
}

void add_told_frameworks(PythonEnvironment& environment, const Knowledge& knowledge) {
  for (Package& package : environment.packages) {
    package.name = normal_name(package.name);
  }
  for (const std::string_view name : kBringing) {
    const auto package = std::ranges::find(environment.packages, name, &Package::name);
    if (package == environment.packages.end()) {
      continue;
    }
    Framework framework = framework_of(*package, environment, knowledge);
    if (std::ranges::find(environment.frameworks, framework.name, &Framework::name) ==
        environment.frameworks.end()) {
      framework.package = package->name;
      environment.frameworks.push_back(std::move(framework));
    }
  }
}

}  // namespace

void add_told_frameworks(Facts& facts, const Knowledge& knowledge) {
  for (PythonEnvironment& environment : facts.environments) {
    if (environment.frameworks.empty() && facts.machine.system == System::Windows) {
      environment.system = System::Windows;
    }
    add_told_frameworks(environment, knowledge);
  }
}

}  // namespace mynah::doctor
