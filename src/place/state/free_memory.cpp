#include "place/state/free_memory.h"

#include <algorithm>
#include <iterator>

#include "place/discovery/host.h"

namespace mynah::place {
namespace {

// What a driver keeps for itself and programs of kernels take beside weights, and what another
// program may take in the next minute.
uint64_t headroom_of(uint64_t total) {
  constexpr uint64_t kLeast = uint64_t{256} << 20;
  return std::max(kLeast, total / 20);
}

}  // namespace

std::vector<DeviceMemory> FreeMemory::now(bool cards) {
  const HostMemory host = host_memory();
  const DeviceMemory processor{.device = "cpu",
                               .total_bytes = host.total,
                               .free_bytes = host.available,
                               .headroom_bytes = headroom_of(host.total)};
  std::vector<DeviceMemory> all;
  // What is there to check against computes in the processor's memory.
  for (const char* name : {"cpu", "ref", "simt:0"}) {
    all.push_back(processor);
    all.back().device = name;
  }
  // Another mynah minds its memory itself.
  constexpr uint64_t kPlenty = uint64_t{1} << 50;
  for (const AnotherMynah& mynah : context_.options().request.mynahs) {
    all.push_back({.device = mynah.name, .total_bytes = 0, .free_bytes = kPlenty});
  }
  if (cards) {
    std::ranges::copy(of_cards(), std::back_inserter(all));
  }
  return all;
}

const std::vector<DeviceMemory>& FreeMemory::of_cards() {
  // Plans for several groups follow one another; asking takes a process that opens NVML.
  constexpr std::chrono::seconds kFresh{1};
  const Discovery& found = context_.discovery();
  if (cards_.empty()) {
    for (const DeviceFacts& device : found.devices) {
      if (device.card && !device.name.empty() && !device.absence) {
        const uint64_t total = device.memory_total.value_or(0);
        cards_.push_back({.device = device.name,
                          .total_bytes = total,
                          .free_bytes = device.memory_free.value_or(total),
                          .headroom_bytes = headroom_of(total)});
      }
    }
  }
  const auto asked_at = asked_at_.value_or(context_.discovered_at());
  if (cards_.empty() || std::chrono::steady_clock::now() - asked_at < kFresh) {
    return cards_;
  }
  for (const CardMemory& now : ask_memory(context_.options().discovery, found)) {
    const auto known = std::ranges::find(cards_, now.device, &DeviceMemory::device);
    if (known != cards_.end()) {
      known->total_bytes = now.memory.total;
      known->free_bytes = std::min(now.memory.total, now.memory.free + held_here_(now));
      known->headroom_bytes = headroom_of(now.memory.total);
    }
  }
  asked_at_ = std::chrono::steady_clock::now();
  return cards_;
}

}  // namespace mynah::place
