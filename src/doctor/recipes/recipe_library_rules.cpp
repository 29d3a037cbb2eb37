#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// A package and the libraries of CUDA that it opens by name once it computes on a card.
struct Opens {
  std::string package;
  std::string version;  // empty: the newest that comes
  int cuda_major = 0;
  int cudnn_major = 0;  // 0: none
  const Asked* asked = nullptr;
  std::string by;  // that asks for it, where nobody asks for it by its own name
};

// What lies in an image where every program finds it. None: nobody knows what the image holds.
struct Held {
  int cublas_major = 0;  // 0: none
  int cudnn_major = 0;
};

constexpr int kAnyMajor = -1;  // it is there, and of which version nobody says

bool fits(int held, int wanted) {
  return wanted == 0 || held == kAnyMajor || held == wanted;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
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
  if (contains(tag, "-base")) {
    return Held();
  }
  if (!contains(tag, "-runtime") && !contains(tag, "-devel")) {
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
      if (contains(package, "cudnn")) {
        held.cudnn_major = package.starts_with("libcudnn8")   ? 8
                           : package.starts_with("libcudnn9") ? 9
                                                              : kAnyMajor;
      } else if (package.starts_with("cuda") || contains(package, "cublas") ||
                 package == "nvidia-cuda-toolkit") {
        held.cublas_major = kAnyMajor;
      }
    }
    for (const Requirement& requirement : recipe->requirements) {
      if (requirement.url == "conda" && contains(requirement.name, "cud")) {
        held.cublas_major = kAnyMajor;
        held.cudnn_major = contains(requirement.name, "cudnn") ? kAnyMajor : held.cudnn_major;
      }
    }
  }
}

// Another stage or image may hand over libraries that nobody follows.
bool copies_from_elsewhere(const RecipeColumn& column) {
  return std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
    return std::ranges::any_of(recipe->images, [&](const BaseImage& image) {
      return contains(image.image, "cuda") &&
             column.image.substr(0, column.image.rfind(':')) != image.image;
    });
  });
}

std::optional<Opens> ctranslate2_of(const RecipeColumn& column, const Knowledge& knowledge) {
  const Resolved own = resolve(column, "ctranslate2");
  Opens opens{.package = "ctranslate2", .version = {}, .asked = own.by, .by = {}};
  SpecifierSet range = own.range;
  if (own.by == nullptr) {
    const Derived other = derived(column, "ctranslate2", knowledge);
    range = other.range;
    opens.asked = other.asked;
    opens.by = other.by;
    for (const std::string_view package : {"faster-whisper", "whisperx"}) {
      if (const Resolved asking = resolve(column, package);
          opens.asked == nullptr && asking.by != nullptr) {
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
  return opens;
}

std::optional<Opens> onnxruntime_of(const RecipeColumn& column, const Knowledge& knowledge) {
  const Resolved own = resolve(column, "onnxruntime-gpu");
  const auto all = stretches("onnxruntime-gpu", own.range, knowledge);
  if (own.by == nullptr || all.empty() || !own.several.empty() ||
      own.by->requirement->url == "conda") {
    return std::nullopt;
  }
  return Opens{.package = "onnxruntime-gpu",
               .version = own.version ? own.version->text() : "",
               .cuda_major = all.back().cuda_major,
               .cudnn_major = all.back().cudnn_major,
               .asked = own.by,
               .by = {}};
}

// What wheels bring: it lies in folders of their own, where the loader does not look.
Held held_by_wheels(const RecipeColumn& column, const Knowledge& knowledge) {
  Held held;
  const auto torch = torch_of(column, knowledge);
  const TorchVariant* variant = torch ? knowledge.torch_variant(*torch) : nullptr;
  if (variant != nullptr) {
    held.cublas_major = major_version(cuda_of_variant(variant->cuda));
    held.cudnn_major = major_version(variant->cudnn);
  } else if (column.asks_for("torch") && !torch) {
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
    return path != variables.end() && contains(path->second, "nvidia/");
  };
  return (column.service != nullptr && leads(column.service->variables)) ||
         std::ranges::any_of(column.recipes,
                             [&](const Recipe* recipe) { return leads(recipe->variables); });
}

// Whether the recipe itself speaks of a card.
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

std::string title(const Opens& opens) {
  return opens.version.empty() ? opens.package : opens.package + " " + opens.version;
}

std::string wanted(int cuda_major, int cudnn_major) {
  return cudnn_major == 0  ? fmt::format("cuBLAS {}", cuda_major)
         : cuda_major == 0 ? fmt::format("cuDNN {}", cudnn_major)
                           : fmt::format("cuBLAS {} and cuDNN {}", cuda_major, cudnn_major);
}

// The same image with the libraries in it. Empty: it is none of NVIDIA's, or none is known.
std::string image_with(const RecipeColumn& column, int cuda_major, int cudnn_major,
                       const Knowledge& knowledge) {
  const std::string& present = column.image_says.cuda;
  const size_t flavour = column.image.find(present) + present.size();
  const size_t system = column.image.rfind('-');
  if (present.empty() || !column.image.starts_with("nvidia/cuda:") || system < flavour) {
    return {};
  }
  std::string cuda = present;
  if (cudnn_major == 8 && cuda_major == 12) {
    cuda = "12.2.2";
  } else if (major_version(present) != cuda_major ||
             (cudnn_major == 9 &&
              *Version::parse(present) < *Version::parse(kFirstCudaOfPlainCudnn))) {
    // That of torch's build, where it is one that will do.
    const auto torch = torch_of(column, knowledge);
    const std::string build = torch ? cuda_of_variant(torch->local_text()) : "";
    const bool same = major_version(build) == cuda_major && build != "12.1";
    cuda = cuda_of_tag(same ? build : cuda_major == 12 ? "12.8" : "13.0", knowledge);
  }
  if (cuda_major != 12 && (cudnn_major == 8 || cuda_major != 13)) {
    return {};
  }
  return fmt::format("nvidia/cuda:{}{}{}{}", cuda,
                     cudnn_major == 0   ? ""
                     : cudnn_major == 8 ? "-cudnn8"
                                        : "-cudnn",
                     column.image.find("-devel") != std::string::npos ? "-devel" : "-runtime",
                     column.image.substr(system));
}

// "ENV LD_LIBRARY_PATH=..." for an image of Python, whose packages lie where its name says.
std::string path_line(const RecipeColumn& column, int cuda_major, bool cudnn,
                      const std::string& package, const Knowledge& knowledge) {
  if (!column.image.starts_with("python:") || column.python.empty()) {
    return {};
  }
  std::vector<std::string_view> names = {"cublas"};
  if (package == "onnxruntime-gpu") {
    names.insert(names.end(), {"cudart", "cufft", "curand"});
  }
  std::vector<std::string> folders;
  const auto add = [&](const Library* library) {
    if (library == nullptr || library->folder.empty()) {
      return;
    }
    const std::string folder =
        fmt::format("/usr/local/lib/python{}/site-packages/{}", column.python, library->folder);
    if (std::ranges::find(folders, folder) == folders.end()) {
      folders.push_back(folder);
    }
  };
  for (const std::string_view name : names) {
    add(knowledge.library(name, cuda_major));
  }
  if (cudnn) {
    folders.push_back(
        fmt::format("/usr/local/lib/python{}/site-packages/nvidia/cudnn/lib", column.python));
  }
  return fmt::format("ENV LD_LIBRARY_PATH={}", fmt::join(folders, ":"));
}

// What brings the wheels: extras of onnxruntime-gpu, or the wheels by their names.
std::string wheels_line(const Opens& opens) {
  const bool onnxruntime = opens.package == "onnxruntime-gpu";
  const auto version = Version::parse(opens.version);
  const bool extras = !version || onnxruntime_extras(*version) == OnnxRuntimeExtras::Bring;
  if (onnxruntime && extras) {
    return fmt::format("RUN pip install 'onnxruntime-gpu[cuda,cudnn]{}{}'",
                       opens.version.empty() ? "" : "==", opens.version);
  }
  if (opens.cuda_major != 12) {
    return {};
  }
  return fmt::format(
      "RUN pip install nvidia-cublas-cu12{}{}",
      onnxruntime ? " nvidia-cuda-runtime-cu12 nvidia-cufft-cu12 nvidia-curand-cu12" : "",
      opens.cudnn_major == 0 ? std::string()
                             : fmt::format(" 'nvidia-cudnn-cu12=={}.*'", opens.cudnn_major));
}

void add_remedies(Finding& finding, const RecipeColumn& column, const Opens& opens,
                  bool wheels_are_there, const Knowledge& knowledge) {
  const std::string image = image_with(column, opens.cuda_major, opens.cudnn_major, knowledge);
  if (!image.empty()) {
    finding.remedies.push_back(
        {.command = edit_command(image_edit(column, image, {})),
         .text = fmt::format("Begin from {} in {}", image, column.image_where),
         .cost = {}});
    return;
  }
  const std::string path =
      path_line(column, opens.cuda_major, opens.cudnn_major != 0, opens.package, knowledge);
  const std::string wheels = wheels_line(opens);
  if (wheels_are_there && !path.empty()) {
    finding.remedies.push_back({.command = path,
                                .text = fmt::format("Add this line below {}", column.image_where),
                                .cost = {}});
  } else if (!wheels.empty()) {
    finding.remedies.push_back(
        {.command = wheels,
         .text = path.empty() ? "Add this line, and name the folders of these wheels in "
                                "LD_LIBRARY_PATH"
                              : fmt::format("Add this line, and below it {}", path),
         .cost = {}});
  }
}

// What a package does not find in an image.
struct Lack {
  Opens opens;
  bool cublas = false;
  bool cudnn = false;
  bool beside = false;  // wheels bring it, into folders of their own
};

std::vector<Lack> lacks_of(const RecipeColumn& column, const Held& held,
                           const Knowledge& knowledge) {
  const Held wheels = held_by_wheels(column, knowledge);
  const bool led = leads_to_wheels(column);
  std::vector<Lack> all;
  for (const auto& opens : {ctranslate2_of(column, knowledge), onnxruntime_of(column, knowledge)}) {
    if (!opens) {
      continue;
    }
    const bool cublas_wheel = fits(wheels.cublas_major, opens->cuda_major);
    const bool cudnn_wheel = fits(wheels.cudnn_major, opens->cudnn_major);
    const bool cublas = fits(held.cublas_major, opens->cuda_major) || (led && cublas_wheel);
    const bool cudnn = fits(held.cudnn_major, opens->cudnn_major) || (led && cudnn_wheel);
    if (!cublas || !cudnn) {
      all.push_back({.opens = *opens,
                     .cublas = !cublas,
                     .cudnn = !cudnn,
                     .beside = (cublas || cublas_wheel) && (cudnn || cudnn_wheel)});
    }
  }
  return all;
}

std::string text_of(const Lack& lack, const std::string& image) {
  const bool silent = lack.opens.package == "onnxruntime-gpu";
  const std::string missing =
      wanted(lack.cublas ? lack.opens.cuda_major : 0, lack.cudnn ? lack.opens.cudnn_major : 0);
  return lack.beside
             ? fmt::format(
                   "{} looks for {} where the loader does; here only wheels bring that, in "
                   "folders of their own: it is found where torch is imported first{}, or "
                   "LD_LIBRARY_PATH names them.",
                   title(lack.opens), missing, silent ? " or preload_dlls() called" : "")
             : fmt::format("On a card {} wants {}, and neither {} nor a line here brings that: {}.",
                           title(lack.opens), missing, image,
                           silent ? "sessions compute on the processor, with a line in the log"
                                  : "it stops at the first call");
}

std::string error_of(const Lack& lack) {
  if (lack.opens.package == "onnxruntime-gpu") {
    return "Failed to create CUDAExecutionProvider";
  }
  return lack.cublas ? fmt::format("Library libcublas.so.{} is not found or cannot be loaded",
                                   lack.opens.cuda_major)
         : lack.opens.cudnn_major == 8
             ? std::string("Could not load library libcudnn_ops_infer.so.8")
             : fmt::format("Unable to load any of {{libcudnn_ops.so.{}}}", lack.opens.cudnn_major);
}

Level level_of(const Lack& lack, bool for_card, bool card_here) {
  if (!for_card) {
    return lack.beside || !card_here ? Level::Note : Level::Unknown;
  }
  return lack.beside ? Level::Unknown : Level::Warning;
}

}  // namespace

void judge_image_libraries(Diagnosis& diagnosis, const RecipeColumn& column) {
  const Knowledge& knowledge = diagnosis.knowledge;
  auto held = held_by_image(column);
  const Resolved torch = resolve(column, "torch");
  const bool for_processor = torch.version && torch.version->local_text() == "cpu";
  if (!held || copies_from_elsewhere(column) || for_processor) {
    return;
  }
  add_system_packages(column, *held);
  const std::vector<Lack> all = lacks_of(column, *held, knowledge);
  if (all.empty()) {
    return;
  }
  const bool for_card = speaks_of_card(column);
  const bool card_here = std::ranges::any_of(
      diagnosis.facts.machine.cards, [](const Card& card) { return card.vendor == "10de"; });
  Finding& finding = add_finding(diagnosis, "image lacks libraries", Level::Note, Certainty::Likely,
                                 column.name, "");
  finding.evidence.push_back({column.image, column.image_where});
  finding.error = error_of(all.front());
  for (const Lack& lack : all) {
    finding.level = std::max(finding.level, level_of(lack, for_card, card_here));
    finding.text += (finding.text.empty() ? "" : " ") + text_of(lack, column.image);
    finding.evidence.push_back(evidence_of(*lack.opens.asked));
  }
  for (const Lack& lack : all) {
    const bool silent = lack.opens.package == "onnxruntime-gpu";
    if (const Note* note =
            knowledge.note(silent ? "onnxruntime loader" : "ctranslate2 opens cublas")) {
      finding.evidence.push_back({note->text, note->source});
    }
  }
  // What serves the one that wants more serves the other, too, if both are of one CUDA.
  const Lack& more = all.back();
  Opens opens = more.opens;
  const bool beside = std::ranges::all_of(all, &Lack::beside);
  if (all.front().opens.cuda_major == opens.cuda_major) {
    opens.cudnn_major = std::max(opens.cudnn_major, all.front().opens.cudnn_major);
  } else {
    add_remedies(finding, column, all.front().opens, all.front().beside, knowledge);
  }
  add_remedies(finding, column, opens, beside, knowledge);
}

}  // namespace mynah::doctor
