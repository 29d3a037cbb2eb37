// Healer: libraries that the loader does not find, or finds where they do not fit.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/verdicts/healer.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

constexpr const char* kOnnxRuntimeText =
    "Take ONNX Runtime with NVIDIA's libraries from wheels, and show the loader where they lie "
    "before Python starts.";

}  // namespace

void Healer::libraries() {
  std::vector<std::string> wheels;
  std::vector<std::string> folders;
  bool nowhere = false;
  for (const LibraryProblem& problem : library_problems(framework_, knowledge_)) {
    if (problem.of_driver) {
      driver_libraries();
      return;
    }
    if (problem.misfit) {
      misfit(problem);
      return;
    }
    const std::string place = problem.want.elsewhere.empty() ? "" : problem.want.elsewhere.front();
    if (!place.empty()) {
      const std::string folder =
          place.substr(0, place.size() - std::min(place.size(), file_name(place).size() + 1));
      if (std::ranges::find(folders, folder) == folders.end()) {
        folders.push_back(folder);
      }
      continue;
    }
    nowhere = true;
    const auto named = knowledge_.libraries_named(problem.want.library);
    if (!named.empty() && !named.front()->wheel.empty() &&
        std::ranges::find(wheels, named.front()->wheel) == wheels.end()) {
      wheels.push_back(named.front()->wheel);
    }
  }
  if (framework_.name == "onnxruntime" && (nowhere || system() == System::Windows)) {
    onnxruntime_versions("", kOnnxRuntimeText);
    return;
  }
  if (!nowhere && !folders.empty() && way(folders)) {
    return;
  }
  if (framework_.name == "onnxruntime") {
    onnxruntime_versions("", kOnnxRuntimeText);
  } else if (framework_.name == "ctranslate2") {
    ctranslate2_versions(
        "Take CTranslate2 with cuBLAS from a wheel, and show the loader where it "
        "lies before Python starts.");
  } else if (framework_.name == "torch") {
    torch_again();
  } else if (!wheels.empty()) {
    bring(wheels);
  }
}

Framework Healer::with_libraries() const {
  Framework after = framework_;
  for (LibraryWant& want : after.wants) {
    if (want.found.empty()) {
      want.found = want.elsewhere.empty() ? want.library : want.elsewhere.front();
    }
  }
  return after;
}

bool Healer::way(const std::vector<std::string>& folders) {
  const std::string line = library_path_line("", folders, system());
  constexpr std::string_view kAnd = " && ";
  return propose({.framework = with_libraries(), .packages = {}, .driver = ""},
                 line.empty() ? "" : line.substr(kAnd.size()),
                 "Show the loader where the libraries lie, before Python starts.");
}

void Healer::bring(const std::vector<std::string>& wheels) {
  std::vector<std::string> folders;
  for (const Library& library : knowledge_.libraries) {
    if (std::ranges::find(wheels, library.wheel) != wheels.end() &&
        std::ranges::find(folders, library.folder) == folders.end()) {
      folders.push_back(library.folder);
    }
  }
  propose({.framework = with_libraries(), .packages = {}, .driver = ""},
          fmt::format("{} {}{}", install_command(environment_), fmt::join(wheels, " "),
                      library_path_line(site_of(framework_, environment_), folders, system())),
          "Bring the libraries, and show the loader where they lie before Python starts.");
}

void Healer::driver_libraries() {
  if (machine_.container.inside) {
    words("docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE",
          "Start the container with the card and the driver's libraries for computing.");
  } else if (machine_.wsl) {
    words("export LD_LIBRARY_PATH=/usr/lib/wsl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
          "Show the loader where WSL keeps the driver's libraries.");
  }
}

void Healer::misfit(const LibraryProblem& problem) {
  if (problem.want.via == "LD_LIBRARY_PATH") {
    propose({.framework = without_misfits(), .packages = {}, .driver = ""}, "unset LD_LIBRARY_PATH",
            fmt::format("Keep the loader from taking {} before the one that the package brings.",
                        problem.want.found));
  } else if (framework_.name == "torch") {
    torch_again();
  }
}

Framework Healer::without_misfits() const {
  Framework after = with_libraries();
  for (LibraryWant& want : after.wants) {
    want.lacks.clear();
    if (want.via == "LD_LIBRARY_PATH") {
      want.found = want.library;
    }
  }
  return after;
}

}  // namespace mynah::doctor
