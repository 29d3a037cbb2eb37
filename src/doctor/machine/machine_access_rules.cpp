#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "doctor/machine/machine_rule_parts.h"
#include "doctor/shell_word.h"

namespace mynah::doctor {
namespace {

bool is_card_node(const Node& node) {
  constexpr std::string_view kPrefix = "/dev/nvidia";
  return node.path.starts_with(kPrefix) && node.path.size() > kPrefix.size() &&
         std::ranges::all_of(node.path.substr(kPrefix.size()),
                             [](char c) { return c >= '0' && c <= '9'; });
}

// The nodes that NVIDIA's driver is reached by.
bool counts(const Node& node) {
  return node.path == "/dev/dxg" || node.path == "/dev/nvidiactl" ||
         node.path == "/dev/nvidia-uvm" || is_card_node(node);
}

Finding about(const Node& node, std::string_view rule) {
  Finding finding;
  finding.rule = rule;
  finding.subject = node.path;
  finding.evidence.push_back({.text = fmt::format("state: {}, group: {}", node.state,
                                                  node.group.empty() ? "not known" : node.group),
                              .where = node.path});
  return finding;
}

Remedy let_user_in(const Node& node, const Machine& machine) {
  if (machine.container.inside) {
    return {.command = fmt::format("docker run --group-add {} ...", shell_word(node.group)),
            .text = "Give the container's user the node's group",
            .cost = {}};
  }
  if (node.group.empty() || node.group == "root" || node.group == "0") {
    return {.command = "sudo chmod a+rw /dev/nvidia*",
            .text =
                "Let everybody use the card until the next start (for good: take away what sets "
                "NVreg_DeviceFileMode in /etc/modprobe.d)",
            .cost = "every user of this machine can use the card"};
  }
  return {.command = fmt::format("sudo usermod -aG {} \"$USER\"", shell_word(node.group)),
          .text = "Take this user into the node's group, and log in again",
          .cost = {}};
}

}  // namespace

void judge_nodes(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;
  const bool a_card_is_usable = std::ranges::any_of(
      machine.nodes, [](const Node& node) { return is_card_node(node) && node.state == "usable"; });
  for (const Node& node : machine.nodes) {
    if (!counts(node) || node.state == "usable") {
      continue;
    }
    Finding finding;
    if (node.state == "no permission") {
      finding = about(node, "node permission");
      // Another card can still be used where it is one card's node.
      finding.level = is_card_node(node) && a_card_is_usable ? Level::Warning : Level::Fail;
      finding.text = fmt::format(
          "This user may not open {}, which belongs to the group {}: programs see no card.",
          node.path, node.group.empty() ? "of another user" : node.group);
      finding.error = "no CUDA-capable device is detected";
      finding.remedies.push_back(let_user_in(node, machine));
    } else if (node.state == "denied") {
      const KnownError* const known = diagnosis.knowledge.error("E22");
      finding = about(node, "node denied");
      finding.certainty = certainty_of(known);
      finding.level = fail_level(finding.certainty);
      finding.text = fmt::format(
          "The container's rules for devices do not allow {}: systemd drops them when it reloads.",
          node.path);
      finding.error = "Failed to initialize NVML: Unknown Error";
      if (known != nullptr) {
        finding.remedies = known->remedies;
      }
    } else if (node.state == "missing") {
      // Containers without nodes have a rule of their own.
      if (machine.container.inside || (machine.driver.empty() && !machine.wsl)) {
        continue;
      }
      finding = about(node, "node missing");
      finding.level = machine.wsl ? Level::Unknown : Level::Warning;
      finding.text = machine.wsl
                         ? "There is no /dev/dxg: this WSL shows no card of Windows. It may be "
                           "version 1, or Windows has no driver for it."
                         : fmt::format(
                               "{} is not there. The driver makes it when a card is first "
                               "used, where nvidia-modprobe is installed.",
                               node.path);
      finding.remedies.push_back(
          machine.wsl ? Remedy{.command = "wsl --update",
                               .text = "In Windows: install NVIDIA's driver, then update WSL2",
                               .cost = "ends what runs in WSL2"}
                      : Remedy{.command = "sudo nvidia-modprobe -u -c=0",
                               .text = "Make the nodes",
                               .cost = {}});
    } else {
      finding = about(node, "node failed");
      finding.level = Level::Unknown;
      finding.text = fmt::format("Whether {} can be opened could not be seen.", node.path);
    }
    diagnosis.report.findings.push_back(std::move(finding));
  }
}

}  // namespace mynah::doctor
