#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/verdicts/dropped_card.h"

namespace mynah::doctor {
namespace {

// The line of the kernel's log that holds a text, as evidence; none: empty.
std::vector<Evidence> logged(const Machine& machine, std::string_view text) {
  for (const std::string& line : machine.kernel_log) {
    if (line.find(text) != std::string::npos) {
      return {{.text = line, .where = "the kernel's log"}};
    }
  }
  return {};
}

class DriverJudge {
 public:
  explicit DriverJudge(Diagnosis& diagnosis)
      : diagnosis_(diagnosis), machine_(diagnosis.facts.machine), cards_(nvidia_cards(machine_)) {}

  void run() {
    judge_modules_together();
    for (const Card* const card : cards_) {
      if (!card->slice) {
        judge_card(*card);
      }
      judge_division(*card);
    }
    judge_sleep();
  }

 private:
  void add(Finding finding) { diagnosis_.report.findings.push_back(std::move(finding)); }

  static Finding about(const Card& card, std::string_view rule) {
    Finding finding;
    finding.rule = rule;
    finding.subject = "driver";
    finding.card = label_of(card);
    return finding;
  }

  // Whether the kernel's drivers of a card can be seen from here: not inside of a container, where
  // cards are the host's affair, nor under WSL2, on Windows, on a system on a chip.
  [[nodiscard]] bool sees_kernel(const Card& card) const {
    return runs_own_kernel() && !card.pci.empty();
  }

  [[nodiscard]] bool runs_own_kernel() const {
    return machine_.system == System::Linux && !machine_.wsl && !machine_.container.inside;
  }

  void judge_card(const Card& card) {
    // That a driver is too old for a card says why it does not have it.
    if (judge_dropped(card) || judge_closed(card) || judge_other_driver(card) || judge_age(card) ||
        judge_missing(card)) {
      return;
    }
    say_works(card);
  }

  // The driver is newer than the last that runs the card.
  bool judge_dropped(const Card& card) {
    const auto dropped = dropped_card(card, machine_, diagnosis_.knowledge);
    if (!dropped) {
      return false;
    }
    const Architecture& architecture = *dropped->architecture;
    Finding finding = about(card, "driver dropped card");
    finding.certainty = dropped->certainty;
    finding.level = fail_level(finding.certainty);
    finding.text = fmt::format(
        "Driver {} ignores {} ({}, {}): branch {} is the last that runs such cards. No program can "
        "use it.",
        machine_.driver, label_of(card), architecture.name, architecture.compute_capability,
        dropped->last_branch);
    finding.error = "NVRM: No NVIDIA GPU found.";
    finding.evidence = logged(machine_, "will ignore this GPU");
    finding.evidence.push_back(
        {.text = fmt::format("last driver of {}: {}", architecture.compute_capability,
                             dropped->last_branch),
         .where = architecture.last_driver->source});
    finding.remedies.push_back(install_driver(diagnosis_, cards_));
    add(std::move(finding));
    return true;
  }

  // NVIDIA's closed module, and a card that only the open one runs.
  bool judge_closed(const Card& card) {
    // Which module there is was seen or told: the card's place on the bus adds nothing to that.
    if (!machine_.closed_kernel_module || !needs_open_module(card) || !runs_own_kernel()) {
      return false;
    }
    const Note* const note = diagnosis_.knowledge.note("open kernel module");
    const auto evidence = logged(machine_, "NVIDIA open kernel modules");
    const bool in_note = small_letters(card.name).find("geforce rtx 50") != std::string::npos;
    Finding finding = about(card, "closed kernel module");
    finding.certainty = in_note || !evidence.empty() ? certainty_of(note) : Certainty::Likely;
    finding.level = fail_level(finding.certainty);
    finding.text = fmt::format(
        "The kernel has NVIDIA's closed module, and {} is run by the open one alone: nvidia-smi "
        "says \"No devices were found\".",
        label_of(card));
    finding.error =
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.";
    finding.evidence = evidence;
    finding.evidence.push_back(
        {.text = "not the Open Kernel Module", .where = "/proc/driver/nvidia/version"});
    if (note != nullptr) {
      finding.evidence.push_back({.text = note->text, .where = note->source});
    }
    finding.remedies.push_back(install_driver(diagnosis_, cards_));
    add(std::move(finding));
    return true;
  }

  // A card that nobody knows may be too old for any driver that computes.
  static Level fail_if_known(const Card& card) {
    return card.compute_capability.empty() ? Level::Unknown : Level::Fail;
  }

  // Has the firmware trust the key that signs the module, where this system keeps it.
  [[nodiscard]] Remedy trust_module() const {
    Remedy remedy{.command = {},
                  .text =
                      "Have the firmware trust the key that signs the module, and confirm it at "
                      "the next start; or turn Secure Boot off",
                  .cost = "wants a reboot"};
    switch (packages_of(machine_)) {
      case Packages::Ubuntu:
        remedy.command = "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der";
        break;
      case Packages::Debian:
        remedy.command = "sudo mokutil --import /var/lib/dkms/mok.pub";
        break;
      case Packages::Fedora:
        remedy.command = "sudo mokutil --import /etc/pki/akmods/certs/public_key.der";
        break;
      case Packages::Arch:
      case Packages::Other:
        break;
    }
    return remedy;
  }

  // nouveau, or a virtual machine, has the card.
  bool judge_other_driver(const Card& card) {
    if (!sees_kernel(card) || card.kernel_driver.empty() || card.kernel_driver == "nvidia") {
      return false;
    }
    Finding finding = about(card, card.kernel_driver == "vfio-pci" ? "card of a virtual machine"
                                                                   : "other kernel driver");
    finding.evidence.push_back({.text = fmt::format("driver: {}", card.kernel_driver),
                                .where = fmt::format("/sys/bus/pci/devices/{}/driver", card.pci)});
    if (card.kernel_driver == "vfio-pci") {
      finding.level = Level::Note;
      finding.text = fmt::format(
          "{} is handed to a virtual machine (vfio-pci): it can be used there, not here.",
          label_of(card));
    } else if (card.kernel_driver == "nouveau" || card.kernel_driver == "nova_core") {
      finding.level = fail_if_known(card);
      finding.text = fmt::format(
          "{} is run by the kernel's own driver {}, with which CUDA cannot work: programs compute "
          "on the processor or stop.",
          label_of(card), card.kernel_driver);
      finding.remedies.push_back(install_driver(diagnosis_, cards_));
    } else {
      finding.level = Level::Unknown;
      finding.text = fmt::format("{} is held by the driver {}, not by NVIDIA's.", label_of(card),
                                 card.kernel_driver);
    }
    add(std::move(finding));
    return true;
  }

  // No driver has the card.
  bool judge_missing(const Card& card) {
    if (!sees_kernel(card) || !card.kernel_driver.empty()) {
      return false;
    }
    if (!machine_.driver.empty()) {
      Finding finding = about(card, "card without driver");
      finding.level = Level::Unknown;
      finding.text = fmt::format(
          "NVIDIA's driver {} is loaded and does not have {}. The kernel's log says why.",
          machine_.driver, label_of(card));
      finding.evidence = logged(machine_, "NVRM: ");
      finding.remedies.push_back({.command = "sudo dmesg | grep -E 'NVRM|nvidia'",
                                  .text = "Look for the reason",
                                  .cost = {}});
      add(std::move(finding));
      return true;
    }
    Finding finding = about(card, "driver missing");
    finding.level = fail_if_known(card);
    finding.evidence.push_back(
        {.text = "no driver", .where = fmt::format("/sys/bus/pci/devices/{}/driver", card.pci)});
    const auto rejected = logged(machine_, " is rejected");
    if (!rejected.empty()) {
      finding.text = fmt::format(
          "The kernel refused NVIDIA's module, which has no signature that it trusts (Secure "
          "Boot): "
          "no program can use {}.",
          label_of(card));
      finding.evidence.insert(finding.evidence.begin(), rejected.begin(), rejected.end());
      finding.remedies.push_back(trust_module());
    } else if (!machine_.driver_libraries.empty()) {
      finding.text = fmt::format(
          "The driver's libraries are installed, but its module is not in the kernel: no program "
          "can use {}. Mostly it was not built for this kernel ({}).",
          label_of(card), machine_.kernel.empty() ? "not known" : machine_.kernel);
      finding.error =
          "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.";
      finding.remedies.push_back({.command = "sudo modprobe nvidia && dkms status",
                                  .text = "Load it, and see whether it was built",
                                  .cost = {}});
      finding.remedies.push_back(install_driver(diagnosis_, cards_));
    } else {
      finding.text = fmt::format("No driver runs {}: programs compute on the processor or stop.",
                                 label_of(card));
      finding.remedies.push_back(install_driver(diagnosis_, cards_));
    }
    add(std::move(finding));
    return true;
  }

  // The driver is older than the first that runs the card.
  bool judge_age(const Card& card) {
    const Architecture* const architecture =
        diagnosis_.knowledge.architecture(card.compute_capability);
    const auto branch = branch_of(machine_.driver);
    const auto first = architecture != nullptr && architecture->first_driver
                           ? branch_of(architecture->first_driver->value)
                           : std::nullopt;
    if (!branch || !first || *branch >= *first) {
      return false;
    }
    Finding finding = about(card, "driver too old");
    finding.certainty = certainty_of(&*architecture->first_driver);
    finding.level = fail_level(finding.certainty);
    finding.text = fmt::format("Driver {} is older than {}; such cards are run from branch {} on.",
                               machine_.driver, label_of(card), *first);
    finding.evidence.push_back(
        {.text = fmt::format("first driver of {}: {}", card.compute_capability, *first),
         .where = architecture->first_driver->source});
    finding.remedies.push_back(install_driver(diagnosis_, cards_));
    add(std::move(finding));
    return true;
  }

  void say_works(const Card& card) {
    if (machine_.driver.empty()) {
      return;
    }
    Finding finding = about(card, "driver");
    finding.level = Level::Good;
    const DriverBranch* const branch = diagnosis_.knowledge.branch(machine_.driver);
    finding.text = fmt::format("Driver {} is there for {}{}.", machine_.driver, label_of(card),
                               branch == nullptr
                                   ? std::string()
                                   : fmt::format("; it is made for CUDA up to {}", branch->cuda));
    add(std::move(finding));
  }

  // Cards of which one needs the open module and another the closed one.
  void judge_modules_together() {
    const auto find = [&](bool (*test)(const Card&)) {
      return std::ranges::find_if(cards_, [&](const Card* card) { return test(*card); });
    };
    const auto open = find(needs_open_module);
    const auto closed = find(needs_closed_module);
    if (open == cards_.end() || closed == cards_.end() || machine_.system != System::Linux) {
      return;
    }
    Finding finding;
    finding.rule = "one driver for all cards";
    finding.level = Level::Warning;
    finding.certainty = Certainty::Likely;
    finding.subject = "driver";
    finding.text = fmt::format(
        "{} is run by NVIDIA's open kernel module alone, and {} by the closed one alone: one "
        "system "
        "cannot use both at a time.",
        label_of(**open), label_of(**closed));
    finding.remedies.push_back(
        {.command = {},
         .text = "Hand one of them to a virtual machine (vfio-pci), or put it into another machine",
         .cost = {}});
    add(std::move(finding));
  }

  void judge_division(const Card& card) {
    const bool has_slice = !machine_.mig_instances.empty() ||
                           std::ranges::any_of(cards_, [](const Card* c) { return c->slice; });
    if (!card.divided || has_slice) {
      return;
    }
    const Note* const note = diagnosis_.knowledge.note("mig instances");
    Finding finding = about(card, "no slice of a divided card");
    finding.subject = "Multi-Instance GPU";
    finding.certainty = certainty_of(note);
    finding.level = fail_level(finding.certainty);
    finding.text = fmt::format(
        "Multi-Instance GPU is on for {}, and it has no instance: CUDA shows no device of it.",
        label_of(card));
    finding.error = "No CUDA GPUs are available";
    if (note != nullptr) {
      finding.evidence.push_back({.text = note->text, .where = note->source});
    }
    finding.remedies.push_back(
        {.command = "sudo nvidia-smi mig -cgi 0 -C",
         .text = "Make one instance of the whole card (`nvidia-smi mig -lgip` lists the sizes)",
         .cost = {}});
    finding.remedies.push_back({.command = "sudo nvidia-smi -mig 0",
                                .text = "Or turn it off, and use the card whole",
                                .cost = "resets the card: nobody may be using it"});
    add(std::move(finding));
  }

  void judge_sleep() {
    if (machine_.slept != true || machine_.keeps_memory_asleep == true || machine_.driver.empty()) {
      return;
    }
    const Note* const note = diagnosis_.knowledge.note("suspend");
    Finding finding;
    finding.rule = "slept";
    finding.level = Level::Warning;
    finding.certainty = Certainty::Likely;
    finding.subject = "driver";
    finding.text =
        "The machine slept since it was started, and the driver does not keep what programs have "
        "on "
        "the card: those that ran before may fail, and new ones may be told that there is no card.";
    finding.error = "cuInit: 999 (unknown error)";
    finding.evidence.push_back(
        {.text = "at least one suspend", .where = "/sys/power/suspend_stats/success"});
    if (note != nullptr) {
      finding.evidence.push_back({.text = note->text, .where = note->source});
    }
    finding.remedies.push_back({.command = "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
                                .text = "Where CUDA says so: load that part of the driver anew",
                                .cost = "programs that use the card have to end first"});
    finding.remedies.push_back(
        {.command = "echo 'options nvidia NVreg_PreserveVideoMemoryAllocations=1' | sudo tee "
                    "/etc/modprobe.d/nvidia-sleep.conf && sudo systemctl enable nvidia-suspend "
                    "nvidia-resume nvidia-hibernate",
         .text = "For good: have the driver keep the card's memory, from the next start on",
         .cost = "a suspend writes the card's memory to the disk"});
    add(std::move(finding));
  }

  Diagnosis& diagnosis_;
  const Machine& machine_;
  std::vector<const Card*> cards_;
};

}  // namespace

void judge_driver(Diagnosis& diagnosis) {
  DriverJudge(diagnosis).run();
}

}  // namespace mynah::doctor
