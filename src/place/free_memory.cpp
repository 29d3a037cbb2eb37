// What PlacementState knows of memory that is free now.
#include <algorithm>
#include <iterator>

#include "place/discovery/host.h"
#include "place/placement_state.h"

namespace mynah::place {
namespace {

// What a driver keeps for itself and programs of kernels take beside weights, and what another
// program may take in the next minute.
uint64_t headroom_of(uint64_t total) {
  constexpr uint64_t kLeast = uint64_t{256} << 20;
  return std::max(kLeast, total / 20);
}

}  // namespace

std::vector<DeviceMemory> PlacementState::memory(bool cards) {
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
  if (cards) {
    std::ranges::move(card_memory(), std::back_inserter(all));
  }
  return all;
}

std::vector<DeviceMemory> PlacementState::card_memory() {
  // Plans for several groups follow one another; asking takes a process that opens NVML.
  constexpr std::chrono::seconds kFresh{1};
  const Discovery& found = discovery();
  const std::lock_guard lock(memory_mutex_);
  if (card_memory_.empty()) {
    for (const DeviceFacts& device : found.devices) {
      if (device.card && !device.name.empty() && !device.absence) {
        const uint64_t total = device.memory_total.value_or(0);
        card_memory_.push_back({.device = device.name,
                                .total_bytes = total,
                                .free_bytes = device.memory_free.value_or(total),
                                .headroom_bytes = headroom_of(total)});
      }
    }
  }
  if (card_memory_.empty() || std::chrono::steady_clock::now() - memory_asked_at_ < kFresh) {
    return card_memory_;
  }
  for (const CardMemory& now : ask_memory(options_.discovery, found)) {
    const auto known = std::ranges::find(card_memory_, now.device, &DeviceMemory::device);
    if (known != card_memory_.end()) {
      known->total_bytes = now.memory.total;
      known->free_bytes = std::min(now.memory.total, now.memory.free + held_here(now));
      known->headroom_bytes = headroom_of(now.memory.total);
    }
  }
  memory_asked_at_ = std::chrono::steady_clock::now();
  return card_memory_;
}

// All that is expected is planned together, what is loaded too: its memory is there to be used.
uint64_t PlacementState::held_here(const CardMemory& card) const {
  const auto workers = workers_.all();
  const std::lock_guard lock(mutex_);
  uint64_t told = 0;
  for (const gpu::NvmlProcess& process : card.processes) {
    const bool ours = std::ranges::any_of(
        workers, [&](const auto& worker) { return worker->pid() == process.pid; });
    told += ours ? process.bytes.value_or(0) : 0;
  }
  uint64_t planned = 0;
  for (const auto& [group, places] : places_) {
    for (const auto& [stage, where] : places) {
      const auto& choice = choices_[static_cast<size_t>(stage)];
      planned += where.device == card.device && choice ? choice->plan.bytes : 0;
    }
  }
  return told > 0 ? told : planned;
}

}  // namespace mynah::place
