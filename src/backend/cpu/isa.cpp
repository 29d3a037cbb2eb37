#include "backend/cpu/isa.h"

#include <array>

namespace mynah::cpu {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"sse4", "avx2", "avx512", "avx512_vnni",
                                                    "avx512_bf16"};

}  // namespace

std::string_view name(Isa isa) {
  return kNames[static_cast<size_t>(isa)];
}

std::optional<Isa> parse_isa(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) {
      return static_cast<Isa>(i);
    }
  }
  return std::nullopt;
}

Isa detect_isa() {
#if defined(__x86_64__)
  // libgcc's table also asks the operating system (XGETBV) whether it saves the wide registers.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  if (!avx2) {
    return Isa::Sse4;
  }
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  if (!avx512) {
    return Isa::Avx2;
  }
  if (!__builtin_cpu_supports("avx512vnni")) {
    return Isa::Avx512;
  }
  return __builtin_cpu_supports("avx512bf16") ? Isa::Avx512Bf16 : Isa::Avx512Vnni;
#else
  return Isa::Sse4;
#endif
}

}  // namespace mynah::cpu
