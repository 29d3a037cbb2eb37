#include "cards.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace mynah::gpu::fake {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
struct SharedMemory {
  int compute;  // 10 × major + minor
  int block_kib;
  int multiprocessor_kib;
};

constexpr std::array kSharedMemory = {
    SharedMemory{60, 48, 64},   SharedMemory{61, 48, 96},   SharedMemory{70, 96, 96},
    SharedMemory{75, 64, 64},   SharedMemory{80, 163, 164}, SharedMemory{86, 99, 100},
    SharedMemory{89, 99, 100},  SharedMemory{90, 227, 228}, SharedMemory{100, 227, 228},
    SharedMemory{120, 99, 100},
};

SharedMemory shared_memory(const FakeCard& card) {
  const int compute = 10 * card.compute_major + card.compute_minor;
  // The card's own row, or the last before it.
  const auto* const above =
      std::ranges::upper_bound(kSharedMemory, compute, {}, &SharedMemory::compute);
  return above == kSharedMemory.begin() ? kSharedMemory.front() : *std::prev(above);
}

CUuuid uuid_of(uint8_t byte) {
  CUuuid uuid{};
  std::ranges::fill(uuid.bytes, byte);
  return uuid;
}

}  // namespace

int device_attribute(const FakeCard& card, int attribute) {
  if (const auto set = card.attributes.find(attribute); set != card.attributes.end()) {
    return set->second;
  }
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return card.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return card.compute_minor;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 24;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 1536;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return shared_memory(card).block_kib << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return shared_memory(card).multiprocessor_kib << 10;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 24 << 20;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 2'460'000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 8'501'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 128;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

CUuuid card_uuid(const FakeCard& card, int place) {
  return uuid_of(card.uuid.value_or(static_cast<uint8_t>(0x10 + place)));
}

CUuuid device_uuid(const FakeCard& card, int place) {
  return card.slice_uuid ? uuid_of(*card.slice_uuid) : card_uuid(card, place);
}

std::string card_pci_bus_id(const FakeCard& card, int place) {
  return card.pci_bus_id.empty() ? "0000:0" + std::to_string(1 + place) + ":00.0" : card.pci_bus_id;
}

}  // namespace mynah::gpu::fake
