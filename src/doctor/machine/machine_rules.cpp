#include "doctor/machine/machine_rules.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/characters.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

// R580 runs every card of the knowledge base from Maxwell to Blackwell: the last branch of the
// older ones, and one that the newest have (cards.json, last_driver; drivers.json).
constexpr int kBranchForAll = 580;

constexpr std::string_view kDriverCost =
    "every program and container of this machine gets that driver; wants a reboot";

// "12.0" as 1200, 0: not known.
int capability_number(const Card& card) {
  const auto version = Version::parse(card.compute_capability);
  constexpr uint64_t kMost = 1000;
  if (!version || version->release_at(0) > kMost || version->release_at(1) > kMost) {
    return 0;
  }
  return static_cast<int>((version->release_at(0) * 100) + version->release_at(1));
}

std::string_view maker_of(std::string_view vendor) {
  return vendor == "1002" ? "AMD" : vendor == "8086" ? "Intel" : "another maker";
}

// The plain answer where there is no card of NVIDIA.
void say_no_card(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  Finding finding;
  finding.subject = "cards";
  if (machine.cards.empty()) {
    finding.rule = "no card";
    finding.text = machine.wsl ? "No card of NVIDIA is known in this WSL2. Everything is computed "
                                 "on the processor unless Windows's driver shows one."
                               : "This machine has no card that programs for CUDA could use. "
                                 "Everything is computed on the processor, which works.";
  } else {
    std::vector<std::string> names;
    for (const Card& card : machine.cards) {
      names.push_back(fmt::format("{} (of {})", label_of(card), maker_of(card.vendor)));
      finding.evidence.push_back(
          {.text = fmt::format("vendor {}, driver {}", card.vendor,
                               card.kernel_driver.empty() ? "none" : card.kernel_driver),
           .where = card.pci});
    }
    finding.rule = "other maker's card";
    finding.text = fmt::format(
        "This machine has {} and no card of NVIDIA. Builds for CUDA compute on the processor here; "
        "what is wrong with CUDA's libraries does not matter.",
        fmt::join(names, " and "));
  }
  diagnosis.report.findings.push_back(std::move(finding));
}

bool is_x86(const std::vector<std::string>& flags) {
  return std::ranges::find(flags, "sse2") != flags.end();
}

void judge_processor(Diagnosis& diagnosis) {
  const auto& flags = diagnosis.facts.machine.processor_flags;
  const auto lacks = [&](std::string_view flag) {
    return std::ranges::find(flags, flag) == flags.end();
  };
  if (!is_x86(flags) || !lacks("avx2")) {
    return;
  }
  Finding finding;
  finding.rule = "old processor";
  finding.level = Level::Warning;
  finding.certainty = Certainty::Likely;
  finding.subject = "processor";
  finding.text = fmt::format(
      "The processor has no {}. Ready-made wheels are often compiled for it, and such a wheel ends "
      "with an illegal instruction, whether a card is used or not.",
      lacks("avx") ? "AVX" : "AVX2");
  finding.error = "Illegal instruction (core dumped)";
  if (const Note* const note = diagnosis.knowledge.note("llama processor")) {
    finding.evidence.push_back({.text = note->text, .where = note->source});
  }
  finding.evidence.push_back({.text = "flags without avx2", .where = "/proc/cpuinfo"});
  finding.remedies.push_back(
      {.command = {},
       .text = "Take wheels that choose by processor (PyTorch, ONNX Runtime, CTranslate2 do), or "
               "build the others here; mynah chooses, too",
       .cost = {}});
  diagnosis.report.findings.push_back(std::move(finding));
}

void judge_c_library(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  // manylinux_2_28, by which PyTorch and ONNX Runtime build (PEP 600).
  constexpr uint64_t kOldestMinor = 28;
  const auto version = Version::parse(machine.glibc);
  Finding finding;
  finding.level = Level::Warning;
  finding.subject = "C library";
  if (machine.glibc.empty()) {
    if (small_letters(machine.release).find("alpine") == std::string::npos) {
      return;
    }
    finding.rule = "musl";
    finding.certainty = Certainty::Likely;
    finding.text =
        "Alpine has musl in place of glibc. There are no wheels of PyTorch, ONNX Runtime or "
        "CTranslate2 for it, nor a driver of NVIDIA.";
    finding.error = "ERROR: No matching distribution found for torch";
    finding.remedies.push_back(
        {.command = "FROM debian:bookworm-slim", .text = "Take an image with glibc", .cost = {}});
  } else if (version && version->release_at(0) == 2 && version->release_at(1) < kOldestMinor) {
    finding.rule = "old C library";
    finding.text = fmt::format(
        "glibc {} is older than 2.28. Newer wheels are tagged manylinux_2_28: pip passes them by "
        "and takes an older version, or the sources.",
        machine.glibc);
    finding.error = "ERROR: No matching distribution found";
    finding.remedies.push_back({.command = {},
                                .text = "Use a newer system, or a container that has one",
                                .cost = "everything else on this system"});
  } else {
    return;
  }
  finding.evidence.push_back({.text = machine.release, .where = "/etc/os-release"});
  diagnosis.report.findings.push_back(std::move(finding));
}

}  // namespace

std::vector<const Card*> nvidia_cards(const Machine& machine) {
  std::vector<const Card*> cards;
  for (const Card& card : machine.cards) {
    const bool unnamed = card.vendor.empty() && !card.compute_capability.empty();
    if (card.vendor == kNvidiaVendor || unnamed ||
        (card.vendor.empty() && small_letters(card.name).find("nvidia") != std::string::npos)) {
      cards.push_back(&card);
    }
  }
  return cards;
}

std::string label_of(const Card& card) {
  if (!card.name.empty()) {
    return card.name;
  }
  return card.pci.empty() ? "a card" : fmt::format("the card at {}", card.pci);
}

Certainty certainty_of(const Source* source) {
  return source != nullptr && source->verified ? Certainty::Certain : Certainty::Likely;
}

Level fail_level(Certainty certainty) {
  return certainty == Certainty::Certain ? Level::Fail : Level::Unknown;
}

std::optional<int> branch_of(std::string_view driver) {
  int branch = 0;
  const auto [end, error] = std::from_chars(driver.data(), driver.data() + driver.size(), branch);
  const bool whole = end == driver.data() + driver.size() || *end == '.';
  return error == std::errc() && whole && branch > 0 ? std::optional(branch) : std::nullopt;
}

std::string release_in(std::string_view library) {
  constexpr std::string_view kPrefix = "libcuda.so.";
  const std::string_view name = file_name_of(library);
  // "libcuda.so.1" names the interface, "libcuda.so.1.1" is WSL2's.
  constexpr int kOldestBranch = 100;
  if (!name.starts_with(kPrefix) ||
      branch_of(name.substr(kPrefix.size())).value_or(0) < kOldestBranch) {
    return {};
  }
  return std::string(name.substr(kPrefix.size()));
}

bool wants_card(const Facts& facts) {
  const auto is_for_cuda = [](const Framework& framework) {
    return framework.cuda && !framework.cuda->empty();
  };
  const bool framework = std::ranges::any_of(facts.environments, [&](const auto& environment) {
    return std::ranges::any_of(environment.frameworks, is_for_cuda);
  });
  const bool recipe = std::ranges::any_of(facts.recipes, [](const Recipe& each) {
    return std::ranges::any_of(each.services, [](const Service& s) { return s.card == true; }) ||
           std::ranges::any_of(each.images, [](const BaseImage& i) {
             return i.image.find("nvidia/cuda") != std::string::npos;
           });
  });
  return framework || recipe;
}

Packages packages_of(const Machine& machine) {
  const std::string release = small_letters(machine.release);
  const auto names = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words,
                               [&](auto word) { return release.find(word) != release.npos; });
  };
  if (names({"ubuntu", "linux mint", "pop!_os", "zorin", "elementary"})) {
    return Packages::Ubuntu;
  }
  if (names({"debian", "raspbian", "kali", "proxmox"})) {
    return Packages::Debian;
  }
  if (names({"fedora"})) {
    return Packages::Fedora;
  }
  return names({"arch linux", "manjaro", "endeavouros"}) ? Packages::Arch : Packages::Other;
}

bool needs_open_module(const Card& card) {
  constexpr int kBlackwell = 1000;
  return capability_number(card) >= kBlackwell;
}

bool needs_closed_module(const Card& card) {
  constexpr int kTuring = 705;
  const int number = capability_number(card);
  return number > 0 && number < kTuring;
}

Remedy install_driver(const Diagnosis& diagnosis, const std::vector<const Card*>& cards) {
  const Machine& machine = diagnosis.facts.machine;
  const auto any = [&](bool (*test)(const Card&)) {
    return std::ranges::any_of(cards, [&](const Card* card) { return test(*card); });
  };
  const bool open = any(needs_open_module);
  const bool legacy = any(needs_closed_module);
  Remedy remedy{.command = {}, .text = {}, .cost = std::string(kDriverCost)};
  if (std::ranges::any_of(cards, [](const Card* c) { return c->compute_capability.empty(); })) {
    remedy.text =
        "Install the driver that NVIDIA's site names for the card (nvidia.com/drivers): "
        "old cards are run by old branches alone";
    return remedy;
  }
  const std::string which =
      open     ? fmt::format("R{} or newer, with NVIDIA's open kernel module", kBranchForAll)
      : legacy ? fmt::format("R{}, the last that runs these cards", kBranchForAll)
               : fmt::format("R{} or newer", kBranchForAll);
  if (machine.system == System::Windows || machine.wsl) {
    remedy.text = fmt::format("Install NVIDIA's driver in Windows ({})", which);
    return remedy;
  }
  remedy.text = fmt::format("Install NVIDIA's driver ({}) and reboot", which);
  switch (packages_of(machine)) {
    case Packages::Ubuntu:
      remedy.command = fmt::format("sudo apt-get install -y nvidia-driver-{}{}", kBranchForAll,
                                   legacy ? "" : "-open");
      break;
    case Packages::Debian:
      if (open) {
        remedy.command = "sudo apt-get install -y nvidia-open";
        remedy.text += "; the package is in NVIDIA's own repository for Debian";
      } else {
        remedy.command = "sudo apt-get install -y nvidia-driver";
        remedy.text = "Install Debian's driver (sections contrib and non-free) and reboot";
      }
      break;
    case Packages::Fedora:
      remedy.command = legacy
                           ? "sudo dnf install -y akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx-cuda"
                           : "sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda";
      remedy.text += "; the packages are in RPM Fusion";
      break;
    case Packages::Arch:
      if (!legacy) {
        remedy.command = "sudo pacman -S nvidia-open nvidia-utils";
      }
      break;
    case Packages::Other:
      break;
  }
  return remedy;
}

void judge_machine(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  judge_processor(diagnosis);
  judge_c_library(diagnosis);
  // Windows's card is told by the driver alone, and its library shows that there is one.
  const bool windows_has_driver = machine.wsl && !machine.driver_libraries.empty();
  if (nvidia_cards(machine).empty() && machine.driver.empty() && !windows_has_driver) {
    say_no_card(diagnosis);
    // Containers and WSL2 may have a card that they do not see.
    judge_containers(diagnosis);
    return;
  }
  judge_driver(diagnosis);
  judge_driver_files(diagnosis);
  judge_nodes(diagnosis);
  judge_containers(diagnosis);
  judge_variables(diagnosis);
  judge_kernel_log(diagnosis);
}

}  // namespace mynah::doctor
