// Healer: other versions of ONNX Runtime, CTranslate2 and cuDNN.
#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/verdicts/healer.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// NVIDIA's wheels that a program of CUDA 12 computes products with.

}  // namespace

std::vector<std::string> Healer::known_versions(std::string_view package) const {
  std::vector<std::string> versions;
  for (const WheelCode& wheel : knowledge_.wheels) {
    if (wheel.package == package && wheel.system == system()) {
      versions.insert(versions.begin(), wheel.versions.from.text());
    }
  }
  const auto installed = Version::parse(installed_version(package));
  if (installed && knowledge_.wheel(package, *installed, system()) != nullptr) {
    versions.insert(versions.begin(), installed->public_part().text());
  }
  return versions;
}

std::vector<std::string> Healer::folders_of(const Framework& framework) const {
  std::vector<std::string> folders;
  const int major = cuda_major_of(framework, knowledge_);
  for (const LibraryWant& want : framework.wants) {
    for (const Library* library : knowledge_.libraries_named(want.library)) {
      if (library->cuda_major == major && !library->folder.empty() &&
          std::ranges::find(folders, library->folder) == folders.end()) {
        folders.push_back(library->folder);
      }
    }
  }
  return folders;
}

std::string Healer::cudnn_limit(const std::string& package) const {
  std::string newest_that_fits;
  bool newest_fits = true;
  for (const WheelCode& wheel : knowledge_.wheels) {
    if (wheel.package != package || wheel.system != System::Linux ||
        wheel.versions.from.release_at(0) < 9) {
      continue;
    }
    const auto cudnn = known_framework(package, wheel.versions.from, System::Linux, knowledge_);
    Coverage coverage;
    for (const DeviceCode& code : cudnn ? cudnn->code : std::vector<DeviceCode>()) {
      cover(code, target_, knowledge_, coverage);
    }
    newest_fits = coverage.none < coverage.general();
    if (newest_fits) {
      newest_that_fits = wheel.versions.from.text();
    }
  }
  return newest_fits ? "" : newest_that_fits;
}

std::optional<Healer::Wheel> Healer::onnxruntime_wheel(const std::string& driver) const {
  std::optional<Wheel> best;
  const auto installed = Version::parse(installed_version("onnxruntime-gpu"));
  const std::string there = installed ? installed->public_part().text() : "";
  for (const std::string& text : known_versions("onnxruntime-gpu")) {
    const auto version = Version::parse(text);
    // The extras that bring NVIDIA's wheels are there from 1.21 on, and name none that exist in
    // 1.27 (notes "onnxruntime extras" and "onnxruntime 1.27 extras").
    if (!version || version->release_at(0) != 1 || version->release_at(1) < 21 ||
        version->release_at(1) == 27) {
      continue;
    }
    auto after = known_framework("onnxruntime-gpu", *version, system(), knowledge_);
    if (!after) {
      continue;
    }
    const int major = cuda_major_of(*after, knowledge_);
    Wheel wheel{.change = {.framework = *after, .packages = {}, .driver = driver},
                .version = text,
                .pin = "",
                .order = {}};
    add_package(wheel.change, "onnxruntime-gpu", text);
    const std::string cudnn = fmt::format("nvidia-cudnn-cu{}", major);
    if (const std::string limit = cudnn_limit(cudnn); !limit.empty()) {
      wheel.pin = fmt::format("{}<={}", cudnn, limit);
      if (!has_at_most(cudnn, limit)) {
        add_package(wheel.change, cudnn, limit);
      }
    }
    const Judged judged = judge_change(wheel.change, card_, machine_, environment_, knowledge_);
    if (!mends(judged)) {
      continue;
    }
    int demand = major * 100;
    if (judged.cause == Cause::CompiledByDriver) {
      for (const DeviceImage& image : after->code.front().units.front().images) {
        const PtxVersion* language = image.ptx ? knowledge_.ptx(image.ptx_version) : nullptr;
        demand = std::max(demand, language != nullptr ? cuda_number(language->cuda) : 0);
      }
    }
    wheel.order = {text != there, other_torch(major), demand,
                   cuda_number(after->cuda.value_or(""))};
    if (!best || wheel.order < best->order) {
      best = std::move(wheel);
    }
  }
  return best;
}

std::string Healer::installed_version(std::string_view package) const {
  // The files may be another package's.
  const auto there = std::ranges::find(environment_.packages, package, &Package::name);
  const bool listed = framework_.package != package && there != environment_.packages.end();
  return framework_.package == package ? framework_.version : listed ? there->version : "";
}

bool Healer::other_torch(int major) const {
  return std::ranges::any_of(environment_.frameworks, [&](const Framework& other) {
    const int its = cuda_major_of(other, knowledge_);
    return other.name == "torch" && its != 0 && its != major;
  });
}

bool Healer::has_at_most(std::string_view name, std::string_view limit) const {
  const auto found = std::ranges::find(environment_.packages, name, &Package::name);
  const auto most = Version::parse(limit);
  const auto installed =
      found == environment_.packages.end() ? Version::parse("") : Version::parse(found->version);
  return installed && most && *installed <= *most;
}

bool Healer::onnxruntime_versions(std::string_view before, std::string text) {
  for (const std::string& driver : drivers()) {
    const auto wheel = onnxruntime_wheel(driver);
    if (!wheel) {
      continue;
    }
    std::string command = fmt::format("{}{} 'onnxruntime-gpu[cuda,cudnn]=={}'", before,
                                      install_command(environment_), wheel->version);
    if (!wheel->pin.empty()) {
      command += fmt::format(" '{}'", wheel->pin);
      text += " Later versions of cuDNN have no code for it.";
    }
    command += library_path_line(site_of(framework_, environment_),
                                 folders_of(wheel->change.framework), system());
    if (system() == System::Windows) {
      text += " Programs must import torch or call onnxruntime.preload_dlls() first.";
    }
    return propose(wheel->change, std::move(command), std::move(text));
  }
  return false;
}

bool Healer::ctranslate2_versions(const std::string& text) {
  for (const std::string& version : known_versions("ctranslate2")) {
    if (version == framework_.version && judged_.cause != Cause::LibraryMissing) {
      continue;
    }
    const auto parsed = Version::parse(version);
    auto after =
        parsed ? known_framework("ctranslate2", *parsed, system(), knowledge_) : std::nullopt;
    // cuDNN on the loader's way is a trouble of its own: those that want none are enough.
    if (!after || (framework_.name != "ctranslate2" && !after->cudnn.empty()) ||
        torch_holds_other_cudnn(after->cudnn)) {
      continue;
    }
    Change change{.framework = *after, .packages = {}, .driver = ""};
    add_package(change, "ctranslate2", version);
    const int major = cuda_major_of(*after, knowledge_);
    const std::string cublas = fmt::format("nvidia-cublas-cu{}", major);
    const std::string cudnn = fmt::format("nvidia-cudnn-cu{}", major);
    add_newest(change, cublas, "");
    if (!after->cudnn.empty()) {
      add_newest(change, cudnn, after->cudnn);
    }
    std::string command =
        fmt::format("{} ctranslate2=={} {}", install_command(environment_), version, cublas);
    if (!after->cudnn.empty()) {
      command += fmt::format(" '{}=={}.*'", cudnn, after->cudnn);
    }
    command += library_path_line(site_of(framework_, environment_), folders_of(*after), system());
    if (propose(change, std::move(command), text)) {
      return true;
    }
  }
  return false;
}

bool Healer::torch_holds_other_cudnn(std::string_view wanted) const {
  const auto major = Version::parse(wanted);
  return major && std::ranges::any_of(environment_.frameworks, [&](const Framework& other) {
           const auto its = other.name == "torch" ? Version::parse(other.cudnn) : major;
           return its && its->release_at(0) != major->release_at(0);
         });
}

void Healer::add_newest(Change& change, std::string_view package, std::string_view series) const {
  const std::string start = series.empty() ? "" : fmt::format("{}.", series);
  const auto there = std::ranges::find(environment_.packages, package, &Package::name);
  if (there != environment_.packages.end() && there->version.starts_with(start)) {
    return;  // an installer leaves what will do
  }
  for (const WheelCode& wheel : knowledge_.wheels | std::views::reverse) {
    const std::string version = wheel.versions.from.text();
    if (wheel.package == package && wheel.system == System::Linux && version.starts_with(start)) {
      add_package(change, package, version);
      return;
    }
  }
}

void Healer::install_again() {
  onnxruntime_versions(uninstall_command(environment_) + " onnxruntime onnxruntime-gpu && ",
                       "Take both away and put the one for cards back: where a package asks for "
                       "onnxruntime, this one serves it too.");
}

void Healer::pin_cudnn() {
  const std::string package =
      fmt::format("nvidia-cudnn-cu{}", cuda_major_of(framework_, knowledge_));
  const std::string limit = cudnn_limit(package);
  if (limit.empty()) {
    return;
  }
  Change change{.framework = framework_, .packages = {}, .driver = ""};
  add_package(change, package, limit);
  propose(
      change, fmt::format("{} '{}<={}'", install_command(environment_), package, limit),
      fmt::format("Hold cuDNN at {}, the last that is known to have code for this card.", limit));
}

}  // namespace mynah::doctor
