#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/shell_word.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

constexpr std::string_view kWslFolder = "/usr/lib/wsl/";

class LibraryJudge {
 public:
  explicit LibraryJudge(Diagnosis& diagnosis)
      : diagnosis_(diagnosis), machine_(diagnosis.facts.machine) {}

  void run() {
    if (machine_.system == System::Windows) {
      return;
    }
    if (machine_.driver_libraries.empty() || machine_.driver_libraries.front().empty()) {
      judge_none();
      return;
    }
    const std::string& first = machine_.driver_libraries.front();
    if (machine_.wsl) {
      judge_wsl(first);
    } else if (std::ranges::find(machine_.compat_libraries, first) !=
               machine_.compat_libraries.end()) {
      judge_compat(first);
    } else {
      judge_halves(first);
    }
  }

 private:
  void add(Finding finding) { diagnosis_.report.findings.push_back(std::move(finding)); }

  static Finding about(std::string_view rule) {
    Finding finding;
    finding.rule = rule;
    finding.subject = "driver's libraries";
    return finding;
  }

  static std::string version_line(const std::string& path) {
    const std::string release = release_in(path);
    return release.empty() ? std::string("no release in its name") : "release " + release;
  }

  // The loader gives no libcuda.so.1.
  void judge_none() {
    const bool elsewhere = machine_.driver_libraries.size() > 1;
    const bool looked = machine_.no_driver_library || elsewhere;
    if (!looked || (machine_.driver.empty() && !machine_.wsl)) {
      return;
    }
    Finding finding = about("driver library missing");
    finding.error = "libcuda.so.1: cannot open shared object file: No such file or directory";
    if (elsewhere) {
      const std::string& path = machine_.driver_libraries[1];
      finding.level = machine_.wsl ? Level::Warning : Level::Unknown;
      finding.certainty = Certainty::Likely;
      finding.text = fmt::format(
          "libcuda.so.1 is in {}, where the loader does not look: programs that do not look there "
          "themselves find no driver.",
          folder_of(path));
      finding.evidence.push_back({.text = "not in the loader's cache", .where = path});
      finding.remedies.push_back(
          {.command = fmt::format("export LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:"
                                  "$LD_LIBRARY_PATH}}",
                                  shell_word(folder_of(path))),
           .text = "Put the folder on the loader's way",
           .cost = {}});
    } else if (machine_.wsl) {
      finding.level = Level::Unknown;
      finding.text =
          "There is no libcuda.so.1 in this WSL2. Windows's driver of NVIDIA brings it into "
          "/usr/lib/wsl/lib.";
      finding.remedies.push_back(
          {.command = "wsl --shutdown",
           .text = "In Windows: install NVIDIA's driver, then start WSL2 anew",
           .cost = "ends what runs in WSL2"});
    } else if (machine_.container.inside) {
      judge_container_without(finding);
    } else {
      finding.level = Level::Fail;
      finding.text = fmt::format(
          "NVIDIA's driver {} is in the kernel, and its other half, libcuda.so.1, is not "
          "installed: "
          "no program can use the card.",
          machine_.driver);
      finding.evidence.push_back(
          {.text = "no libcuda.so.1", .where = "/etc/ld.so.cache and the driver's usual folders"});
      add_half(finding);
    }
    add(std::move(finding));
  }

  // The nodes are there, the libraries are not.
  void judge_container_without(Finding& finding) const {
    const auto words = machine_.variables.find("NVIDIA_DRIVER_CAPABILITIES");
    const bool has_node = std::ranges::any_of(machine_.nodes, [](const Node& node) {
      return node.path.starts_with("/dev/nvidia") && node.state != "missing";
    });
    finding.level = has_node ? Level::Fail : Level::Note;
    finding.text = has_node
                       ? "This container has the card's nodes and no libcuda.so.1: it was started "
                         "without the driver's libraries for computing."
                       : "This container has no libcuda.so.1, as without a card it does not.";
    if (words != machine_.variables.end()) {
      finding.evidence.push_back(
          {.text = fmt::format("NVIDIA_DRIVER_CAPABILITIES={}", words->second),
           .where = "the environment"});
    }
    finding.remedies.push_back(
        {.command = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...",
         .text = "Start it with the driver's libraries for computing",
         .cost = {}});
  }

  // The libraries of the release that is in the kernel, and of no other: a package's newest need
  // not be that.
  void add_half(Finding& finding) const {
    const std::string& release = machine_.driver;
    Remedy remedy{.command = {},
                  .text = fmt::format("Install the libraries of that very driver ({})", release),
                  .cost = "other versions of the driver's libraries are replaced"};
    std::string list;
    switch (packages_of(machine_)) {
      case Packages::Ubuntu: {
        const std::string package =
            fmt::format("libnvidia-compute-{}", branch_of(release).value_or(0));
        remedy.command = fmt::format("sudo apt-get install -y '{}={}*'", package, release);
        list = "apt-cache madison " + package;
        break;
      }
      case Packages::Debian:
        remedy.command = fmt::format("sudo apt-get install -y 'libcuda1={}*'", release);
        list = "apt-cache madison libcuda1";
        break;
      case Packages::Fedora:
        remedy.command =
            fmt::format("sudo dnf install -y xorg-x11-drv-nvidia-cuda-libs-{}", release);
        remedy.text += "; the packages are in RPM Fusion";
        list = "dnf list --showduplicates xorg-x11-drv-nvidia-cuda-libs";
        break;
      case Packages::Arch:
        remedy.command = "sudo pacman -Syu nvidia-utils && sudo reboot";
        remedy.text = fmt::format(
            "Arch has the newest release alone, which need not be {}: bring everything to that one",
            release);
        remedy.cost = "everything on this system is upgraded";
        break;
      case Packages::Other:
        break;
    }
    finding.remedies.push_back(std::move(remedy));
    if (!list.empty()) {
      finding.remedies.push_back(
          {.command = std::move(list),
           .text = fmt::format(
               "If there is no {}, the module came in another way: see which releases there are, "
               "or run NVIDIA's own installer of {} again",
               release, release),
           .cost = {}});
    }
  }

  // The library is of one release, the module in the kernel of another.
  void judge_halves(const std::string& first) {
    const std::string release = release_in(first);
    if (release.empty() || machine_.driver.empty()) {
      return;
    }
    if (release != machine_.driver) {
      const Note* const note = diagnosis_.knowledge.note("driver halves");
      Finding finding = about("driver halves");
      finding.certainty = certainty_of(note);
      finding.level = fail_level(finding.certainty);
      finding.text = fmt::format(
          "The driver's halves are of different releases: its libraries are {}, its module in the "
          "kernel {}. No program can use the card.",
          release, machine_.driver);
      finding.error = "Failed to initialize NVML: Driver/library version mismatch";
      finding.evidence.push_back({.text = version_line(first), .where = first});
      finding.evidence.push_back({.text = fmt::format("release {}", machine_.driver),
                                  .where = "/sys/module/nvidia/version"});
      if (note != nullptr) {
        finding.evidence.push_back({.text = note->text, .where = note->source});
      }
      if (machine_.container.inside) {
        finding.remedies.push_back(
            {.command = {},
             .text =
                 "Start the container anew, and keep other versions of libcuda out of its image",
             .cost = {}});
      } else {
        finding.remedies.push_back({.command = "sudo reboot",
                                    .text = "Load the new module, as after every update",
                                    .cost = "ends every program"});
      }
      add(std::move(finding));
      return;
    }
    judge_others(release);
  }

  // Libraries of further releases lie about.
  void judge_others(const std::string& release) {
    std::vector<Evidence> others;
    for (const std::string& path : machine_.driver_libraries) {
      const std::string other = release_in(path);
      if (!other.empty() && other != release) {
        others.push_back({.text = version_line(path), .where = path});
      }
    }
    if (others.empty()) {
      return;
    }
    Finding finding = about("several driver libraries");
    finding.level = Level::Warning;
    finding.text = fmt::format(
        "Besides the driver's own libraries ({}) there are some of another release. A program that "
        "finds those gets error 999.",
        release);
    finding.error = "cuInit err: 999";
    finding.evidence = std::move(others);
    if (const KnownError* const known = diagnosis_.knowledge.error("E19")) {
      finding.certainty = certainty_of(known);
      finding.remedies = known->remedies;
    }
    add(std::move(finding));
  }

  // The loader gives the libcuda of a toolkit's compat folder.
  void judge_compat(const std::string& first) {
    const auto compat = Version::parse(release_in(first));
    const auto driver = Version::parse(machine_.driver);
    if (!compat || !driver) {
      return;
    }
    const Note* const note = diagnosis_.knowledge.note("compat");
    const std::vector<const Card*> cards = nvidia_cards(machine_);
    const auto geforce = std::ranges::find_if(
        cards, [](const Card* card) { return card->name.find("GeForce") != std::string::npos; });
    Finding finding = about("compat libcuda");
    if (*compat > *driver && geforce != cards.end()) {
      finding.certainty = certainty_of(note);
      finding.level = fail_level(finding.certainty);
      finding.card = label_of(**geforce);
    } else if (*compat > *driver) {
      finding.level = Level::Note;
    } else {
      finding.level = Level::Unknown;
      finding.certainty = Certainty::Likely;
    }
    finding.text = fmt::format(
        "The loader gives programs libcuda {} of a compat folder, and the driver is {}. {}",
        compat->text(), machine_.driver,
        *compat > *driver ? "Data-centre cards may use a newer one; GeForce cards answer error 804."
                          : "An older one than the driver's is not what that folder is for.");
    finding.error = "forward compatibility was attempted on non supported HW";
    finding.evidence.push_back({.text = "found first", .where = first});
    if (note != nullptr) {
      finding.evidence.push_back({.text = note->text, .where = note->source});
    }
    if (const KnownError* const known = diagnosis_.knowledge.error("E13")) {
      finding.remedies = known->remedies;
    }
    add(std::move(finding));
  }

  // Under WSL2 the library has to be Windows's.
  void judge_wsl(const std::string& first) {
    if (first.starts_with(kWslFolder) || release_in(first).empty()) {
      return;
    }
    const Note* const note = diagnosis_.knowledge.note("wsl driver");
    Finding finding = about("wsl driver");
    finding.certainty = certainty_of(note);
    finding.level = fail_level(finding.certainty);
    finding.text = fmt::format(
        "A Linux driver ({}) is installed inside of WSL2 and found before Windows's: it has no "
        "card.",
        release_in(first));
    finding.evidence.push_back({.text = version_line(first), .where = first});
    if (note != nullptr) {
      finding.evidence.push_back({.text = note->text, .where = note->source});
    }
    finding.remedies.push_back(
        {.command = fmt::format("sudo apt-get purge -y \"$(dpkg -S {} | cut -d: -f1)\"",
                                shell_word(first)),
         .text = "Remove the package that brought it (of Debian or Ubuntu); then, in Windows, "
                 "`wsl --shutdown`",
         .cost = "ends what runs in WSL2"});
    add(std::move(finding));
  }

  Diagnosis& diagnosis_;
  const Machine& machine_;
};

}  // namespace

void judge_driver_files(Diagnosis& diagnosis) {
  LibraryJudge(diagnosis).run();
}

}  // namespace mynah::doctor
