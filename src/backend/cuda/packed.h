// Packed weights (kernels/weight_layout.h) as the host sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/weight_layout.h"
#include "tensor/op_params.h"

namespace mynah::cuda {

[[nodiscard]] simt::Storage storage_of(DType dtype);

// Where the regions of a matrix stand in its bytes.
class PackedRegions {
 public:
  PackedRegions(int64_t out_features, int64_t in_features, DType dtype);

  [[nodiscard]] int64_t panels() const { return panels_; }

  // Of a row.
  [[nodiscard]] int64_t chunks() const { return chunks_; }

  [[nodiscard]] size_t high() const { return high_; }

  [[nodiscard]] size_t headers() const { return headers_; }

  [[nodiscard]] size_t factors() const { return factors_; }

  [[nodiscard]] size_t scales() const { return scales_; }

  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  int64_t panels_;
  int64_t chunks_;
  size_t high_;
  size_t headers_;
  size_t factors_;
  size_t scales_;
  size_t bytes_;
};

// What kernels are given of it.
[[nodiscard]] simt::Weights weights_of(const LinearWeight& w);

// Packs the rows of w, of host memory: a float or block type, as `storage`, which is w's own or a
// float type or I8. Rows are (in) or, with a kernel of more than one tap, (in, kernel), which
// becomes (kernel, in).
[[nodiscard]] std::vector<std::byte> pack_rows(const Tensor& w, DType storage, int64_t kernel);

}  // namespace mynah::cuda
