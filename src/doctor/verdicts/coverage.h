// Which device code runs on which card: CUDA's rules of compatibility (notes "sass", "ptx" and
// "zstd" of the knowledge base).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// A card and the driver above it.
struct Target {
  int capability = 0;  // 120 of "12.0"; 0: not known
  bool tegra = false;
  bool sure = true;         // the capability was read, or its source was
  int branch = 0;           // of the driver, its first number; 0: not known
  int cuda = 0;             // 1208: the newest CUDA version that it is made for; 0: not known
  bool driver_sure = true;  // the source of `cuda` was read
};

// 1208 of "12.8" and "12.8.1"; 0 where the text is no version.
[[nodiscard]] int cuda_number(std::string_view version);

// 120 of "12.0"; 0 where the text is no compute capability.
[[nodiscard]] int capability_number(std::string_view text);

// "8.9" of 89.
[[nodiscard]] std::string capability_text(int capability);

// A card without a compute capability is looked up by its name. Drivers of systems on a chip follow
// numbers of their own, and say nothing of their CUDA version.
[[nodiscard]] Target target_of(const Card& card, const Machine& machine,
                               const Knowledge& knowledge);

// How many translation units reach a card, and how. Those that are for single architectures alone,
// which other units stand in for on other cards, are counted apart.
struct Coverage {
  uint64_t native = 0;        // machine code fits
  uint64_t compiled = 0;      // the driver compiles PTX
  uint64_t doubtful = 0;      // PTX fits, and it is not known whether the driver takes it
  uint64_t packed = 0;        // machine code fits, and the driver cannot unpack it
  uint64_t too_new = 0;       // PTX fits, and is of a newer language than the driver knows
  uint64_t none = 0;          // nothing fits
  uint64_t special = 0;       // units for single architectures
  uint64_t special_here = 0;  // that fit this card
  std::string ptx_cuda;       // the newest CUDA version that wanted PTX asks of the driver

  [[nodiscard]] uint64_t general() const {
    return native + compiled + doubtful + packed + too_new + none;
  }
};

// Adds those of `code`.
void cover(const DeviceCode& code, const Target& target, const Knowledge& knowledge,
           Coverage& coverage);

// What a file holds, in words: "sm_50, sm_60, sm_70 and PTX of compute_90".
[[nodiscard]] std::string code_text(const DeviceCode& code);

}  // namespace mynah::doctor
