// The types a tensor's elements are stored in, spelled as GGUF and safetensors spell them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mynah {

// Q*, IQ* and MXFP4: ggml's block types (ggml-common.h): a block of elements shares its scale. I8:
// int8 with a scale per output channel where it is a weight, plain bytes elsewhere. I16: int16 with
// a scale for each run of an output channel (tensor/quantize.h), of weights alone.
enum class DType : uint8_t {
  F32,
  F16,
  BF16,
  I8,
  U8,
  I32,
  I64,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4,
  I16
};

inline constexpr int kDTypeCount = 21;

// Elements in a block: 1 for plain types, 32 for Q*_0, Q*_1, IQ4_NL and MXFP4, 256 for Q*_K and
// IQ4_XS.
[[nodiscard]] int64_t block_elements(DType dtype);

// Bytes of a block.
[[nodiscard]] size_t block_bytes(DType dtype);

// Bytes of `elements` consecutive elements, which must be whole blocks.
[[nodiscard]] size_t storage_bytes(DType dtype, int64_t elements);

// True for the types of blocks.
[[nodiscard]] bool is_block_type(DType dtype);

// "f32", "q4_0", "q2_k": lower case, as flags and file names have it.
[[nodiscard]] std::string_view name(DType dtype);

// The inverse of name(), any case.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view text);

}  // namespace mynah
