#include "doctor/machine/toolkit_remedies.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "doctor/machine/machine_rule_parts.h"
#include "doctor/shell_word.h"
#include "doctor/versions.h"

namespace mynah::doctor {

std::string Cuda::text() const {
  return fmt::format("{}.{}", major, minor);
}

std::optional<Cuda> cuda_of(std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed ? std::optional(Cuda{parsed->release_at(0), parsed->release_at(1)}) : std::nullopt;
}

int number_of(std::string_view compiler, std::string_view name) {
  if (!compiler.starts_with(name) || !compiler.substr(name.size()).starts_with(' ')) {
    return 0;
  }
  const std::string_view digits = compiler.substr(name.size() + 1);
  int number = 0;
  static_cast<void>(std::from_chars(digits.data(), digits.data() + digits.size(), number));
  return number;
}

Remedy install_part(const Machine& machine, const Toolkit& toolkit, std::string_view windows,
                    std::string_view package, std::string_view what) {
  const auto known = cuda_of(toolkit.version);
  const Cuda cuda = known.value_or(Cuda{});
  Remedy remedy{.command = {},
                .text = fmt::format("Install {} of the same version, CUDA {}", what,
                                    known ? cuda.text() : "as it is"),
                .cost = {}};
  constexpr uint64_t kNamesKnown = 12;  // components of Windows's installer are named so until then
  const auto version = Version::parse(toolkit.version);
  if (!known || !version) {
    return remedy;
  }
  if (toolkit.system == System::Windows) {
    if (cuda.major <= kNamesKnown) {
      remedy.command = fmt::format("cuda_{}.{}.{}_windows_network.exe -s {}_{}", cuda.major,
                                   cuda.minor, version->release_at(2), windows, cuda.text());
      remedy.text += "; the installer is in NVIDIA's CUDA archive";
    }
    return remedy;
  }
  if (toolkit.path == "/usr") {
    // Debian's and Ubuntu's own toolkit.
    if (packages_of(machine) == Packages::Debian || packages_of(machine) == Packages::Ubuntu) {
      remedy.command = package == "cuda-cccl"
                           ? "sudo apt-get install -y libcub-dev libthrust-dev libcu++-dev"
                           : "sudo apt-get install -y nvidia-cuda-dev";
    }
    return remedy;
  }
  const std::string name = fmt::format("{}-{}-{}", package, cuda.major, cuda.minor);
  if (!toolkit.path.starts_with("/usr/local/cuda")) {
    // conda names packages without the version.
    remedy.command = toolkit.path.starts_with("/opt/cuda")
                         ? std::string()
                         : fmt::format("conda install -p {} -c nvidia {}={}",
                                       shell_word(toolkit.path), package, cuda.text());
    return remedy;
  }
  switch (packages_of(machine)) {
    case Packages::Debian:
    case Packages::Ubuntu:
      remedy.command = "sudo apt-get install -y " + name;
      break;
    case Packages::Fedora:
      remedy.command = "sudo dnf install -y " + name;
      break;
    case Packages::Arch:
    case Packages::Other:
      break;
  }
  return remedy;
}

Remedy other_compiler(const Machine& machine, const Toolkit& toolkit, const std::string& fits) {
  Remedy remedy;
  if (toolkit.system == System::Windows) {
    constexpr int kOf14 = 1900;
    const int version = fits.empty() ? toolkit.msvc_most : number_of(fits, "_MSC_VER");
    remedy.command = fits.empty()
                         ? std::string()
                         : fmt::format("vcvarsall.bat x64 -vcvars_ver=14.{}", version - kOf14);
    remedy.text = fits.empty() ? fmt::format(
                                     "Install the MSVC toolset 14.{} or older with Visual Studio's "
                                     "installer, and build with it",
                                     version - kOf14)
                               : "Build from a prompt with that toolset";
    return remedy;
  }
  const bool clang = toolkit.host_compiler.starts_with("clang");
  const int most = clang ? toolkit.clang_most : toolkit.gcc_most;
  const int version = fits.empty() ? most : number_of(fits, clang ? "clang" : "gcc");
  const std::string program = fmt::format("{}-{}", clang ? "clang++" : "g++", version);
  const bool apt =
      packages_of(machine) == Packages::Debian || packages_of(machine) == Packages::Ubuntu;
  remedy.command = fits.empty() && apt
                       ? fmt::format("sudo apt-get install -y {} && export NVCC_CCBIN={}",
                                     clang ? fmt::format("clang-{}", version) : program, program)
                       : fmt::format("export NVCC_CCBIN={}", program);
  remedy.text = fits.empty() ? fmt::format("Install {} and have nvcc use it", program)
                             : fmt::format("Have nvcc use {}, which is installed", program);
  return remedy;
}

Remedy install_toolkit(const Machine& machine, const Toolkit& toolkit, const std::string& version) {
  Remedy remedy{.command = {},
                .text = fmt::format(
                    "Install CUDA {} beside it, and name it with CUDA_HOME and PATH", version),
                .cost = "some GB of disk"};
  std::string package = version;
  std::ranges::replace(package, '.', '-');
  if (toolkit.system == System::Windows) {
    return remedy;
  }
  switch (packages_of(machine)) {
    case Packages::Debian:
    case Packages::Ubuntu:
      remedy.command = fmt::format("sudo apt-get install -y cuda-toolkit-{}", package);
      break;
    case Packages::Fedora:
      remedy.command = fmt::format("sudo dnf install -y cuda-toolkit-{}", package);
      break;
    case Packages::Arch:
    case Packages::Other:
      return remedy;
  }
  remedy.text += "; the package is in NVIDIA's repository";
  return remedy;
}

}  // namespace mynah::doctor
