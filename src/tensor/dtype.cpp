#include "tensor/dtype.h"

#include <array>

#include "base/ascii.h"
#include "base/check.h"

namespace mynah {
namespace {

struct Facts {
  std::string_view name;
  int64_t elements;
  size_t bytes;
};

// Block sizes: ggml-common.h, struct block_*.
constexpr std::array<Facts, kDTypeCount> kFacts = {{
    {"f32", 1, 4},      {"f16", 1, 2},      {"bf16", 1, 2},       {"i8", 1, 1},
    {"u8", 1, 1},       {"i32", 1, 4},      {"i64", 1, 8},        {"q4_0", 32, 18},
    {"q4_1", 32, 20},   {"q5_0", 32, 22},   {"q5_1", 32, 24},     {"q8_0", 32, 34},
    {"q2_k", 256, 84},  {"q3_k", 256, 110}, {"q4_k", 256, 144},   {"q5_k", 256, 176},
    {"q6_k", 256, 210}, {"iq4_nl", 32, 18}, {"iq4_xs", 256, 136}, {"mxfp4", 32, 17},
    {"i16", 1, 2},
}};

const Facts& facts(DType dtype) {
  return kFacts[static_cast<size_t>(dtype)];
}

}  // namespace

int64_t block_elements(DType dtype) {
  return facts(dtype).elements;
}

size_t block_bytes(DType dtype) {
  return facts(dtype).bytes;
}

size_t storage_bytes(DType dtype, int64_t elements) {
  MYNAH_CHECK(elements % block_elements(dtype) == 0, "elements are not whole blocks");
  return static_cast<size_t>(elements / block_elements(dtype)) * block_bytes(dtype);
}

bool is_block_type(DType dtype) {
  return block_elements(dtype) > 1;
}

std::string_view name(DType dtype) {
  return facts(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (equal_but_for_case(text, name(dtype))) {
      return dtype;
    }
  }
  return std::nullopt;
}

}  // namespace mynah
