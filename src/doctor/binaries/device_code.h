// The device code of a library, as rules look at it.
#pragma once

#include <string>

#include "base/result.h"
#include "doctor/facts.h"

namespace mynah::doctor {

// Which architectures the translation units of a file were compiled for: units with the same images
// are counted together, the most frequent first. What only the linker of device code can use
// (LTO-IR) is left out, and units that hold nothing else with it. No units: the file has no device
// code. Fails where the file cannot be read or is an ELF or PE file that is broken.
Result<DeviceCode> read_device_code(const std::string& path);

}  // namespace mynah::doctor
