#include "formats/tensor_file.h"

#include <algorithm>

namespace mynah {

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace mynah
