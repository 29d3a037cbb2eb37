// TensorFile: named tensors and metadata read from a file of any format, as views of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace mynah {

// One tensor as it lies in the file: row-major, outermost dimension first whatever the format's own
// order, little-endian.
struct StoredTensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;
  // int8 weights with a scale per output channel (CTranslate2): f32 bytes, one a row; value = int8
  // / scale or int8 * scale is settled by the reader: here it is always int8 * scale. Empty
  // elsewhere.
  std::span<const std::byte> row_scales;
};

// Its values in f32, as `dequantize` (tensor/quantize.h) has them; row_scales do not count.
[[nodiscard]] std::vector<float> values_of(const StoredTensor& tensor);

// A value of a file's metadata (GGUF key-values, safetensors __metadata__, ggml header fields).
using MetadataValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string>>;

// What a reader returns. Views stay valid as long as the object lives.
class TensorFile {
 public:
  std::string format;  // "gguf", "safetensors", "ggml", "ctranslate2", "pytorch", "onnx", "npz"
  std::string path;
  std::vector<StoredTensor> tensors;
  std::map<std::string, MetadataValue, std::less<>> metadata;
  // The mapped file and whatever was unpacked from it; keeps the views alive.
  std::vector<std::shared_ptr<const void>> owners;
  // Owners that are mapped files.
  std::vector<std::shared_ptr<const MappedFile>> mapped;

  // The tensor of that name, or null.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
};

}  // namespace mynah
