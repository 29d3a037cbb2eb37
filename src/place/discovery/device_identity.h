// DeviceIdentity: what tells a device from another, with all that its speed and its values hang on.
#pragma once

#include <string>

namespace mynah::place {

struct DeviceIdentity {
  std::string device;  // "cuda:0"
  std::string name;    // "NVIDIA GeForce RTX 4060"; of the processor what computes, "avx512_vnni"
  std::string driver;  // its version; "" where there is none
  std::string uuid;    // of a card; of another mynah the key's SHA-256; "" where there is none

  bool operator==(const DeviceIdentity&) const = default;
};

}  // namespace mynah::place
