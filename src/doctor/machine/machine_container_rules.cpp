#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "doctor/machine/machine_rule_parts.h"

namespace mynah::doctor {
namespace {

std::string container_variable(const Machine& machine, std::string_view name) {
  const auto found = machine.variables.find(std::string(name));
  return found == machine.variables.end() ? std::string() : found->second;
}

bool has_node(const Machine& machine) {
  return std::ranges::any_of(machine.nodes, [](const Node& node) {
    return node.path.starts_with("/dev/nvidia") && node.state != "missing";
  });
}

Remedy start_with_cards() {
  return {.command = "docker run --gpus all ...",
          .text =
              "Start the container with the card; in a compose file: deploy.resources."
              "reservations.devices with driver nvidia, count all, capabilities [gpu]",
          .cost = {}};
}

Remedy install_toolkit(const Machine& machine) {
  constexpr std::string_view kRegister =
      "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker";
  Remedy remedy{.command = {},
                .text =
                    "Install nvidia-container-toolkit (from NVIDIA's repository), register it "
                    "and restart Docker",
                .cost = "restarts every container"};
  switch (packages_of(machine)) {
    case Packages::Debian:
    case Packages::Ubuntu:
      remedy.command =
          fmt::format("sudo apt-get install -y nvidia-container-toolkit && {}", kRegister);
      break;
    case Packages::Fedora:
      remedy.command = fmt::format("sudo dnf install -y nvidia-container-toolkit && {}", kRegister);
      break;
    case Packages::Arch:
      remedy.command = fmt::format("sudo pacman -S nvidia-container-toolkit && {}", kRegister);
      break;
    case Packages::Other:
      break;
  }
  return remedy;
}

void judge_inside(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  if (has_node(machine) || machine.wsl) {
    return;
  }
  const std::string shown = container_variable(machine, "NVIDIA_VISIBLE_DEVICES");
  const bool hidden = shown == "none" || shown == "void";
  const bool wanted = wants_card(diagnosis.facts) || (!shown.empty() && !hidden);
  const bool host_has = !nvidia_cards(machine).empty() || !machine.driver.empty();
  if (!host_has && !wanted) {
    return;
  }
  Finding finding;
  finding.rule = "container without card";
  finding.subject = "container";
  finding.evidence.push_back({.text = "no /dev/nvidiactl", .where = "/dev"});
  if (!shown.empty()) {
    finding.evidence.push_back(
        {.text = fmt::format("NVIDIA_VISIBLE_DEVICES={}", shown), .where = "the environment"});
  }
  if (!host_has) {
    finding.level = Level::Unknown;
    finding.text =
        "This container has no card. Whether its host has one cannot be seen from here; "
        "NVIDIA_VISIBLE_DEVICES is mostly the image's own and gives nothing by itself.";
  } else {
    finding.level = wanted && !hidden ? Level::Fail : Level::Warning;
    finding.text = hidden ? fmt::format(
                                "The host has a card, and NVIDIA_VISIBLE_DEVICES={} keeps it from "
                                "this container: programs compute on the processor.",
                                shown)
                          : "The host has a card, and this container was not given it: "
                            "torch.cuda.is_available() is False, and programs compute on the "
                            "processor or stop.";
  }
  finding.error = "torch.cuda.is_available() is False";
  finding.remedies.push_back(start_with_cards());
  diagnosis.report.findings.push_back(std::move(finding));
}

void judge_host(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  const Container& container = machine.container;
  if (!container.docker || machine.system != System::Linux) {
    return;
  }
  // A recipe that reserves a card says that containers are to have one.
  const bool reserved = std::ranges::any_of(diagnosis.facts.recipes, [](const Recipe& recipe) {
    return std::ranges::any_of(recipe.services, [](const Service& s) { return s.card == true; });
  });
  const std::optional<bool> gives_cards = container.gives_cards();
  // Of a snap it is said below that it may not.
  const bool unsaid = !gives_cards && reserved && !container.docker_snap;
  if (gives_cards == false || unsaid) {
    const KnownError* const known = diagnosis.knowledge.error("E20");
    Finding finding;
    finding.rule = "container toolkit";
    finding.subject = "Docker";
    finding.certainty = unsaid ? Certainty::Likely : certainty_of(known);
    finding.level = wants_card(diagnosis.facts) ? Level::Warning : Level::Note;
    if (reserved) {
      finding.level = unsaid ? Level::Unknown : fail_level(finding.certainty);
    }
    finding.text =
        unsaid ? "Docker is installed, and whether NVIDIA's container toolkit is was not told: "
                 "without it Docker cannot give cards to containers."
               : "Docker is installed and NVIDIA's container toolkit is not: Docker cannot give "
                 "cards to containers.";
    finding.error = "could not select device driver \"\" with capabilities: [[gpu]]";
    finding.evidence.push_back(
        unsaid ? Evidence{.text = "no word of toolkit, cdi or a runtime nvidia",
                          .where = "machine.container of the facts"}
               : Evidence{
                     .text =
                         "no runtime nvidia, no nvidia-ctk, no CDI specification of nvidia.com/gpu",
                     .where = "/etc/docker/daemon.json, /usr/bin, /etc/cdi"});
    finding.remedies.push_back(install_toolkit(machine));
    if (unsaid) {
      finding.remedies.back().text += ", where it is not there yet";
    }
    diagnosis.report.findings.push_back(std::move(finding));
  }
  if (container.docker_snap) {
    Finding finding;
    finding.rule = "docker snap";
    finding.level = Level::Unknown;
    finding.certainty = Certainty::Likely;
    finding.subject = "Docker";
    finding.text =
        "Docker is installed as a snap, whose confinement is known to keep the driver's files from "
        "containers.";
    finding.error = "could not select device driver \"\" with capabilities: [[gpu]]";
    finding.evidence.push_back({.text = "docker is a snap",
                                .where = "https://github.com/NVIDIA/nvidia-docker/issues/1642"});
    finding.remedies.push_back(
        {.command = "sudo snap remove docker && sudo apt-get install -y docker.io",
         .text = "Where containers get no card: take the distribution's Docker",
         .cost = "the snap's images and containers are lost"});
    diagnosis.report.findings.push_back(std::move(finding));
  }
}

}  // namespace

void judge_containers(Diagnosis& diagnosis) {
  if (diagnosis.facts.machine.container.inside) {
    judge_inside(diagnosis);
  } else if (!nvidia_cards(diagnosis.facts.machine).empty()) {
    judge_host(diagnosis);
  }
}

}  // namespace mynah::doctor
