// Weights moved from a file's layout to PyTorch's, in the type that they are stored in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/tensor_file.h"

namespace mynah::kokoro {

// Makes tensors and keeps their bytes. What comes out has the name of what went in.
class Rearranged {
 public:
  Rearranged() : bytes_(std::make_shared<std::vector<std::vector<std::byte>>>()) {}

  // (rows, columns) -> (columns, rows), elements of whole bytes and no row scales.
  StoredTensor transposed(const StoredTensor& tensor);

  // The rows in as many parts as `order` has, of which order[0] comes first. Scales go along.
  StoredTensor parts_in_order(const StoredTensor& tensor, std::span<const int64_t> order);

  StoredTensor floats(const Shape& shape, std::span<const float> values);

  // int8 with a scale for each index of the first dimension.
  StoredTensor scaled_codes(const Shape& shape, std::span<const int8_t> codes,
                            std::span<const float> scales);

  // Keeps the bytes of all that was made alive.
  [[nodiscard]] std::shared_ptr<const void> owner() const { return bytes_; }

 private:
  std::span<const std::byte> keep(std::vector<std::byte> bytes);

  // A vector's elements may move, what they hold does not.
  std::shared_ptr<std::vector<std::vector<std::byte>>> bytes_;
};

}  // namespace mynah::kokoro
