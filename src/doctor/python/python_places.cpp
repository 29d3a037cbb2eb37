#include "doctor/python/python_places.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/python/python_text.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostEnvironments = 256;
constexpr size_t kMostConfigBytes = 64 << 10;
constexpr size_t kMostPathFiles = 64;

// "3.11" of ".../lib/python3.11/site-packages"; empty where the path says none.
std::string python_of_site(std::string_view site) {
  constexpr std::string_view kFolder = "/python";
  const size_t at = site.rfind(kFolder);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::string_view rest = site.substr(at + kFolder.size());
  return short_python_version(rest.substr(0, rest.find('/')));
}

void add_site(const Tree& tree, std::vector<std::string>& sites, std::string site) {
  if (tree.is_folder(site) && std::ranges::find(sites, site) == sites.end()) {
    sites.push_back(std::move(site));
  }
}

// site-packages of a prefix that need no version to be found.
std::vector<std::string> sites_of(Tree& tree, const std::string& prefix) {
  std::vector<std::string> sites;
  for (const char* const pattern :
       {"lib/python[23]*/site-packages", "lib64/python[23]*/site-packages",
        "lib/pypy3*/site-packages", "Lib/site-packages"}) {
    for (std::string& site : tree.matches(prefix, pattern)) {
      // lib64 is often a link to lib.
      const auto real = tree.real(site);
      const bool known = std::ranges::any_of(
          sites, [&](const std::string& other) { return tree.real(other) == real; });
      if (!known) {
        add_site(tree, sites, std::move(site));
      }
    }
  }
  return sites;
}

std::string program_of(const Tree& tree, const std::string& prefix, const std::string& python) {
  for (const std::string& name :
       {std::string("bin/python"), "bin/python" + python, std::string("bin/python3"),
        std::string("Scripts/python.exe"), std::string("python.exe")}) {
    if (std::string path = path_in(prefix, name); tree.is_file(path)) {
      return path;
    }
  }
  return "";
}

// Folders that files of the first sites add: .pth files, as eggs, editable installations and links
// to another environment do it, the .egg-link of old editable installations and the finders of new
// ones.
void add_linked_sites(Tree& tree, std::vector<std::string>& sites) {
  struct LinkFiles {
    std::string_view pattern;
    std::vector<std::string> (*read)(std::string_view text);
  };

  constexpr LinkFiles kLinks[] = {{"*.pth", read_path_file},
                                  {"*.egg-link", read_egg_link},
                                  {"__editable__*_finder.py", read_editable_finder}};
  size_t files = 0;
  const std::vector<std::string> own = sites;
  for (const std::string& site : own) {
    for (const LinkFiles& link : kLinks) {
      for (const std::string& path : tree.matches(site, link.pattern)) {
        const auto text =
            ++files <= kMostPathFiles ? tree.text(path, kMostConfigBytes) : std::nullopt;
        if (!text) {
          continue;
        }
        for (const std::string& folder : link.read(*text)) {
          add_site(tree, sites, folder.starts_with('/') ? folder : path_in(site, folder));
        }
      }
    }
  }
}

bool has_packages(Tree& tree, const std::string& folder) {
  return std::ranges::any_of(tree.names(folder), [](std::string_view name) {
    return name.ends_with(".dist-info") || name.ends_with(".egg-info") || name.ends_with(".egg");
  });
}

// The folders of packages of an interpreter of a system: Debian's, those of `make install`.
std::vector<std::string> system_sites(Tree& tree, const std::string& prefix,
                                      const std::string& python) {
  std::vector<std::string> sites;
  if (prefix == "/usr") {
    add_site(tree, sites, "/usr/local/lib/python" + python + "/dist-packages");
    add_site(tree, sites, "/usr/local/lib/python" + python + "/site-packages");
    add_site(tree, sites, "/usr/local/lib64/python" + python + "/site-packages");
  }
  for (const char* const lib : {"/lib/python", "/lib64/python"}) {
    for (const char* const folder : {"/dist-packages", "/site-packages"}) {
      add_site(tree, sites, std::string(prefix).append(lib).append(python).append(folder));
    }
  }
  add_site(tree, sites, prefix + "/lib/python3/dist-packages");
  return sites;
}

// An environment for each version of Python that a prefix without pyvenv.cfg has.
std::vector<EnvironmentPlace> system_environments(Tree& tree, const std::string& prefix) {
  std::vector<EnvironmentPlace> places;
  std::set<std::string> versions;
  for (const char* const pattern : {"lib/python3.*", "lib64/python3.*", "local/lib/python3.*"}) {
    for (const std::string& folder : tree.matches(prefix, pattern)) {
      versions.insert(python_of_site(folder));
    }
  }
  versions.erase("");
  for (const std::string& python : versions) {
    EnvironmentPlace place;
    place.path = prefix;
    place.kind = "system";
    place.python = python;
    place.sites = system_sites(tree, prefix, python);
    const std::string program = path_in(prefix, "bin/python" + python);
    place.program = tree.is_file(program) ? program : program_of(tree, prefix, python);
    const bool any = std::ranges::any_of(
        place.sites, [&](const std::string& site) { return has_packages(tree, site); });
    if (any) {
      add_linked_sites(tree, place.sites);
      places.push_back(std::move(place));
    }
  }
  return places;
}

// The packages of the interpreter that a venv was made with.
void add_system_packages(Tree& tree, const std::string& home, EnvironmentPlace& place) {
  // home is the folder of the interpreter, by another name than its own where it is a link.
  const auto real = tree.real(home);
  for (const std::string& bin : {home, real.value_or(home)}) {
    const std::string prefix = folder_of(bin);
    for (std::string& site : system_sites(tree, prefix == "/" ? "/usr" : prefix, place.python)) {
      add_site(tree, place.sites, std::move(site));
    }
  }
}

std::string venv_kind(std::string_view path) {
  for (const auto& [part, kind] : {std::pair<std::string_view, const char*>("/uv/tools/", "uv"),
                                   {"/pypoetry/virtualenvs/", "poetry"},
                                   {"/pipx/venvs/", "pipx"}}) {
    if (path.find(part) != std::string_view::npos) {
      return kind;
    }
  }
  return "venv";
}

// The environment with this prefix: a venv, conda's, or one of Windows; none where it is none.
std::optional<EnvironmentPlace> prefix_environment(Tree& tree, const std::string& prefix) {
  EnvironmentPlace place;
  place.path = prefix;
  const auto config = tree.text(path_in(prefix, "pyvenv.cfg"), kMostConfigBytes);
  place.conda = tree.is_folder(path_in(prefix, "conda-meta"));
  place.sites = sites_of(tree, prefix);
  const bool windows = tree.is_folder(path_in(prefix, "Lib/site-packages"));
  if (!config && !place.conda && !windows) {
    return std::nullopt;
  }
  place.system = windows ? System::Windows : System::Linux;
  place.kind = place.conda ? "conda" : config ? venv_kind(prefix) : "system";
  const VenvConfig venv = read_venv_config(config.value_or(""));
  place.python = venv.python;
  if (place.python.empty() && !place.sites.empty()) {
    place.python = python_of_site(place.sites.front());
  }
  if (place.python.empty() && place.conda) {
    for (const std::string& path : tree.matches(prefix, "conda-meta/python-[23].*.json")) {
      place.python = short_python_version(file_name_of(path).substr(7));
    }
  }
  place.program = program_of(tree, prefix, place.python);
  add_linked_sites(tree, place.sites);
  if (venv.with_system_packages && !venv.home.empty()) {
    add_system_packages(tree, venv.home, place);
  }
  return place;
}

// ".../lib/python3.11/site-packages" and "...\Lib\site-packages" belong to a prefix.
std::string prefix_of_site(std::string_view site) {
  std::string up = folder_of(site);
  const std::string_view name = file_name_of(up);
  if (name.starts_with("python") || name.starts_with("pypy")) {
    up = folder_of(up);
  }
  const std::string_view lib = file_name_of(up);
  return lib == "lib" || lib == "lib64" || lib == "Lib" ? folder_of(up) : "";
}

bool is_windows_folder(Tree& tree, const std::string& folder) {
  return !tree.matches(folder, "*/*.pyd").empty() || !tree.matches(folder, "*/*/*.pyd").empty() ||
         !tree.matches(folder, "*/*.dll").empty() ||
         !tree.matches(folder, "nvidia/*/bin/*.dll").empty();
}

EnvironmentPlace folder_environment(Tree& tree, const std::string& folder) {
  EnvironmentPlace place;
  place.path = folder;
  place.kind = "folder";
  place.python = python_of_site(folder);
  place.sites = {folder};
  place.system = is_windows_folder(tree, folder) ? System::Windows : System::Linux;
  add_linked_sites(tree, place.sites);
  return place;
}

// Paths of conda's environments.txt, one a line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split_folders(text, "\r\n");
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with('/'); });
  return lines;
}

// Collects environments, each once.
class Search {
 public:
  Search(Tree& tree, const Look& look) : tree_(tree), look_(look) {}

  std::vector<EnvironmentPlace> all() {
    for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      add_prefix(variable(name));
    }
    if (!look_.here.empty()) {
      add_prefix(path_in(look_.here, ".venv"));
      add_prefix(path_in(look_.here, "venv"));
    }
    add_user();
    for (const char* const prefix : {"/usr", "/usr/local", "/opt/python", "/opt/venv", "/venv",
                                     "/app/.venv", "/workspace/venv", "/opt/conda"}) {
      add_prefix(prefix);
    }
    add_known_folders();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string variable(const char* name) const {
    const auto value = look_.variables.find(name);
    return value == look_.variables.end() ? "" : value->second;
  }

  void add(EnvironmentPlace place) {
    if (place.sites.empty() && !place.conda) {
      return;
    }
    const std::string first = place.sites.empty() ? place.path : place.sites.front();
    const auto real = tree_.real(first);
    if (!real || !seen_.insert(*real).second) {
      return;
    }
    if (found_.size() == kMostEnvironments) {
      tree_.skip(place.path, fmt::format("there are more than {} environments", kMostEnvironments));
      return;
    }
    found_.push_back(std::move(place));
  }

  void add_prefix(const std::string& prefix) {
    if (!prefix.starts_with('/') || !tree_.is_folder(prefix)) {
      return;
    }
    if (auto place = prefix_environment(tree_, prefix)) {
      return add(*std::move(place));
    }
    for (EnvironmentPlace& place : system_environments(tree_, prefix)) {
      add(std::move(place));
    }
  }

  // What is in the user's folder is found before the system's, which counts as well.
  void add_user() {
    const std::string home = variable("HOME");
    if (home.empty()) {
      return;
    }
    for (std::string& site : tree_.matches(home, ".local/lib/python3.*/site-packages")) {
      if (!has_packages(tree_, site)) {
        continue;
      }
      EnvironmentPlace place;
      place.path = path_in(home, ".local");
      place.kind = "user";
      place.python = python_of_site(site);
      place.sites = {std::move(site)};
      add_linked_sites(tree_, place.sites);
      for (std::string& system : system_sites(tree_, "/usr", place.python)) {
        add_site(tree_, place.sites, std::move(system));
      }
      place.program = program_of(tree_, "/usr", place.python);
      add(std::move(place));
    }
  }

  void add_below(const std::string& folder, std::string_view pattern) {
    if (folder.starts_with('/')) {
      for (const std::string& prefix : tree_.matches(folder, pattern)) {
        add_prefix(prefix);
      }
    }
  }

  void add_known_folders() {
    for (const char* const folder : {"/opt/conda", "/opt/miniconda3", "/opt/miniforge3"}) {
      add_prefix(folder);
      add_below(folder, "envs/*");
    }
    add_below("/opt/pipx/venvs", "*");
    add_below(variable("UV_TOOL_DIR"), "*");
    add_below(variable("PIPX_HOME"), "venvs/*");
    add_below(variable("WORKON_HOME"), "*");
    add_below(variable("MAMBA_ROOT_PREFIX"), "envs/*");
    const std::string home = variable("HOME");
    if (home.empty()) {
      return;
    }
    for (const char* const folder :
         {"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda"}) {
      add_prefix(path_in(home, folder));
      add_below(path_in(home, folder), "envs/*");
    }
    if (const auto list = tree_.text(path_in(home, ".conda/environments.txt"), kMostConfigBytes)) {
      for (const std::string& prefix : lines_of(*list)) {
        add_prefix(prefix);
      }
    }
    for (const char* const pattern :
         {".local/share/uv/tools/*", ".cache/pypoetry/virtualenvs/*", ".local/share/pipx/venvs/*",
          ".local/pipx/venvs/*", ".local/share/virtualenvs/*", ".virtualenvs/*",
          ".pyenv/versions/*", ".local/share/uv/python/*"}) {
      add_below(home, pattern);
    }
  }

  Tree& tree_;
  const Look& look_;
  std::set<std::string> seen_;
  std::vector<EnvironmentPlace> found_;
};

}  // namespace

bool is_image_tree(const Tree& tree, const std::string& folder) {
  return folder != "/" && tree.is_folder(path_in(folder, "etc")) &&
         tree.is_folder(path_in(folder, "usr")) && tree.is_folder(path_in(folder, "var"));
}

std::vector<EnvironmentPlace> environments_everywhere(Tree& tree, const Look& look) {
  return Search(tree, look).all();
}

Result<std::vector<EnvironmentPlace>> environments_at(Tree& tree, const std::string& place) {
  if (!tree.is_folder(place)) {
    return fail(ErrorCode::NotFound,
                fmt::format("wanted a Python environment, found no folder {}", place));
  }
  const std::string_view name = file_name_of(place);
  if (name == "site-packages" || name == "dist-packages") {
    const std::string prefix = prefix_of_site(place);
    if (auto environment = prefix.empty() ? std::nullopt : prefix_environment(tree, prefix)) {
      return std::vector{*std::move(environment)};
    }
    return std::vector{folder_environment(tree, place)};
  }
  if (auto environment = prefix_environment(tree, place)) {
    return std::vector{*std::move(environment)};
  }
  std::vector<EnvironmentPlace> found;
  for (const char* const project : {".venv", "venv", "env", ".conda"}) {
    if (auto environment = prefix_environment(tree, path_in(place, project))) {
      found.push_back(*std::move(environment));
    }
  }
  if (found.empty() && has_packages(tree, place)) {
    found.push_back(folder_environment(tree, place));
  }
  if (found.empty()) {
    found = system_environments(tree, place);
  }
  if (found.empty()) {
    for (std::string& site : sites_of(tree, place)) {
      found.push_back(folder_environment(tree, site));
      found.back().path = place;
    }
  }
  if (found.empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("found no Python environment in {}: neither pyvenv.cfg, conda-meta, "
                            "site-packages, .venv nor *.dist-info",
                            place));
  }
  return found;
}

}  // namespace mynah::doctor
