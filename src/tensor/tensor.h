// Tensor: a cheap value that shares a buffer of device memory and says how to read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/buffer.h"
#include "tensor/device.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace mynah {

// Row-major with strides in elements; the last dimension is always contiguous. Block types are
// contiguous throughout. Copying a Tensor shares the memory; an operation's result is a new Tensor.
class Tensor {
 public:
  Tensor() = default;
  // Views `shape` elements of `dtype` at `offset_bytes` in `buffer`, contiguous.
  Tensor(BufferRef buffer, size_t offset_bytes, Shape shape, DType dtype, Device device);

  [[nodiscard]] bool defined() const { return data_ != nullptr; }

  [[nodiscard]] const Shape& shape() const { return shape_; }

  [[nodiscard]] int rank() const { return shape_.rank(); }

  [[nodiscard]] int64_t dim(int i) const { return shape_[i]; }

  // Distance in elements between neighbours along dimension i; negative i counts from the end.
  [[nodiscard]] int64_t stride(int i) const {
    return strides_[static_cast<size_t>(i < 0 ? i + rank() : i)];
  }

  [[nodiscard]] int64_t elements() const { return shape_.elements(); }

  [[nodiscard]] DType dtype() const { return dtype_; }

  [[nodiscard]] Device device() const { return device_; }

  [[nodiscard]] bool contiguous() const;

  // Address in the device's memory: readable by the host only on host devices.
  [[nodiscard]] std::byte* raw() const { return data_; }

  template <class T>
  [[nodiscard]] T* data() const {
    return reinterpret_cast<T*>(data_);
  }

  // Elements [begin, begin + length) of dimension `axis`; shares memory. Plain types only, or axis
  // 0.
  [[nodiscard]] Tensor narrow(int axis, int64_t begin, int64_t length) const;
  // The same elements in another shape; the tensor must be contiguous.
  [[nodiscard]] Tensor reshape(Shape shape) const;

 private:
  BufferRef buffer_;
  std::byte* data_ = nullptr;
  Shape shape_;
  std::array<int64_t, kMaxRank> strides_{};
  DType dtype_ = DType::F32;
  Device device_;
};

}  // namespace mynah
