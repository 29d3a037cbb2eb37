// Graphs that Smart Turn's weights are read out of.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/check.h"
#include "models/turn/onnx_weights.h"
#include "tensor_file_target.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto model = read_onnx_model(MappedFile::from_bytes(bytes, "fuzz"));
  if (!model) {
    return 0;
  }
  (void)turn::is_turn_model(*model);
  const auto weights = turn::read_onnx_weights(*model);
  if (!weights) {
    MYNAH_CHECK(!weights.error().message.empty(), "an error without a message");
    return 0;
  }
  TensorFile file;
  file.tensors = weights->tensors;
  touch_all(file);
  for (const StoredTensor& tensor : file.tensors) {
    MYNAH_CHECK(!tensor.name.empty(), "a weight without a name");
    const auto rows = static_cast<size_t>(tensor.shape.rank() == 0 ? 0 : tensor.shape[0]);
    MYNAH_CHECK(tensor.row_scales.empty() || tensor.row_scales.size() == rows * sizeof(float),
                "wanted a scale a row");
  }
  return 0;
}

}  // namespace mynah
