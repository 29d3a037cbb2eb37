#include "doctor/machine/toolkit_compilers.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/characters.h"
#include "doctor/machine/toolkit_text.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

// The number at the end of "x86_64-linux-gnu-gcc-12" or "clang-17"; 0: there is none.
int number_behind_dash(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) {
    return 0;
  }
  int number = 0;
  const std::string_view digits = name.substr(dash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && (end == digits.data() + digits.size() || *end == '.') ? number : 0;
}

bool is_clang(std::string_view name) {
  return name.find("clang") != std::string_view::npos;
}

bool is_gcc(std::string_view name) {
  return name.find("gcc") != std::string_view::npos || name.find("g++") != std::string_view::npos ||
         name == "cc" || name == "c++";
}

}  // namespace

std::string HostCompilerSearch::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::string() : found->second;
}

HostCompilersFound HostCompilerSearch::find(const std::string& toolkit) const {
  return windows_ ? find_msvc() : find_gcc(toolkit);
}

// Versions of gcc that can compile C++, each a folder with cc1plus (gcc's "Installing", libexecdir
// and libdir).
std::vector<std::string> HostCompilerSearch::installed_gccs() const {
  std::vector<std::string> versions;
  for (const std::string_view base : {"/usr/lib/gcc", "/usr/libexec/gcc"}) {
    for (const std::string& target : tree_.names(base)) {
      // A compiler for another machine is not nvcc's host compiler.
      if (target.find("linux") == std::string::npos || target.find("mingw") != std::string::npos) {
        continue;
      }
      const std::string folder = fmt::format("{}/{}", base, target);
      for (const std::string& version : tree_.names(folder)) {
        if (tree_.has(fmt::format("{}/{}/cc1plus", folder, version)) &&
            std::ranges::find(versions, version) == versions.end()) {
          versions.push_back(version);
        }
      }
    }
  }
  return versions;
}

// What a program's name, or the name that it is a link to, says of its version; empty: nothing.
std::string HostCompilerSearch::named(const std::string& program) const {
  std::vector<std::string> places;
  if (program.starts_with('/')) {
    places = {program};
  } else {
    for (const std::string& folder : split_folders(variable("PATH"), ":")) {
      if (folder.starts_with('/')) {
        places.push_back(fmt::format("{}/{}", folder, program));
      }
    }
    places.push_back("/usr/bin/" + program);
  }
  for (const std::string& place : places) {
    const auto real = tree_.real(place);
    if (!real) {
      continue;
    }
    for (const std::string_view name : {file_name_of(place), file_name_of(*real)}) {
      if (const int number = number_behind_dash(name); number > 0) {
        if (is_clang(name)) {
          return fmt::format("clang {}", number);
        }
        if (is_gcc(name)) {
          return fmt::format("gcc {}", number);
        }
      }
    }
    // A compiler without a number in its name, as Red Hat's: the only one that is installed. A
    // wrapper (ccache) may lead to any.
    const std::vector<std::string> versions = installed_gccs();
    return versions.size() == 1 && is_gcc(file_name_of(*real)) && place.starts_with("/usr/bin/")
               ? "gcc " + versions.front()
               : std::string();
  }
  return {};
}

HostCompilersFound HostCompilerSearch::find_gcc(const std::string& toolkit) const {
  HostCompilersFound found;
  for (const std::string& version : installed_gccs()) {
    found.others.push_back("gcc " + version);
  }
  const std::string flags = variable("NVCC_PREPEND_FLAGS") + variable("NVCC_APPEND_FLAGS");
  std::string program = variable("NVCC_CCBIN");
  if (program.empty()) {
    program = variable("CUDAHOSTCXX");  // CMake's
  }
  if (flags.find("ccbin") != std::string::npos) {
    return found;
  }
  if (program.empty()) {
    // Debian and Arch put the compiler that fits beside nvcc.
    const auto nvcc = tree_.real(toolkit + "/bin/nvcc");
    for (const std::string& beside :
         {nvcc ? folder_of(*nvcc) + "/gcc" : std::string(),
          toolkit + "/lib/nvidia-cuda-toolkit/bin/gcc", toolkit + "/bin/gcc"}) {
      if (program.empty() && !beside.empty() && tree_.has(beside)) {
        program = beside;
      }
    }
  }
  // conda's compilers are set by its own scripts.
  const bool conda = tree_.has(toolkit + "/conda-meta");
  found.used = program.empty() && conda ? std::string() : named(program.empty() ? "gcc" : program);
  // "gcc 12" of a name, "gcc 12.2.0" of a folder: the same.
  std::erase_if(found.others, [&](const std::string& other) {
    return other == found.used || other.starts_with(found.used + ".");
  });
  return found;
}

// Folders of Visual Studio, the newest year or number first, that have C++ tools.
std::vector<std::string> HostCompilerSearch::studios() const {
  std::vector<std::string> studios;
  for (const std::string_view base :
       {"/Program Files/Microsoft Visual Studio", "/Program Files (x86)/Microsoft Visual Studio"}) {
    for (const std::string& year : tree_.names(base)) {
      for (const std::string& edition : tree_.names(fmt::format("{}/{}", base, year))) {
        std::string path = fmt::format("{}/{}/{}", base, year, edition);
        if (tree_.has(path + "/VC/Tools/MSVC")) {
          studios.push_back(std::move(path));
        }
      }
    }
  }
  return studios;
}

HostCompilersFound HostCompilerSearch::find_msvc() const {
  std::vector<int> versions;
  int chosen = 0;
  for (const std::string& studio : studios()) {
    for (const std::string& tools : tree_.names(studio + "/VC/Tools/MSVC")) {
      if (const int version = msc_version(tools);
          version > 0 && std::ranges::find(versions, version) == versions.end()) {
        versions.push_back(version);
      }
    }
    const std::string text =
        tree_.words(studio + "/VC/Auxiliary/Build/Microsoft.VCToolsVersion.default.txt");
    chosen = std::max(chosen, msc_version(trimmed(text)));
  }
  if (const int asked = msc_version(variable("VCToolsVersion")); asked > 0) {
    chosen = asked;
  } else if (chosen == 0 && !versions.empty()) {
    chosen = std::ranges::max(versions);
  }
  HostCompilersFound found;
  found.used = chosen > 0 ? fmt::format("_MSC_VER {}", chosen) : std::string();
  for (const int version : versions) {
    if (version != chosen) {
      found.others.push_back(fmt::format("_MSC_VER {}", version));
    }
  }
  return found;
}

std::optional<bool> HostCompilerSearch::is_integrated(const std::string& version) const {
  const std::vector<std::string> all = studios();
  const auto parsed = Version::parse(version);
  if (all.empty() || !parsed) {
    return std::nullopt;
  }
  const std::string file =
      fmt::format("CUDA {}.{}.props", parsed->release_at(0), parsed->release_at(1));
  for (const std::string& studio : all) {
    // v150 to v180: Visual Studio 2017 to 2026.
    for (const std::string& tools : tree_.names(studio + "/MSBuild/Microsoft/VC")) {
      if (tree_.has(fmt::format("{}/MSBuild/Microsoft/VC/{}/BuildCustomizations/{}", studio, tools,
                                file))) {
        return true;
      }
    }
    if (tree_.has(
            fmt::format("{}/Common7/IDE/VC/VCTargets/BuildCustomizations/{}", studio, file))) {
      return true;
    }
  }
  return false;
}

}  // namespace mynah::doctor
