#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/characters.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

const std::string* variable(const Machine& machine, const std::string& name) {
  const auto found = machine.variables.find(name);
  return found == machine.variables.end() ? nullptr : &found->second;
}

void judge_visible(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  const std::string* const value = variable(machine, "CUDA_VISIBLE_DEVICES");
  if (value == nullptr) {
    return;
  }
  const gpu::KnownCards known = known_cards(machine);
  const gpu::VisibleDevices visible = gpu::read_visible_devices(*value, known);
  if (visible.explanation.empty()) {
    return;
  }
  Finding finding;
  finding.rule = "visible devices";
  finding.subject = "CUDA_VISIBLE_DEVICES";
  finding.text = fmt::format("{}.", visible.explanation);
  finding.evidence.push_back(
      {.text = fmt::format("CUDA_VISIBLE_DEVICES='{}'", *value), .where = "the environment"});
  finding.remedies.push_back({.command = "unset CUDA_VISIBLE_DEVICES",
                              .text = visible.none() ? "Show the cards again"
                                                     : "Show all cards, or name those that are "
                                                       "wanted",
                              .cost = {}});
  if (!visible.none()) {
    const bool cut_short = visible.explanation.find("shows only") != std::string::npos;
    finding.level = cut_short ? Level::Warning : Level::Note;
  } else {
    finding.level = hides_all(*value) || !known.count ? Level::Warning : Level::Fail;
    finding.error = "No CUDA GPUs are available";
  }
  diagnosis.report.findings.push_back(std::move(finding));
}

// "8.9.7" of ".../libcudnn.so.8.9.7"; none where the name has fewer than three numbers.
std::optional<Version> cudnn_version(std::string_view path) {
  constexpr std::string_view kPrefix = "libcudnn.so.";
  const std::string_view name = file_name_of(path);
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  auto version = Version::parse(name.substr(kPrefix.size()));
  constexpr size_t kNumbers = 3;
  return version && version->release.size() >= kNumbers ? std::optional(*std::move(version))
                                                        : std::nullopt;
}

// cuDNN of LD_LIBRARY_PATH that is older than what a framework was built with.
void judge_cudnn(Diagnosis& diagnosis) {
  for (const std::string& path : diagnosis.facts.machine.path_libraries) {
    const auto found = cudnn_version(path);
    if (!found) {
      continue;
    }
    for (const PythonEnvironment& environment : diagnosis.facts.environments) {
      for (const Framework& framework : environment.frameworks) {
        const auto wanted = Version::parse(framework.cudnn);
        if (!wanted || wanted->release_at(0) != found->release_at(0) || *found >= *wanted) {
          continue;
        }
        Finding finding;
        finding.rule = "library path cudnn";
        finding.level = Level::Warning;
        finding.certainty = Certainty::Likely;
        finding.subject = "LD_LIBRARY_PATH";
        finding.text = fmt::format(
            "LD_LIBRARY_PATH has cuDNN {}, older than the {} that {} {} was built with. Where it "
            "is "
            "found first, that stops.",
            found->text(), framework.cudnn, framework.name, framework.version);
        finding.error = "cuDNN version incompatibility";
        finding.evidence.push_back({.text = "in LD_LIBRARY_PATH", .where = path});
        if (const KnownError* const known = diagnosis.knowledge.error("E28")) {
          finding.evidence.push_back({.text = known->title, .where = known->source});
        }
        finding.remedies.push_back({.command = "unset LD_LIBRARY_PATH",
                                    .text = "Let each program find its own libraries",
                                    .cost = "what is started from this shell and needs the path"});
        diagnosis.report.findings.push_back(std::move(finding));
      }
    }
  }
}

// Folders of stubs, which are for linking alone.
void judge_stubs(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  const std::string* const path = variable(machine, "LD_LIBRARY_PATH");
  if (path == nullptr) {
    return;
  }
  const std::vector<std::string> folders = split_folders(*path, ":;");
  const auto stubs = std::ranges::find_if(
      folders, [](const std::string& folder) { return file_name_of(folder) == "stubs"; });
  if (stubs == folders.end()) {
    return;
  }
  const bool first = !machine.driver_libraries.empty() &&
                     file_name_of(folder_of(machine.driver_libraries.front())) == "stubs";
  Finding finding;
  finding.rule = "library path stubs";
  finding.level = first ? Level::Fail : Level::Warning;
  finding.certainty = first ? Certainty::Certain : Certainty::Likely;
  finding.subject = "LD_LIBRARY_PATH";
  finding.text =
      first ? "LD_LIBRARY_PATH gives programs a CUDA toolkit's stub in place of the driver: its "
              "functions all fail."
            : "LD_LIBRARY_PATH names a CUDA toolkit's folder of stubs, which are for linking "
              "alone: a "
              "program that opens libcuda.so gets one that computes nothing.";
  finding.error = "CUDA driver is a stub library";
  finding.evidence.push_back(
      {.text = "in LD_LIBRARY_PATH", .where = first ? machine.driver_libraries.front() : *stubs});
  finding.remedies.push_back(
      {.command = fmt::format("export LD_LIBRARY_PATH=\"$(printf %s \"$LD_LIBRARY_PATH\" | tr ':' "
                              "'\\n' | grep -v '/stubs$' | paste -sd:)\""),
       .text = "Take the folder out of it",
       .cost = {}});
  diagnosis.report.findings.push_back(std::move(finding));
}

struct Trap {
  std::string_view name;
  Level level;
  std::string_view text;
};

// NVIDIA's CUDA Programming Guide, "CUDA Environment Variables".
constexpr Trap kTraps[] = {
    {"CUDA_LAUNCH_BLOCKING", Level::Note,
     "every kernel is waited for: everything on the card is slower"},
    {"CUDA_FORCE_PTX_JIT", Level::Warning,
     "machine code in libraries is passed by: what holds no PTX for the card fails, the rest is "
     "compiled first"},
    {"CUDA_DISABLE_PTX_JIT", Level::Warning,
     "the driver compiles no PTX: what holds no machine code for the card fails"},
    {"CUDA_CACHE_DISABLE", Level::Note,
     "what the driver compiles is compiled again at every start"},
};

void judge_traps(Diagnosis& diagnosis) {
  for (const Trap& trap : kTraps) {
    const std::string* const value = variable(diagnosis.facts.machine, std::string(trap.name));
    if (value == nullptr || value->empty() || *value == "0") {
      continue;
    }
    Finding finding;
    finding.rule = "variable";
    finding.level = trap.level;
    finding.certainty = Certainty::Likely;
    finding.subject = trap.name;
    finding.text = fmt::format("{} is set: {}.", trap.name, trap.text);
    finding.evidence.push_back(
        {.text = fmt::format("{}={}", trap.name, *value), .where = "the environment"});
    finding.remedies.push_back({.command = fmt::format("unset {}", trap.name),
                                .text = "Take it away unless it was meant",
                                .cost = {}});
    diagnosis.report.findings.push_back(std::move(finding));
  }
}

}  // namespace

gpu::KnownCards known_cards(const Machine& machine) {
  gpu::KnownCards known;
  const std::vector<const Card*> cards = nvidia_cards(machine);
  const auto is_divided = [](const Card* card) { return card->slice || card->divided; };
  const auto is_elsewhere = [](const Card* card) {
    return !card->pci.empty() && card->kernel_driver != "nvidia";
  };
  if (cards.empty() || machine.container.inside || std::ranges::any_of(cards, is_divided) ||
      !machine.mig_instances.empty()) {
    return known;
  }
  // Where cards are known from the driver alone, the variable had hidden some from it already.
  const auto nodes = std::ranges::count_if(machine.nodes, [](const Node& node) {
    constexpr std::string_view kPrefix = "/dev/nvidia";
    return node.path.starts_with(kPrefix) && node.path.size() > kPrefix.size() &&
           is_digit(node.path[kPrefix.size()]);
  });
  const bool other_count = !machine.nodes.empty() && static_cast<size_t>(nodes) != cards.size();
  if (machine.wsl || other_count ||
      (machine.system == System::Linux && std::ranges::any_of(cards, is_elsewhere))) {
    return known;
  }
  known.count = cards.size();
  for (const Card* const card : cards) {
    if (!card->uuid.empty()) {
      known.uuids.push_back(card->uuid);
    }
  }
  if (known.uuids.size() != cards.size()) {
    known.uuids.clear();
  }
  return known;
}

bool hides_all(std::string_view value) {
  return value.empty() || value == "-1" || value == "NoDevFiles" || value == "none";
}

void judge_variables(Diagnosis& diagnosis) {
  judge_visible(diagnosis);
  judge_stubs(diagnosis);
  judge_cudnn(diagnosis);
  judge_traps(diagnosis);
}

}  // namespace mynah::doctor
