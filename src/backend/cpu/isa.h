// Which instructions this processor has: asked once, when the backend is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::cpu {

// Least first; each includes those before it. Sse4 is x86-64-v2, the least that mynah starts on.
enum class Isa : uint8_t {
  Sse4,
  Avx2,        // with FMA and F16C: x86-64-v3
  Avx512,      // F, BW, DQ, VL, CD: x86-64-v4
  Avx512Vnni,  // and int8 dot products
  Avx512Bf16,  // and bfloat16 dot products
};

// "sse4", "avx2", "avx512", "avx512_vnni", "avx512_bf16".
[[nodiscard]] std::string_view name(Isa isa);
[[nodiscard]] std::optional<Isa> parse_isa(std::string_view text);

// The best that processor and operating system offer.
[[nodiscard]] Isa detect_isa();

}  // namespace mynah::cpu
