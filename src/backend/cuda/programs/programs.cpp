#include "backend/cuda/programs/programs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include <zlib.h>

#include "backend/cuda/programs/blob.h"
#include "base/check.h"
#include "gpu/ptx.h"

// The blob as it is, without a detour by way of source.
asm(R"(
  .section .rodata
  .balign 16
mynah_programs_begin:
  .incbin ")" MYNAH_PROGRAMS_BLOB R"("
mynah_programs_end:
  .previous
)");

extern "C" {
extern const std::byte mynah_programs_begin[];
extern const std::byte mynah_programs_end[];
}

namespace mynah::cuda {

namespace {

// What kernels are compiled at (cmake/kernel_levels.cmake), least first, and the PTX ISA, times
// ten.
struct Level {
  int capability;
  int isa;
  bool only = false;  // cards of this very capability run it, no later ones do
};

constexpr Level kLevels[] = {{.capability = 60, .isa = 60},
                             {.capability = 61, .isa = 60},
                             {.capability = 75, .isa = 65},
                             {.capability = 80, .isa = 70},
                             {.capability = 90, .isa = 80, .only = true}};

bool runs(const Level& level, int capability) {
  return level.only ? level.capability == capability : level.capability <= capability;
}

const Level& level_of(int number) {
  const auto* const found = std::ranges::find(kLevels, number, &Level::capability);
  MYNAH_CHECK(found != std::end(kLevels), "no kernels of level ", std::to_string(number));
  return *found;
}

std::vector<Program> read_blob() {
  uint64_t count = 0;
  std::memcpy(&count, mynah_programs_begin, sizeof(count));
  const auto* const entries =
      reinterpret_cast<const BlobEntry*>(mynah_programs_begin + sizeof(count));
  std::vector<Program> all;
  all.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const BlobEntry& entry = entries[i];
    MYNAH_CHECK(mynah_programs_begin + entry.offset + entry.packed_bytes <= mynah_programs_end,
                "a program ends past the end of all");
    all.push_back({.group = entry.group,
                   .level = static_cast<int>(entry.level),
                   .packed = {mynah_programs_begin + entry.offset, entry.packed_bytes},
                   .text_bytes = entry.text_bytes});
  }
  return all;
}

struct KernelFacts {
  std::string_view group;
  std::string_view entry;
};

constexpr std::array<KernelFacts, kKernelCount> kFacts = {{
#define MYNAH_FACTS(group, kernel_name, Args) {#group, "mynah_" #kernel_name},
    MYNAH_ALL_KERNELS(MYNAH_FACTS)
#undef MYNAH_FACTS
}};

}  // namespace

std::span<const Program> programs() {
  static const std::vector<Program> kAll = read_blob();
  return kAll;
}

const Program* program_for(std::string_view group, int level) {
  const Program* best = nullptr;
  for (const Program& program : programs()) {
    if (program.group == group && program.level <= level &&
        (best == nullptr || program.level > best->level)) {
      best = &program;
    }
  }
  return best;
}

int level_for(int capability, int driver) {
  int best = 0;
  for (const Level& level : kLevels) {
    const bool known = !level.only || driver_needed_by(level.capability).value_or(0) <= driver;
    best = runs(level, capability) && known ? level.capability : best;
  }
  return best;
}

std::vector<int> levels_for(int capability) {
  std::vector<int> all;
  for (const Level& level : kLevels) {
    if (runs(level, capability)) {
      all.push_back(level.capability);
    }
  }
  return all;
}

std::string text_of(const Program& program) {
  std::string text(program.text_bytes, '\0');
  uLongf size = text.size();
  const int result =
      uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                 reinterpret_cast<const Bytef*>(program.packed.data()), program.packed.size());
  MYNAH_CHECK(result == Z_OK && size == text.size(), "a program that was packed badly");
  return text;
}

int ptx_isa_of(int level) {
  return level_of(level).isa;
}

std::optional<int> driver_needed_by(int level) {
  const int isa = ptx_isa_of(level);
  return gpu::driver_for_ptx({.major = isa / 10, .minor = isa % 10});
}

std::string_view group_of(KernelId kernel) {
  return kFacts[static_cast<size_t>(kernel)].group;
}

std::string_view entry_of(KernelId kernel) {
  return kFacts[static_cast<size_t>(kernel)].entry;
}

}  // namespace mynah::cuda
