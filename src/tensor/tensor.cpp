#include "tensor/tensor.h"

#include "base/check.h"

namespace mynah {
namespace {

std::array<int64_t, kMaxRank> contiguous_strides(const Shape& shape) {
  std::array<int64_t, kMaxRank> strides{};
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace

Tensor::Tensor(BufferRef buffer, size_t offset_bytes, Shape shape, DType dtype, Device device)
    : buffer_(std::move(buffer)),
      shape_(shape),
      strides_(contiguous_strides(shape)),
      dtype_(dtype),
      device_(device) {
  MYNAH_CHECK(buffer_.get() != nullptr, "tensor without a buffer");
  MYNAH_CHECK(offset_bytes + storage_bytes(dtype, shape.elements()) <= buffer_.get()->size(),
              "tensor past its buffer");
  data_ = buffer_.get()->data() + offset_bytes;
}

bool Tensor::contiguous() const {
  int64_t step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (dim(i) != 1 && stride(i) != step) {
      return false;
    }
    step *= dim(i);
  }
  return true;
}

Tensor Tensor::narrow(int axis, int64_t begin, int64_t length) const {
  const int i = axis < 0 ? axis + rank() : axis;
  MYNAH_CHECK(i >= 0 && i < rank() && begin >= 0 && length >= 0 && begin + length <= dim(i),
              "[narrow] outside ", shape_.str());
  Tensor view = *this;
  const int64_t skipped = begin * stride(i);
  MYNAH_CHECK(skipped % block_elements(dtype_) == 0, "[narrow] splits a block");
  view.data_ += storage_bytes(dtype_, skipped);
  std::array<int64_t, kMaxRank> sizes{};
  for (int d = 0; d < rank(); ++d) {
    sizes[static_cast<size_t>(d)] = d == i ? length : dim(d);
  }
  view.shape_ = Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank())));
  return view;
}

Tensor Tensor::reshape(Shape shape) const {
  MYNAH_CHECK(contiguous(), "[reshape] wants a contiguous tensor");
  MYNAH_CHECK(shape.elements() == elements(), "[reshape] ", shape_.str(), " to ", shape.str());
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = contiguous_strides(shape);
  return view;
}

}  // namespace mynah
