#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "doctor/binaries/loader.h"
#include "doctor/binaries/loader_paths.h"
#include "doctor/machine/machine_parts.h"
#include "doctor/versions.h"
#include "formats/elf.h"
#include "formats/ld_cache.h"

namespace mynah::doctor {
namespace {

// Folders of the driver's libraries that distributions make without always telling the loader's
// cache: WSL2, Red Hat, Debian's alternatives, NixOS, Jetsons.
constexpr std::string_view kDriverFolders[] = {"/usr/lib/wsl/lib",
                                               "/usr/lib64/nvidia",
                                               "/usr/lib/nvidia/current",
                                               "/usr/lib/x86_64-linux-gnu/nvidia/current",
                                               "/run/opengl-driver/lib",
                                               "/usr/lib/aarch64-linux-gnu/tegra",
                                               "/usr/lib/aarch64-linux-gnu/nvidia"};

void add_new(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) {
    list.push_back(std::move(text));
  }
}

bool is_library_of_cuda(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {
      "libcudnn", "libcudart", "libcublas", "libcufft", "libcusparse", "libnvJitLink", "libnccl"};
  return name.find(".so") != std::string_view::npos &&
         std::ranges::any_of(kBeginnings, [&](auto b) { return name.starts_with(b); });
}

bool has_part(std::string_view path, std::string_view part) {
  return fmt::format("{}/", path).find(fmt::format("/{}/", part)) != std::string::npos;
}

class LibraryGatherer {
 public:
  LibraryGatherer(const MachineView& view, Machine& machine) : tree_(view.tree), machine_(machine) {
    const auto path = view.search.variables.find("LD_LIBRARY_PATH");
    loader_ = linux_view(tree_.root(), path == view.search.variables.end() ? "" : path->second);
    for (const std::string& folder : split_folders(loader_.library_path, ":;")) {
      // An empty one is the current folder, which is not the machine's affair.
      if (folder.starts_with('/')) {
        path_folders_.push_back(folder);
      }
    }
  }

  void run() {
    read_cache_folders();
    read_compat();
    read_driver();
    read_path();
    machine_.glibc = read_glibc();
  }

 private:
  // Adds the real path of a library of CUDA; of others nothing.
  void add_library(std::vector<std::string>& found, const std::string& path) const {
    constexpr size_t kMostLibraries = 256;
    if (is_library_of_cuda(file_name_of(path)) && found.size() < kMostLibraries) {
      if (auto real = tree_.real(path)) {
        add_new(found, *std::move(real));
      }
    }
  }

  // Folders and libraries of CUDA in the order of the cache's entries.
  void read_cache_folders() {
    const std::string path = tree_.opened_as("/etc/ld.so.cache");
    const auto file = path.empty() ? fail(ErrorCode::NotFound, "none") : MappedFile::open(path);
    if (!file) {
      return;
    }
    const auto entries = read_ld_cache((*file)->bytes(), path);
    if (!entries) {
      return;
    }
    std::string last;
    for (const LdCacheEntry& entry : *entries) {
      if (std::string folder = folder_of(entry.path); folder != last) {
        last = folder;
        add_new(machine_.library_folders, std::move(folder));
      }
      add_library(machine_.cache_libraries, std::string(entry.path));
    }
  }

  void read_compat() {
    std::vector<std::string> toolkits = {"/opt/cuda"};
    for (const std::string& name : tree_.names("/usr/local")) {
      if (name.starts_with("cuda")) {
        toolkits.push_back("/usr/local/" + name);
      }
    }
    for (const std::string& toolkit : toolkits) {
      add_libcudas(toolkit + "/compat", machine_.compat_libraries);
      add_libcudas(toolkit + "/compat/lib.real", machine_.compat_libraries);
    }
  }

  void add_libcudas(const std::string& folder, std::vector<std::string>& found) const {
    for (const std::string& name : tree_.names(folder)) {
      if (name.starts_with("libcuda.so.")) {
        if (auto real = tree_.real(fmt::format("{}/{}", folder, name))) {
          add_new(found, *std::move(real));
        }
      }
    }
  }

  [[nodiscard]] bool is_for_this_machine(const std::string& path) const {
    const auto file = MappedFile::open(tree_.root() + path);
    const auto elf = file ? ElfFile::parse(*file) : fail(ErrorCode::NotFound, "none");
    // What is no ELF file the loader passes by as well, but trees of tests have such.
    return !elf || elf->bits == 64;
  }

  // Where the loader finds a name: LD_LIBRARY_PATH, the cache, the default folders.
  [[nodiscard]] std::optional<std::string> found_by_loader(const std::string& name) const {
    std::vector<std::string> places;
    const auto add = [&](const std::vector<std::string>& folders) {
      places.reserve(places.size() + folders.size());
      for (const std::string& folder : folders) {
        places.push_back(fmt::format("{}/{}", folder, name));
      }
    };
    add(path_folders_);
    if (const auto cached = loader_.cache.find(name); cached != loader_.cache.end()) {
      places.insert(places.end(), cached->second.begin(), cached->second.end());
    }
    add(loader_.default_folders);
    for (const std::string& place : places) {
      auto real = tree_.real(place);
      if (real && is_for_this_machine(*real)) {
        return real;
      }
    }
    return std::nullopt;
  }

  void read_driver() {
    std::vector<std::string> others;
    for (const auto* const folders :
         {&path_folders_, &machine_.library_folders, &loader_.default_folders}) {
      for (const std::string& folder : *folders) {
        add_libcudas(folder, others);
      }
    }
    for (const std::string_view folder : kDriverFolders) {
      add_libcudas(std::string(folder), others);
    }
    const auto first = found_by_loader("libcuda.so.1");
    std::erase_if(others, [&](const std::string& path) {
      return path == first || has_part(folder_of(path), "stubs") ||
             std::ranges::find(machine_.compat_libraries, path) != machine_.compat_libraries.end();
    });
    if (first || !others.empty()) {
      machine_.driver_libraries.push_back(first.value_or(""));
    }
    machine_.driver_libraries.insert(machine_.driver_libraries.end(), others.begin(), others.end());
    machine_.no_driver_library =
        machine_.driver_libraries.empty() && !machine_.library_folders.empty();
  }

  void read_path() {
    for (const std::string& folder : path_folders_) {
      for (const std::string& name : tree_.names(folder)) {
        add_library(machine_.path_libraries, fmt::format("{}/{}", folder, name));
      }
    }
  }

  // The newest GLIBC_N.N that the C library defines.
  [[nodiscard]] std::string read_glibc() const {
    const auto path = found_by_loader("libc.so.6");
    const auto file =
        path ? MappedFile::open(tree_.root() + *path) : fail(ErrorCode::NotFound, "none");
    const auto elf = file ? ElfFile::parse(*file) : fail(ErrorCode::NotFound, "none");
    if (!elf) {
      return {};
    }
    std::optional<Version> newest;
    for (const ElfVersion& version : elf->dynamic.version_definitions) {
      constexpr std::string_view kPrefix = "GLIBC_";
      if (!version.name.starts_with(kPrefix)) {
        continue;
      }
      // GLIBC_PRIVATE is none.
      if (auto number = Version::parse(version.name.substr(kPrefix.size()));
          number && (!newest || *number > *newest)) {
        newest = *std::move(number);
      }
    }
    return newest ? newest->text() : std::string();
  }

  const Tree& tree_;
  Machine& machine_;
  LoaderView loader_;
  std::vector<std::string> path_folders_;
};

}  // namespace

void gather_libraries(const MachineView& view, Machine& machine) {
  LibraryGatherer(view, machine).run();
}

}  // namespace mynah::doctor
