#include "place/plans/budget.h"

#include <algorithm>
#include <limits>

#include "place/terms/device_name.h"

namespace mynah::place {

Budget::Budget(std::vector<DeviceMemory> devices, uint64_t max_vram) {
  std::ranges::sort(devices, {}, &DeviceMemory::device);
  devices_.reserve(devices.size());
  for (const DeviceMemory& memory : devices) {
    const uint64_t spare = memory.free_bytes - std::min(memory.free_bytes, memory.headroom_bytes);
    Device device{.name = memory.device, .usable = spare - std::min(spare, memory.kept_bytes)};
    const uint64_t allowed = max_vram - std::min(max_vram, memory.kept_bytes);
    const bool has_vram = !is_processor(memory.device) && !is_mynah(memory.device);
    if (max_vram > 0 && has_vram && allowed < device.usable) {
      device.usable = allowed;
      device.limited = true;
    }
    devices_.push_back(std::move(device));
  }
}

std::optional<size_t> Budget::find(std::string_view device) const {
  const auto found = std::ranges::find(devices_, device, &Device::name);
  return found == devices_.end() ? std::nullopt : std::optional<size_t>(found - devices_.begin());
}

bool Budget::take(size_t device, uint64_t bytes) {
  if (bytes > left(device)) {
    return false;
  }
  devices_[device].taken += bytes;
  return true;
}

uint64_t batch_bytes(uint64_t bytes, uint64_t window_bytes, int batch) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const auto more = static_cast<uint64_t>(std::max(batch, 1) - 1);
  if (more > 0 && window_bytes > (kMost - bytes) / more) {
    return kMost;
  }
  return bytes + more * window_bytes;
}

}  // namespace mynah::place
