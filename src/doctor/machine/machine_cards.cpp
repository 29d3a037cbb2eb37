#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/machine/machine_parts.h"
#include "doctor/machine/machine_text.h"

namespace mynah::doctor {
namespace {

constexpr std::string_view kNvidia = "10de";

// Devices that show a picture and compute nothing: QEMU and Bochs, Red Hat (QXL, virtio), VMware,
// VirtualBox, Cirrus, ASPEED and Matrox (servers), Microsoft (Hyper-V, and WSL2's pass-through,
// whose card the driver tells of). Vendors as pci.ids has them.
constexpr std::string_view kDisplaysOnly[] = {"1234", "1b36", "1af4", "15ad", "80ee",
                                              "1013", "1a03", "102b", "1414"};

// Display controllers of a PC, 3D controllers, other display controllers, processing accelerators
// (PCI Code and ID Assignment Specification, base classes 03 and 12).
constexpr std::string_view kCardClasses[] = {"0x0300", "0x0302", "0x0380", "0x1200"};

// "10de" of "0x10de\n".
std::string hex_of(const std::string& text) {
  const std::string_view plain = trimmed(text);
  return std::string(plain.starts_with("0x") ? plain.substr(2) : plain);
}

std::string capability_of(int major, int minor) {
  return major > 0 ? fmt::format("{}.{}", major, minor) : std::string();
}

uint64_t mib_of(uint64_t bytes) {
  return bytes >> 20U;
}

Card new_card(std::string_view pci, std::string_view vendor, std::string_view kernel_driver) {
  Card card;
  card.pci = pci;
  card.vendor = vendor;
  card.kernel_driver = kernel_driver;
  return card;
}

class CardGatherer {
 public:
  explicit CardGatherer(const MachineView& view) : view_(view) {}

  std::vector<Card> run() {
    add_pci();
    add_kernel_cards();
    add_tegra();
    add_driver_devices();
    add_nvml();
    for (Card& card : cards_) {
      finish(card);
    }
    return std::move(cards_);
  }

 private:
  Card* at(const std::string& pci) {
    const auto found = std::ranges::find_if(
        cards_, [&](const Card& card) { return !pci.empty() && card.pci == pci && !card.slice; });
    return found == cards_.end() ? nullptr : &*found;
  }

  // A container sees all of the host's cards on PCI, its own ones under /proc where it has that.
  [[nodiscard]] bool is_others(const std::string& pci) const {
    const auto& own = view_.system.kernel_cards;
    return view_.system.container && !own.empty() &&
           std::ranges::find(own, pci, &gpu::KernelCard::address) == own.end();
  }

  void add_pci() {
    constexpr std::string_view kDevices = "/sys/bus/pci/devices/";
    for (const std::string& address : view_.tree.names(kDevices)) {
      const std::string device = std::string(kDevices) + address;
      const std::string kind = view_.tree.words(device + "/class");
      if (std::ranges::none_of(kCardClasses, [&](auto c) { return kind.starts_with(c); })) {
        continue;
      }
      Card card = new_card(address, hex_of(view_.tree.words(device + "/vendor")), {});
      if (std::ranges::find(kDisplaysOnly, card.vendor) != std::end(kDisplaysOnly) ||
          (card.vendor == kNvidia && is_others(address))) {
        continue;
      }
      // The link alone says it: what it leads to need not be there.
      std::error_code ignored;
      card.kernel_driver =
          std::filesystem::read_symlink(view_.tree.opened_as(device) + "/driver", ignored)
              .filename()
              .string();
      card.name = listed_name(card.vendor, hex_of(view_.tree.words(device + "/device")));
      card.memory_mib = memory_of(device);
      cards_.push_back(std::move(card));
    }
  }

  // AMD's driver tells a card's memory in bytes.
  [[nodiscard]] std::optional<uint64_t> memory_of(const std::string& device) const {
    const std::string text = view_.tree.words(device + "/mem_info_vram_total");
    uint64_t bytes = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), bytes);
    return read.ec == std::errc() ? std::optional(mib_of(bytes)) : std::nullopt;
  }

  std::string listed_name(const std::string& vendor, const std::string& device) {
    if (!list_) {
      constexpr size_t kMostListBytes = size_t{8} << 20;
      for (const std::string_view path :
           {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/var/lib/pciutils/pci.ids"}) {
        list_ = view_.tree.words(path, kMostListBytes);
        if (!list_->empty()) {
          break;
        }
      }
    }
    const std::string_view name = sold_as(pci_name(*list_, vendor, device));
    if (name.empty()) {
      return {};
    }
    const std::string_view maker = vendor == kNvidia  ? "NVIDIA "
                                   : vendor == "1002" ? "AMD "
                                   : vendor == "8086" ? "Intel "
                                                      : "";
    return fmt::format("{}{}", name.starts_with(maker) ? "" : maker, name);
  }

  void add_kernel_cards() {
    for (const gpu::KernelCard& known : view_.system.kernel_cards) {
      Card* card = at(known.address);
      if (card == nullptr) {
        card = &cards_.emplace_back(new_card(known.address, kNvidia, "nvidia"));
      }
      // Of a card that it cannot talk to, the driver says "Unknown".
      if (!known.model.empty() && known.model != "Unknown") {
        card->name = known.model;
      }
      card->uuid = known.uuid.find('?') == std::string::npos ? known.uuid : std::string();
    }
  }

  // Jetsons: their card is on no bus.
  void add_tegra() {
    if (!view_.system.tegra || !cards_.empty()) {
      return;
    }
    std::string model = view_.tree.words("/proc/device-tree/model");
    model.resize(std::min(model.find('\0'), model.size()));
    if (!model.empty()) {
      cards_.push_back(new_card({}, kNvidia, "nvgpu"));
      cards_.back().name = model;
    }
  }

  void add_driver_devices() {
    for (const gpu::GpuDevice& device : view_.search.devices) {
      Card* card = device.mig ? nullptr : at(device.pci_bus_id);
      if (card == nullptr) {
        card = &cards_.emplace_back(
            new_card(device.pci_bus_id, kNvidia, view_.system.wsl ? "dxgkrnl" : "nvidia"));
        card->slice = device.mig;
      }
      card->name = device.name;
      card->uuid = device.uuid;
      card->compute_capability = capability_of(device.compute_major, device.compute_minor);
      card->memory_mib = mib_of(device.memory_bytes);
    }
  }

  void add_nvml() {
    for (const gpu::NvmlCard& known : view_.search.nvml.cards) {
      Card* const card = at(known.pci_bus_id);
      if (card == nullptr || known.failure != gpu::NVML_SUCCESS) {
        continue;
      }
      if (card->name.empty()) {
        card->name = known.name;
      }
      if (card->uuid.empty()) {
        card->uuid = known.uuid;
      }
      if (card->compute_capability.empty()) {
        card->compute_capability = capability_of(known.compute_major, known.compute_minor);
      }
      if (!card->memory_mib && known.memory) {
        card->memory_mib = mib_of(known.memory->total);
      }
      card->divided = known.divided.value_or(false);
    }
  }

  void finish(Card& card) const {
    if (card.vendor != kNvidia || !card.compute_capability.empty()) {
      return;
    }
    if (const Product* const product = view_.knowledge.card(card.name)) {
      card.compute_capability = product->compute_capability;
    }
  }

  const MachineView& view_;
  std::vector<Card> cards_;
  std::optional<std::string> list_;  // pci.ids, once it was needed
};

}  // namespace

std::vector<Card> gather_cards(const MachineView& view) {
  return CardGatherer(view).run();
}

}  // namespace mynah::doctor
