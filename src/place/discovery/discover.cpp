#include "place/discovery/discover.h"

#include <algorithm>
#include <expected>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "gpu/machine.h"
#include "place/discovery/device_cache.h"
#include "place/discovery/host.h"
#include "place/workers/driver_asker.h"

namespace mynah::place {
namespace {

// The first line of a small file; empty where there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// All that the driver's answer depends on, but for the file of its library, which is known when it
// was opened. Whether a card sleeps is none of it.
std::string key_of(const DiscoverySearch& search, const gpu::Machine& machine) {
  const std::string& root = search.gpus.root;
  std::string key = fmt::format("build {}\nstart {}\nsuspended {}\nkernel driver {}{}\n",
                                search.build, first_line(root + "/proc/sys/kernel/random/boot_id"),
                                first_line(root + "/sys/power/suspend_stats/success"),
                                machine.kernel_driver, machine.open_kernel_module ? " open" : "");
  const auto add = [&key](std::string_view line) { key.append(line).append("\n"); };
  for (const gpu::PciCard& card : machine.pci_cards) {
    add(fmt::format("card {} {}", card.address, card.driver));
  }
  for (const gpu::KernelCard& card : machine.kernel_cards) {
    add(fmt::format("kernel {} {}", card.address, card.uuid));
  }
  add(fmt::format("nodes {} {} {} {} {}", static_cast<int>(machine.control_node),
                  static_cast<int>(machine.uvm_node), static_cast<int>(machine.wsl_node),
                  machine.wsl, machine.container));
  for (const gpu::CardNode& node : machine.card_nodes) {
    add(fmt::format("node {} {}", node.path, static_cast<int>(node.state)));
  }
  for (const std::string& instance : machine.mig_instances) {
    add(fmt::format("slice {}", instance));
  }
  add(search.gpus.visible_devices ? "visible " + *search.gpus.visible_devices : "visible: all");
  add("named " + file_stamp(search.gpus.driver.file));
  add("loader " + file_stamp(root + "/etc/ld.so.cache"));
  add(search.variables);
  return key;
}

// The cards that the system knows to be this process's. A container sees all of the host's on PCI,
// its own under /proc where it has that.
std::vector<gpu::PciCard> own_cards(const gpu::Machine& machine) {
  std::vector<gpu::PciCard> cards;
  if (!machine.container || machine.kernel_cards.empty()) {
    cards = machine.pci_cards;
  }
  for (const gpu::KernelCard& card : machine.kernel_cards) {
    if (std::ranges::find(cards, card.address, &gpu::PciCard::address) == cards.end()) {
      cards.push_back({.address = card.address, .driver = "nvidia"});
    }
  }
  return cards;
}

bool is_asleep(const gpu::Machine& machine, const std::string& address) {
  const auto card = std::ranges::find(machine.pci_cards, address, &gpu::PciCard::address);
  return card != machine.pci_cards.end() && card->asleep;
}

// CU_DEVICE_INVALID of NVIDIA's cuda.h.
constexpr gpu::CUdevice kNoHandle = -2;

class Discoverer {
 public:
  explicit Discoverer(const DiscoverySearch& search)
      : search_(search),
        machine_(gpu::read_machine(search.gpus.root)),
        asker_(search.worker_program) {}

  Discovery run() {
    ask_driver_or_cache();
    ask_nvml();
    add_cpu();
    if (driver_) {
      for (const gpu::GpuDevice& device : driver_->devices) {
        add_device(device);
      }
    }
    add_unusable();
    found_.devices.push_back({.name = "ref", .model = "every operation in plain loops"});
    found_.devices.push_back({.name = "simt:0", .model = "a simulated card"});
    return std::move(found_);
  }

  std::vector<CardMemory> run_for_memory(const Discovery& before) {
    DriverAnswer known;
    for (const DeviceFacts& device : before.devices) {
      if (device.card && !device.name.empty() && !device.absence) {
        known.devices.push_back(device.card->device);
      }
    }
    driver_ = std::move(known);
    ask_nvml();
    std::vector<CardMemory> all;
    for (const gpu::GpuDevice& device : driver_->devices) {
      const gpu::NvmlCard* const card = nvml_card(device);
      if (const auto memory = card != nullptr ? memory_of(*card, device) : std::nullopt) {
        all.push_back({.device = name_of(device), .memory = *memory, .processes = card->processes});
      }
    }
    return all;
  }

 private:
  static std::string name_of(const gpu::GpuDevice& device) {
    return fmt::format("cuda:{}", device.index);
  }

  void ask_driver_or_cache() {
    // A process of its own, and a search for the library, take several milliseconds.
    if (auto absence = gpu::explain_no_sign(machine_);
        absence && search_.gpus.driver.file.empty()) {
      driver_ = std::unexpected(*std::move(absence));
      return;
    }
    if (!search_.cache_file.empty()) {
      if (auto kept = find_answer(search_.cache_file, key_of(search_, machine_))) {
        driver_ = *std::move(kept);
        found_.cached = true;
        return;
      }
    }
    driver_ = asker_.devices(search_.gpus);
    // A failure is asked again each time: what mends it may change nothing of the key.
    if (!driver_) {
      return;
    }
    // The driver may have made nodes and loaded its half in the kernel.
    machine_ = gpu::read_machine(search_.gpus.root);
    if (!search_.cache_file.empty()) {
      // Where it cannot be kept, the next start asks again.
      static_cast<void>(keep_answer(search_.cache_file, key_of(search_, machine_), *driver_));
    }
  }

  // The cards that may be asked; none and `false`: all of them sleep.
  [[nodiscard]] std::pair<std::vector<std::string>, bool> awake() const {
    std::vector<std::string> addresses;
    const auto add = [&](const std::string& address) {
      if (std::ranges::find(addresses, address) == addresses.end()) {
        addresses.push_back(address);
      }
    };
    if (driver_) {
      for (const gpu::GpuDevice& device : driver_->devices) {
        add(device.pci_bus_id);
      }
    }
    if (!machine_.container) {
      for (const gpu::PciCard& card : own_cards(machine_)) {
        if (card.driver == "nvidia") {
          add(card.address);
        }
      }
    }
    const bool any = !addresses.empty();
    std::erase_if(addresses,
                  [&](const std::string& address) { return is_asleep(machine_, address); });
    return {addresses, !any || !addresses.empty()};
  }

  void ask_nvml() {
    if (!machine_.shows_card()) {
      if (driver_) {
        found_.no_memory_known =
            "these are none of the machine's own cards, and NVML tells of those alone";
      }
      return;
    }
    const auto [addresses, any] = awake();
    if (!any) {
      found_.no_memory_known = "free memory was not asked for: it would wake the card";
      return;
    }
    auto facts = asker_.cards(search_.nvml, addresses);
    if (!facts) {
      found_.no_memory_known = std::move(facts).error().message;
      return;
    }
    nvml_ = *std::move(facts);
  }

  void add_cpu() {
    const HostMemory memory = host_memory(search_.gpus.root);
    DeviceFacts facts{
        .name = "cpu", .model = processor_name(search_.gpus.root), .memory_total = {}};
    if (memory.total > 0) {
      facts.memory_total = memory.total;
      facts.memory_free = memory.available;
    }
    facts.cpu = CpuFacts{.cores = usable_cores(search_.gpus.root),
                         .instruction_set = cpu_instruction_sets().back()};
    found_.devices.push_back(std::move(facts));
  }

  // What holds for every card of this machine.
  [[nodiscard]] CardFacts common() const {
    CardFacts facts;
    facts.driver_version = driver_ ? driver_->version : nvml_.cuda_version;
    facts.driver_release = driver_ ? driver_->release : std::string();
    if (facts.driver_release.empty()) {
      facts.driver_release = nvml_.driver_release;
    }
    facts.driver_path = driver_ ? driver_->path : std::string();
    facts.kernel_release = machine_.kernel_driver;
    facts.wsl = machine_.wsl;
    facts.container = machine_.container;
    return facts;
  }

  [[nodiscard]] const gpu::NvmlCard* nvml_card(const gpu::GpuDevice& device) const {
    const auto found = std::ranges::find_if(nvml_.cards, [&](const gpu::NvmlCard& card) {
      return (!card.uuid.empty() && card.uuid == device.uuid) ||
             (!card.pci_bus_id.empty() && card.pci_bus_id == device.pci_bus_id);
    });
    return found == nvml_.cards.end() ? nullptr : &*found;
  }

  // A card's, or that of the slice of it that the device is.
  static std::optional<gpu::NvmlMemory> memory_of(const gpu::NvmlCard& card,
                                                  const gpu::GpuDevice& device) {
    if (!device.mig) {
      return card.memory;
    }
    const auto slice = std::ranges::find(card.slices, device.uuid, &gpu::NvmlSlice::uuid);
    return slice == card.slices.end() ? std::nullopt : slice->memory;
  }

  // What NVML adds about a card, or about the card that a slice is of.
  void add_nvml(DeviceFacts& facts) const {
    CardFacts& card = *facts.card;
    const gpu::NvmlCard* const found = nvml_card(card.device);
    if (found == nullptr) {
      return;
    }
    card.failure = found->failure;
    card.divided = found->divided;
    card.slices = found->slices.size();
    card.processes = found->processes;
    card.device.compute_mode = found->compute_mode.value_or(card.device.compute_mode);
    if (const auto memory = memory_of(*found, card.device)) {
      facts.memory_total = memory->total;
      facts.memory_free = memory->free;
    }
    if (card.device.compute_major == 0) {
      card.device.compute_major = found->compute_major;
      card.device.compute_minor = found->compute_minor;
    }
    if (facts.model.empty()) {
      facts.model = card.device.name = found->name;
    }
    if (card.device.uuid.empty()) {
      card.device.uuid = found->uuid;
    }
  }

  void add_device(const gpu::GpuDevice& device) {
    DeviceFacts facts{
        .name = name_of(device), .model = device.name, .memory_total = device.memory_bytes};
    facts.card = common();
    facts.card->device = device;
    facts.card->device.handle = kNoHandle;
    facts.card->asleep = is_asleep(machine_, device.pci_bus_id);
    add_nvml(facts);
    found_.devices.push_back(std::move(facts));
  }

  // Why the driver, which shows others, does not show this card.
  [[nodiscard]] gpu::Absence why_not_shown(const gpu::PciCard& card) const {
    const gpu::VisibleDevices visible =
        gpu::read_visible_devices(search_.gpus.visible_devices, gpu::known_cards(machine_));
    if (card.driver == "nvidia" && !visible.explanation.empty()) {
      return {.reason = visible.explanation, .remedy = visible.remedy()};
    }
    return gpu::explain_not_shown(card, machine_);
  }

  void add_unusable() {
    std::vector<gpu::PciCard> cards = own_cards(machine_);
    if (driver_) {
      // What a container sees on PCI alone was not given to it, and is nobody's loss.
      std::erase_if(cards, [&](const gpu::PciCard& card) {
        return (machine_.container && machine_.kernel_cards.empty()) ||
               std::ranges::find(driver_->devices, card.address, &gpu::GpuDevice::pci_bus_id) !=
                   driver_->devices.end();
      });
    } else if (cards.empty()) {
      found_.devices.push_back({.absence = driver_.error()});
    }
    for (const gpu::PciCard& card : cards) {
      DeviceFacts facts{.absence = driver_ ? why_not_shown(card) : driver_.error()};
      facts.card = common();
      facts.card->device.pci_bus_id = card.address;
      facts.card->asleep = card.asleep;
      const auto known =
          std::ranges::find(machine_.kernel_cards, card.address, &gpu::KernelCard::address);
      if (known != machine_.kernel_cards.end()) {
        facts.model = facts.card->device.name = known->model;
        facts.card->device.uuid = known->uuid;
      }
      add_nvml(facts);
      found_.devices.push_back(std::move(facts));
    }
  }

  const DiscoverySearch& search_;
  gpu::Machine machine_;
  DriverAsker asker_;
  std::expected<DriverAnswer, gpu::Absence> driver_;
  gpu::NvmlFacts nvml_;
  Discovery found_;
};

}  // namespace

std::string DeviceFacts::label() const {
  if (!name.empty()) {
    return name;
  }
  return card ? card->device.pci_bus_id : "cuda";
}

Discovery discover(const DiscoverySearch& search) {
  return Discoverer(search).run();
}

std::vector<CardMemory> ask_memory(const DiscoverySearch& search, const Discovery& found) {
  return Discoverer(search).run_for_memory(found);
}

}  // namespace mynah::place
