// Writes GGUF version 3: what mynah keeps every model as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "formats/tensor_file.h"

namespace mynah {

// Tensors begin at multiples of this many bytes, so that a mapped file's views suit any vector
// instruction.
inline constexpr uint64_t kGgufWriterAlignment = 64;

// A tensor that will be written. With row scales (int8 only) a float32 tensor NAME.scale of shape
// (rows) follows it.
struct GgufTensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  bool has_row_scales = false;
};

// Streams tensors to a file one by one, so that a conversion never holds more than one of them. The
// file appears under its name when finish() succeeds, and not before.
class GgufWriter {
 public:
  using Metadata = std::map<std::string, MetadataValue, std::less<>>;

  // Writes the header: key-values (integers as int64, under "general." as uint32) and the table of
  // all tensors. Fails with Unsupported for what GGUF cannot hold (u8, five dimensions), with
  // InvalidInput for a name that comes twice.
  static Result<GgufWriter> create(const std::string& path, const Metadata& metadata,
                                   std::vector<GgufTensor> tensors);

  // Writes the next tensor of the table, which must be called `name`; `row_scales` is f32 bytes,
  // one a row, where the table says so.
  Status write(std::string_view name, std::span<const std::byte> bytes,
               std::span<const std::byte> row_scales = {});

  // After the last tensor: syncs and renames.
  Status finish();

 private:
  GgufWriter(AtomicFile file, std::vector<GgufTensor> tensors)
      : file_(std::move(file)), tensors_(std::move(tensors)) {}

  AtomicFile file_;
  std::vector<GgufTensor> tensors_;
  size_t next_ = 0;
};

// Writes all tensors and metadata of `source` as they are.
Status write_gguf(const std::string& path, const TensorFile& source);

}  // namespace mynah
