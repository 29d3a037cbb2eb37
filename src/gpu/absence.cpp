#include "gpu/absence.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/driver_errors.h"
#include "gpu/ptx.h"

namespace mynah::gpu {
namespace {

bool has_card(const Machine& machine) {
  return !machine.pci_cards.empty() || !machine.kernel_cards.empty() || !machine.card_nodes.empty();
}

bool has_kernel_driver(const Machine& machine) {
  return !machine.kernel_driver.empty() || machine.control_node != NodeState::Missing;
}

// "the NVIDIA card at 0000:01:00.0"
std::string name_cards(const std::vector<PciCard>& cards) {
  std::vector<std::string> addresses;
  std::ranges::transform(cards, std::back_inserter(addresses), &PciCard::address);
  return fmt::format("the NVIDIA card{} at {}", addresses.size() > 1 ? "s" : "",
                     fmt::join(addresses, ", "));
}

// What to do where a container sees no card, or none of the driver's files.
constexpr std::string_view kGiveContainer =
    "start the container with the card: `docker run --gpus all` with nvidia-container-toolkit on "
    "the host, "
    "and NVIDIA_DRIVER_CAPABILITIES=compute,utility";

// Why NVIDIA's driver in the kernel does not run these cards.
Absence why_not_run(const std::vector<PciCard>& cards, const Machine& machine) {
  const auto other = std::ranges::find_if(
      cards, [](const PciCard& card) { return !card.driver.empty() && card.driver != "nvidia"; });
  if (other != cards.end() && other->driver == "vfio-pci") {
    return {.reason = fmt::format("the NVIDIA card at {} is handed to a virtual machine (vfio-pci)",
                                  other->address),
            .remedy = "use it there, or bind it to NVIDIA's driver"};
  }
  const std::string bound =
      other == cards.end() ? std::string() : fmt::format(" (the driver {} has it)", other->driver);
  if (has_kernel_driver(machine)) {
    return {.reason = fmt::format("NVIDIA's driver {} does not run {}{}", machine.kernel_driver,
                                  name_cards(cards), bound),
            .remedy =
                "`dmesg` says why (lines with NVRM): R590 and newer ignore cards older than "
                "Turing, which R580 still runs"};
  }
  return {
      .reason = fmt::format("no NVIDIA driver in the kernel runs {}{}", name_cards(cards), bound),
      .remedy = fmt::format("install NVIDIA's driver ({} or newer) and reboot",
                            driver_name(kOldestDriver))};
}

// What keeps the driver in the kernel from running a card at all. None where it runs one.
std::optional<Absence> no_card_run(const Machine& machine) {
  if (machine.wsl) {
    return std::nullopt;
  }
  if (machine.container) {
    if (has_kernel_driver(machine)) {
      return std::nullopt;
    }
    return Absence{.reason = "this container was given no NVIDIA card (there is no /dev/nvidiactl)",
                   .remedy = std::string(kGiveContainer)};
  }
  if (!has_card(machine) && !has_kernel_driver(machine)) {
    return Absence{.reason = "this machine has no NVIDIA card", .remedy = {}};
  }
  const bool runs_one =
      machine.pci_cards.empty() || !machine.kernel_cards.empty() ||
      std::ranges::find(machine.pci_cards, "nvidia", &PciCard::driver) != machine.pci_cards.end();
  return runs_one ? std::nullopt : std::optional(why_not_run(machine.pci_cards, machine));
}

std::string fault_of(NodeState state) {
  switch (state) {
    case NodeState::Missing:
      return "does not exist";
    case NodeState::NoPermission:
      return "may not be opened by this user (EACCES)";
    case NodeState::Denied:
      return "may not be opened in this container (EPERM)";
    case NodeState::Failed:
      return "cannot be opened";
    case NodeState::Usable:
      break;
  }
  return {};
}

std::string remedy_for(NodeState state, const Machine& machine) {
  switch (state) {
    case NodeState::NoPermission:
      return "give this user the right to the nodes, mostly by the group `video` or `render`, and "
             "log in "
             "again";
    case NodeState::Denied:
      return "restart the container: a reload of systemd on the host takes its rights to devices "
             "away (CDI or "
             "the cgroup driver cgroupfs prevents it)";
    default:
      return machine.container
                 ? std::string(kGiveContainer)
                 : "make the nodes: `nvidia-modprobe -u -c=0`, or run `nvidia-smi` once as root";
  }
}

// The first node of the driver that is not there or not allowed. None where all can be used.
std::optional<Absence> bad_node(const Machine& machine) {
  std::vector<CardNode> nodes = {{.path = "/dev/nvidiactl", .state = machine.control_node},
                                 {.path = "/dev/nvidia-uvm", .state = machine.uvm_node}};
  if (machine.wsl) {
    nodes = {{.path = "/dev/dxg", .state = machine.wsl_node}};
  } else if (machine.card_nodes.empty()) {
    nodes.push_back({.path = "/dev/nvidia0", .state = NodeState::Missing});
  }
  nodes.insert(nodes.end(), machine.card_nodes.begin(), machine.card_nodes.end());
  const auto bad = std::ranges::find_if(
      nodes, [](const CardNode& node) { return node.state != NodeState::Usable; });
  if (bad == nodes.end()) {
    return std::nullopt;
  }
  if (machine.wsl) {
    return Absence{
        .reason = fmt::format("{} {}", bad->path, fault_of(bad->state)),
        .remedy = "update Windows's NVIDIA driver, then run `wsl --update` and `wsl --shutdown`"};
  }
  return Absence{.reason = fmt::format("the driver's node {} {}", bad->path, fault_of(bad->state)),
                 .remedy = remedy_for(bad->state, machine)};
}

// The same with what the driver answered.
Absence with_answer(Absence absence, std::string_view answered) {
  absence.reason += fmt::format(" ({})", answered);
  return absence;
}

}  // namespace

Error Absence::error() const {
  return {.code = code, .message = remedy.empty() ? reason : fmt::format("{}; {}", reason, remedy)};
}

KnownCards known_cards(const Machine& machine) {
  KnownCards cards;
  for (const KernelCard& card : machine.kernel_cards) {
    if (!card.uuid.empty()) {
      cards.uuids.push_back(card.uuid);
    }
  }
  // A container sees the host's PCI, and its own cards under /proc alone or not at all.
  if (!machine.kernel_cards.empty()) {
    cards.count = machine.kernel_cards.size();
  } else if (!machine.card_nodes.empty()) {
    cards.count = machine.card_nodes.size();
  }
  return cards;
}

std::string explain_left_out(const Machine& machine, const std::vector<std::string>& shown) {
  std::vector<PciCard> left_out;
  std::ranges::copy_if(machine.pci_cards, std::back_inserter(left_out), [&](const PciCard& card) {
    return std::ranges::find(shown, card.address) == shown.end();
  });
  if (left_out.empty() || machine.container) {
    return {};
  }
  if (std::ranges::find(left_out, "nvidia", &PciCard::driver) == left_out.end()) {
    return why_not_run(left_out, machine).error().message;
  }
  return fmt::format("the driver shows no device of {}", name_cards(left_out));
}

Absence explain_not_shown(const PciCard& card, const Machine& machine) {
  if (card.driver != "nvidia") {
    return why_not_run({card}, machine);
  }
  return {.reason = fmt::format("the driver shows no device of {}", name_cards({card})),
          .remedy = "look into the kernel's log (`dmesg`) for lines with NVRM or Xid"};
}

Absence explain_halves(const std::string& library, const std::string& release,
                       const Machine& machine) {
  return {.reason = fmt::format("the two halves of NVIDIA's driver differ: {} is {}, the driver in "
                                "the kernel {}",
                                library, release, machine.kernel_driver),
          .remedy = machine.container ? "restart the container, and keep other versions of libcuda "
                                        "out of its image"
                                      : "reboot, as after every update of the driver"};
}

Absence explain_no_driver(const NoDriver& no_driver, const Machine& machine) {
  Absence unusable{.reason = no_driver.error.message, .remedy = {}};
  if (no_driver.reason == NoDriver::Reason::Named) {
    return unusable;
  }
  std::optional<Absence> reason = no_card_run(machine);
  if (no_driver.reason == NoDriver::Reason::Refused) {
    // The file is what the user has to know of; without a card it does not matter.
    return reason ? with_answer(*std::move(reason), no_driver.error.message) : unusable;
  }
  if (reason) {
    return *std::move(reason);
  }
  if (machine.wsl) {
    return {.reason =
                "WSL2 without libcuda.so.1: Windows's NVIDIA driver puts it into /usr/lib/wsl/lib",
            .remedy = "install or update that driver in Windows, then run `wsl --shutdown`"};
  }
  if (machine.container) {
    return {.reason = "this container has the card's nodes but no libcuda.so.1",
            .remedy = std::string(kGiveContainer)};
  }
  return {.reason =
              fmt::format("NVIDIA's driver is in the kernel{}, but libcuda.so.1 is not installed",
                          machine.kernel_driver.empty() ? "" : " (" + machine.kernel_driver + ")"),
          .remedy =
              "install the package of the driver that holds it (Debian: libcuda1, Ubuntu: "
              "libnvidia-compute), in the same version"};
}

std::optional<Absence> explain_no_sign(const Machine& machine) {
  return machine.shows_card() ? std::nullopt : no_card_run(machine);
}

Absence explain_no_device(const NoDevice& failure, const Machine& machine,
                          const VisibleDevices& visible) {
  const bool sees_none = failure.result == CUDA_SUCCESS || failure.result == CUDA_ERROR_NO_DEVICE;
  if (sees_none && visible.none()) {
    return {.reason = visible.explanation, .remedy = visible.remedy()};
  }
  const std::string answered =
      failure.result == CUDA_SUCCESS
          ? std::string("the driver lists no card")
          : fmt::format("cuInit answers {}", static_cast<int>(failure.result));
  if (!failure.driver_release.empty() && !machine.kernel_driver.empty() &&
      failure.driver_release != machine.kernel_driver &&
      failure.result != CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) {
    const Absence differ = explain_halves(failure.driver_path, failure.driver_release, machine);
    return with_answer(differ, answered);
  }
  // The others say themselves what they are about.
  if (sees_none || failure.result == CUDA_ERROR_UNKNOWN ||
      failure.result == CUDA_ERROR_NOT_INITIALIZED || failure.result == CUDA_ERROR_NOT_PERMITTED ||
      failure.result == CUDA_ERROR_OPERATING_SYSTEM) {
    if (const std::optional<Absence> reason = no_card_run(machine)) {
      return with_answer(*reason, answered);
    }
    if (const std::optional<Absence> reason = bad_node(machine)) {
      return with_answer(*reason, answered);
    }
  }
  const CUresult result = failure.result == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : failure.result;
  const DriverError error = explain(result);
  return {.reason = failure_reason(result, "starting NVIDIA's driver", failure.driver_version),
          .remedy = std::string(error.remedy),
          .code = error.code};
}

}  // namespace mynah::gpu
