#include "doctor/python/python_environments.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/python/python_frameworks.h"
#include "doctor/python/python_packages.h"
#include "doctor/python/python_wheel.h"
#include "doctor/tree.h"

namespace mynah::doctor {
namespace {

// Of a folder: each is unpacked for a while.
constexpr size_t kMostWheels = 64;

// Puts `to` where a path begins with `from`.
void move_path(std::string& path, const std::string& from, const std::string& to) {
  if (path.starts_with(from) && (path.size() == from.size() || path[from.size()] == '/')) {
    path.replace(0, from.size(), to);
  }
}

void move_paths(PythonEnvironment& environment, const std::string& from, const std::string& to) {
  const auto move = [&](std::string& path) { move_path(path, from, to); };
  move(environment.path);
  for (Package& package : environment.packages) {
    move(package.folder);
  }
  for (SharedPath& shared : environment.shared_paths) {
    move(shared.path);
  }
  for (Framework& framework : environment.frameworks) {
    move(framework.folder);
    for (DeviceCode& code : framework.code) {
      move(code.file);
    }
    for (LibraryWant& want : framework.wants) {
      move(want.by);
      move(want.found);
      std::ranges::for_each(want.elsewhere, move);
    }
  }
}

// The Python that compiled extensions are for, where all agree: of a folder that does not say it.
std::string python_of_tags(const std::vector<Package>& packages) {
  std::set<std::string> versions;
  for (const Package& package : packages) {
    for (const std::string_view tag : package.tags) {
      // "cp311-cp311-manylinux...": not "cp39-abi3-...", which later ones take too.
      const std::string_view python = tag.substr(0, tag.find('-'));
      const std::string_view rest = tag.substr(std::min(python.size() + 1, tag.size()));
      if (python.starts_with("cp3") && python.size() > 3 && rest.starts_with(python)) {
        versions.insert("3." + std::string(python.substr(3)));
      }
    }
  }
  return versions.size() == 1 ? *versions.begin() : "";
}

class Gathering {
 public:
  Gathering(const Look& look, const Knowledge& knowledge, std::vector<std::string>& skipped)
      : look_(look), knowledge_(knowledge), skipped_(skipped) {}

  Status add_place(const std::string& given) {
    const std::string path = absolute(given);
    Tree tree(look_.root, skipped_);
    if (tree.is_file(path)) {
      return add_wheel(tree, path);
    }
    if (is_image_tree(tree, path)) {
      return add_image(tree, path);
    }
    const bool wheels = add_wheels(tree, path);
    auto places = environments_at(tree, path);
    if (!places) {
      return wheels ? Status() : std::unexpected(std::move(places.error()));
    }
    for (EnvironmentPlace& place : *places) {
      add(tree, std::move(place));
    }
    return {};
  }

  void add_everything() {
    Tree tree(look_.root, skipped_);
    for (EnvironmentPlace& place : environments_everywhere(tree, look_)) {
      add(tree, std::move(place));
    }
  }

  std::vector<PythonEnvironment> take() { return std::move(environments_); }

 private:
  [[nodiscard]] std::string variable(const char* name) const {
    const auto value = look_.variables.find(name);
    return value == look_.variables.end() ? "" : value->second;
  }

  [[nodiscard]] std::string absolute(const std::string& given) const {
    const auto path = std::filesystem::path(look_.here.empty() ? "/" : look_.here) / given;
    std::string text = path.lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) {
      text.pop_back();
    }
    return text;
  }

  Status add_wheel(const Tree& tree, const std::string& path) {
    if (!path.ends_with(".whl")) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted a folder or a wheel (.whl), found {}", path));
    }
    const std::string parent = variable("TMPDIR");
    MYNAH_TRY(const ScratchFolder scratch, ScratchFolder::make(parent.empty() ? "/tmp" : parent));
    MYNAH_TRY_STATUS(unpack_wheel(tree.outside(*tree.real(path)), scratch.path()));
    std::vector<std::string> skipped;
    Tree inside("", skipped);
    MYNAH_TRY(std::vector<EnvironmentPlace> places, environments_at(inside, scratch.path()));
    for (EnvironmentPlace& place : places) {
      place.kind = "wheel";
      add(inside, std::move(place));
      move_paths(environments_.back(), scratch.path(), path);
    }
    // Not to be read from another wheel whose files had the same names for a while.
    codes_.clear();
    for (std::string& line : skipped) {
      move_path(line, scratch.path(), path);
      skipped_.push_back(std::move(line));
    }
    return {};
  }

  // Those that lie in a folder side by side, each as what it would install. False: there are none.
  bool add_wheels(Tree& tree, const std::string& folder) {
    size_t found = 0;
    for (const std::string& path : tree.matches(folder, "*.whl")) {
      if (++found > kMostWheels) {
        tree.skip(folder, fmt::format("only the first {} wheels were looked at", kMostWheels));
        break;
      }
      if (const Status added = add_wheel(tree, path); !added) {
        tree.skip(path, added.error().message);
      }
    }
    return found > 0;
  }

  Status add_image(const Tree& tree, const std::string& path) {
    Look inside = look_;
    inside.root = tree.outside(*tree.real(path));
    inside.here.clear();
    // What is set here says nothing about there.
    inside.variables = {{"HOME", "/root"}};
    std::vector<std::string> skipped;
    Gathering images(inside, knowledge_, skipped);
    images.add_everything();
    if (images.environments_.empty()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("found no Python environment in the unpacked image {}", path));
    }
    for (PythonEnvironment& environment : images.environments_) {
      environments_.push_back(std::move(environment));
    }
    std::ranges::move(skipped, std::back_inserter(skipped_));
    return {};
  }

  void add(Tree& tree, EnvironmentPlace place) {
    if (!seen_.insert(tree.root() + tree.real(place.path).value_or(place.path) + "|" + place.python)
             .second) {
      return;
    }
    PythonEnvironment environment;
    environment.path = place.path;
    environment.kind = place.kind;
    environment.system = place.system;
    for (const std::string& site : place.sites) {
      const std::vector<InstalledPackage> packages = read_packages(tree, site);
      std::ranges::move(find_shared_paths(tree, site, packages),
                        std::back_inserter(environment.shared_paths));
      for (const InstalledPackage& installed : packages) {
        environment.packages.push_back(installed.package);
      }
    }
    if (place.conda) {
      add_conda_packages(tree, place.path, environment);
    }
    if (place.python.empty()) {
      place.python = python_of_tags(environment.packages);
    }
    environment.python = place.python;
    FrameworkReader(tree, knowledge_, place, variable("LD_LIBRARY_PATH"), codes_).read(environment);
    environments_.push_back(std::move(environment));
  }

  // Conda's own list has packages that are none of Python's; of those that are, pip's metadata say
  // more.
  static void add_conda_packages(Tree& tree, const std::string& prefix,
                                 PythonEnvironment& environment) {
    for (Package& package : read_conda_packages(tree, prefix)) {
      const auto known = std::ranges::find_if(environment.packages, [&](const Package& other) {
        return other.name == package.name && other.version == package.version;
      });
      if (known == environment.packages.end()) {
        environment.packages.push_back(std::move(package));
      } else if (known->installer.empty()) {
        known->installer = "conda";
      }
    }
  }

  const Look& look_;
  const Knowledge& knowledge_;
  std::vector<std::string>& skipped_;
  DeviceCodeCache codes_;
  std::set<std::string> seen_;
  std::vector<PythonEnvironment> environments_;
};

}  // namespace

Result<std::vector<PythonEnvironment>> gather_environments(const Look& look,
                                                           const Knowledge& knowledge,
                                                           std::vector<std::string>& skipped) {
  Gathering gathering(look, knowledge, skipped);
  for (const std::filesystem::path& place : look.places) {
    MYNAH_TRY_STATUS(gathering.add_place(place.string()));
  }
  if (look.everything || look.places.empty()) {
    gathering.add_everything();
  }
  return gathering.take();
}

}  // namespace mynah::doctor
