#include "doctor/recipes/column_libraries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"

namespace mynah::doctor {

namespace {

// What lies in an image where every program finds it. None: nobody knows what the image holds.
struct Held {
  int cublas_major = 0;  // 0: none
  int cudnn_major = 0;
};

constexpr int kAnyMajor = -1;  // it is there, and of which version nobody says

bool fits(int held, int wanted) {
  return wanted == 0 || held == kAnyMajor || held == wanted;
}

std::optional<Held> held_by_image(const RecipeColumn& column) {
  const size_t colon = column.image.rfind(':');
  const std::string name = column.image.substr(0, colon);
  const std::string tag = colon == std::string::npos ? "" : column.image.substr(colon + 1);
  if (name == "python" || name == "debian" || name == "ubuntu") {
    return Held();
  }
  if (name != "nvidia/cuda" || column.image_says.cuda.empty()) {
    return std::nullopt;
  }
  if (tag.contains("-base")) {
    return Held();
  }
  if (!tag.contains("-runtime") && !tag.contains("-devel")) {
    return std::nullopt;
  }
  Held held{.cublas_major = major_version(column.image_says.cuda), .cudnn_major = 0};
  if (column.image_says.cudnn) {
    held.cudnn_major =
        column.image_says.cudnn_major != 0 ? column.image_says.cudnn_major : kAnyMajor;
  }
  return held;
}

// What apt and conda bring on top of it.
void add_system_packages(const RecipeColumn& column, Held& held) {
  for (const Recipe* recipe : column.recipes) {
    for (const std::string& package : recipe->system_packages) {
      if (package.contains("cudnn")) {
        held.cudnn_major = package.starts_with("libcudnn8")   ? 8
                           : package.starts_with("libcudnn9") ? 9
                                                              : kAnyMajor;
      } else if (package.starts_with("cuda") || package.contains("cublas") ||
                 package == "nvidia-cuda-toolkit") {
        held.cublas_major = kAnyMajor;
      }
    }
    for (const Requirement& requirement : recipe->requirements) {
      if (requirement.url == "conda" && requirement.name.contains("cud")) {
        held.cublas_major = kAnyMajor;
        held.cudnn_major = requirement.name.contains("cudnn") ? kAnyMajor : held.cudnn_major;
      }
    }
  }
}

// Another stage or image may hand over libraries that nobody follows.
bool copies_from_elsewhere(const RecipeColumn& column) {
  return std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
    return std::ranges::any_of(recipe->images, [&](const BaseImage& image) {
      return image.image.contains("cuda") &&
             column.image.substr(0, column.image.rfind(':')) != image.image;
    });
  });
}

std::optional<OpenedLibraries> ctranslate2_of(const RecipeColumn& column,
                                              const Knowledge& knowledge) {
  const Resolved own = resolve(column, "ctranslate2");
  OpenedLibraries opens{.package = "ctranslate2", .version = {}, .asked = own.by, .by = {}};
  SpecifierSet range = own.range;
  if (own.by == nullptr) {
    const Derived other = derived(column, "ctranslate2", knowledge);
    range = other.range;
    opens.asked = other.asked;
    opens.by = other.by;
    for (const std::string_view package : {"faster-whisper", "whisperx"}) {
      if (const Resolved asking = resolve(column, package);
          opens.asked == nullptr && asking.by != nullptr && asking.by->brings_needs()) {
        opens.asked = asking.by;
        opens.by = package;
      }
    }
  }
  const auto all = stretches("ctranslate2", range, knowledge);
  if (opens.asked == nullptr || all.empty() || !own.several.empty()) {
    return std::nullopt;
  }
  opens.version = own.version ? own.version->text() : "";
  opens.cuda_major = all.back().cuda_major;
  opens.cudnn_major = all.back().cudnn_major;
  opens.elsewhere = other_source(column, own.by, knowledge);
  return opens;
}

std::optional<OpenedLibraries> onnxruntime_of(const RecipeColumn& column,
                                              const Knowledge& knowledge) {
  const Resolved own = resolve(column, "onnxruntime-gpu");
  const auto all = stretches("onnxruntime-gpu", own.range, knowledge);
  if (own.by == nullptr || all.empty() || !own.several.empty() ||
      own.by->requirement->url == "conda") {
    return std::nullopt;
  }
  return OpenedLibraries{.package = "onnxruntime-gpu",
                         .version = own.version ? own.version->text() : "",
                         .cuda_major = all.back().cuda_major,
                         .cudnn_major = all.back().cudnn_major,
                         .asked = own.by,
                         .by = {},
                         .elsewhere = other_source(column, own.by, knowledge)};
}

// What wheels bring: it lies in folders of their own, where the loader does not look.
Held held_by_wheels(const RecipeColumn& column, const Knowledge& knowledge) {
  Held held;
  const auto torch = torch_of(column, knowledge);
  const TorchVariant* variant = torch ? knowledge.torch_variant(*torch) : nullptr;
  if (variant != nullptr) {
    held.cublas_major = major_version(cuda_of_variant(variant->cuda));
    held.cudnn_major = major_version(variant->cudnn);
  } else if (column.asks_for("torch") && !torch && !is_for_processor(column, knowledge)) {
    held = {.cublas_major = kAnyMajor, .cudnn_major = kAnyMajor};
  }
  for (const auto& [package, cuda] :
       {std::pair("nvidia-cudnn-cu11", 11), std::pair("nvidia-cudnn-cu12", 12),
        std::pair("nvidia-cudnn-cu13", 13)}) {
    if (const Resolved wheel = resolve(column, package); wheel.by != nullptr) {
      held.cublas_major = cuda;  // it asks for cuBLAS
      held.cudnn_major = wheel.version ? major_version(wheel.version->text()) : kAnyMajor;
    }
  }
  // Beside that of another CUDA version: both are there.
  const auto add_cublas = [&](int cuda) {
    held.cublas_major = held.cublas_major == 0 || held.cublas_major == cuda ? cuda : kAnyMajor;
  };
  if (column.asks_for("nvidia-cublas-cu12")) {
    add_cublas(12);
  }
  if (column.asks_for("nvidia-cublas")) {
    add_cublas(13);
  }
  if (const Resolved own = resolve(column, "onnxruntime-gpu");
      own.by != nullptr && !own.by->requirement->extras.empty()) {
    held = {.cublas_major = kAnyMajor, .cudnn_major = kAnyMajor};
  }
  return held;
}

// Whether a variable of the image leads the loader into the wheels' folders.
bool leads_to_wheels(const RecipeColumn& column) {
  const auto leads = [](const std::map<std::string, std::string>& variables) {
    const auto path = variables.find("LD_LIBRARY_PATH");
    return path != variables.end() && path->second.contains("nvidia/");
  };
  return (column.service != nullptr && leads(column.service->variables)) ||
         std::ranges::any_of(column.recipes,
                             [&](const Recipe* recipe) { return leads(recipe->variables); });
}

// The cuDNN that a column's torch stands on, of a range that of its newest. 0: none is known.
int torch_cudnn_major(const RecipeColumn& column, const Knowledge& knowledge) {
  if (const auto torch = torch_of(column, knowledge)) {
    const TorchVariant* variant = knowledge.torch_variant(*torch);
    return variant != nullptr ? major_version(variant->cudnn) : 0;
  }
  const Resolved range = resolve(column, "torch");
  const auto all =
      range.by != nullptr ? stretches("torch", range.range, knowledge) : std::vector<Stretch>();
  return all.empty() ? 0 : all.back().cudnn_major;
}

}  // namespace

std::string title_of(const OpenedLibraries& opens) {
  return opens.version.empty() ? opens.package : opens.package + " " + opens.version;
}

std::string library_words(int cuda_major, int cudnn_major) {
  return cudnn_major == 0  ? fmt::format("cuBLAS {}", cuda_major)
         : cuda_major == 0 ? fmt::format("cuDNN {}", cudnn_major)
                           : fmt::format("cuBLAS {} and cuDNN {}", cuda_major, cudnn_major);
}

std::string_view lack_words(std::string_view package) {
  return package == "onnxruntime-gpu" ? "sessions compute on the processor, with a line in the log"
                                      : "it stops at the first call";
}

std::string error_of(const LibraryLack& lack) {
  if (lack.opens.package == "onnxruntime-gpu") {
    return "Failed to create CUDAExecutionProvider";
  }
  return lack.cublas ? fmt::format("Library libcublas.so.{} is not found or cannot be loaded",
                                   lack.opens.cuda_major)
         : lack.opens.cudnn_major == 8
             ? std::string("Could not load library libcudnn_ops_infer.so.8")
             : fmt::format("Unable to load any of {{libcudnn_ops.so.{}}}", lack.opens.cudnn_major);
}

std::vector<OpenedLibraries> opened_libraries(const RecipeColumn& column,
                                              const Knowledge& knowledge) {
  std::vector<OpenedLibraries> all;
  for (auto& opens : {ctranslate2_of(column, knowledge), onnxruntime_of(column, knowledge)}) {
    if (opens) {
      all.push_back(*opens);
    }
  }
  return all;
}

bool has_nvidia_card(const Machine& machine) {
  return std::ranges::any_of(machine.cards, [](const Card& card) { return card.vendor == "10de"; });
}

bool speaks_of_card(const RecipeColumn& column) {
  const auto visible = [](const std::map<std::string, std::string>& variables) {
    return variables.contains("NVIDIA_VISIBLE_DEVICES") ||
           variables.contains("NVIDIA_DRIVER_CAPABILITIES");
  };
  const Resolved torch = resolve(column, "torch");
  const bool cuda_torch = torch.version && !cuda_of_variant(torch.version->local_text()).empty();
  const bool wheels = std::ranges::any_of(column.packages, [](const auto& package) {
    return package.first.starts_with("nvidia-") || package.first == "onnxruntime-gpu";
  });
  return cuda_torch || wheels || !column.image_says.cuda.empty() ||
         (column.service != nullptr &&
          (column.service->card == true || visible(column.service->variables))) ||
         std::ranges::any_of(column.recipes,
                             [&](const Recipe* recipe) { return visible(recipe->variables); });
}

std::vector<std::string> cuda_wheels(int cuda_major, int cudnn_major, bool onnxruntime) {
  if (cuda_major < 11 || cuda_major > 13) {
    return {};
  }
  // From CUDA 13 on their names end there, that of cuDNN does not.
  const std::string ending = cuda_major == 13 ? "" : fmt::format("-cu{}", cuda_major);
  std::vector<std::string> wheels = {"nvidia-cublas" + ending};
  if (onnxruntime) {
    for (const std::string_view name : {"cuda-runtime", "cufft", "curand"}) {
      wheels.push_back(fmt::format("nvidia-{}{}", name, ending));
    }
  }
  if (cudnn_major != 0) {
    wheels.push_back(fmt::format("nvidia-cudnn-cu{}=={}.*", cuda_major, cudnn_major));
  }
  return wheels;
}

std::vector<std::string> wheel_folders(int cuda_major, bool cudnn, bool onnxruntime,
                                       const Knowledge& knowledge) {
  std::vector<std::string_view> names = {"cublas"};
  if (onnxruntime) {
    names.insert(names.end(), {"cudart", "cufft", "curand"});
  }
  std::vector<std::string> folders;
  for (const std::string_view name : names) {
    const Library* const library = knowledge.library(name, cuda_major);
    if (library != nullptr && !library->folder.empty() &&
        std::ranges::find(folders, library->folder) == folders.end()) {
      folders.push_back(library->folder);
    }
  }
  if (cudnn) {
    folders.emplace_back("nvidia/cudnn/lib");
  }
  return folders;
}

std::string image_with(const RecipeColumn& column, int cuda_major, int cudnn_major,
                       const Knowledge& knowledge) {
  const std::string& present = column.image_says.cuda;
  const size_t flavour = column.image.find(present) + present.size();
  const size_t system = column.image.rfind('-');
  const int of_torch = torch_cudnn_major(column, knowledge);
  if (present.empty() || !column.image.starts_with("nvidia/cuda:") || system < flavour ||
      (cudnn_major != 0 && of_torch != 0 && of_torch != cudnn_major)) {
    return {};
  }
  std::string cuda = present;
  std::string behind = column.image.substr(system);
  if (cudnn_major == 8 && cuda_major == 12) {
    cuda = "12.2.2";
    behind = behind == "-ubuntu24.04" ? "-ubuntu22.04" : behind;  // which is newer than that CUDA
  } else if (cuda_major == 11 && cudnn_major != 9) {
    cuda = major_version(present) == 11 ? present : "11.8.0";
    behind = behind == "-ubuntu24.04" ? "-ubuntu22.04" : behind;
  } else if (major_version(present) != cuda_major ||
             (cudnn_major == 9 &&
              *Version::parse(present) < *Version::parse(kFirstCudaOfPlainCudnn))) {
    // That of torch's build, where it is one that will do.
    const auto torch = torch_of(column, knowledge);
    const std::string build = torch ? cuda_of_variant(torch->local_text()) : "";
    const bool same = major_version(build) == cuda_major && build != "12.1";
    cuda = cuda_of_tag(same ? build : cuda_major == 12 ? "12.8" : "13.0", knowledge);
  }
  if (cuda_major < 11 || cuda_major > 13 || (cuda_major == 11 && cudnn_major == 9) ||
      (cuda_major == 13 && cudnn_major == 8)) {
    return {};
  }
  return fmt::format("nvidia/cuda:{}{}{}{}", cuda,
                     cudnn_major == 0   ? ""
                     : cudnn_major == 8 ? "-cudnn8"
                                        : "-cudnn",
                     column.image.find("-devel") != std::string::npos ? "-devel" : "-runtime",
                     behind);
}

std::vector<LibraryLack> library_lacks(const RecipeColumn& column, const Knowledge& knowledge) {
  auto held = held_by_image(column);
  if (!held || copies_from_elsewhere(column)) {
    return {};
  }
  add_system_packages(column, *held);
  const Held wheels = held_by_wheels(column, knowledge);
  const bool led = leads_to_wheels(column);
  std::vector<LibraryLack> all;
  for (const OpenedLibraries& opens : opened_libraries(column, knowledge)) {
    const bool cublas_wheel = fits(wheels.cublas_major, opens.cuda_major);
    const bool cudnn_wheel = fits(wheels.cudnn_major, opens.cudnn_major);
    const bool cublas = fits(held->cublas_major, opens.cuda_major) || (led && cublas_wheel);
    const bool cudnn = fits(held->cudnn_major, opens.cudnn_major) || (led && cudnn_wheel);
    if (!cublas || !cudnn) {
      all.push_back({.opens = opens,
                     .cublas = !cublas,
                     .cudnn = !cudnn,
                     .beside = (cublas || cublas_wheel) && (cudnn || cudnn_wheel)});
    }
  }
  return all;
}

}  // namespace mynah::doctor
