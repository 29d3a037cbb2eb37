#include "doctor/verdicts/framework_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto start) { return text.starts_with(start); });
}

bool is_nvidia_library(std::string_view name) {
  return starts_with_any(name, {"libcu", "libnv", "libnccl", "cublas", "cudnn", "cufft", "curand",
                                "cusolver", "cusparse", "nvrtc", "nvJitLink"});
}

// "libctranslate2-23004c3b.so.4.8.1" is a libctranslate2: auditwheel puts a hash into names.
bool decides(const Framework& framework, std::string_view name) {
  if (framework.name == "torch") {
    return starts_with_any(
        name, {"libtorch_cuda.so", "libtorch_cuda_cu", "libtorch_cuda_cpp", "torch_cuda"});
  }
  if (framework.name == "onnxruntime") {
    return name.contains("onnxruntime_providers_cuda");
  }
  if (framework.name == "ctranslate2") {
    return starts_with_any(name, {"libctranslate2", "ctranslate2"});
  }
  if (framework.name == "llama-cpp-python") {
    return name.contains("ggml-cuda") || starts_with_any(name, {"libllama", "llama."});
  }
  return !is_nvidia_library(name);
}

// Files that the import of a framework opens, from which all that they need follows.
bool is_root(const Framework& framework, std::string_view name) {
  if (framework.name == "torch") {
    return starts_with_any(name, {"libtorch.so", "libtorch_cpu", "libtorch_python",
                                  "libtorch_cuda.so", "libtorch_global_deps", "libc10", "_C.",
                                  "torch_cuda.dll", "torch_cpu.dll", "torch_python.dll", "c10"});
  }
  if (framework.name == "onnxruntime") {
    return starts_with_any(name, {"onnxruntime_pybind11_state", "libonnxruntime.so"});
  }
  if (framework.name == "ctranslate2") {
    return starts_with_any(name, {"libctranslate2", "ctranslate2", "_ext"});
  }
  if (framework.name == "llama-cpp-python") {
    return starts_with_any(name, {"libllama", "libggml", "llama.", "ggml"});
  }
  return false;
}

// The files that are opened for certain once `roots` are: they, and all that NEEDED gives them.
template <class IsRoot>
std::set<std::string, std::less<>> opened_files(const Framework& framework,
                                                const IsRoot& is_start) {
  std::set<std::string, std::less<>> opened;
  for (const LibraryWant& want : framework.wants) {
    if (is_start(file_name(want.by))) {
      opened.insert(want.by);
    }
  }
  for (bool grown = true; std::exchange(grown, false);) {
    for (const LibraryWant& want : framework.wants) {
      if (want.want == Want::Needed && !want.found.empty() && opened.contains(want.by)) {
        grown |= opened.insert(want.found).second;
      }
    }
  }
  return opened;
}

bool is_of_driver(std::string_view library, const Knowledge& knowledge) {
  return std::ranges::any_of(knowledge.libraries_named(library),
                             [](const Library* known) { return known->cuda_major == 0; });
}

// Whether CTranslate2 is known to open a library as soon as it computes on a card.
bool opens_for_card(const Framework& framework, const LibraryWant& want,
                    const Knowledge& knowledge) {
  const auto version = Version::parse(framework.version);
  const CTranslate2Release* release = version ? knowledge.ctranslate2_release(*version) : nullptr;
  if (release == nullptr || !release->verified) {
    return false;
  }
  for (const std::string& opened : release->opens) {
    const auto known = knowledge.libraries_named(opened);
    if (opened == want.library ||
        (!known.empty() && !known.front()->dll.empty() && known.front()->dll == want.library)) {
      return true;
    }
  }
  return false;
}

std::string problem_text(const LibraryWant& want, bool misfit) {
  const std::string by = fmt::format("{}, which {} {}", want.library, file_name(want.by),
                                     want.want == Want::Needed ? "needs" : "opens by name");
  if (misfit) {
    return fmt::format("{}, is found at {} and lacks {}{}", by, want.found, want.lacks.front(),
                       want.lacks.size() > 1 ? " and more" : "");
  }
  return want.elsewhere.empty()
             ? by + ", is nowhere to be found"
             : fmt::format("{}, is not on the loader's way, but at {}", by, want.elsewhere.front());
}

// The version that a file's name ends in: "9.1.0" of "libcudnn.so.9.1.0".
std::optional<Version> version_in_name(std::string_view path) {
  const std::string_view name = file_name(path);
  const size_t at = name.find(".so.");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  auto version = Version::parse(name.substr(at + 4));
  return version && version->release.size() >= 3 ? std::optional(*version) : std::nullopt;
}

// torch refuses a cuDNN that is older than the one it was built with (error E28).
bool is_older_cudnn(const Framework& framework, const LibraryWant& want) {
  if (framework.name != "torch" || !file_name(want.library).starts_with("libcudnn.so")) {
    return false;
  }
  const auto found = version_in_name(want.found);
  const auto built = Version::parse(framework.cudnn);
  return found && built && built->release.size() >= 3 &&
         found->release_at(0) == built->release_at(0) &&
         found->release_at(1) < built->release_at(1);
}

// The folder that a framework gets a library from; empty: not known.
std::string_view place_of(std::string_view library, const Framework& framework) {
  for (const LibraryWant& want : framework.wants) {
    if (file_name(want.library).contains(library) && !want.found.empty()) {
      const std::string_view found = want.found;
      return found.substr(0, found.size() - std::min(found.size(), file_name(found).size() + 1));
    }
  }
  return {};
}

bool owns_library(const Framework& framework, std::string_view library) {
  return std::ranges::any_of(framework.code, [&](const DeviceCode& code) {
    return file_name(code.file).contains(library);
  });
}

}  // namespace

std::string_view file_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<const DeviceCode*> deciding_code(const Framework& framework) {
  std::vector<const DeviceCode*> files;
  for (const DeviceCode& code : framework.code) {
    if (decides(framework, file_name(code.file)) && !code.units.empty()) {
      files.push_back(&code);
    }
  }
  return files;
}

int cuda_major_of(const Framework& framework, const Knowledge& knowledge) {
  if (framework.cuda) {
    const auto version = Version::parse(*framework.cuda);
    return version ? static_cast<int>(std::min<uint64_t>(version->release_at(0), 99)) : 0;
  }
  for (const LibraryWant& want : framework.wants) {
    const auto named = knowledge.libraries_named(want.library);
    // Names that CUDA versions share tell nothing.
    if (named.size() == 1 && named.front()->cuda_major != 0 && !want.guessed) {
      return named.front()->cuda_major;
    }
  }
  return 0;
}

bool is_cuda_library(const Framework& framework) {
  return framework.package.starts_with("nvidia-") || framework.name == "cudnn" ||
         framework.name == "cublas" || framework.name == "nccl";
}

std::vector<LibraryProblem> library_problems(const Framework& framework,
                                             const Knowledge& knowledge) {
  std::vector<LibraryProblem> problems;
  if (!framework.source.empty()) {
    return problems;  // nobody asked the loader
  }
  const auto at_import =
      opened_files(framework, [&](std::string_view name) { return is_root(framework, name); });
  const auto for_card =
      opened_files(framework, [&](std::string_view name) { return decides(framework, name); });
  std::set<std::string> seen;
  for (const LibraryWant& want : framework.wants) {
    const bool older = is_older_cudnn(framework, want);
    const bool misfit = older || (!want.found.empty() && !want.lacks.empty());
    if (want.guessed || want.want == Want::Provided || (!misfit && !want.found.empty())) {
      continue;
    }
    LibraryProblem problem;
    problem.want = want;
    problem.misfit = misfit;
    const bool needed = want.want == Want::Needed;
    if (needed && at_import.contains(want.by)) {
      problem.without = Without::Import;
    } else if (framework.name == "onnxruntime" && needed && for_card.contains(want.by)) {
      problem.without = Without::Words;
    } else if (framework.name == "ctranslate2" && opens_for_card(framework, want, knowledge)) {
      problem.without = Without::Card;
    } else {
      continue;  // that it is ever opened is not known
    }
    if (!seen.insert(want.library).second) {
      continue;
    }
    problem.of_driver = is_of_driver(want.library, knowledge);
    problem.on_the_way = !misfit && want.via == "loaded by torch";
    problem.text =
        older ? fmt::format("{} is cuDNN {}, older than the {} that it was built with", want.found,
                            version_in_name(want.found)->text(), framework.cudnn)
              : problem_text(want, misfit);
    problems.push_back(std::move(problem));
  }
  std::ranges::stable_sort(problems, {}, &LibraryProblem::without);
  return problems;
}

std::optional<Framework> cuda_library_of(std::string_view library, const Framework& framework,
                                         const PythonEnvironment* environment,
                                         const Knowledge& knowledge) {
  const std::string package = fmt::format("nvidia-{}", library);
  if (owns_library(framework, library) && !is_cuda_library(framework)) {
    return framework;
  }
  const int major = cuda_major_of(framework, knowledge);
  const auto is_of_major = [&](std::string_view name) {
    return name == package || name == fmt::format("{}-cu{}", package, major);
  };
  const std::string_view place = place_of(library, framework);
  if (environment != nullptr) {
    for (const Framework& other : environment->frameworks) {
      const bool is_there = place.empty() ? is_of_major(other.package) : other.folder == place;
      if (is_cuda_library(other) && is_there && owns_library(other, library)) {
        return other;
      }
    }
  }
  // Found outside of the wheels, and nothing says what is inside.
  if (!place.empty() && !place.contains("nvidia/") && !place.contains("nvidia\\")) {
    return std::nullopt;
  }
  if (environment != nullptr) {
    for (const Package& other : environment->packages) {
      const auto version = Version::parse(other.version);
      if (is_of_major(other.name)) {
        return version ? known_framework(other.name, *version, environment->system, knowledge)
                       : std::nullopt;
      }
    }
  }
  const auto built = Version::parse(framework.cudnn);
  if (library != "cudnn" || !built || built->release.size() < 3) {
    return std::nullopt;
  }
  auto known =
      known_framework(fmt::format("{}-cu{}", package, major), *built, System::Linux, knowledge);
  // Another one than it was built with may be installed.
  if (known && (framework.source.empty() ||
                std::ranges::find(framework.unverified, "cudnn") != framework.unverified.end())) {
    known->unverified.emplace_back("cudnn");
  }
  return known;
}

}  // namespace mynah::doctor
