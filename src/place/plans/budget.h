// Budget: how much memory the stages may take of each device, and what of it is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::place {

// A device's memory, as its driver or the system says at the moment.
struct DeviceMemory {
  std::string device;           // "cpu", "cuda:0"
  uint64_t total_bytes = 0;     // 0: not known
  uint64_t free_bytes = 0;      // what other programs leave, with what mynah itself would give up
  uint64_t headroom_bytes = 0;  // of it, what is to stay free
  uint64_t kept_bytes = 0;      // of it, what models of mynah's have that are not planned anew
};

// One budget for all stages of all groups. Devices are counted in the order of their names.
class Budget {
 public:
  // `max_vram`: the most bytes that mynah may take of any device but the processor, with what is
  // kept there; 0: no limit.
  Budget(std::vector<DeviceMemory> devices, uint64_t max_vram);

  [[nodiscard]] size_t size() const { return devices_.size(); }

  [[nodiscard]] std::optional<size_t> find(std::string_view device) const;

  [[nodiscard]] const std::string& name(size_t device) const { return devices_[device].name; }

  // What all stages together may have there.
  [[nodiscard]] uint64_t usable(size_t device) const { return devices_[device].usable; }

  // Whether max_vram, and not what is free, is the limit there.
  [[nodiscard]] bool is_limited(size_t device) const { return devices_[device].limited; }

  // What of it nobody has taken.
  [[nodiscard]] uint64_t left(size_t device) const {
    return devices_[device].usable - devices_[device].taken;
  }

  // Takes all of it, or nothing where there is less left.
  [[nodiscard]] bool take(size_t device, uint64_t bytes);

  // Undoes a take().
  void give_back(size_t device, uint64_t bytes) { devices_[device].taken -= bytes; }

 private:
  struct Device {
    std::string name;
    uint64_t usable = 0;
    uint64_t taken = 0;
    bool limited = false;
  };

  std::vector<Device> devices_;
};

// Bytes with `batch` windows in flight (1 at least), of which each beyond the first takes
// `window_bytes`. The largest number where it does not fit one.
[[nodiscard]] uint64_t batch_bytes(uint64_t bytes, uint64_t window_bytes, int batch);

}  // namespace mynah::place
