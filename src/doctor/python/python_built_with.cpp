#include "doctor/python/python_built_with.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "doctor/binaries/loader_paths.h"
#include "doctor/binaries/opened_names.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "12.6" of "cu126", "11.8" of "cu118"; "" of "cpu"; nothing of others.
std::optional<std::string> cuda_of_local(std::string_view local) {
  if (local == "cpu") {
    return "";
  }
  const std::string_view end = local.starts_with("cu") ? local.substr(2) : "";
  if (!is_number(end) || end.size() < 3 || end.size() > 4) {
    return std::nullopt;
  }
  return std::string(end.substr(0, 2)).append(".").append(end.substr(2));
}

// "12.6" of "libbitsandbytes_cuda126.so"; empty: no file is called so.
std::string cuda_of_file_names(const Framework& framework) {
  constexpr std::string_view kMark = "_cuda";
  for (const DeviceCode& code : framework.code) {
    const std::string_view name = file_name_of(code.file);
    const size_t at = name.rfind(kMark);
    if (at != std::string_view::npos) {
      const std::string_view rest = name.substr(at + kMark.size());
      std::string local = "cu";
      local += rest.substr(0, rest.find_first_not_of("0123456789"));
      if (auto cuda = cuda_of_local(local)) {
        return *std::move(cuda);
      }
    }
  }
  return "";
}

// The CUDA version whose compiler writes the newest PTX that is inside; empty: none.
std::string cuda_of_code(const Framework& framework, const Knowledge& knowledge) {
  std::optional<Version> newest;
  std::string isa;
  for (const DeviceCode& code : framework.code) {
    for (const DeviceUnits& units : code.units) {
      for (const DeviceImage& image : units.images) {
        const auto version = Version::parse(image.ptx_version);
        if (version && (!newest || *version > *newest)) {
          newest = *version;
          isa = image.ptx_version;
        }
      }
    }
  }
  const PtxVersion* const ptx = isa.empty() ? nullptr : knowledge.ptx(isa);
  return ptx == nullptr ? "" : ptx->cuda;
}

// Of the CUDA libraries that it wants; empty: none, or of several.
std::string major_of_wants(const Framework& framework, const Knowledge& knowledge) {
  std::set<int> majors;
  for (const LibraryWant& want : framework.wants) {
    std::set<int> possible;
    for (const Library* const library : knowledge.libraries_named(want.library)) {
      possible.insert(library->cuda_major);
    }
    if (possible.size() == 1 && *possible.begin() != 0) {
      majors.insert(*possible.begin());
    }
  }
  return majors.size() == 1 ? std::to_string(*majors.begin()) : "";
}

bool has_device_code(const Framework& framework) {
  return std::ranges::any_of(framework.code,
                             [](const DeviceCode& code) { return !code.units.empty(); });
}

}  // namespace

std::string version_of_library(std::string_view file_name) {
  std::string_view version;
  if (const size_t so = file_name.find(".so."); so != std::string_view::npos) {
    version = file_name.substr(so + 4);
  } else if (file_name.ends_with(".dll")) {
    const std::string_view stem = file_name.substr(0, file_name.size() - 4);
    version = stem.substr(std::min(stem.rfind('_'), stem.size() - 1) + 1);
  }
  const bool sound = !version.empty() && version.size() <= 20 &&
                     version.find_first_not_of(".0123456789") == std::string_view::npos;
  return sound ? std::string(version) : "";
}

std::optional<std::string> cuda_built_with(const Framework& framework, const PythonValues& values,
                                           bool knows_cpu, const Knowledge& knowledge) {
  for (const char* const name : {"cuda", "cuda_version"}) {
    if (const auto value = values.find(name); value != values.end()) {
      return value->second.value_or("");
    }
  }
  if (const auto version = Version::parse(framework.version)) {
    if (auto cuda = cuda_of_local(version->local_text())) {
      return cuda;
    }
  }
  if (std::string named = cuda_of_file_names(framework); !named.empty()) {
    return named;
  }
  std::string major = major_of_wants(framework, knowledge);
  std::string of_code = cuda_of_code(framework, knowledge);
  if (!of_code.empty() && (major.empty() || of_code.starts_with(major + "."))) {
    return of_code;
  }
  if (!major.empty()) {
    return major;
  }
  // Files that hold no device code, and no library of CUDA is wanted.
  if (!has_device_code(framework) && (knows_cpu || !framework.code.empty())) {
    return "";
  }
  return std::nullopt;
}

std::string cudnn_built_with(const Framework& framework, const PythonValues& values,
                             const Package* package) {
  if (const auto value = values.find("cudnn_version"); value != values.end() && value->second) {
    return *value->second;
  }
  if (package != nullptr) {
    for (const std::string_view requirement : package->requires_) {
      // "nvidia-cudnn-cu12==9.5.1.17; platform_system == ..."
      const size_t end = std::min(requirement.find_first_of("=<>~!; ("), requirement.size());
      if (requirement.starts_with("nvidia-cudnn-cu") && requirement.substr(end).starts_with("==")) {
        const std::string_view rest = requirement.substr(end + 2);
        return std::string(rest.substr(0, rest.find_first_not_of(".0123456789")));
      }
    }
  }
  std::string version;
  for (const LibraryWant& want : framework.wants) {
    const std::string name(file_name_of(want.library));
    const std::string plain = name_before_bundling(name).value_or(name);
    if (plain.starts_with("libcudnn") || plain.starts_with("cudnn")) {
      if (std::string named = version_of_library(plain); named.size() > version.size()) {
        version = std::move(named);
      }
    }
  }
  return version;
}

}  // namespace mynah::doctor
