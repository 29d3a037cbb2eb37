#include "doctor/verdicts/remedy_plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/shell_word.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// Where nobody knows which folder packages come into, Python itself does, once they are there:
// NVIDIA's wheels share the package `nvidia`.
constexpr std::string_view kAskedSite = "$SITE";
constexpr std::string_view kAskSite =
    " && SITE=\"$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])')/..\"";

const Package* package_named(const std::vector<Package>& packages, std::string_view name) {
  const auto found = std::ranges::find(packages, name, &Package::name);
  return found == packages.end() ? nullptr : &*found;
}

bool holds(const Requirement& requirement, const std::string& version) {
  const auto specifier = SpecifierSet::parse(requirement.specifier);
  const auto parsed = Version::parse(version);
  return !specifier || !parsed || specifier->contains(*parsed);
}

// Whether a requirement counts in this environment, as far as its marker says.
bool applies(const Requirement& requirement, const PythonEnvironment& environment) {
  const auto marker = Marker::parse(requirement.marker);
  return requirement.marker.empty() || (marker && marker->holds({.system = environment.system,
                                                                 .python = environment.python,
                                                                 .machine = "x86_64",
                                                                 .extras = {}}) == Truth::Yes);
}

void broken_requirements(const PythonEnvironment& before, const std::vector<Package>& packages,
                         std::vector<std::string>& costs) {
  for (const Package& package : before.packages) {
    if (package_named(packages, package.name) != nullptr) {
      continue;
    }
    for (const std::string& text : package.requires_) {
      const auto requirement = parse_requirement(text);
      const Package* comes = requirement ? package_named(packages, requirement->name) : nullptr;
      const Package* was =
          requirement ? package_named(before.packages, requirement->name) : nullptr;
      const bool breaks = comes != nullptr && applies(*requirement, before) &&
                          !holds(*requirement, comes->version) &&
                          (was == nullptr || holds(*requirement, was->version));
      if (breaks) {
        costs.push_back(fmt::format("{} {} asks for {}{}", package.name, package.version,
                                    requirement->name, requirement->specifier));
      }
    }
  }
}

bool matches(const PythonEnvironment& environment, const std::string& requirement) {
  const auto parsed = parse_requirement(requirement);
  const Package* found = parsed ? package_named(environment.packages, parsed->name) : nullptr;
  return found != nullptr && holds(*parsed, found->version);
}

void new_clashes(const PythonEnvironment& before, const PythonEnvironment& after,
                 const Knowledge& knowledge, std::vector<std::string>& costs) {
  for (const Clash& clash : knowledge.clashes) {
    const auto both = [&](const PythonEnvironment& environment) {
      return matches(environment, clash.first) && matches(environment, clash.second);
    };
    if (both(after) && !both(before)) {
      costs.push_back(fmt::format("{} beside {}: {}", clash.first, clash.second, clash.text));
    }
  }
}

void worse_frameworks(const PythonEnvironment& before, const PythonEnvironment& after,
                      const Change& change, const Card& card, const Machine& machine,
                      const Knowledge& knowledge, std::vector<std::string>& costs) {
  for (const Framework& framework : before.frameworks) {
    if (is_cuda_library(framework) || framework.name == change.framework.name ||
        package_named(change.packages, framework.package) != nullptr) {
      continue;
    }
    const Judged now = judge_framework(framework, &card, machine, knowledge, &before);
    const Judged then = judge_framework(framework, &card, machine, knowledge, &after);
    if (badness(then.verdict.outcome) > badness(now.verdict.outcome)) {
      costs.push_back(fmt::format("{} then {}: {}", framework_title(framework),
                                  outcome_name(then.verdict.outcome), then.verdict.reason));
    }
  }
}

// The interpreter whose packages an environment's are; empty: nobody knows where it lies.
std::string interpreter_of(const PythonEnvironment& environment) {
  constexpr auto kWithPrefix =
      std::to_array<std::string_view>({"venv", "uv", "poetry", "pipx", "conda", "system"});
  if (environment.path.empty() ||
      std::ranges::find(kWithPrefix, environment.kind) == kWithPrefix.end()) {
    return {};
  }
  const bool prefix = environment.kind == "conda" || environment.kind == "system";
  if (environment.system == System::Windows) {
    return shell_word(environment.path + (prefix ? "\\python.exe" : "\\Scripts\\python.exe"));
  }
  return shell_word(fmt::format("{}/bin/python{}", environment.path,
                                environment.kind == "system" ? environment.python : ""));
}

}  // namespace

PythonEnvironment changed(const PythonEnvironment& environment, const Change& change,
                          const Knowledge& knowledge) {
  PythonEnvironment after = environment;
  // torch's wheels ask for NVIDIA's libraries by their very version.
  const bool brings_libraries =
      change.framework.name == "torch" && package_named(change.packages, "torch") != nullptr;
  const auto replaced = [&](std::string_view name) {
    return package_named(change.packages, name) != nullptr ||
           (brings_libraries && name.starts_with("nvidia-"));
  };
  std::erase_if(after.packages, [&](const Package& package) { return replaced(package.name); });
  std::erase_if(after.frameworks, [&](const Framework& framework) {
    return framework.name == change.framework.name || replaced(framework.package);
  });
  if (change.framework.name == "onnxruntime") {
    std::erase_if(after.shared_paths, [](const SharedPath& shared) {
      return std::ranges::find(shared.owners, "onnxruntime-gpu") != shared.owners.end();
    });
  }
  for (const Package& package : change.packages) {
    install(after, package.name, package.version, knowledge);
  }
  std::erase_if(after.frameworks, [&](const Framework& framework) {
    return framework.package == change.framework.package;
  });
  after.frameworks.push_back(change.framework);
  return after;
}

Judged judge_change(const Change& change, const Card& card, const Machine& machine,
                    const PythonEnvironment& environment, const Knowledge& knowledge) {
  const PythonEnvironment after = changed(environment, change, knowledge);
  Machine with_driver = machine;
  if (!change.driver.empty()) {
    with_driver.driver = change.driver;
  }
  return judge_framework(change.framework, &card, with_driver, knowledge, &after);
}

bool mends(const Judged& judged) {
  return computes_on_card(judged) || judged.cause == Cause::DriverUnknown;
}

std::vector<std::string> objections(const PythonEnvironment& environment,
                                    const std::vector<Package>& packages,
                                    const Knowledge& knowledge) {
  PythonEnvironment after = environment;
  for (const Package& package : packages) {
    install(after, package.name, package.version, knowledge);
  }
  std::vector<std::string> costs;
  broken_requirements(environment, packages, costs);
  new_clashes(environment, after, knowledge, costs);
  return costs;
}

std::string cost_of(const Change& change, const Card& card, const Machine& machine,
                    const PythonEnvironment& environment, const Knowledge& knowledge) {
  const PythonEnvironment after = changed(environment, change, knowledge);
  std::vector<std::string> costs = objections(environment, change.packages, knowledge);
  worse_frameworks(environment, after, change, card, machine, knowledge, costs);
  return fmt::format("{}", fmt::join(costs, "; "));
}

std::string pip_command(const PythonEnvironment& environment) {
  const std::string python = interpreter_of(environment);
  return environment.kind == "uv"       ? "uv pip"
         : !python.empty()              ? python + " -m pip"
         : environment.kind == "poetry" ? "poetry run pip"
                                        : "pip";
}

std::string install_command(const PythonEnvironment& environment) {
  const std::string python = environment.kind == "uv" ? interpreter_of(environment) : "";
  return pip_command(environment) + " install" + (python.empty() ? "" : " --python " + python);
}

std::string uninstall_command(const PythonEnvironment& environment) {
  const std::string python = interpreter_of(environment);
  if (environment.kind == "uv") {  // it never asks
    return "uv pip uninstall" + (python.empty() ? "" : " --python " + python);
  }
  return pip_command(environment) + " uninstall -y";
}

std::string site_of(const Framework& framework, const PythonEnvironment& environment) {
  const Package* package = package_named(environment.packages, framework.package);
  if (package != nullptr && !package->folder.empty()) {
    return package->folder;
  }
  if (const size_t slash = framework.folder.find_last_of("/\\"); slash != std::string::npos) {
    return framework.folder.substr(0, slash);
  }
  if (environment.system != System::Windows &&
      (environment.path.empty() || environment.python.empty())) {
    return std::string(kAskedSite);
  }
  return environment.system == System::Windows
             ? environment.path + "\\Lib\\site-packages"
             : fmt::format("{}/lib/python{}/site-packages", environment.path, environment.python);
}

std::string library_path_line(const std::string& site, const std::vector<std::string>& folders,
                              System system) {
  if (folders.empty() || system == System::Windows) {
    return "";
  }
  std::string paths;
  for (const std::string& folder : folders) {
    paths +=
        fmt::format("{}{}{}{}", paths.empty() ? "" : ":", site, site.empty() ? "" : "/", folder);
  }
  return fmt::format("{} && export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"",
                     site == kAskedSite ? kAskSite : "", paths);
}

}  // namespace mynah::doctor
