#include "doctor/python/python_frameworks.h"

#include <algorithm>
#include <utility>

#include "doctor/binaries/device_code.h"
#include "doctor/binaries/loader_paths.h"
#include "doctor/python/python_built_with.h"
#include "doctor/python/python_text.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostVersionBytes = 64 << 10;

LoaderView view_of(Tree& tree, const EnvironmentPlace& place, const std::string& library_path) {
  const bool windows = place.system == System::Windows;
  LoaderView view = windows ? LoaderView() : linux_view(tree.root(), library_path);
  view.system = place.system;
  view.root = tree.root();
  view.program = place.program;
  const auto add = [&](const std::string& folder, std::string_view pattern) {
    for (std::string& match : tree.matches(folder, pattern)) {
      view.other_folders.push_back(std::move(match));
    }
  };
  for (const std::string& site : place.sites) {
    for (const std::string_view folder : library_folders()) {
      add(site, folder);
    }
    for (const char* const folder : {"torch/lib", "tensorrt_libs", "onnxruntime/capi"}) {
      add(site, folder);
    }
    if (windows && tree.is_folder(path_in(site, "torch/lib"))) {
      view.dll_folders.push_back(path_in(site, "torch/lib"));
    }
  }
  if (windows) {
    view.default_folders = {"/Windows/System32"};
    add("/Program Files", "NVIDIA GPU Computing Toolkit/CUDA/*/bin");
    return view;
  }
  add(place.path, "lib");
  for (const char* const folder :
       {"usr/local/cuda*/lib64", "opt/cuda/lib64", "usr/lib/wsl/lib", "usr/lib/cuda/lib64"}) {
    add("", folder);
  }
  return view;
}

}  // namespace

FrameworkReader::FrameworkReader(Tree& tree, const Knowledge& knowledge,
                                 const EnvironmentPlace& place, const std::string& library_path,
                                 DeviceCodeCache& codes)
    : tree_(tree),
      knowledge_(knowledge),
      place_(place),
      codes_(codes),
      loader_(view_of(tree, place, library_path)) {}

void FrameworkReader::read(PythonEnvironment& environment) {
  for (const FrameworkFiles& files : framework_files()) {
    // As Python does, the first on its path is taken.
    const auto site = std::ranges::find_if(
        place_.sites, [&](const std::string& folder) { return has_files(files, folder); });
    if (site != place_.sites.end()) {
      read_framework(files, *site, environment);
    } else {
      add_promised(files, environment);
    }
  }
  read_libraries(environment);
}

bool FrameworkReader::has_files(const FrameworkFiles& files, const std::string& site) {
  const auto any = [&](const std::vector<std::string_view>& patterns) {
    return std::ranges::any_of(
        patterns, [&](std::string_view pattern) { return !tree_.matches(site, pattern).empty(); });
  };
  return tree_.is_folder(path_in(site, files.module)) &&
         (any(files.version) || any(files.loaded) || any(files.opened) || any(files.code));
}

// An image's layer may hold the metadata of what another one has the files of.
void FrameworkReader::add_promised(const FrameworkFiles& files, PythonEnvironment& environment) {
  for (const std::string_view name : files.packages) {
    const auto package = std::ranges::find(environment.packages, name, &Package::name);
    if (package == environment.packages.end()) {
      continue;
    }
    Framework& framework = environment.frameworks.emplace_back();
    framework.name = files.name;
    framework.package = package->name;
    framework.version = package->version;
    framework.folder = path_in(package->folder, files.module);
    framework.unverified = {std::string(kNoFiles)};
    return;
  }
}

void FrameworkReader::read_framework(const FrameworkFiles& files, const std::string& site,
                                     PythonEnvironment& environment) {
  Reading reading{.files = files, .site = site};
  reading.framework.name = files.name;
  reading.framework.folder = path_in(site, files.module.substr(0, files.module.find('/')));
  for (const std::string_view file : files.version) {
    if (const auto text = tree_.text(path_in(site, file), kMostVersionBytes)) {
      for (auto& [name, value] : read_assignments(*text)) {
        reading.values[name] = std::move(value);
      }
    }
  }
  find_package(reading, environment);
  set_versions(reading);
  read_wants(reading);
  read_code(reading);
  Framework& framework = reading.framework;
  if (reading.package == nullptr && framework.code.empty() && framework.wants.empty()) {
    return;  // a folder that an uninstallation left behind
  }
  framework.cuda = cuda_built_with(framework, reading.values, files.knows_cpu, knowledge_);
  framework.cudnn = cudnn_built_with(framework, reading.values, reading.package);
  if (const auto hip = reading.values.find("hip"); hip != reading.values.end()) {
    framework.hip = hip->second.value_or("");
  }
  if (&files == framework_files().data()) {
    torch_ = std::move(reading.loaded);
    torch_cuda_ = framework.cuda.value_or("");
    std::erase(torch_cuda_, '.');
  }
  environment.frameworks.push_back(std::move(framework));
}

void FrameworkReader::find_package(Reading& reading, PythonEnvironment& environment) const {
  const auto told = reading.values.find("package_name");
  const std::string wanted = told == reading.values.end() ? "" : told->second.value_or("");
  const auto version = reading.values.find("__version__");
  const auto files_version =
      Version::parse(version == reading.values.end() ? "" : version->second.value_or(""));
  std::string winner;
  for (const SharedPath& shared : environment.shared_paths) {
    if (shared.path.starts_with(reading.framework.folder + "/")) {
      winner = shared.winner;
    }
  }
  int best = -1;
  for (Package& package : environment.packages) {
    const auto at = std::ranges::find(reading.files.packages, package.name);
    if (at == reading.files.packages.end() || (package.folder != reading.site && !place_.conda)) {
      continue;
    }
    const auto its = Version::parse(package.version);
    const bool same = its && files_version && its->public_part() == files_version->public_part();
    const int points = (package.name == wanted ? 8 : 0) + (same ? 4 : 0) +
                       (package.name == winner ? 2 : 0) + (package.folder == reading.site ? 1 : 0);
    if (points > best) {
      best = points;
      reading.package = &package;
    }
  }
}

void FrameworkReader::set_versions(Reading& reading) const {
  Framework& framework = reading.framework;
  const auto told = reading.values.find("__version__");
  const std::string text = told == reading.values.end() ? "" : told->second.value_or("");
  const auto version = Version::parse(text);
  if (reading.package != nullptr) {
    framework.package = reading.package->name;
    framework.version = reading.package->version;
  }
  if (!version) {
    return;
  }
  framework.version = text;
  const auto metadata =
      reading.package == nullptr ? version : Version::parse(reading.package->version);
  if (!metadata || metadata->public_part() != version->public_part()) {
    return;
  }
  if (version->local.empty()) {
    // What the metadata say more.
    framework.version = reading.package == nullptr ? text : reading.package->version;
  } else if (reading.package != nullptr && metadata->local.empty()) {
    reading.package->version = text;
  }
}

void FrameworkReader::read_code(Reading& reading) {
  for (const std::string_view pattern : reading.files.code) {
    if (const auto chosen = reading.chosen.find(pattern); chosen != reading.chosen.end()) {
      add_code(reading.framework, chosen->second);
      continue;
    }
    for (const std::string& file : tree_.matches(reading.site, pattern)) {
      add_code(reading.framework, file);
    }
  }
}

void FrameworkReader::add_code(Framework& framework, const std::string& path) {
  const auto real = tree_.real(path);
  if (!real || !tree_.is_file(*real) ||
      std::ranges::find(framework.code, *real, &DeviceCode::file) != framework.code.end()) {
    return;
  }
  const auto [code, is_new] = codes_.try_emplace(*real);
  if (is_new) {
    auto read = read_device_code(tree_.outside(*real));
    if (!read) {
      tree_.skip(path, read.error().message);
      codes_.erase(code);
      return;
    }
    code->second = *std::move(read);
    code->second.file = *real;
  }
  framework.code.push_back(code->second);
}

void FrameworkReader::read_libraries(PythonEnvironment& environment) {
  for (const std::string& site : place_.sites) {
    for (const std::string_view pattern : library_folders()) {
      for (const std::string& folder : tree_.matches(site, pattern)) {
        add_library(folder, site, environment);
      }
    }
  }
  std::set<std::string> folders;
  for (const Framework& framework : environment.frameworks) {
    for (const LibraryWant& want : framework.wants) {
      const std::string_view name = file_name_of(want.found);
      if (want.found.starts_with('/') && (name.find("cudnn") != std::string_view::npos ||
                                          name.find("cublas") != std::string_view::npos ||
                                          name.find("nccl") != std::string_view::npos)) {
        folders.insert(folder_of(want.found));
      }
    }
  }
  for (const std::string& folder : folders) {
    add_library(folder, "", environment);
  }
}

void FrameworkReader::add_library(const std::string& folder, const std::string& site,
                                  PythonEnvironment& environment) {
  const auto real = tree_.real(folder);
  if (!real || !libraries_.insert(*real).second) {
    return;
  }
  for (const LibraryFiles& library : library_files()) {
    Framework framework;
    framework.name = library.name;
    framework.folder = folder;
    for (const std::string_view pattern : library.files) {
      for (const std::string& file : tree_.matches(folder, pattern)) {
        add_code(framework, file);
        std::string version = version_of_library(file_name_of(tree_.real(file).value_or(file)));
        if (version.size() > framework.version.size()) {
          framework.version = std::move(version);
        }
      }
    }
    if (framework.code.empty()) {
      continue;
    }
    // One package writes into this folder, or the one whose content was found there.
    for (const SharedPath& shared : environment.shared_paths) {
      if (shared.path.starts_with(folder + "/")) {
        framework.package = shared.winner;
      }
    }
    const std::string wheel = "nvidia-" + framework.name;
    for (const Package& package : environment.packages) {
      const bool its = package.name == framework.package ||
                       (framework.package.empty() && package.folder == site && !site.empty() &&
                        (package.name == wheel || package.name.starts_with(wheel + "-cu")));
      if (its && !site.empty()) {
        framework.package = package.name;
        framework.version = package.version;
        const size_t suffix = package.name.rfind("-cu");
        if (suffix > wheel.size() - 1 && suffix != std::string::npos) {
          framework.cuda = package.name.substr(suffix + 3);
        }
      }
    }
    environment.frameworks.push_back(std::move(framework));
  }
}

}  // namespace mynah::doctor
