// Device: which processor a tensor lives on, printable as "cpu" or "cuda:0".
#pragma once

#include <cstdint>
#include <string>

namespace mynah {

enum class DeviceKind : uint8_t { Cpu, Ref, Cuda, Simt };

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  // "cpu", "ref", "cuda:0", "simt:0".
  [[nodiscard]] std::string str() const;

  bool operator==(const Device&) const = default;
};

// A card's own memory, in bytes.
struct DeviceMemory {
  uint64_t free = 0;
  uint64_t total = 0;
};

}  // namespace mynah
