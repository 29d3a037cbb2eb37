#include "doctor/python/python_packages.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "doctor/binaries/loader_paths.h"
#include "doctor/package_name.h"
#include "doctor/python/python_text.h"
#include "formats/json.h"

namespace mynah::doctor {
namespace {

// Descriptions come behind the fields and are not read.
constexpr size_t kMostHeaderBytes = 4 << 20;
constexpr size_t kMostSmallBytes = 64 << 10;
constexpr size_t kMostJsonBytes = 16 << 20;

constexpr std::string_view kDistInfo = ".dist-info";
constexpr std::string_view kEggInfo = ".egg-info";
constexpr std::string_view kEgg = ".egg";

// "torch-2.7.1" in two.
std::pair<std::string_view, std::string_view> name_and_version(std::string_view stem) {
  const size_t dash = std::min(stem.find('-'), stem.size());
  std::string_view version = stem.substr(std::min(dash + 1, stem.size()));
  // An egg's name goes on with "-py3.11".
  version = version.substr(0, version.find("-py"));
  return {stem.substr(0, dash), version};
}

void read_metadata(const std::string& text, Package& package) {
  for (HeaderField& field : read_headers(text)) {
    if (field.name == "name") {
      package.name = normal_name(field.value);
    } else if (field.name == "version") {
      package.version = std::move(field.value);
    } else if (field.name == "requires-dist") {
      package.requires_.push_back(std::move(field.value));
    } else if (field.name == "provides-extra") {
      package.extras.push_back(normal_name(field.value));
    } else if (field.name == "requires-python") {
      package.python = std::move(field.value);
    }
  }
}

std::string text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string origin_of(Tree& tree, const std::string& path) {
  const auto text = tree.text(path, kMostSmallBytes);
  const auto json = text ? parse_json(*text, path) : nlohmann::json();
  return json && json->is_object() ? text_of(*json, "url") : "";
}

std::string first_word(const std::string& text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find_first_of(" \t\r\n", begin) - begin);
}

InstalledPackage read_dist_info(Tree& tree, const std::string& folder, std::string_view stem) {
  InstalledPackage installed;
  Package& package = installed.package;
  const auto [name, version] = name_and_version(stem);
  if (const auto metadata = tree.text(folder + "/METADATA", kMostHeaderBytes)) {
    read_metadata(*metadata, package);
  } else {
    tree.skip(folder, "has no METADATA; its name is taken from the folder");
  }
  if (package.name.empty()) {
    package.name = normal_name(name);
  }
  if (package.version.empty()) {
    package.version = version;
  }
  if (const auto wheel = tree.text(folder + "/WHEEL", kMostSmallBytes)) {
    for (HeaderField& field : read_headers(*wheel)) {
      if (field.name == "tag") {
        package.tags.push_back(std::move(field.value));
      }
    }
  }
  if (const auto installer = tree.text(folder + "/INSTALLER", kMostSmallBytes)) {
    package.installer = first_word(*installer);
  }
  package.origin = origin_of(tree, folder + "/direct_url.json");
  if (tree.is_file(folder + "/RECORD")) {
    installed.record = folder + "/RECORD";
  }
  return installed;
}

// A folder with PKG-INFO, or a file that is one, as Debian has them.
std::optional<InstalledPackage> read_egg_info(Tree& tree, const std::string& path,
                                              std::string_view stem) {
  InstalledPackage installed;
  const bool is_file = tree.is_file(path);
  const auto text = tree.text(is_file ? path : path + "/PKG-INFO", kMostHeaderBytes);
  if (!text) {
    return std::nullopt;
  }
  read_metadata(*text, installed.package);
  const auto [name, version] = name_and_version(stem);
  if (installed.package.name.empty()) {
    installed.package.name = normal_name(name);
  }
  if (installed.package.version.empty()) {
    installed.package.version = version;
  }
  if (!is_file && installed.package.requires_.empty()) {
    if (const auto requirements = tree.text(path + "/requires.txt", kMostHeaderBytes)) {
      installed.package.requires_ = read_egg_requirements(*requirements);
    }
  }
  return installed;
}

// A folder "torch-2.7.1-py3.11.egg" is a site of its own, named by a .pth file, with its metadata
// in a folder.
std::optional<InstalledPackage> read_egg(Tree& tree, const std::string& folder) {
  const std::string_view name = file_name_of(folder);
  return read_egg_info(tree, path_in(folder, "EGG-INFO"),
                       name.substr(0, name.size() - kEgg.size()));
}

}  // namespace

std::vector<InstalledPackage> read_packages(Tree& tree, const std::string& site) {
  std::vector<InstalledPackage> packages;
  const auto add = [&](std::optional<InstalledPackage> installed) {
    if (installed && !installed->package.name.empty()) {
      installed->package.folder = site;
      packages.push_back(*std::move(installed));
    }
  };
  if (site.ends_with(kEgg)) {
    add(read_egg(tree, site));
  }
  for (const std::string& name : tree.names(site)) {
    const std::string path = path_in(site, name);
    const std::string_view view = name;
    std::optional<InstalledPackage> installed;
    if (view.ends_with(kDistInfo)) {
      if (view.starts_with('~')) {
        tree.skip(path, "left behind by an installation that was interrupted");
      } else if (tree.is_folder(path)) {
        installed = read_dist_info(tree, path, view.substr(0, view.size() - kDistInfo.size()));
      }
    } else if (view.ends_with(kEggInfo)) {
      installed = read_egg_info(tree, path, view.substr(0, view.size() - kEggInfo.size()));
    } else if (view.ends_with(kEgg) && tree.is_file(path)) {
      tree.skip(path, "an egg that is packed; what is inside was not looked at");
    }
    add(std::move(installed));
  }
  std::ranges::stable_sort(packages, {}, [](const InstalledPackage& installed) {
    return std::tie(installed.package.name, installed.package.version);
  });
  return packages;
}

Result<Package> parse_conda_package(std::string_view text, const std::string& file) {
  MYNAH_TRY(const nlohmann::json json, parse_json(text, file));
  if (!json.is_object()) {
    return fail(ErrorCode::InvalidInput, file + ": wanted a JSON object");
  }
  Package package;
  package.name = normal_name(text_of(json, "name"));
  package.version = text_of(json, "version");
  package.installer = "conda";
  package.origin = text_of(json, "url");
  if (std::string build = text_of(json, "build"); !build.empty()) {
    package.tags.push_back(std::move(build));
  }
  if (const auto depends = json.find("depends"); depends != json.end() && depends->is_array()) {
    for (const nlohmann::json& requirement : *depends) {
      if (requirement.is_string()) {
        package.requires_.push_back(requirement.get<std::string>());
      }
    }
  }
  return package;
}

std::vector<Package> read_conda_packages(Tree& tree, const std::string& prefix) {
  std::vector<Package> packages;
  const std::string folder = prefix + "/conda-meta";
  for (const std::string& name : tree.names(folder)) {
    if (!name.ends_with(".json")) {
      continue;
    }
    const std::string path = path_in(folder, name);
    const auto file = tree.map(path, kMostJsonBytes);
    if (file == nullptr) {
      continue;
    }
    const auto bytes = file->bytes();
    auto package =
        parse_conda_package({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
    if (!package) {
      tree.skip(path, package.error().message);
      continue;
    }
    package->folder = prefix;
    if (!package->name.empty()) {
      packages.push_back(*std::move(package));
    }
  }
  return packages;
}

}  // namespace mynah::doctor
