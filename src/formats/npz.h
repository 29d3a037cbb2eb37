// Reads NumPy's .npy and .npz.
#pragma once

#include <memory>

#include "formats/tensor_file.h"

namespace mynah {

// Layout: numpy/lib/format.py, format versions 1 to 3. Tensors have their names of the archive
// without ".npy". Fortran order is made row-major. Refused: objects, strings, records, big-endian
// arrays.
[[nodiscard]] Result<TensorFile> read_npz(const std::shared_ptr<const MappedFile>& file);

// A single array, called "array".
[[nodiscard]] Result<TensorFile> read_npy(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
