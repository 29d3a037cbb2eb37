#include "doctor/plans/install_report.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "doctor/package_name.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/versions.h"
#include "formats/json.h"

namespace mynah::doctor {

namespace {

constexpr std::string_view kFile = "pip's report";
constexpr std::string_view kVersion = "1";  // of the report's layout

// The text of a field; empty: it has none.
std::string text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> texts_of(const nlohmann::json& object, const char* name) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found != object.end() && found->is_array()) {
    for (const nlohmann::json& text : *found) {
      if (text.is_string()) {
        texts.push_back(text.get<std::string>());
      }
    }
  }
  return texts;
}

bool comes(const std::vector<Package>& packages, std::string_view name) {
  return std::ranges::find(packages, name, &Package::name) != packages.end();
}

// Whether a library that the framework has now lies in a package that is replaced: NVIDIA's wheels
// have their libraries in nvidia/ beside the frameworks.
bool loses_libraries(const Framework& framework, const std::vector<Package>& packages) {
  return std::ranges::any_of(
             packages,
             [](const Package& package) { return package.name.starts_with("nvidia-"); }) &&
         std::ranges::any_of(framework.wants, [](const LibraryWant& want) {
           return want.found.contains("/nvidia/") || want.found.contains("\\nvidia\\");
         });
}

}  // namespace

Result<std::vector<Package>> parse_install_report(std::string_view text) {
  if (text.size() > kMostReportBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} has {} bytes, more than {}", kFile, text.size(), kMostReportBytes));
  }
  MYNAH_TRY(const nlohmann::json report, parse_json(text, kFile));
  const auto install = report.is_object() ? report.find("install") : report.end();
  if (!report.is_object() || text_of(report, "version") != kVersion || install == report.end() ||
      !install->is_array()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} is no installation report of version {}", kFile, kVersion));
  }
  if (install->size() > kMostReportPackages) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} has {} packages, more than {}", kFile,
                                                     install->size(), kMostReportPackages));
  }
  std::vector<Package> packages;
  for (const nlohmann::json& entry : *install) {
    const auto metadata = entry.is_object() ? entry.find("metadata") : entry.end();
    if (!entry.is_object() || metadata == entry.end() || !metadata->is_object() ||
        text_of(*metadata, "name").empty() || text_of(*metadata, "version").empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: entry {} has no name and version", kFile, packages.size()));
    }
    Package package;
    package.name = normal_name(text_of(*metadata, "name"));
    package.version = text_of(*metadata, "version");
    package.requires_ = texts_of(*metadata, "requires_dist");
    package.extras = texts_of(*metadata, "provides_extra");
    package.python = text_of(*metadata, "requires_python");
    package.installer = "pip";
    packages.push_back(std::move(package));
  }
  return packages;
}

PythonEnvironment environment_after(const PythonEnvironment& environment,
                                    const std::vector<Package>& packages,
                                    const Knowledge& knowledge) {
  PythonEnvironment after = environment;
  const auto known = [&](const std::string& name, const std::string& version) {
    const auto parsed = Version::parse(version);
    return parsed ? known_framework(name, *parsed, environment.system, knowledge) : std::nullopt;
  };
  std::erase_if(after.packages, [&](const Package& old) { return comes(packages, old.name); });
  after.packages.insert(after.packages.end(), packages.begin(), packages.end());
  // Whose content is there afterwards depends on the order in which pip unpacks.
  std::erase_if(after.shared_paths, [&](const SharedPath& shared) {
    return std::ranges::any_of(shared.owners,
                               [&](const std::string& owner) { return comes(packages, owner); });
  });
  after.frameworks.clear();
  for (const Framework& framework : environment.frameworks) {
    if (comes(packages, framework.package)) {
      continue;
    }
    if (!loses_libraries(framework, packages)) {
      after.frameworks.push_back(framework);
    } else if (auto as_known = known(framework.package, framework.version)) {
      after.frameworks.push_back(*std::move(as_known));
    }
  }
  for (const Package& package : packages) {
    if (auto framework = known(package.name, package.version)) {
      after.frameworks.push_back(*std::move(framework));
    }
  }
  return after;
}

}  // namespace mynah::doctor
