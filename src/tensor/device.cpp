#include "tensor/device.h"

namespace mynah {

std::string Device::str() const {
  switch (kind) {
    case DeviceKind::Cpu:
      return "cpu";
    case DeviceKind::Ref:
      return "ref";
    case DeviceKind::Cuda:
      return "cuda:" + std::to_string(index);
    case DeviceKind::Simt:
      return "simt:" + std::to_string(index);
  }
  return "unknown";
}

}  // namespace mynah
