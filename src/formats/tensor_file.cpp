#include "formats/tensor_file.h"

#include <algorithm>

#include "tensor/quantize.h"

namespace mynah {

std::vector<float> values_of(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.shape.elements()));
  dequantize(tensor.dtype, tensor.bytes.data(), values);
  return values;
}

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace mynah
