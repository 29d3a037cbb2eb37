#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/image_system.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_said.h"
#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

// The lines that give a service its cards, as the Compose specification has them.
constexpr std::string_view kReservation =
    "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: "
    "[gpu]}]}}}";

// Packages that compute on a card, if they get one.
constexpr std::array<std::string_view, 14> kForCards = {
    "torch",        "ctranslate2", "faster-whisper", "onnxruntime-gpu",      "whisperx",
    "nemo-toolkit", "coqui-tts",   "kokoro",         "openai-whisper",       "csm-streaming",
    "vllm",         "tensorrt",    "pyannote-audio", "sentence-transformers"};

// Whether an image's name says that it is for NVIDIA's cards, of whatever CUDA:
// "llama.cpp:server-cuda", "speaches:latest-cuda-12", "kokoro-fastapi-gpu".
bool names_cuda(const std::string& image) {
  static constexpr std::array<std::string_view, 8> kOthers = {"rocm", "intel", "vulkan", "sycl",
                                                              "hip",  "musa",  "amd",    "xpu"};
  bool cuda = false;
  const std::string words = small_letters(last_name(image));
  for (const std::string_view word : name_parts(words, ":-_.")) {
    if (std::ranges::find(kOthers, word) != kOthers.end()) {
      return false;
    }
    const bool numbered = word.starts_with("cuda") &&
                          std::ranges::all_of(word.substr(4), [](char c) { return is_digit(c); });
    cuda |= numbered || word == "gpu" || word == "cublas";
  }
  return cuda;
}

std::string named_by(const std::string& image) {
  return "its image " + image;
}

// Why a service wants a card; empty: nothing says so.
std::string wants_card(const RecipeColumn& column, const Knowledge& knowledge) {
  const auto torch = torch_of(column, knowledge);
  const std::string build = torch ? torch->local_text() : "";
  const bool not_for_card =
      is_for_processor(column, knowledge) || build.starts_with("rocm") || build.starts_with("xpu");
  for (const std::string_view package : kForCards) {
    const bool names_card = package == "onnxruntime-gpu" || package == "tensorrt";
    if (not_for_card && !names_card) {
      continue;
    }
    const Resolved resolved = resolve(column, package);
    if (resolved.by != nullptr && !(resolved.version && resolved.version->local_text() == "cpu")) {
      return std::string(package);
    }
  }
  if (!column.image_says.cuda.empty()) {
    return "its image of CUDA " + column.image_says.cuda;
  }
  if (names_cuda(column.image)) {
    return named_by(column.image);
  }
  const auto visible = [](const auto& variables) {
    const auto found = variables.find("NVIDIA_VISIBLE_DEVICES");
    return found != variables.end() && found->second != "none" && found->second != "void" &&
           !found->second.empty();
  };
  if (column.service != nullptr && visible(column.service->variables)) {
    return "NVIDIA_VISIBLE_DEVICES";
  }
  return {};
}

// `behind`: words that its text ends with.
void add_toolkit_remedy(const Diagnosis& diagnosis, Finding& finding, std::string_view behind) {
  const KnownError* error = diagnosis.knowledge.error("E20");
  if (error != nullptr && !error->remedies.empty()) {
    finding.remedies.push_back(error->remedies.front());
    finding.remedies.back().text += behind;
  }
}

// A file beside it ("compose.gpu.yml") may add the card, or be the one that is meant to have it.
bool reserved_elsewhere(const RecipeColumn& column, const std::vector<RecipeColumn>& columns) {
  return std::ranges::any_of(
      columns, [&](const RecipeColumn& other) { return has_card_beside(column, other); });
}

bool host_lacks_toolkit(const Machine& machine) {
  return machine.container.docker && machine.container.gives_cards() == false;
}

void judge_unreserved(Diagnosis& diagnosis, const RecipeColumn& column, const std::string& why,
                      bool elsewhere) {
  const Machine& machine = diagnosis.facts.machine;
  const bool unseen = why == named_by(column.image);  // what is in the image is not known
  Finding& finding = add_finding(
      diagnosis, "card not reserved", elsewhere ? Level::Note : Level::Warning,
      // A default runtime of the host's could still bring the card in.
      elsewhere ? Certainty::Guess : Certainty::Likely, column.name,
      elsewhere
          ? fmt::format("The service {} reserves no card in this file; another one does.",
                        column.service->name)
          : fmt::format("The service {} reserves no card, and {} wants one: inside, {} and the "
                        "processor computes.",
                        column.service->name, why,
                        unseen ? "CUDA finds none" : "torch.cuda.is_available() is False"));
  finding.evidence.push_back(
      {fmt::format("{} has no deploy.resources.reservations.devices, no gpus and no runtime",
                   column.service->name),
       place_text(column.root->path, column.service->line)});
  if (elsewhere) {
    return;
  }
  finding.error =
      unseen ? "no CUDA-capable device is detected" : "torch.cuda.is_available() is False";
  finding.remedies.push_back({.command = std::string(kReservation),
                              .text = fmt::format("Add this line to the service {} in {}",
                                                  column.service->name, column.root->path),
                              .cost = {}});
  if (!machine.container.toolkit.value_or(false)) {
    const bool lacks = host_lacks_toolkit(machine);
    add_toolkit_remedy(diagnosis, finding, lacks ? "" : ", where the host does not have it");
    if (lacks) {
      finding.evidence.push_back(
          {"Docker is here, and neither the NVIDIA container toolkit nor a CDI specification", ""});
    }
  }
}

void judge_reserved(Diagnosis& diagnosis, const RecipeColumn& column) {
  const Machine& machine = diagnosis.facts.machine;
  if (!host_lacks_toolkit(machine)) {
    return;
  }
  // Under WSL Docker may be that of Windows, and without a card the recipe is for another machine.
  const bool certain = !machine.wsl && has_nvidia_card(machine);
  const KnownError* error = diagnosis.knowledge.error("E21");
  Finding& finding = add_finding(
      diagnosis, "container toolkit", certain ? Level::Fail : Level::Unknown,
      certain ? Certainty::Certain : Certainty::Likely, column.name,
      fmt::format(
          "The service {} reserves a card, and Docker cannot give one out here: neither the "
          "NVIDIA container toolkit nor a CDI specification is installed.",
          column.service->name));
  finding.error = "could not select device driver \"nvidia\" with capabilities: [[gpu]]";
  finding.evidence.push_back(
      {"it reserves a card", place_text(column.root->path, column.service->line)});
  if (error != nullptr) {
    finding.evidence.push_back({error->cause, error->source});
  }
  add_toolkit_remedy(diagnosis, finding, {});
}

// What is wrong with a device that a service reserves, in words.
struct FaultWords {
  std::string clause;  // behind "The service asr "
  std::string error;
  RemedyStep mends;
  bool certain = true;
};

FaultWords words_of(const DeviceFault& fault, const std::string& where) {
  if (fault.what == "count and device_ids") {
    return {.clause =
                "reserves devices by a number and by their ids, of which Docker Compose "
                "takes one",
            .error = "\"count\" and \"device_ids\" attributes are exclusive",
            .mends = {
                .command = "",
                .text = fmt::format("Leave out count at {}: device_ids says which cards", where)}};
  }
  return {.clause = "reserves a device without saying what it is to be capable of",
          .error = "capabilities is required",
          .mends = {.command = "capabilities: [gpu]",
                    .text = fmt::format("Add this line to the device at {}", where)},
          // Newer releases of Compose take a driver in place of capabilities.
          .certain = fault.what != "a driver and no capabilities"};
}

// What Docker Compose refuses, before anything is started: all that is wrong with a device at once.
void judge_device_faults(Diagnosis& diagnosis, const RecipeColumn& column) {
  std::map<uint64_t, std::vector<const DeviceFault*>> devices;
  for (const DeviceFault& fault : column.service->device_faults) {
    devices[fault.line].push_back(&fault);
  }
  for (const auto& [line, faults] : devices) {
    const std::string where = place_text(column.root->path, line);
    std::vector<std::string> clauses;
    std::vector<RemedyStep> steps;
    bool certain = false;
    std::string error;
    for (const DeviceFault* fault : faults) {
      FaultWords words = words_of(*fault, where);
      error = certain || (!words.certain && !error.empty()) ? error : words.error;
      certain |= words.certain;
      clauses.push_back(std::move(words.clause));
      steps.push_back(std::move(words.mends));
    }
    Finding& finding = add_finding(
        diagnosis, "compose refuses devices", failing(certain), sure(certain), column.name,
        fmt::format("The service {} {}: Docker Compose {}does not start.", column.service->name,
                    fmt::join(clauses, ", and "), certain ? "" : "of older releases "));
    for (const DeviceFault* fault : faults) {
      finding.evidence.push_back({fault->what, where});
    }
    if (const Note* note = diagnosis.knowledge.note("compose devices")) {
      finding.evidence.push_back({note->text, note->source});
    }
    finding.error = std::move(error);
    if (steps.size() == 1) {
      finding.remedies.push_back(
          {.command = steps.front().command, .text = steps.front().text, .cost = {}});
    } else {
      finding.remedies.push_back({.command = {},
                                  .text = fmt::format("All {} steps are needed:", steps.size()),
                                  .cost = {},
                                  .steps = std::move(steps)});
    }
  }
}

// NVIDIA's runtime gives out the cards that a variable names, and none where nothing does. Images
// of NVIDIA's and PyTorch's set it.
void judge_runtime(Diagnosis& diagnosis, const RecipeColumn& column) {
  const auto names = [](const auto& variables) {
    return variables.contains("NVIDIA_VISIBLE_DEVICES");
  };
  const std::string name = column.image.substr(0, column.image.find(':'));
  const bool plain = name == "python" || name == "debian" || name == "ubuntu";
  const bool named = names(column.service->variables) || !column.root->doubts.empty() ||
                     std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
                       return names(recipe->variables);
                     });
  if (column.service->runtime.empty() || !plain || named) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "card not reserved", Level::Warning, Certainty::Likely, column.name,
      fmt::format("The service {} runs by the runtime {}, and nothing says which cards it gets "
                  "(NVIDIA_VISIBLE_DEVICES): it gets none, and the processor computes.",
                  column.service->name, column.service->runtime));
  finding.error = "torch.cuda.is_available() is False";
  finding.evidence.push_back({"it has a runtime, and its image sets no such variable",
                              place_text(column.root->path, column.service->line)});
  if (const Note* note = diagnosis.knowledge.note("visible devices")) {
    finding.evidence.push_back({note->text, note->source});
  }
  finding.remedies.push_back(
      {.command = "NVIDIA_VISIBLE_DEVICES: all",
       .text = fmt::format("Add this line to the environment of the service {} in {}, or in a list "
                           "NVIDIA_VISIBLE_DEVICES=all",
                           column.service->name, column.root->path),
       .cost = {}});
}

// The image's CUDA against the wheels': it is not theirs, which many take it for.
void judge_image_cuda(Diagnosis& diagnosis, const RecipeColumn& column) {
  const std::string& image = column.image_says.cuda;
  const auto torch = torch_of(column, diagnosis.knowledge);
  const std::string wheel = torch ? cuda_of_variant(torch->local_text()) : "";
  if (wheel.empty() || image.empty() || cuda_number(wheel) == cuda_number(image)) {
    return;
  }
  const Resolved resolved = resolve(column, "torch");
  Finding& finding = add_finding(
      diagnosis, "image is not the wheel", Level::Note, Certainty::Certain,
      fmt::format("torch {} in {}", torch->text(), column.name),
      fmt::format("The image's CUDA {} is not the wheel's: torch {} brings its own CUDA {}, and "
                  "what it can run on follows from that alone.",
                  image, torch->text(), wheel));
  finding.evidence.push_back({column.image, column.image_where});
  if (resolved.by != nullptr) {
    finding.evidence.push_back(evidence_of(*resolved.by));
  }
  if (const Note* note = diagnosis.knowledge.note("base image")) {
    finding.evidence.push_back({note->text, note->source});
  }
}

// NVIDIA's images demand a driver of their own CUDA version.
void judge_image_driver(Diagnosis& diagnosis, const RecipeColumn& column,
                        const Alignment& alignment) {
  const Machine& machine = diagnosis.facts.machine;
  const DriverBranch* branch = diagnosis.knowledge.branch(machine.driver);
  const std::string& image = column.image_says.cuda;
  if (branch == nullptr || image.empty() || cuda_number(branch->cuda) >= cuda_number(image)) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "image demands a driver", Level::Unknown, Certainty::Likely, column.name,
      fmt::format("The image is of CUDA {}, and driver {} is made for {}: its NVIDIA_REQUIRE_CUDA "
                  "may refuse to start, whatever is installed inside, if it does not let in branch "
                  "{} by one of its alternatives.",
                  image, machine.driver, branch->cuda, branch->branch));
  finding.error = fmt::format("unsatisfied condition: cuda>={}", image);
  finding.evidence = {
      {column.image, column.image_where},
      {fmt::format("branch {} is made for CUDA {}", branch->branch, branch->cuda), branch->source}};
  if (const Note* note = diagnosis.knowledge.note("require cuda")) {
    finding.evidence.push_back({note->text, note->source});
  }
  for (const AlignmentEdit& edit : alignment.edits) {
    const size_t colon = std::min(edit.to.rfind(':'), edit.to.size());
    const ImageFacts after =
        image_facts(edit.to.substr(0, colon), edit.to.substr(std::min(colon + 1, edit.to.size())));
    if (edit.of_image && edit.from == column.image &&
        place_text(edit.file, edit.line) == column.image_where && !after.cuda.empty() &&
        cuda_number(branch->cuda) >= cuda_number(after.cuda)) {
      finding.remedies.push_back(remedy_of({edit}, {}));
    }
  }
  const CudaToolkit* toolkit = diagnosis.knowledge.toolkit(branch->cuda);
  if (toolkit != nullptr && toolkit->cuda.starts_with(branch->cuda)) {
    finding.remedies.push_back(
        {.command = {},
         .text = fmt::format("Take an image of CUDA {} or older, or a plain one of Python: wheels "
                             "bring their own CUDA",
                             toolkit->cuda),
         .cost = {}});
  }
}

// Compilers are in the largest flavour of images alone, and no card is there while one is built.
void judge_image_builds(Diagnosis& diagnosis, const RecipeColumn& column) {
  const bool runtime = column.image.find("-runtime") != std::string::npos ||
                       column.image.find("-base") != std::string::npos;
  for (const Recipe* recipe : column.recipes) {
    for (const std::string& command : recipe->builds) {
      const bool native = command.find("ARCHITECTURES=native") != std::string::npos;
      if (!runtime && !native) {
        continue;
      }
      Finding& finding = add_finding(
          diagnosis, native ? "build asks for a card" : "image cannot compile", Level::Unknown,
          Certainty::Likely, column.name,
          native ? "An image is built without a card, and \"native\" asks for one: say which "
                   "architectures to compile for."
                 : fmt::format("{} has no nvcc unless a line installs it, and a command compiles "
                               "device code: images whose tag says \"devel\" have it.",
                               column.image));
      finding.evidence = {{command, recipe->path}, {column.image, column.image_where}};
    }
  }
}

}  // namespace

void judge_image(Diagnosis& diagnosis, const RecipeColumn& column, const Alignment& alignment) {
  judge_image_cuda(diagnosis, column);
  judge_image_driver(diagnosis, column, alignment);
  judge_image_builds(diagnosis, column);
}

void judge_unread_image(Diagnosis& diagnosis, const RecipeColumn& column) {
  static constexpr std::array<std::string_view, 5> kPlain = {"python", "debian", "ubuntu",
                                                             "nvidia/cuda", "pytorch/pytorch"};
  const std::string name = column.image.substr(0, column.image.rfind(':'));
  const bool for_card = column.image_says.unnamed_torch ||
                        (column.service != nullptr && column.service->card == true);
  const bool judged = std::ranges::any_of(
      diagnosis.report.verdicts,
      [&](const FrameworkVerdict& verdict) { return verdict.environment == column.name; });
  if (column.image.empty() || !for_card || !has_nvidia_card(diagnosis.facts.machine) || judged ||
      !column.other_machine.empty() || std::ranges::find(kPlain, name) != kPlain.end()) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "image was not looked into", Level::Unknown, Certainty::Certain, column.name,
      fmt::format("What {} holds is written nowhere here: whether it has code for the card was not "
                  "looked at.",
                  column.image));
  finding.evidence.push_back({column.image, column.image_where});
  finding.remedies.push_back(
      {.command = fmt::format("mkdir image && docker export $(docker create {}) | tar -xC image && "
                              "mynah doctor image",
                              column.image),
       .text = "Look into it: unpack it, and have that judged",
       .cost = "the room that the image takes"});
}

void judge_service(Diagnosis& diagnosis, const RecipeColumn& column,
                   const std::vector<RecipeColumn>& columns) {
  if (column.service == nullptr || !column.service->card) {
    return;
  }
  judge_device_faults(diagnosis, column);
  if (*column.service->card) {
    judge_reserved(diagnosis, column);
    judge_runtime(diagnosis, column);
    return;
  }
  if (const std::string why = wants_card(column, diagnosis.knowledge); !why.empty()) {
    judge_unreserved(diagnosis, column, why, reserved_elsewhere(column, columns));
  }
}

}  // namespace mynah::doctor
