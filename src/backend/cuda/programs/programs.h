// Programs: the kernels as PTX text, which travels inside mynah, compressed.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/kernels/list.h"

namespace mynah::cuda {

// A program is the PTX of one .cu file at one level.
struct Program {
  std::string_view group;  // the file's name without extension: "norms"
  int level = 0;           // compute capability compiled for, times ten
  std::span<const std::byte> packed;
  size_t text_bytes = 0;
};

// All that mynah carries, by group and then level. A level is there where it has instructions of
// its own: else the level below it is as good.
[[nodiscard]] std::span<const Program> programs();

// The one of that group for kernels of this level: of the highest level that is not above it; null
// where there is none.
[[nodiscard]] const Program* program_for(std::string_view group, int level);

// The level that a card of compute capability `capability` (times ten) runs kernels at, where none
// is asked for; 0: it is older than all. `driver`: the CUDA version that it is made for, as
// cuDriverGetVersion counts; one that is too old for a level of the card's own compiles the level
// below it.
[[nodiscard]] int level_for(int capability, int driver = std::numeric_limits<int>::max());

// All levels that it can run them at, least first.
[[nodiscard]] std::vector<int> levels_for(int capability);

// The PTX text.
[[nodiscard]] std::string text_of(const Program& program);

// The PTX ISA's version that a level is written in, times ten: 60 for level 60 and 61.
[[nodiscard]] int ptx_isa_of(int level);

// The CUDA version (as cuDriverGetVersion counts) of the first driver that compiles a level's
// programs; none: it is not known.
[[nodiscard]] std::optional<int> driver_needed_by(int level);

// The file that a kernel is in, and the entry's name there.
[[nodiscard]] std::string_view group_of(KernelId kernel);
[[nodiscard]] std::string_view entry_of(KernelId kernel);

}  // namespace mynah::cuda
