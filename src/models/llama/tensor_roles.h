// Which tensors of a file are read.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/llama/architectures.h"

namespace mynah::llama {

// Unsupported, and named, is a tensor that no model of this architecture reads: it would be left
// out in silence. Blocks from `layers` on guess tokens ahead: nobody reads them.
[[nodiscard]] Status check_tensors(const TensorFile& file, const Architecture& architecture,
                                   int64_t layers);

}  // namespace mynah::llama
