// Reads GGUF, versions 2 and 3.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "formats/tensor_file.h"

namespace mynah {

inline constexpr std::string_view kGgufMagic = "GGUF";

// Where tensors begin unless general.alignment says otherwise, in bytes.
inline constexpr uint64_t kGgufAlignment = 32;

// The tensor of an int8 tensor's scales is called NAME + this (mynah's own convention; GGUF has
// none).
inline constexpr std::string_view kGgufScaleSuffix = ".scale";

// Value types of key-values (gguf.md, enum gguf_metadata_value_type).
enum class GgufType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

// ggml has four dimensions (ggml.h, GGML_MAX_DIMS).
inline constexpr int kMaxGgmlDimensions = 4;

// Layout: ggml-org/ggml docs/gguf.md. Key-values become metadata under their own keys; an int8
// tensor with a float32 tensor NAME.scale of one value a row takes it as row_scales. Refused:
// version 1, big-endian files, arrays of arrays, overlapping tensors, block types mynah does not
// compute with (the message names the type's number).
[[nodiscard]] Result<TensorFile> read_gguf(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
