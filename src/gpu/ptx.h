// Which driver a CUDA version or a PTX version asks for, in the names that people know drivers by.
#pragma once

#include <optional>
#include <string>

namespace mynah::gpu {

// Version of the PTX language: `.version 7.0` at the head of a text.
struct PtxVersion {
  int major = 0;
  int minor = 0;
};

// The CUDA version (as cuDriverGetVersion counts: 12040 for 12.4) of the first driver that compiles
// this PTX. What is older than the oldest driver's own 7.0 needs no more than that one. None: newer
// than the table.
[[nodiscard]] std::optional<int> driver_for_ptx(PtxVersion version);

// "12.4" of 12040.
[[nodiscard]] std::string cuda_version_name(int cuda_version);

// The branch of NVIDIA's drivers that came with a CUDA version: "R550" of 12040. Empty where it is
// not known: older than 11.0, or newer than the table.
[[nodiscard]] std::string driver_branch(int cuda_version);

// "R550 (CUDA 12.4)"; "CUDA 10.2" where the branch is not known.
[[nodiscard]] std::string driver_name(int cuda_version);

// "needs driver R525 (CUDA 12.0) or newer; this is R470 (CUDA 11.4)".
[[nodiscard]] std::string needs_driver(int needed, int present);

}  // namespace mynah::gpu
