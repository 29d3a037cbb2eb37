// The numbers ggml gives to element types, in GGUF and in ggml .bin files.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/tensor_file_builder.h"

namespace mynah {

// The type of that number (ggml.h, enum ggml_type), or nothing where mynah has no such type.
[[nodiscard]] std::optional<ElementType> element_type_of_ggml(uint32_t number);

// The number of a type, or nothing where ggml has no such type (u8).
[[nodiscard]] std::optional<uint32_t> ggml_number(DType dtype);

}  // namespace mynah
