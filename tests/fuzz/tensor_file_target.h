// What the fuzz targets of the readers do with bytes: read them, and touch all that came out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/check.h"
#include "formats/tensor_file.h"

namespace mynah {

// Views must lie in memory that is there (the sanitizer sees every byte read) and have the size
// that dtype and shape ask for.
inline void touch_all(const TensorFile& file) {
  unsigned sum = 0;
  for (const StoredTensor& tensor : file.tensors) {
    MYNAH_CHECK(tensor.bytes.size() == storage_bytes(tensor.dtype, tensor.shape.elements()),
                "wrong size");
    for (const auto view : {tensor.bytes, tensor.row_scales}) {
      for (const std::byte byte : view) {
        sum += static_cast<unsigned>(byte);
      }
    }
  }
  [[maybe_unused]] const volatile unsigned sink = sum;  // keeps the reads
}

template <class Reader>
int fuzz_tensor_file(const uint8_t* data, size_t size, Reader read) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto file = read(MappedFile::from_bytes(bytes, "fuzz"))) {
    touch_all(*file);
  } else {
    MYNAH_CHECK(!file.error().message.empty(), "an error without a message");
  }
  return 0;
}

}  // namespace mynah
