// What mends a CUDA toolkit, as one command for its system.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/finding.h"

namespace mynah::doctor {

// The first two numbers of a CUDA version.
struct Cuda {
  uint64_t major = 0;
  uint64_t minor = 0;

  [[nodiscard]] std::string text() const;  // "12.1"

  auto operator<=>(const Cuda&) const = default;
};

[[nodiscard]] std::optional<Cuda> cuda_of(std::string_view version);

// The number behind the name of a compiler: 12 of "gcc 12.2.0"; 0: it is another.
[[nodiscard]] int number_of(std::string_view compiler, std::string_view name);

// Adds a component of the very same version: `windows` is its name in Windows's installer,
// `package` that of NVIDIA's packages.
[[nodiscard]] Remedy install_part(const Machine& machine, const Toolkit& toolkit,
                                  std::string_view windows, std::string_view package,
                                  std::string_view what);

// Has nvcc take a compiler that fits: `fits` is installed ("gcc 11"), or empty.
[[nodiscard]] Remedy other_compiler(const Machine& machine, const Toolkit& toolkit,
                                    const std::string& fits);

// Installs a toolkit of another version beside it.
[[nodiscard]] Remedy install_toolkit(const Machine& machine, const Toolkit& toolkit,
                                     const std::string& version);

}  // namespace mynah::doctor
